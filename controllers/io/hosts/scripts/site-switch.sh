# Lines: root, site, digest, shape, digests to keep. Then the list of the release. A folder of it that is as it should be is used
# again; else it is made anew under another name, of copies that are checked: nothing is mended in its place, and no two sites
# share a file. Ends with 66 when the store lacks something. Assets of all kept releases stand together, so that a page of the
# release before still finds its own.
set -eu
IFS= read -r root; IFS= read -r site; IFS= read -r digest; IFS= read -r shape; IFS= read -r keep
home="$root/sites/$site"
mkdir -p "$home/releases"
exec 8>"$home/.lock"
flock 8
rm -rf "$home"/.making.*
work=$(mktemp -d "$home/.making.XXXXXX")
trap 'rm -rf "$work"' EXIT
list="$work/list"
cat >"$list"
if [ -L "$home/kept" ] || [ -L "$home/kept/assets" ] || [ ! -d "$home/kept/assets" ]; then rm -rf "$home/kept"; fi
mkdir -p "$home/kept/assets"
chmod 755 "$home/kept" "$home/kept/assets"
strange "$home/kept" | while IFS= read -r name; do rm -rf "$home/kept/assets/$name"; done
if ! release=$(intact_release "$home" "$digest" "$list" "$shape"); then
  mkdir "$work/files"
  cd "$work/files"
  while read -r sum path; do
    [ -d "${path%/*}" ] || mkdir -p "${path%/*}"
    case "$path" in ./assets/*) if ln "$home/kept/$path" "$path" 2>/dev/null; then continue; fi ;; esac
    cp -p --reflink=auto "$root/store/$sum" "$path" || { [ -f "$root/store/$sum" ] || exit 66; exit 1; }
  done <"$list"
  find . -type d -exec chmod 755 {} +
  find . -type f -exec chmod 644 {} +
  intact . "$list" "$shape" || exit 66
  release="$digest.$(date +%s%N)"
  mv -T "$work/files" "$home/releases/$release"
  cd "$home"
fi
ln -s "releases/$release" "$work/next"
mv -T "$work/next" "$home/current"
for old in "$home"/releases/*; do
  name=${old##*/}
  [ "$name" = "$release" ] && continue
  case " $keep " in *" ${name%%.*} "*) [ "${name%%.*}" = "$digest" ] || continue ;; esac
  rm -rf "$old" || true
done
find "$home/kept/assets" -type f -links -2 -exec rm -f {} +
for file in "$home/releases/$release"/assets/*; do
  [ -f "$file" ] || continue
  [ -f "$home/kept/assets/${file##*/}" ] || ln "$file" "$home/kept/assets/${file##*/}"
done
find "$root/store" -mindepth 1 -maxdepth 1 -mmin +60 -exec rm -rf {} +
