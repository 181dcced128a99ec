# Reads the job's limit in seconds and the size of its input, then the input itself. Arguments: the runner, the job's script.
IFS= read -r limit && IFS= read -r bytes || exit 1
if [ ! -f "$id/claimed" ] && [ ! -f "$id/exit" ]; then
  new=$(mktemp -d .new-XXXXXXXX) || exit 1
  trap 'rm -rf "$new"' EXIT
  cat > "$new/input" || exit 1
  # A connection that is cut looks like the end of the input.
  [ "$(wc -c < "$new/input")" -eq "$bytes" ] || exit 1
  printf '%s' "$2" > "$new/script" || exit 1
  locked
  if [ ! -d "$id" ]; then
    : > "$new/claimed" && : > "$new/log" && sync "$new/input" "$new/claimed" && mv -T "$new" "$id" || exit 1
    setsid sh -c "$1" runner "$id" "$limit" </dev/null >/dev/null 2>&1 8>&- 9>&- &
  fi
  exec 8>&-
fi
report
