# `state_of <container> <seconds>`: what the guard or the meter of apps says; `absent` where it is not, `late` where it last did longer ago.
state_of() {
  said=$(docker exec "$1" /bin/cat /run/guard 2>/dev/null) || { echo absent; return; }
  [ "$(date +%s)" -le "$((${said%% *} + $2))" ] || { echo late; return; }
  echo "${said#* }"
}
# `guard_state`: the rules of the guard, unless it is the meter that is not well. `ok <times put back>` is good.
guard_state() {
  # Side by side, for to enter a container takes a while. The meter speaks after each app that it has looked at, which takes 140 s at most.
  both=$(
    state_of bottega-guard 15 | sed 's/^/guard /' &
    state_of bottega-meter 180 | sed 's/^/meter /'
    wait
  )
  stands=$(printf '%s\n' "$both" | sed -n 's/^guard //p') metered=$(printf '%s\n' "$both" | sed -n 's/^meter //p')
  case "$stands" in 'ok '*) ;; *) echo "$stands"; return;; esac
  case "$metered" in
    'ok '*) echo "$stands";;
    'fault '*) echo "fault meter: ${metered#fault }";;
    *) echo "$metered";;
  esac
}
