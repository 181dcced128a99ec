# What is to be had before anything of a release is started. `receive_release` reads from stdin how many conditions it puts to the base,
# then a line each: service, condition; how many files the base mounts, then two lines each: from, to; and what place.sh reads.
# What is `started` is what a failure shows the log of: docker, because Compose takes seconds for the same, and whoever failed stands in
# the way of who served before. A line that was cut in two has no instant: it may be half of a secret.
logs_of() {
  docker ps -a --filter "label=com.docker.compose.project=$1" --format '{{.ID}} {{.Label "com.docker.compose.service"}}' |
    while read -r id service; do docker logs -t --tail 60 "$id" </dev/null 2>&1 | sed "s/^/$service-1 | /"; done |
    tail -c 16000 | sed '1{/^[^ ]* *| [0-9-]*T/!d;}'
}
fail() {
  code=$1; shift
  for project in $started; do logs_of "$project"; done
  put_back
  drop_trial "$here"
  printf '\n'
  say reason "$*"
  exit "$code"
}
up() {
  # Nothing is started once that was decided: whoever ends it is at it.
  [ -z "${lease:-}" ] || { make_leased "$@" && [ ! -L "$leased/fate" ]; } || return 1
  docker compose -p "$1" -f "$2" --project-directory "$3" up -d --no-build --pull never --remove-orphans </dev/null 2>&1
}
# Every other second: what the services said meanwhile, each line with its instant, by which it is told once, and what is waited for.
tell() {
  now=$(date +%s)
  [ "$((now - told))" -ge 2 ] || return 0
  printf '%s\n' "$seen" | while read -r id service rest; do
    [ -z "$id" ] || docker logs -t --since "$told" "$id" </dev/null 2>&1 | tail -c 32000 | sed "s/^/$service-1 | /"
  done
  told=$now
  say waiting "$((now - end + limit))" "$limit" "$about"
}
receive_release() {
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
  place_all || exit 1
  handed='' tried='' metered=$slug started='' began=$(date +%s)
  told=$began
}
