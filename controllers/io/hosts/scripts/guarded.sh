# `state_of <container>`: what a guard or a meter of apps says, and `absent`, `late` where it does not.
state_of() {
  said=$(docker exec "$1" /bin/cat /run/guard 2>/dev/null) || { echo absent; return; }
  [ "$(date +%s)" -le "$((${said%% *} + $2))" ] || { echo late; return; }
  echo "${said#* }"
}
# `guard_state`: the rules of the guard, unless it is the meter that is not well. `ok <times put back>` is good.
guard_state() {
  stands=$(state_of bottega-guard 15)
  case "$stands" in 'ok '*) ;; *) echo "$stands"; return;; esac
  # A look at a full disk takes its time.
  metered=$(state_of bottega-meter 180)
  case "$metered" in
    'ok '*) echo "$stands";;
    'fault '*) echo "fault meter: ${metered#fault }";;
    *) echo "$metered";;
  esac
}
