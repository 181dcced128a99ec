# stdin: slug, number, the release's project and document, the names of what is started beside what runs, the port that each listens on,
# seconds to wait, 'guarded' where nothing starts without a guard, 'direct' where containers may be dialled at their own addresses. What runs is not touched, and nothing is built or pulled. Ends as a
# start does; what was started goes where it does not come up.
for name in project document names routed_port limit guard direct; do IFS= read -r "$name" || exit 64; done
mkdir -p -m 700 "$app" "$here" || exit 1
(umask 077; printf '%s\n' "$document" > "$here/release.json") || exit 1
fail() {
  code=$1; shift
  for name in $names; do
    for id in $(ids_of "$project" "$name"); do docker logs -t --tail 60 "$id" </dev/null 2>&1 | sed "s/^/$name-1 | /"; done
  done | tail -c 16000 | sed '1{/^[^ ]* *| [0-9-]*T/!d;}'
  for name in $names; do drop_one "$project" "$name"; done >/dev/null
  printf '\n'
  say reason "$*"
  exit "$code"
}
metered=$slug began=$(date +%s)
told=$began
[ -z "$guard" ] || await_guard || fail "$exit_not_guarded" "its guard is $seen"
routed_service=$names only=$names failed=''
docker compose -p "$project" -f "$here/release.json" --project-directory "$here" \
  up -d --no-build --pull never --no-deps --no-recreate $names </dev/null 2>&1 || failed=$?
await_answer "$project"
printf '\n'
say address "$address" "$answer"
