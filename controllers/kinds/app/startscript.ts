/**
 * How a release is started on its host (scripts.ts): what belongs to the app first, until it stands as the release needs it,
 * then the release beside whatever serves, in the order that its compose file asks for.
 */
import { EXIT } from '../../../crds/app/start.ts'
import type { RemoteScript } from '../../io/hosts/hosts.ts'
import { FOLDER } from './files.ts'
import { COMPOSE, INSPECT } from './scripts.ts'

/** Sets verdict (0: all is well, 1: not yet, else why not) and about, from what is in `seen`. */
const JUDGE = `judge() {
  verdict=0; about=''; routed=''; total=0; bare=0
  while read -r id service state health restarts code oom policy; do
    if [ "$oom" = true ]; then verdict=${EXIT.outOfMemory}; about="$service"; return; fi
    # What is to end, and has ended well, is done, however often it was tried.
    case "$state $code $policy" in 'exited 0 no'|'exited 0 on-failure') continue;; esac
    if [ "$health" = unhealthy ]; then verdict=${EXIT.unhealthy}; about="$service"; return; fi
    if [ "$restarts" -ge 3 ]; then verdict=${EXIT.restarting}; about="$service restarted $restarts times, last exit code $code"; return; fi
    case "$state" in
      running) if [ "$health" = starting ]; then verdict=1; about="$service is starting"; fi;;
      exited)
        if [ "$policy" = no ] || [ "$policy" = on-failure ]; then verdict=${EXIT.exited}; about="$service exited with code $code"; return; fi
        verdict=1; about="$service exited with code $code";;
      dead) verdict=${EXIT.exited}; about="$service is dead, exit code $code"; return;;
      *) verdict=1; about="$service is $state";;
    esac
    total=$((total + restarts))
    if [ "$service" = "$routed_service" ] && [ "$state" = running ]; then routed=$id
    elif [ "$health" = none ] && [ "$state" = running ]; then bare=1; fi
  done <<EOT
$seen
EOT
}
look() {
  seen=$(for project in "$@"; do inspect "$project"; done | grep .)
  judge
}
`

/**
 * The base, up and healthy, and each condition held under which the release waits for one of its services, as Compose holds
 * them within one project: what has no health check can never be waited for to be healthy.
 */
const BASE = `hold() {
  while read -r wanted condition; do
    while read -r id service state health restarts code rest; do
      [ "$service" = "$wanted" ] || continue
      case "$condition" in
        service_healthy)
          [ "$health" != none ] || { verdict=${EXIT.unhealthy}; about="$service has no health check, but others wait for its health"; return; };;
        service_completed_successfully) [ "$state $code" = 'exited 0' ] || { verdict=1; about="$service has not ended"; };;
      esac
    done <<SEEN
$seen
SEEN
  done <<NEEDS
$needs
NEEDS
}
base_failed() {
  case "$verdict $about" in
    *' '*' '*) ;;
    '${EXIT.outOfMemory} '*) about="$about ran out of memory";;
    '${EXIT.unhealthy} '*) about="$about is unhealthy";;
  esac
  fail ${EXIT.baseFailed} "$about"
}
start_base() {
  failed=''
  started="$base_project"
  up "$base_project" "$app/base/compose.json" "$app/base" || failed=$?
  end=$(($(date +%s) + limit))
  while :; do
    look "$base_project"
    [ "$verdict" -gt 1 ] || hold
    [ "$verdict" -le 1 ] || base_failed
    [ -z "$failed" ] || fail ${EXIT.baseFailed} "exit code $failed"
    [ "$verdict" != 0 ] || return 0
    [ "$(date +%s)" -lt "$end" ] || fail ${EXIT.baseFailed} "$about, after $limit s"
    sleep 0.1
  done
}
`

/**
 * stdin: slug, number, base project, base document, release project, release document ('' for none each), routed project,
 * service and port, seconds to wait for the base and for the release, how many conditions the release puts to the base, then
 * a line each: service, condition; how many files the base mounts, then two lines each: from, to.
 * Starts beside whatever serves, and waits until all run, the healthy are healthy, and the routed port answers HTTP. Ends at
 * the first sign that it will not come: an exit, an unhealthy service, a third restart, no memory. In the end it says what
 * runs, as LOOK does.
 */
export const START: RemoteScript = {
  name: 'app-start',
  text: `${FOLDER}${COMPOSE}${INSPECT}${JUDGE}${BASE}for name in base_project base release_project release routed_project routed_service routed_port limit conditions; do
  IFS= read -r "$name" || exit 64
done
needs=''
while [ "$conditions" -gt 0 ]; do
  IFS= read -r need || exit 64
  conditions=$((conditions - 1))
  needs="$needs$need
"
done
IFS= read -r files || exit 64
mkdir -p -m 700 "$app" "$here" "$app/base" || exit 1
while [ "$files" -gt 0 ]; do
  IFS= read -r from && IFS= read -r to || exit 64
  files=$((files - 1))
  [ ! -e "$app/base/$to" ] || continue
  mkdir -p "$(dirname "$app/base/$to")" && rm -rf "$app/base/.partial" || exit 1
  cp -R "$here/source/$from" "$app/base/.partial" && mv "$app/base/.partial" "$app/base/$to" || exit 1
done
(umask 077
 [ -z "$base" ] || printf '%s\\n' "$base" > "$app/base/compose.json"
 [ -z "$release" ] || printf '%s\\n' "$release" > "$here/release.json") || exit 1
started=''
logs_of() { docker compose -p "$1" logs --no-color --tail 60 </dev/null 2>&1 | tail -c 16000; }
fail() {
  code=$1; shift
  for project in $started; do logs_of "$project"; done
  printf '\\n'
  say reason "$*"
  exit "$code"
}
up() { docker compose -p "$1" -f "$2" --project-directory "$3" up -d --no-build --pull never --remove-orphans </dev/null 2>&1; }
[ -z "$base" ] || start_base
failed=''
if [ -n "$release" ]; then
  started="$release_project $started"
  up "$release_project" "$here/release.json" "$here" || failed=$?
fi
# What says nothing of its health has to go on running: a moment, or longer once it has been restarted.
is_calm() {
  now=$(date +%s)
  if [ "$total" != "$known" ]; then known=$total; since=$now; fi
  calm=$((now - since))
  if [ "$total" -gt 0 ]; then [ "$calm" -ge 10 ]; else [ "$bare" = 0 ] || [ "$calm" -ge 3 ]; fi
}
known=''
end=$(($(date +%s) + limit))
while :; do
  look $started
  is_calm || calm=no
  [ "$verdict" -le 1 ] || fail "$verdict" "$about"
  [ -z "$failed" ] || fail ${EXIT.startFailed} "exit code $failed"
  if [ "$verdict" = 0 ] && [ -z "$routed" ]; then fail ${EXIT.exited} "$routed_service does not run"; fi
  if [ "$verdict" = 0 ]; then
    address=$(address_of "$routed" "$routed_port")
    answer=000
    [ -z "$address" ] || answer=$(answer_of "$address")
    if [ "$answer" != 000 ] && [ "$answer" -lt 500 ]; then
      [ "$calm" = no ] || break
      verdict=1; about='a service was restarted, or has only just begun'
    else
      verdict=2; about="$routed_service on port $routed_port answered \${answer#000}"
    fi
  fi
  if [ "$(date +%s)" -ge "$end" ]; then
    [ "$verdict" = 2 ] && fail ${EXIT.noAnswer} "$about"
    fail ${EXIT.tooLate} "$about"
  fi
  sleep 0.1
done
printf '\\n'
printf '%s\\n' "$seen" | while read -r id service state health restarts code oom policy; do
  say service "$service" "$state" "$code" "$policy"
done
say address "$address" "$answer"
`,
}
