# Lines: root, site, digest, shape, the print of the look before (or -). Then the list of the release. Says a line each:
# `print <print>` of all entries with inode, size and both times, of which no user can set the second; `same`, when it is that of
# before; else what is not as it should be: `link`, `shape`, `file <path>`, `kept <path>`.
set -u
IFS= read -r root; IFS= read -r site; IFS= read -r digest; IFS= read -r shape; IFS= read -r before
home="$root/sites/$site"
link=$(readlink "$home/current") || link=
case "$link" in "releases/$digest" | "releases/$digest".*) ;; *) link= ;; esac
case "${link#releases/}" in '' | */*) echo link; exit 0 ;; esac
release="$home/$link"
if [ ! -d "$release" ] || [ -L "$release" ]; then echo link; exit 0; fi
print=$(
  { printf '%s\n' "$link"; find "$release" "$home/kept" -exec stat -c '%n %f %s %i %.9Y %.9Z' {} + | sort; } 2>&1 |
    sha256sum | cut -c 1-64
)
printf 'print %s\n' "$print"
if [ "$print" = "$before" ]; then echo same; exit 0; fi
cd "$release" || exit 1
sha256sum -c - 2>/dev/null | sed -n 's/^\.\/\(.*\): FAILED.*$/file \1/p' | head -n 20
[ "$(shape_of)" = "$shape" ] || echo shape
if [ -L "$home/kept" ] || [ -L "$home/kept/assets" ]; then echo 'kept assets'; exit 0; fi
strange "$home/kept" | sed -n 's/^\.\/\(.*\)$/kept \1/p' | head -n 20
