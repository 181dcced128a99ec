# `note <names>`: while a release stands here, nobody removes its images, be they there already or built in a moment.
# `is_noted <id> <name>`: whether one does. Both under `with_images`, which lets one after the other.
with_images() { mkdir -p -m 700 "$HOME/.bottega/apps" && ( flock 7 && "$@" ) 7>"$HOME/.bottega/apps/.images"; }
note() { mkdir -p -m 700 "$app" "$here" && printf '%s\n' $1 > "$here/images"; }
is_noted() { cat "$app"/r*/images 2>/dev/null | grep -qxF -e "$1" -e "$2"; }
