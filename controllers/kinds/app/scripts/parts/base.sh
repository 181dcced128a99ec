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
  up "$base_project" "$app/base/compose.json" "$app/base" || failed=$?
  end=$(($(date +%s) + limit))
  while :; do
    look "$base_project"
    [ "$verdict" -gt 1 ] || hold
    [ "$verdict" -le 1 ] || base_failed
    [ -z "$failed" ] || fail "$exit_base_failed" "exit code $failed"
    [ "$verdict" != 0 ] || return 0
    [ "$(date +%s)" -lt "$end" ] || fail "$exit_base_failed" "$about, after $limit s"
    sleep 0.1
  done
}
