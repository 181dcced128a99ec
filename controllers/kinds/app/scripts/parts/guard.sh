# Whoever took the guard away: the host is looked at each minute, and it is put back then. `seen` is what it said in the end.
await_guard() {
  for look in $(seq 90); do
    seen=$(guard_state)
    case "$seen" in 'ok '*) return 0;; esac
    sleep 1
  done
  return 1
}
