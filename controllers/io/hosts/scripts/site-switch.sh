# Lines: root, site, digest, digests to keep. Then one line per file: sum, space, path. Assets of all kept releases stand
# together, so that a page of the release before still finds its own.
set -eu
IFS= read -r root; IFS= read -r site; IFS= read -r digest; IFS= read -r keep
home="$root/sites/$site"
release="$home/releases/$digest"
mkdir -p "$home/releases" "$home/kept/assets"
if [ ! -d "$release" ]; then
  rm -rf "$home/.making"
  mkdir "$home/.making"
  while IFS=' ' read -r sum path; do
    case "$path" in */*) [ -d "$home/.making/${path%/*}" ] || mkdir -p "$home/.making/${path%/*}" ;; esac
    ln "$root/store/$sum" "$home/.making/$path"
  done
  mv "$home/.making" "$release"
fi
for file in "$release"/assets/*; do
  [ -f "$file" ] || continue
  [ -f "$home/kept/assets/${file##*/}" ] || ln "$file" "$home/kept/assets/${file##*/}"
done
rm -rf "$home/.next"
ln -s "releases/$digest" "$home/.next"
mv -T "$home/.next" "$home/current"
for old in "$home"/releases/*; do
  case " $keep " in *" ${old##*/} "*) ;; *) rm -rf "$old" ;; esac
done
find "$home/kept/assets" -type f -links -3 -exec rm -f {} +
find "$root/store" -maxdepth 1 -type f -links 1 -mmin +60 -exec rm -f {} +
