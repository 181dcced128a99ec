# stdin: slug, 0, the backup, bytes that are there already, bytes that come; then these. Says how many there are then: a piece that came before
# is not added again.
IFS= read -r backup && IFS= read -r from && IFS= read -r count || exit 64
given="$app/backups/$backup/given"
mkdir -p -m 700 "$app" "$app/backups" "$app/backups/$backup" "$given" || exit 1
size() { stat -c %s "$given/pack" 2>/dev/null || echo 0; }
if [ "$(size)" = "$from" ]; then
  if ! { head -c "$count" > "$given/piece" && [ "$(stat -c %s "$given/piece")" = "$count" ] && cat "$given/piece" >> "$given/pack"; }; then
    # What was added in part goes.
    truncate -s "$from" "$given/pack"
    rm -f "$given/piece"
    exit 1
  fi
  rm -f "$given/piece"
fi
size
