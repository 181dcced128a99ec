# `holds <folder> <listing>`: whether it holds those files and nothing else (`listingOf` in crds/files/archive.ts).
listing() {
  ( cd "$1" && export LC_ALL=C &&
    find . -type f -print0 | sort -z | xargs -0 -r sha256sum &&
    find . -type f -perm -100 -print0 | sort -z | tr '\0' '\n' &&
    find . -type l -printf '%p -> %l\0' | sort -z | tr '\0' '\n' &&
    find . ! -type d ! -type f ! -type l ) | sha256sum | cut -d' ' -f1
}
holds() { [ -d "$1" ] && [ "$(listing "$1")" = "$2" ]; }
