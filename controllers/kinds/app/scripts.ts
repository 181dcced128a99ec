/**
 * What is run on a host for an app: fixed scripts for a POSIX sh, data on stdin. Each may be run again. What we read of
 * them are the marked lines at their end (crds/app/start.ts).
 *
 * On the host, under `~/.bottega/apps/<slug>`: `r<number>/source` holds the files of a release (files.ts), `r<number>/contexts`
 * links to those that are built, `r<number>/*.json` its compose documents (mode 0600, they hold env), `base/` those of the app's stateful services.
 */
import { EXIT, MARK } from '../../../crds/app/start.ts'
import type { RemoteScript } from '../../io/hosts/hosts.ts'
import { FOLDER, LISTING, NOTES } from './files.ts'

/** Quiet, without colours, and never asking. */
export const COMPOSE = `export COMPOSE_PROGRESS=quiet COMPOSE_ANSI=never BUILDKIT_PROGRESS=plain DOCKER_BUILDKIT=1
say() { printf '${MARK} %s\\n' "$*"; }
`

/**
 * stdin: slug, number, the names of all images (no blanks in a name), build project, build document ('' for none), the names
 * of what it builds, the listing of the upload, what its files are for (`filesFor`), how many contexts, then two lines each:
 * folder, link; how many images, then three lines each: service, name, and 'build', 'pull' or 'pinned'. Says an id and an
 * architecture per image, in their order. Nothing is built or mounted but what was uploaded, whatever became of it on the host.
 */
export const IMAGES: RemoteScript = {
  name: 'app-images',
  text: `${FOLDER}${COMPOSE}${LISTING}${NOTES}for name in images project document built listing needed contexts; do
  IFS= read -r "$name" || exit 64
done
with_images note "$images" || exit 1
whole() { holds "$here/source" "$listing" || exit ${EXIT.filesDiffer}; }
[ "$needed" != mounts ] || whole
rm -rf "$here/contexts"
while [ "$contexts" -gt 0 ]; do
  IFS= read -r folder && IFS= read -r link || exit 64
  contexts=$((contexts - 1))
  mkdir -p -m 700 "$here" && mkdir -p "$here/contexts" && ln -s "../source/$folder" "$here/contexts/$link" || exit 1
done
IFS= read -r count || exit 64
# What is built bears the digest of all that goes into it: where the name is, the same was built before.
if [ -n "$document" ] && ! docker image inspect $built >/dev/null 2>&1; then
  [ "$needed" = mounts ] || whole
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

/** stdin: slug, number, the names of all images. Says an id and an architecture for each, if all of them are there. */
export const IMAGES_HERE: RemoteScript = {
  name: 'app-images-here',
  text: `${FOLDER}${COMPOSE}${NOTES}IFS= read -r images || exit 64
with_images note "$images" || exit 1
found=''
for name in $images; do
  one=$(docker image inspect --format '{{.Id}} {{.Architecture}}' "$name" 2>/dev/null) || exit ${EXIT.imageMissing}
  found="\${found}${MARK} image $one
"
done
printf '%s' "$found"
`,
}

/** `index`, because older engines stop at a field that is not there. The containers of a project: id, service, state, health, restarts, exit code, out of memory, restart policy. */
export const INSPECT = `inspect() {
  ids=$(docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$1") || return 1
  [ -n "$ids" ] || return 0
  docker inspect --format '{{.Id}} {{index .Config.Labels "com.docker.compose.service"}} {{.State.Status}} {{with index .State "Health"}}{{.Status}}{{else}}none{{end}} {{.RestartCount}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.HostConfig.RestartPolicy.Name}}' $ids
}
address_of() { docker port "$1" "$2/tcp" 2>/dev/null | grep '^127\\.0\\.0\\.1:' | head -n 1; }
answer_of() { curl -s -o /dev/null -m 5 --noproxy '*' -w '%{http_code}' "http://$1/" 2>/dev/null; }
`

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

/**
 * Images that were built for the app, but for those that are named on stdin, ids by blanks, and those of releases that stand
 * here, which may be in the making. Others are not ours to remove.
 * And the contexts that BuildKit keeps of builds that have ended: no later build enters them.
 */
const COLLECT = `${NOTES}drop() { is_noted "$1" "$2" || docker image rm "$2" </dev/null >/dev/null 2>&1; }
collect() {
  docker image ls --no-trunc --filter "reference=bottega.local/$slug/*" --format '{{.ID}} {{.Repository}}:{{.Tag}}' |
    while read -r id name; do
      case " $1 " in *" $id "*) ;; *) with_images drop "$id" "$name";; esac
    done
  # With it set, a docker without its plugin for builds refuses every command about them.
  env -u DOCKER_BUILDKIT timeout -s KILL 30 docker builder prune -f --filter type=source.local </dev/null >/dev/null 2>&1
  return 0
}
`

/**
 * stdin: slug, number, its project ('' for none), base project ('' where it is left as it is) and the document that it goes
 * back to ('' for none: it goes as well, but for its volumes), ids of the images that are kept.
 */
export const TAKE_DOWN: RemoteScript = {
  name: 'app-take-down',
  text: `${FOLDER}${COMPOSE}${COLLECT}for name in project base_project base kept; do IFS= read -r "$name" || exit 64; done
if [ -n "$project" ]; then docker compose -p "$project" down --remove-orphans -t 10 </dev/null 2>&1 || exit 1; fi
if [ -n "$base" ]; then
  (umask 077; printf '%s\\n' "$base" > "$app/base/compose.json") || exit 1
  docker compose -p "$base_project" -f "$app/base/compose.json" --project-directory "$app/base" \\
    up -d --no-build --pull never --remove-orphans </dev/null 2>&1 || exit 1
elif [ -n "$base_project" ]; then
  docker compose -p "$base_project" down --remove-orphans -t 10 </dev/null 2>&1 || exit 1
  rm -rf "$app/base"
fi
rm -rf "$here"
collect "$kept"
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
[ -z "$dial_file" ] || rm -f "$dial_file"
rm -rf "$app"
collect ''
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
