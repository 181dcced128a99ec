# Takes files named by their sums, and keeps those only if all of them are what they are called. The fraction of a file's
# time is of its content: many come in one moment, and a proxy tells files from one another by size and time.
set -eu
IFS= read -r root
mkdir -p "$root/store"
in=$(mktemp -d "$root/store/.in.XXXXXX")
trap 'rm -rf "$in"' EXIT
mkdir "$in/files"
tar -x -m -f - -C "$in/files"
cd "$in/files"
for sum in *; do printf '%s  %s\n' "$sum" "$sum"; done >../sums
sha256sum -c ../sums >/dev/null
chmod 644 ./*
now=$(date +%s)
for sum in *; do touch -d "@$now.$(printf '%09d' "0x$(printf '%.7s' "$sum")")" "$sum"; done
mv -f ./* ../..
