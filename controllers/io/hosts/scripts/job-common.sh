# Stands before each script of a job: in the jobs' folder, with the job's id in `id`, and in `looks` how long its end is
# waited for, and in `after` from which byte on the log is wanted ('' where it is not). 137, 65536, 262144, 524288 and 0.04 are
# KILLED, LOG_KEPT_BYTES, CHUNK_BYTES, LOG_GIVEN_BYTES and LOOK_SECONDS of jobs.ts. A job that was claimed has 250 looks to say that it runs.
umask 077
mkdir -p .bottega/jobs && cd .bottega/jobs || exit 1
IFS= read -r id && IFS= read -r looks && IFS= read -r after || exit 1
start_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f1,20; }
boot=$(cat /proc/sys/kernel/random/boot_id)
is_running() {
  read -r pid start on < "$id/runner" 2>/dev/null || return 1
  [ "$on" = "$boot" ] || return 1
  case "$(start_of "$pid")" in "Z $start") return 1;; *" $start") return 0;; *) return 1;; esac
}
ended() { rm -f "$id/input"; printf '%s\n' "$1" > "$id/exit.partial" && mv "$id/exit.partial" "$id/exit"; }
begun() {
  # Between the claim and the runner's first breath there is nothing to see yet.
  tries=0
  while [ ! -f "$id/runner" ] && [ ! -f "$id/exit" ] && [ $tries -lt 250 ]; do
    sleep 0.04; tries=$((tries + 1))
  done
}
# Who waits long looks seldom: after a second five looks are one.
await_end() {
  often=25
  while [ ! -f "$id/exit" ] && [ "$looks" -gt 0 ]; do
    if [ "$often" -gt 0 ]; then sleep 0.04; looks=$((looks - 1)); else sleep 0.2; looks=$((looks - 5)); fi
    often=$((often - 1))
  done
}
locked() { exec 8>>".lock-$id" && flock 8; }
report() {
  if [ -f "$id/claimed" ]; then
    begun
    await_end
    is_running || [ -f "$id/exit" ] || ended 137
  fi
  if [ -f "$id/exit" ]; then
    [ -f "$id/cancelled" ] && how=cancelled || how=ended
    size=$(wc -c 2>/dev/null < "$id/log") || size=0
    [ "$size" -gt 65536 ] && from=$((size - 65536)) || from=0
    # What nobody has read yet comes along, as far as there is room for it.
    if [ -n "$after" ] && [ "$after" -lt "$from" ]; then
      from=$after
      [ $((size - from)) -le 524288 ] || from=$((size - 524288))
    fi
    printf 'exited %s %s %s\n' "$(cat "$id/exit")" "$how" "$from"
    tail -c "+$((from + 1))" "$id/log" 2>/dev/null | head -c "$((size - from))"
  elif [ -f "$id/claimed" ]; then
    echo running
    [ -z "$after" ] || tail -c "+$((after + 1))" "$id/log" 2>/dev/null | head -c 262144
  else echo absent
  fi
  exit 0
}
