# stdin: project, service ('' for all of the project), lines, seconds. The last lines of the log, then what the engine noted of each end
# in the last while: an exit code, and whether memory ran out.
for name in project service tail past; do IFS= read -r "$name" || exit 64; done
docker compose -p "$project" logs --no-color --no-log-prefix --tail "$tail" $service </dev/null 2>&1 | tail -c 16000
printf '\n'
now=$(date +%s)
only="--filter label=com.docker.compose.project=$project"
[ -z "$service" ] || only="$only --filter label=com.docker.compose.service=$service"
timeout 5 docker events --since "$((now - past))" --until "$now" $only --filter event=die --filter event=oom \
  --format '{{.Action}} {{with index .Actor.Attributes "exitCode"}}{{.}}{{else}}0{{end}}' 2>/dev/null |
  tail -n 5 | while read -r what code; do say "$what" "$code"; done
exit 0
