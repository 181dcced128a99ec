/**
 * What is run on a host for an app: fixed scripts for a POSIX sh, data on stdin. Each may be run again. What we read of
 * them are the marked lines at their end (crds/app/start.ts).
 *
 * On the host, under `~/.bottega/apps/<slug>`: `r<number>/source` holds the files of a release, `r<number>/*.json` its compose
 * documents (mode 0600, they hold env), `base/` those of the app's stateful services.
 */
import { EXIT, MARK } from '../../crds/app/start.ts'
import type { RemoteScript } from '../io/hosts.ts'

const FOLDER = `IFS= read -r slug && IFS= read -r number || exit 64
app="$HOME/.bottega/apps/$slug"
here="$app/r$number"
`

/** Quiet, without colours, and never asking. */
const COMPOSE = `export COMPOSE_PROGRESS=quiet COMPOSE_ANSI=never BUILDKIT_PROGRESS=plain DOCKER_BUILDKIT=1
say() { printf '${MARK} %s\\n' "$*"; }
`

/** stdin: slug, number; then a compressed tar of the files. Whole or not at all. */
export const UPLOAD: RemoteScript = {
  name: 'app-upload',
  text: `${FOLDER}[ -d "$here/source" ] && exit 0
mkdir -p -m 700 "$app" "$here" || exit 1
rm -rf "$here/source.partial" && mkdir "$here/source.partial" || exit 1
tar -xz -f - --no-same-owner -C "$here/source.partial" && mv "$here/source.partial" "$here/source"
`,
}

/**
 * stdin: slug, number, build project, build document ('' for none), the names of what it builds (no blanks in a name), how
 * many images, then three lines each: service, name, and 'build', 'pull' or 'pinned'. Says an id and an architecture per image, in their order.
 */
export const IMAGES: RemoteScript = {
  name: 'app-images',
  text: `${FOLDER}${COMPOSE}IFS= read -r project && IFS= read -r document && IFS= read -r built && IFS= read -r count || exit 64
# What is built bears the digest of all that goes into it: where the name is, the same was built before.
if [ -n "$document" ] && ! docker image inspect $built >/dev/null 2>&1; then
  mkdir -p -m 700 "$here" || exit 1
  (umask 077; printf '%s\\n' "$document" > "$here/build.json") || exit 1
  COMPOSE_PROGRESS=plain docker compose -p "$project" -f "$here/build.json" --project-directory "$here" build </dev/null 2>&1 ||
    { say reason "exit code $?"; exit ${EXIT.buildFailed}; }
fi
found=''
while [ "$count" -gt 0 ]; do
  IFS= read -r service && IFS= read -r name && IFS= read -r how || exit 64
  count=$((count - 1))
  if [ "$how" = pull ] && ! docker image inspect "$name" >/dev/null 2>&1; then
    docker pull -q "$name" </dev/null 2>&1 || { say reason "$service: $name"; exit ${EXIT.pullFailed}; }
  fi
  one=$(docker image inspect --format '{{.Id}} {{.Architecture}}' "$name" 2>/dev/null) ||
    { say reason "$service: $name"; exit ${EXIT.imageMissing}; }
  found="\${found}${MARK} image $one
"
done
printf '%s' "$found"
`,
}

/** stdin: how many names, then a name each. Says an id and an architecture for each, if all of them are there. */
export const IMAGES_HERE: RemoteScript = {
  name: 'app-images-here',
  text: `${COMPOSE}IFS= read -r count || exit 64
found=''
while [ "$count" -gt 0 ]; do
  IFS= read -r name || exit 64
  count=$((count - 1))
  one=$(docker image inspect --format '{{.Id}} {{.Architecture}}' "$name" 2>/dev/null) || exit ${EXIT.imageMissing}
  found="\${found}${MARK} image $one
"
done
printf '%s' "$found"
`,
}

/** `index`, because older engines stop at a field that is not there. The containers of a project: id, service, state, health, restarts, exit code, out of memory, restart policy. */
const INSPECT = `inspect() {
  ids=$(docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$1") || return 1
  [ -n "$ids" ] || return 0
  docker inspect --format '{{.Id}} {{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{with index .State "Health"}}{{.Status}}{{else}}none{{end}} {{.RestartCount}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.HostConfig.RestartPolicy.Name}}' $ids
}
address_of() { docker port "$1" "$2/tcp" 2>/dev/null | grep '^127\\.0\\.0\\.1:' | head -n 1; }
answer_of() { curl -s -o /dev/null -m 5 --noproxy '*' -w '%{http_code}' "http://$1/" 2>/dev/null; }
`

/**
 * stdin: slug, number, base project, base document, release project, release document ('' for none each), routed project,
 * service and port, seconds to wait, how many files the base mounts, then two lines each: from, to.
 * Starts beside whatever serves, and waits until all run, the healthy are healthy, and the routed port answers HTTP. Ends at
 * the first sign that it will not come: an exit, an unhealthy service, a third restart, no memory. In the end it says what
 * runs, as LOOK does.
 */
export const START: RemoteScript = {
  name: 'app-start',
  text: `${FOLDER}${COMPOSE}${INSPECT}for name in base_project base release_project release routed_project routed_service routed_port limit files; do
  IFS= read -r "$name" || exit 64
done
mkdir -p -m 700 "$app" "$here" "$app/base" || exit 1
while [ "$files" -gt 0 ]; do
  IFS= read -r from && IFS= read -r to || exit 64
  files=$((files - 1))
  [ -e "$app/base/$to" ] || { mkdir -p "$(dirname "$app/base/$to")" && cp -R "$here/source/$from" "$app/base/$to"; } || exit 1
done
(umask 077
 [ -z "$base" ] || printf '%s\\n' "$base" > "$app/base/compose.json"
 [ -z "$release" ] || printf '%s\\n' "$release" > "$here/release.json") || exit 1
logs_of() { docker compose -p "$1" logs --no-color --tail 60 </dev/null 2>&1 | tail -c 16000; }
fail() {
  code=$1; shift
  [ -z "$release_project" ] || logs_of "$release_project"
  [ -z "$base" ] || logs_of "$base_project"
  printf '\\n'
  say reason "$*"
  exit "$code"
}
up() { docker compose -p "$1" -f "$2" --project-directory "$3" up -d --no-build --pull never --remove-orphans </dev/null 2>&1; }
failed=''
if [ -n "$base" ]; then
  up "$base_project" "$app/base/compose.json" "$app/base" || fail ${EXIT.baseFailed} "exit code $?"
fi
if [ -n "$release" ]; then
  up "$release_project" "$here/release.json" "$here" || failed=$?
fi
judge() {
  while read -r id service state health restarts code oom policy; do
    if [ "$oom" = true ]; then verdict=${EXIT.outOfMemory}; about="$service"; return; fi
    if [ "$health" = unhealthy ]; then verdict=${EXIT.unhealthy}; about="$service"; return; fi
    if [ "$restarts" -ge 3 ]; then verdict=${EXIT.restarting}; about="$service restarted $restarts times, last exit code $code"; return; fi
    case "$state" in
      running) if [ "$health" = starting ]; then verdict=1; about="$service is starting"; fi;;
      exited)
        if [ "$policy" = no ] && [ "$code" = 0 ]; then continue; fi
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
  seen=''
  [ -z "$base" ] || seen=$(inspect "$base_project")
  [ -z "$release" ] || seen="$seen
$(inspect "$release_project")"
  seen=$(printf '%s\\n' "$seen" | grep .)
  verdict=0; about=''; routed=''; total=0; bare=0
  judge
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

/** stdin: the file that the proxy dials by, and the address. Whole or not at all; whoever reads it is the proxy. */
export const DIAL: RemoteScript = {
  name: 'app-dial',
  text: `IFS= read -r file && IFS= read -r address || exit 64
mkdir -p "\${file%/*}" && printf '%s' "$address" > "$file.partial" && chmod 644 "$file.partial" && mv "$file.partial" "$file"
`,
}

/**
 * stdin: base project, release project, service, port of the live release, the file that its proxy dials by ('' where there
 * is none). Gives what runs: a line per container, where the routed one listens, what it answers, and what the file says.
 */
export const LOOK: RemoteScript = {
  name: 'app-look',
  text: `${COMPOSE}${INSPECT}for name in base_project release_project routed_service routed_port dial_file; do IFS= read -r "$name" || exit 64; done
[ -z "$dial_file" ] || say dial "$(head -c 100 "$dial_file" 2>/dev/null)"
seen=''
[ -z "$base_project" ] || seen=$(inspect "$base_project")
[ -z "$release_project" ] || seen="$seen
$(inspect "$release_project")"
printf '%s\\n' "$seen" | grep . | while read -r id service state health restarts code oom policy; do
  say service "$service" "$state" "$code" "$policy"
  if [ "$service" = "$routed_service" ] && [ "$state" = running ]; then
    address=$(address_of "$id" "$routed_port")
    [ -z "$address" ] || say address "$address" "$(answer_of "$address")"
  fi
done
exit 0
`,
}

/** Images that were built for the app, but for those that are named on stdin: ids, by blanks. Others are not ours to remove. */
const COLLECT = `collect() {
  docker image ls --no-trunc --filter "reference=bottega.local/$slug/*" --format '{{.ID}} {{.Repository}}:{{.Tag}}' |
    while read -r id name; do
      case " $1 " in *" $id "*) ;; *) docker image rm "$name" >/dev/null 2>&1;; esac
    done
}
`

/**
 * stdin: slug, number, its project ('' for none), base project and document to go back to ('' for none each), ids of the
 * images that are kept.
 */
export const TAKE_DOWN: RemoteScript = {
  name: 'app-take-down',
  text: `${FOLDER}${COMPOSE}${COLLECT}for name in project base_project base kept; do IFS= read -r "$name" || exit 64; done
if [ -n "$project" ]; then docker compose -p "$project" down --remove-orphans -t 10 </dev/null 2>&1 || exit 1; fi
if [ -n "$base" ]; then
  (umask 077; printf '%s\\n' "$base" > "$app/base/compose.json") || exit 1
  docker compose -p "$base_project" -f "$app/base/compose.json" --project-directory "$app/base" \\
    up -d --no-build --pull never --remove-orphans </dev/null 2>&1 || exit 1
fi
collect "$kept"
rm -rf "$here"
`,
}

/** stdin: slug, 0, keep or delete (the volumes), base project, the dial file ('' for none), how many projects, then their names. */
export const CLEAR: RemoteScript = {
  name: 'app-clear',
  text: `${FOLDER}${COMPOSE}${COLLECT}IFS= read -r volumes && IFS= read -r base_project && IFS= read -r dial_file && IFS= read -r count || exit 64
while [ "$count" -gt 0 ]; do
  IFS= read -r project || exit 64
  count=$((count - 1))
  docker compose -p "$project" down --remove-orphans -t 10 </dev/null 2>&1 || exit 1
done
docker compose -p "$base_project" down --remove-orphans -t 10 </dev/null 2>&1 || exit 1
if [ "$volumes" = delete ]; then
  for volume in $(docker volume ls -q --filter "label=com.docker.compose.project=$base_project"); do
    docker volume rm "$volume" >/dev/null || exit 1
  done
fi
collect ''
[ -z "$dial_file" ] || rm -f "$dial_file"
rm -rf "$app"
`,
}

/** stdin: release project, base project, tail, since ('' for the tail). Lines with the engine's own time. */
export const LOGS: RemoteScript = {
  name: 'app-logs',
  text: `${COMPOSE}for name in release_project base_project tail since; do IFS= read -r "$name" || exit 64; done
for project in "$release_project" "$base_project"; do
  [ -n "$project" ] || continue
  if [ -n "$since" ]; then docker compose -p "$project" logs --no-color -t --since "$since" </dev/null 2>&1
  else docker compose -p "$project" logs --no-color -t --tail "$tail" </dev/null 2>&1; fi
done | tail -c 900000
exit 0
`,
}
