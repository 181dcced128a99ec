# What starts on the host that a move goes to ends by itself at `lease` (seconds since that host was started, and which start), unless it was told to stay: the old ones are started again
# then where they were (keeping/carry/watch.sh). Until then no engine starts it again, who was restarted and knows nothing of that: we do.
# `leased` is the folder of the move (parts/handing/carry.sh), `lapse` what ends it (keeping/carry/lapse.sh).
begin_lease() {
  [ -n "$lease" ] || return 0
  leased="$app/moves/$move"
  mkdir -p -m 700 "$app/moves" "$leased" && : >> "$leased/policies" && : >> "$leased/restarts" || return 1
  [ ! -L "$leased/fate" ] && [ "${lease#* }" = "$(cat /proc/sys/kernel/random/boot_id)" ] || return 1
  [ "$(cut -d . -f 1 /proc/uptime)" -lt "${lease%% *}" ] || return 1
  setsid sh -c "$lapse" lapse "$leased" "${lease%% *}" "$slug" "$$" </dev/null >/dev/null 2>&1 7>&- 9>&- &
}
# `make_leased <project> <document> <folder>`: its containers, before any of them is started.
make_leased() {
  docker compose -p "$1" -f "$2" --project-directory "$3" up --no-start --no-build --pull never --remove-orphans </dev/null 2>&1 || return 1
  for id in $(docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$1"); do
    ! grep -q "^$id " "$leased/policies" || continue
    docker inspect --format '{{.Id}} {{.HostConfig.RestartPolicy.Name}}:{{.HostConfig.RestartPolicy.MaximumRetryCount}}' "$id" | sed "s/:0$//" >> "$leased/policies" &&
      docker update --restart no "$id" </dev/null >/dev/null || return 1
  done
}
# `restarts_of <container>`: how often we started it again.
restarts_of() { grep -c "^$1" "$leased/restarts"; }
# `policy_of <container> <what its engine does>`: what its document says.
policy_of() {
  meant=$([ -z "${lease:-}" ] || sed -n "s/^$1 \([a-z-]*\).*/\1/p" "$leased/policies")
  echo "${meant:-$2}"
}
