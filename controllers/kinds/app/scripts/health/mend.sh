# stdin: slug, number, 'guarded' where nothing starts without a guard, base project and document, release project and document
# ('' for none each), how many are mended, then a line each: what is done, project, service, and for 'limit' processors, bytes
# and processes. What runs as it should is not touched, and nothing is built or pulled.
for name in guard base_project base release_project release count; do IFS= read -r "$name" || exit 64; done
mkdir -p -m 700 "$app" "$here" "$app/base" || exit 1
(umask 077
 [ -z "$base" ] || printf '%s\n' "$base" > "$app/base/compose.json"
 [ -z "$release" ] || printf '%s\n' "$release" > "$here/release.json") || exit 1
make() {
  file="$here/release.json" folder="$here"
  [ "$1" != "$base_project" ] || { file="$app/base/compose.json" folder="$app/base"; }
  docker compose -p "$1" -f "$file" --project-directory "$folder" up -d --no-build --pull never --no-deps --force-recreate "$2" </dev/null 2>&1
}
id_of() {
  docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$1" --filter "label=com.docker.compose.service=$2" | head -n 1
}
is_guarded() {
  [ -n "$guard" ] || return 0
  case "$(guard_state)" in 'ok '*) return 0;; esac
  return 1
}
failed=0
while [ "$count" -gt 0 ]; do
  read -r what project service cpus memory pids || exit 64
  count=$((count - 1))
  id=$(id_of "$project" "$service")
  [ "$what" = limit ] || is_guarded || { failed=$exit_not_guarded; continue; }
  case "$what" in
    start)
      docker unpause "$id" >/dev/null 2>&1
      # Its network may be gone with which it was made.
      docker start "$id" </dev/null >/dev/null 2>&1 || make "$project" "$service" || failed=1;;
    restart) docker restart "$id" </dev/null >/dev/null 2>&1 || failed=1;;
    limit)
      docker update --cpus "$cpus" --memory "$memory" --memory-swap "$memory" --pids-limit "$pids" "$id" </dev/null 2>&1 || failed=1;;
    make) make "$project" "$service" || failed=1;;
    *) exit 64;;
  esac
done
exit "$failed"
