# Services that mount the volume are stopped and started again. `stage` says how far a restore is, so that whoever finds it half done puts the
# volume back: 'stopping', 'replacing', then 'done', or 'back'.
for name in digest limit routed_service routed_port dial_file seconds; do IFS= read -r "$name" || exit 64; done
direct=$dial_file
reach() { printf '%s\n' "$1" > "$here/stage.next" && mv "$here/stage.next" "$here/stage" && sync "$here/stage"; }
stage_now() { cat "$here/stage" 2>/dev/null || echo none; }
# `put_in <folder>`: what its `pack` holds, in place of all that the volume has.
put_in() {
  copier_up "$backup-copy" -v "$1:/from/given:ro" -v "$volume:/to/data" || { said='nothing that unpacks could be started'; return 1; }
  asked unpack 1800 || said='fault it took too long'
  copier_down
  [ "$said" = ok ]
}
state_of() { docker inspect --format '{{.State.Status}} {{with index .State "Health"}}{{.Status}}{{else}}none{{end}} {{.RestartCount}} {{index .Config.Labels "com.docker.compose.service"}}' "$1" 2>/dev/null; }
start_users() { [ -z "$users" ] || docker start $users </dev/null >/dev/null 2>&1; }
# What is routed may listen elsewhere since.
dial_users() {
  address='' listens=''
  for id in $users; do
    read -r state health restarts service <<EOT
$(state_of "$id")
EOT
    if [ "$service" != "$routed_service" ] || [ -z "$routed_port" ]; then continue; fi
    listens=yes address=$(address_of "$id" "$routed_port")
    dial "$address"
  done
}
# Until all of them run and are healthy, and what is routed answers. Sets `why` where they do not. What says nothing of its health has to
# go on running for a moment, and longer once it has been restarted.
await_users() {
  began=$(date +%s) why='' known=0
  since=$began
  while :; do
    waiting='' calm=yes total=0
    for id in $users; do
      read -r state health restarts service <<EOT
$(state_of "$id")
EOT
      case "$state $health" in
        'running unhealthy') why="$service is unhealthy"; return 1;;
        'running starting') waiting="$service is not healthy yet";;
        'running healthy') ;;
        'running none') calm='';;
        'restarting '*) waiting="$service is being restarted";;
        *) why="$service is ${state:-gone}"; return 1;;
      esac
      [ "${restarts:-0}" -lt 3 ] || { why="$service was restarted $restarts times"; return 1; }
      total=$((total + ${restarts:-0}))
    done
    now=$(date +%s)
    if [ "$total" != "$known" ]; then known=$total since=$now; fi
    if [ "$total" -gt 0 ]; then
      [ "$((now - since))" -ge 10 ] || waiting='a service was restarted'
    elif [ -z "$calm" ]; then
      [ "$((now - since))" -ge 3 ] || waiting='a service has only just begun'
    fi
    if [ -z "$waiting" ]; then
      dial_users
      [ -n "$listens" ] || return 0
      answer=000
      [ -z "$address" ] || answer=$(answer_of "$address")
      [ "$answer" = 000 ] || [ "$answer" -ge 500 ] || return 0
      waiting="$routed_service on port $routed_port answered $answer"
      [ "$answer" != 000 ] || waiting="$routed_service on port $routed_port does not answer"
    fi
    [ "$((now - began))" -lt "$seconds" ] || { why="$waiting, after $seconds s"; return 1; }
    sleep 0.2
  done
}
# What the volume held, and its services as they ran.
put_back() {
  stage=$(stage_now)
  case "$stage" in none|back|'done') return 0;; esac
  users=$(cat "$here/users")
  # An engine goes on with a stop whose caller was ended.
  [ -z "$users" ] || docker stop -t 5 $users </dev/null >/dev/null 2>&1
  [ "$stage" != replacing ] || put_in "$here/kept" || return 1
  start_users || return 1
  dial_users
  reach back
}
