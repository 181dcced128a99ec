# Removes what has ended of this job and, a line each, of others.
drop() {
  locked
  if [ -d "$id" ] && { [ -f "$id/exit" ] || ! is_running; }; then rm -rf "$id"; fi
  rm -f ".lock-$id"
}
drop
while IFS= read -r id; do drop; done
