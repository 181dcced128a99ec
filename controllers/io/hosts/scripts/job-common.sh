# Stands before each script of a job: in the jobs' folder, with the job's id in `id`, and in `looks` how long its end is
# waited for. 137, 65536 and 0.04 are KILLED, LOG_KEPT_BYTES and LOOK_SECONDS of jobs.ts. A job that was claimed has 250
# looks to say that it runs.
umask 077
mkdir -p .bottega/jobs && cd .bottega/jobs || exit 1
IFS= read -r id && IFS= read -r looks || exit 1
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
await_end() {
  while [ ! -f "$id/exit" ] && [ "$looks" -gt 0 ]; do sleep 0.04; looks=$((looks - 1)); done
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
    printf 'exited %s %s\n' "$(cat "$id/exit")" "$how"
    tail -c 65536 "$id/log" 2>/dev/null
  elif [ -f "$id/claimed" ]; then echo running
  else echo absent
  fi
  exit 0
}
