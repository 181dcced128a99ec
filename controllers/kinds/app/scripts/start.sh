# stdin: slug, number, base project, base document, release project, release document ('' for none each), routed project,
# service and port, seconds to wait for the base and for the release, 'guarded' where nothing starts without a guard, how many conditions the release puts to the base, then
# a line each: service, condition; how many files the base mounts, then two lines each: from, to.
# Starts beside whatever serves, and waits until all run, the healthy are healthy, and the routed port answers HTTP. Ends at
# the first sign that it will not come: an exit, an unhealthy service, a third restart, no memory. In the end it says what
# runs, as look.sh does.
for name in base_project base release_project release routed_project routed_service routed_port limit guard conditions; do
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
 [ -z "$base" ] || printf '%s\n' "$base" > "$app/base/compose.json"
 [ -z "$release" ] || printf '%s\n' "$release" > "$here/release.json") || exit 1
started='' began=$(date +%s)
logs_of() { docker compose -p "$1" logs --no-color --tail 60 </dev/null 2>&1 | tail -c 16000; }
fail() {
  code=$1; shift
  for project in $started; do logs_of "$project"; done
  printf '\n'
  say reason "$*"
  exit "$code"
}
up() { docker compose -p "$1" -f "$2" --project-directory "$3" up -d --no-build --pull never --remove-orphans </dev/null 2>&1; }
[ -z "$guard" ] || await_guard || fail "$exit_not_guarded" "its guard is $seen"
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
  [ -z "$failed" ] || fail "$exit_start_failed" "exit code $failed"
  if [ "$verdict" = 0 ] && [ -z "$routed" ]; then fail "$exit_exited" "$routed_service does not run"; fi
  if [ "$verdict" = 0 ]; then
    address=$(address_of "$routed" "$routed_port")
    answer=000
    [ -z "$address" ] || answer=$(answer_of "$address")
    if [ "$answer" != 000 ] && [ "$answer" -lt 500 ]; then
      [ "$calm" = no ] || break
      verdict=1; about='a service was restarted, or has only just begun'
    else
      verdict=2; about="$routed_service on port $routed_port answered ${answer#000}"
    fi
  fi
  if [ "$(date +%s)" -ge "$end" ]; then
    [ "$verdict" = 2 ] && fail "$exit_no_answer" "$about"
    fail "$exit_too_late" "$about"
  fi
  sleep 0.1
done
printf '\n'
printf '%s\n' "$seen" | while read -r id service state health restarts code oom policy; do
  say service "$service" "$state" "$code" "$policy"
done
say address "$address" "$answer"
say_disk "$slug"
