# stdin: slug, 0, the backup, bytes that are there already, bytes that come; then these. Says how many there are then: a piece that came before
# is not added again. Its code says where its disk took no more.
IFS= read -r backup && IFS= read -r from && IFS= read -r count || exit 64
given="$app/backups/$backup/given"
# What unpacks it may be nobody here (parts/handing/copy.sh).
size() { stat -c %s "$given/pack" 2>/dev/null || echo 0; }
laid() {
  mkdir -p -m 700 "$app" "$app/backups" "$app/backups/$backup" && mkdir -p -m 755 "$given" || return 1
  head -c "$count" > "$given/piece" || return 1
  # Whoever sends it was cut off.
  [ "$(stat -c %s "$given/piece")" = "$count" ] || { echo short >&2; return 1; }
  cat "$given/piece" >> "$given/pack" && chmod 644 "$given/pack"
}
if [ "$(size)" = "$from" ] && ! why=$(export LC_ALL=C; laid 2>&1); then
  # What was added in part goes.
  [ ! -f "$given/pack" ] || truncate -s "$from" "$given/pack"
  rm -f "$given/piece"
  case "$why" in *'No space left'*|*'quota exceeded'*) exit "$exit_no_room";; esac
  printf '%s\n' "$why" >&2
  exit 1
fi
rm -f "$given/piece"
size
