# `place_all`: what is to lie below the folder of the app before anything is started (printing/placed.ts). Nobody but the host's user
# gets into that folder; in a container a secret may be read by whoever runs there.
place_all() {
  IFS= read -r placed || exit 64
  while [ "$placed" -gt 0 ]; do
    IFS= read -r sort && IFS= read -r path || exit 64
    placed=$((placed - 1))
    mkdir -p "$(dirname "$app/$path")" || return 1
    case "$sort" in
      folder) mkdir -p "$app/$path" || return 1;;
      file) [ -e "$app/$path" ] || : > "$app/$path" || return 1;;
      *)
        IFS= read -r text || exit 64
        printf '%s' "$text" | base64 -d > "$app/$path.partial" && chmod 644 "$app/$path.partial" &&
          mv "$app/$path.partial" "$app/$path" || return 1;;
    esac
  done
}
