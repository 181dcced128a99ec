# `holds <folder> <listing>`: whether it holds those files and nothing else (`listingOf` in crds/files/archive.ts).
listing() {
  ( cd "$1" && export LC_ALL=C &&
    find . ! -type d -print0 | sort -z | xargs -0 -r sha256sum &&
    find . ! -type d -perm -100 -print0 | sort -z | tr '\0' '\n' &&
    find . ! -type d ! -type f ) | sha256sum | cut -d' ' -f1
}
holds() { [ -d "$1" ] && [ "$(listing "$1")" = "$2" ]; }
