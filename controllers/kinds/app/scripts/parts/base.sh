# The base, up and healthy, and each condition held under which the release waits for one of its services, as Compose holds
# them within one project: what has no health check can never be waited for to be healthy.
hold() {
  while read -r wanted condition; do
    while read -r id service state health restarts code rest; do
      [ "$service" = "$wanted" ] || continue
      case "$condition" in
        service_healthy)
          [ "$health" != none ] || { verdict=$exit_unhealthy; about="$service has no health check, but others wait for its health"; return; };;
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
  [ "$verdict" != "$exit_disk_exceeded" ] || fail "$verdict" "$about"
  case "$verdict $about" in
    *' '*' '*) ;;
    "$exit_out_of_memory "*) about="$about ran out of memory";;
    "$exit_unhealthy "*) about="$about is unhealthy";;
  esac
  fail "$exit_base_failed" "$about"
}
start_base() {
  failed=''
  started="$base_project"
  keep_base
  (umask 077; printf '%s\n' "$base" > "$app/base/compose.json") || exit 1
  wait_for=$limit naps=0
  [ -z "$handed" ] || wait_for=$hand_over
  up "$base_project" "$app/base/compose.json" "$app/base" || failed=$?
  end=$(($(date +%s) + wait_for))
  while :; do
    look "$base_project"
    [ "$verdict" -gt 1 ] || hold
    [ "$verdict" -le 1 ] || base_failed
    [ -z "$failed" ] || fail "$exit_base_failed" "exit code $failed"
    [ "$verdict" != 0 ] || { [ -n "$handed" ] && ! has_answered; } || return 0
    [ "$verdict" != 0 ] || about="$routed_service on port $routed_port does not answer"
    [ "$(date +%s)" -lt "$end" ] || fail "$exit_base_failed" "$about, after $wait_for s"
    tell
    nap
  done
}
