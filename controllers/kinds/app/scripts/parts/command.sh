# `run_command`: `command_document` in a container called `run`, of `command_project`, in the folder `place`, for `seconds`. What it
# prints goes into files of the job's own folder (run-output.sh), the last of it; how it ended is said: `code <n> <out of memory>`.
# Who ends the job ends the container too (run-stop.sh).
segment=4194304
# `out.1` and `out` hold the last of it; `dropped` says how many bytes came before them.
keep() {
  while :; do
    dd bs=65536 count=64 2>/dev/null >> out
    grown=$(stat -c %s out)
    [ "$grown" -gt "$kept" ] || break
    kept=$grown
    [ "$grown" -ge "$segment" ] || continue
    (flock 8
     gone=$(cat dropped 2>/dev/null || echo 0)
     [ ! -f out.1 ] || gone=$((gone + $(stat -c %s out.1)))
     printf '%s' "$gone" > dropped && mv out out.1 && : > out) 8>>.out
    kept=0
  done
}
state_of_run() { docker inspect --format '{{.State.Status}} {{.State.ExitCode}} {{.State.OOMKilled}}' "$run" 2>/dev/null; }
leave() { docker rm -fv "$run" >/dev/null 2>&1; }
unstarted() { leave; printf '\n'; say reason "$*"; exit "$exit_command_unstarted"; }
run_command() {
  : > out && kept=0
  rm -f line && mkfifo -m 600 line && (umask 077; printf '%s\n' "$command_document" > document.json) || exit 1
  why=$(docker compose -p "$command_project" -f document.json --project-directory "$place" create --no-build --pull never </dev/null 2>&1) ||
    unstarted "$(printf '%s' "$why" | tail -n 1)"
  rm -f document.json
  keep < line &
  keeper=$!
  exec 7> line
  ( sleep "$seconds"; : > late; docker stop -t 5 "$run" >/dev/null 2>&1 ) 7>&- &
  docker start -a "$run" >&7 2>&1 </dev/null &
  wait "$!"
  # Its engine may have been restarted under it, and may have let it go on.
  looks=0 lost=''
  while :; do
    seen=$(state_of_run)
    case "$seen" in
      running*) docker attach --no-stdin --sig-proxy=false "$run" >&7 2>&1; sleep 0.2;;
      '')
        ! docker version >/dev/null 2>&1 || break
        lost=yes looks=$((looks + 1))
        [ "$looks" -lt 120 ] || break
        sleep 1;;
      # Ended from outside: by an engine that stops, which is not to be seen at once.
      'exited 137 false'|'exited 143 false')
        if [ "$looks" != 0 ] || [ -f late ]; then break; fi
        sleep 2; looks=1;;
      *) break;;
    esac
  done
  exec 7>&-
  wait "$keeper"
  read -r state code oom <<SEEN
$seen
SEEN
  leave
  [ ! -f late ] || exit "$exit_command_late"
  case "$state" in
    exited) [ -z "$lost" ] || exit "$exit_command_lost";;
    created) unstarted "$(sed -n 's/^Error response from daemon: //p' out | tail -n 1)";;
    *) exit "$exit_command_lost";;
  esac
  printf '\n'
  say code "$code" "$oom"
}
