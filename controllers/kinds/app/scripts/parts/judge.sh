# Sets verdict (0: all is well, 1: not yet, else why not) and about, from what is in `seen`.
judge() {
  verdict=0; about=''; routed=''; total=0; bare=0
  while read -r id service state health restarts code oom policy more; do
    if [ "$oom" = true ]; then verdict=$exit_out_of_memory; about="$service"; return; fi
    [ -z "${lease:-}" ] || { policy=$(policy_of "$id" "$policy"); restarts=$(restarts_of "$id"); }
    # What is to end, and has ended well, is done, however often it was tried.
    case "$state $code $policy" in 'exited 0 no'|'exited 0 on-failure') continue;; esac
    if [ "$health" = unhealthy ]; then verdict=$exit_unhealthy; about="$service"; return; fi
    if [ "$restarts" -ge 3 ]; then verdict=$exit_restarting; about="$service restarted $restarts times, last exit code $code"; return; fi
    case "$state" in
      running) if [ "$health" = starting ]; then verdict=1; about="$service: health starting"; fi;;
      exited)
        if is_over_disk; then verdict=$exit_disk_exceeded; about="$used of $budget MiB"; return; fi
        if [ "$policy" = no ] || [ "$policy" = on-failure ]; then verdict=$exit_exited; about="$service exited with code $code"; return; fi
        verdict=1; about="$service exited with code $code";;
      dead) verdict=$exit_exited; about="$service is dead, exit code $code"; return;;
      *) verdict=1; about="$service is $state";;
    esac
    total=$((total + restarts))
    [ "$state" = running ] || continue
    case " $routed_service " in
      *" $service "*) routed=$id;;
      *) [ "$health" != none ] || bare=1;;
    esac
  done <<EOT
$seen
EOT
}
# `look <projects>`: of all their containers, or of those alone whose services `only` names.
look() {
  seen=$(for of in "$@"; do inspect "$of"; done | grep .)
  apart
  [ -z "${only:-}" ] || seen=$(printf '%s\n' "$seen" | awk -v only=" $only " 'index(only, " " $2 " ")')
  judge
}
# What says nothing of its health has to go on running: a moment, or longer once it has been restarted.
is_calm() {
  now=$(date +%s)
  if [ "$total" != "$known" ]; then known=$total; since=$now; fi
  calm=$((now - since))
  if [ "$total" -gt 0 ]; then [ "$calm" -ge 10 ]; else [ "$bare" = 0 ] || [ "$calm" -ge 3 ]; fi
}
# `ask_routed`: whether each of what takes visitors answers; sets the address of each, by commas, and the last answer, or which `one` does not.
ask_routed() {
  address=''
  for one in $routed_service; do
    answer=000
    at=$(dialled "$one" "$routed_port")
    [ -z "$at" ] || answer=$(answer_of "$at")
    { [ "$answer" != 000 ] && [ "$answer" -lt 500 ]; } || return 1
    address="$address${address:+,}$at"
  done
}
# Between two looks, each of which is some twenty processes on a host that may be small: who waits long looks seldom.
nap() {
  naps=$((${naps:-0} + 1))
  if [ "$naps" -le 8 ]; then sleep 0.1; else sleep 0.4; fi
}
# `await_answer <projects>`: until all of them are well, and what takes visitors answers; sets its address, or addresses.
await_answer() {
  known='' naps=0
  end=$(($(date +%s) + limit))
  while :; do
    look "$@"
    is_calm || calm=no
    [ "$verdict" -le 1 ] || fail "$verdict" "$about"
    [ -z "$failed" ] || fail "$exit_start_failed" "exit code $failed"
    if [ "$verdict" = 0 ] && [ -z "$routed" ]; then fail "$exit_exited" "$routed_service does not run"; fi
    if [ "$verdict" = 0 ]; then
      if ask_routed; then
        [ "$calm" = no ] || break
        verdict=1; about='a service was restarted, or has only just begun'
      else
        verdict=2; about="$one on port $routed_port answered ${answer#000}"
      fi
    fi
    if [ "$(date +%s)" -ge "$end" ]; then
      [ "$verdict" = 2 ] && fail "$exit_no_answer" "$about"
      fail "$exit_too_late" "$about"
    fi
    tell
    nap
  done
}
