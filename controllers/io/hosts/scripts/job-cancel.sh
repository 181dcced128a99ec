# What was claimed and not started never starts; what runs is asked to end, and made to after 5 s.
locked
if [ ! -d "$id" ]; then mkdir "$id" && : > "$id/cancelled" && ended 137; report; fi
[ -f "$id/exit" ] && report
: > "$id/cancelled"
# It says who runs it before it looks for the mark, and we look for it after setting the mark: one of us sees the other.
begun
if is_running; then
  kill -TERM "-$pid" 2>/dev/null
  for second in $(seq 5); do is_running || break; sleep 1; done
  kill -KILL "-$pid" 2>/dev/null
fi
[ -f "$id/exit" ] || ended 137
report
