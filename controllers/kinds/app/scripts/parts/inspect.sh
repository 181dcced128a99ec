# `inspect <project>`: its containers, one line each: id, service, state, health, restarts, exit code, out of memory, restart
# policy, project, billionths of a processor, bytes of memory, those with swap, processes, networks, ports and addresses. `index`,
# because older engines stop at a field that is not there. `inspect_all <label>`: those that bear it. Where a container may be dialled at its own
# address (`direct`) the guard is asked for with them, in the same question: `apart` takes it out of `seen`, and sets `guard_runs`.
inspect() { inspect_all "com.docker.compose.project=$1"; }
inspect_all() {
  ids=$(docker ps -aq --no-trunc --filter "label=$1") || return 1
  [ -n "$ids" ] || return 0
  # One may go in between, all of them may not.
  out=$(docker inspect --format '{{if eq .Name "/bottega-guard"}}guard {{.State.Running}}{{else}}{{.Id}} {{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{with index .State "Health"}}{{.Status}}{{else}}none{{end}} {{.RestartCount}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.HostConfig.RestartPolicy.Name}} {{index .Config.Labels "com.docker.compose.project"}} {{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}} networks:{{range $name, $one := .NetworkSettings.Networks}}{{$name}},{{end}} ports:{{range $port, $all := .NetworkSettings.Ports}}{{range $all}}{{$port}}={{.HostIp}}:{{.HostPort}},{{end}}{{end}} at:{{range .NetworkSettings.Networks}}{{.IPAddress}},{{end}}{{end}}' $ids ${direct:+bottega-guard} 2>/dev/null)
  [ -n "$out" ] && printf '%s\n' "$out"
}
apart() {
  guard_runs=$(printf '%s\n' "$seen" | sed -n 's/^guard //p' | head -n 1)
  seen=$(printf '%s\n' "$seen" | grep -v '^guard ')
}
# A line for each of `seen` (health/lookparse.ts).
say_seen() {
  while read -r id service state health restarts code oom policy project rest; do
    [ -z "$id" ] || say container "$id" "$project" "$service" "$state" "$health" "$restarts" "$code" "$oom" "$policy" "$rest"
  done <<SEEN
$seen
SEEN
}
# `choose_address <its addresses> <where its port is published> <port> <whether the guard runs>`, both lists by commas. Where its proxy dials a
# container: at its own address, behind the bridge of an app on this machine, if the guard can bind it (parts/handing/dial.sh); else at the
# port that the engine forwards, by a process that ends with the engine.
choose_address() {
  [ "$4" != true ] || for own in $(printf '%s' "$1" | tr ',' ' '); do
    case "$(PATH="$PATH:/usr/sbin:/sbin"; command -v bridge >/dev/null && ip -o route get "$own" 2>/dev/null)" in
      *' via '*) ;;
      *' dev bt-'*) echo "$own:$3"; return;;
    esac
  done
  for port in $(printf '%s' "$2" | tr ',' ' '); do
    case "$port" in 127.0.0.1:*) echo "$port"; return;; esac
  done
}
# `dialled <service> <port> [project]`: where the proxy dials that one of `seen`; nothing where it does not run.
dialled() {
  read -r own published <<FOUND
$(printf '%s\n' "$seen" | awk -v service="$1" -v port="$2/tcp=" -v project="${3:-}" '
    $2 == service && $3 == "running" && (project == "" || $9 == project) {
      own = $NF; ports = $(NF - 1); sub(/^ports:/, "", ports); n = split(ports, all, ",")
      for (i = 1; i <= n; i++) if (index(all[i], port) == 1) { sub(/^[^=]*=/, "", all[i]); published = published all[i] "," }
      print own, published; exit
    }')
FOUND
  choose_address "${own#at:}" "$published" "$2" "$guard_runs"
}
# `address_of <container> <port>`. `direct` is not '' where a container may be dialled at its own address.
address_of() {
  found=$(docker inspect --format "{{.State.Running}} at:{{range .NetworkSettings.Networks}}{{.IPAddress}},{{end}} ports:{{range index .NetworkSettings.Ports \"$2/tcp\"}}{{.HostIp}}:{{.HostPort}},{{end}}" \
    "$1" ${direct:+bottega-guard} 2>/dev/null)
  read -r state own published <<FOUND
$found
FOUND
  [ "$state" = true ] || return 0
  guard_runs=$(printf '%s\n' "$found" | sed -n '2s/ .*//p')
  choose_address "${own#at:}" "${published#ports:}" "$2" "$guard_runs"
}
# `answer_of <address> [path] [seconds]`
answer_of() { curl -s -o /dev/null -m "${3:-5}" --noproxy '*' --path-as-is -g -w '%{http_code}' "http://$1${2:-/}" 2>/dev/null; }
