# `hold_keys`: what opens registries (`keys`, a configuration of Docker's clients, '' for none) lies in memory for as long as this
# runs, and goes with it, however it ends: who is killed has somebody outside of his process group who sees it. `key_folder` is
# for Docker here, `$key_folder/cell` for a cell, whose root is nobody of this host: nobody else gets through to it. Each run has one of its own: who
# sees to that of the run before may come a moment later.
hold_keys() {
  key_folder=''
  [ -n "$keys" ] || return 0
  room=/dev/shm
  [ -d "$room" ] || room="$here"
  key_folder=$(mktemp -d "$room/bottega-keys-$(id -u)-$slug.XXXXXX") && mkdir -m 755 "$key_folder/cell" || return 1
  setsid sh -c "while kill -0 $$ 2>/dev/null; do sleep 0.2; done; rm -rf $key_folder" </dev/null >/dev/null 2>&1 7>&- 9>&- &
  trap 'rm -rf "$key_folder"' EXIT
  printf '%s\n' "$keys" > "$key_folder/config.json" && cp "$key_folder/config.json" "$key_folder/cell/config.json" &&
    chmod 600 "$key_folder/config.json" && chmod 644 "$key_folder/cell/config.json"
}
