# stdin: the operation of a move. `here` is its folder, on either host. `fate` there is a link that is made once: who makes it first has decided,
# on the host that is left between 'back' and 'left', on the other one between 'lapsed' and 'kept'. What is said is said in the end.
IFS= read -r move || exit 64
here="$app/moves/$move"
fail() { code=$1; shift; say reason "$*"; exit "$code"; }
fate_now() { readlink "$here/fate" 2>/dev/null || echo none; }
decide() { ln -s "$1" "$here/fate" 2>/dev/null; fate=$(fate_now); }
# One after the other.
alone() { exec 6>>"$here/lock" && flock 6; }
of_app() { docker ps -q --no-trunc --filter "label=dev.bottega.app=$slug"; }
# `policies_of <containers>`: a line each, with what `docker update --restart` takes.
policies_of() {
  docker inspect --format '{{.Id}} {{.HostConfig.RestartPolicy.Name}}:{{.HostConfig.RestartPolicy.MaximumRetryCount}}' "$@" | sed "s/:0$//"
}
# `up`: seconds since the host was started, through its sleep: nobody sets that. `booted` tells one start from another. Reads without another process:
# where none can be started the time is not over for that.
uptime_now() { read -r up idle < /proc/uptime && up=${up%%.*}; }
booted=$(cat /proc/sys/kernel/random/boot_id)
# `watch_for <seconds>`: until then nobody goes back by himself, reckoned from now on.
watch_for() {
  uptime_now && today=$(date +%s) && [ -n "$up" ] && [ -n "$today" ] || return 1
  printf '%s %s %s\n' "$((up + $1))" "$booted" "$((today + $1))" > "$here/until.next" && mv "$here/until.next" "$here/until"
}
# `no_more <container>`: an engine that does not answer says nothing of that.
no_more() { there=$(docker ps -aq --no-trunc --filter "id=$1" </dev/null 2>/dev/null) && [ -z "$there" ]; }
# `give_policies <file>`: those that are still there get what they had.
give_policies() {
  while read -r id policy; do docker update --restart "$policy" "$id" </dev/null >/dev/null 2>&1 || no_more "$id" || return 1; done < "$1"
}
