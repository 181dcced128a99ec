# `state_of <container> <seconds>`: what the guard or the meter of apps says; `absent` where it is not, `late` where it last did longer ago.
state_of() {
  said=$(docker exec "$1" /bin/cat /run/guard 2>/dev/null) || { echo absent; return; }
  [ "$(date +%s)" -le "$((${said%% *} + $2))" ] || { echo late; return; }
  echo "${said#* }"
}
# `guard_state`: the rules of the guard, unless it is the meter that is not well. `ok <times put back>` is good.
guard_state() {
  stands=$(state_of bottega-guard 15)
  case "$stands" in 'ok '*) ;; *) echo "$stands"; return;; esac
  # It speaks after each app that it has looked at, which takes 140 s at most.
  metered=$(state_of bottega-meter 180)
  case "$metered" in
    'ok '*) echo "$stands";;
    'fault '*) echo "fault meter: ${metered#fault }";;
    *) echo "$metered";;
  esac
}
