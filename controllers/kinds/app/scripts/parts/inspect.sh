# `inspect <project>`: its containers, one line each: id, service, state, health, restarts, exit code, out of memory, restart
# policy, project, billionths of a processor, bytes of memory, those with swap, processes, networks and ports. `index`, because
# older engines stop at a field that is not there. `inspect_all <label>`: those that bear it.
inspect() { inspect_all "com.docker.compose.project=$1"; }
inspect_all() {
  ids=$(docker ps -aq --no-trunc --filter "label=$1") || return 1
  [ -n "$ids" ] || return 0
  # One may go in between, all of them may not.
  out=$(docker inspect --format '{{.Id}} {{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{with index .State "Health"}}{{.Status}}{{else}}none{{end}} {{.RestartCount}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.HostConfig.RestartPolicy.Name}} {{index .Config.Labels "com.docker.compose.project"}} {{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}} networks:{{range $name, $one := .NetworkSettings.Networks}}{{$name}},{{end}} ports:{{range $port, $all := .NetworkSettings.Ports}}{{range $all}}{{$port}}={{.HostIp}}:{{.HostPort}},{{end}}{{end}}' $ids 2>/dev/null)
  [ -n "$out" ] && printf '%s\n' "$out"
}
# A line for each of `seen` (health/lookparse.ts).
say_seen() {
  while read -r id service state health restarts code oom policy project rest; do
    [ -z "$id" ] || say container "$id" "$project" "$service" "$state" "$health" "$restarts" "$code" "$oom" "$policy" "$rest"
  done <<SEEN
$seen
SEEN
}
address_of() { docker port "$1" "$2/tcp" 2>/dev/null | grep '^127\.0\.0\.1:' | head -n 1; }
# `answer_of <address> [path] [seconds]`
answer_of() { curl -s -o /dev/null -m "${3:-5}" --noproxy '*' --path-as-is -g -w '%{http_code}' "http://$1${2:-/}" 2>/dev/null; }
