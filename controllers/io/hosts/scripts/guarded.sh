# `guard_state`: what the guard of apps says of its rules, and `absent`, `late` where it does not. `ok <times put back>` is good.
guard_state() {
  said=$(docker exec bottega-guard /bin/cat /run/guard 2>/dev/null) || { echo absent; return; }
  [ "$(date +%s)" -le "$((${said%% *} + 15))" ] || { echo late; return; }
  echo "${said#* }"
}
