# Lines: root, site, digest, shape. Then the list of the release. Says, a line each, which sums nothing here has as they should
# be: no folder of the release, not the store, and of assets not what is kept of the site.
set -u
IFS= read -r root; IFS= read -r site; IFS= read -r digest; IFS= read -r shape
mkdir -p "$root/store" || exit 1
work=$(mktemp -d "$root/store/.look.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/list" || exit 1
intact_release "$root/sites/$site" "$digest" "$work/list" "$shape" >/dev/null && exit 0
cd "$root" || exit 1
while read -r sum path; do
  for file in "store/$sum" "sites/$site/kept/${path#./}"; do
    if [ -f "$file" ] && [ ! -L "$file" ]; then printf '%s  %s\n' "$sum" "$file"; fi
  done
done <"$work/list" | sort -u >"$work/there"
{ cut -c 67- "$work/there" | xargs -r sha256sum 2>/dev/null; cat "$work/there"; } | sort | uniq -d >"$work/good"
{ cut -c 1-64 "$work/list" | sort -u; cut -c 1-64 "$work/good" | sort -u | sed p; } | sort | uniq -u
