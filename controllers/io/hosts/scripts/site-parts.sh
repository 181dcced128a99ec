# Of the scripts of sites. A list names files as `sha256sum` does: sum, two spaces, path from `./`. A shape is the sha256 of all
# entries of a folder with their modes, so that what is there beside the list is seen too.
shape_of() { find . -exec stat -c '%a %F %n' {} + | sed 's/^[0-7]\([0-7]\{3\} \)/\1/; s/ empty file / file /' | sort | sha256sum | cut -c 1-64; }
# `intact <folder> <list> <shape>`: it is a folder of its own, with exactly these files.
intact() {
  [ -d "$1" ] && [ ! -L "$1" ] || return 1
  ( cd "$1" && [ "$(shape_of)" = "$3" ] && sha256sum --status -c "$2" ) 2>/dev/null
}
# `intact_release <home> <digest> <list> <shape>`: says which folder of a release is as it should be.
intact_release() {
  for found in "$1/releases/$2" "$1/releases/$2".*; do
    if intact "$found" "$3" "$4"; then printf '%s\n' "${found##*/}"; return 0; fi
  done
  return 1
}
# `strange <kept>`: what is kept of other releases is called by its sum; says what is not what it is called.
strange() {
  ( cd "$1/assets" 2>/dev/null || exit 0
    find . -mindepth 1 ! -type f
    find . -mindepth 1 -type f ! -perm 644
    find . -mindepth 1 -type f -exec sha256sum {} + 2>/dev/null | while read -r sum name; do
      part=${name#./}; part=${part%%.*}
      case $sum in "$part"*) [ "${#part}" -ge 16 ] || printf '%s\n' "$name" ;; *) printf '%s\n' "$name" ;; esac
    done )
}
