# `inspect <project>`: its containers, one line each: id, service, state, health, restarts, exit code, out of memory, restart
# policy. `index`, because older engines stop at a field that is not there.
inspect() {
  ids=$(docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$1") || return 1
  [ -n "$ids" ] || return 0
  docker inspect --format '{{.Id}} {{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{with index .State "Health"}}{{.Status}}{{else}}none{{end}} {{.RestartCount}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.HostConfig.RestartPolicy.Name}}' $ids
}
address_of() { docker port "$1" "$2/tcp" 2>/dev/null | grep '^127\.0\.0\.1:' | head -n 1; }
answer_of() { curl -s -o /dev/null -m 5 --noproxy '*' -w '%{http_code}' "http://$1/" 2>/dev/null; }
