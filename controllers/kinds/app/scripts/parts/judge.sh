# Sets verdict (0: all is well, 1: not yet, else why not) and about, from what is in `seen`.
judge() {
  verdict=0; about=''; routed=''; total=0; bare=0
  while read -r id service state health restarts code oom policy; do
    if [ "$oom" = true ]; then verdict=$exit_out_of_memory; about="$service"; return; fi
    # What is to end, and has ended well, is done, however often it was tried.
    case "$state $code $policy" in 'exited 0 no'|'exited 0 on-failure') continue;; esac
    if [ "$health" = unhealthy ]; then verdict=$exit_unhealthy; about="$service"; return; fi
    if [ "$restarts" -ge 3 ]; then verdict=$exit_restarting; about="$service restarted $restarts times, last exit code $code"; return; fi
    case "$state" in
      running) if [ "$health" = starting ]; then verdict=1; about="$service is starting"; fi;;
      exited)
        if is_over_disk; then verdict=$exit_disk_exceeded; about="$used of $budget MiB"; return; fi
        if [ "$policy" = no ] || [ "$policy" = on-failure ]; then verdict=$exit_exited; about="$service exited with code $code"; return; fi
        verdict=1; about="$service exited with code $code";;
      dead) verdict=$exit_exited; about="$service is dead, exit code $code"; return;;
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
