/**
 * The idle watcher: stops a dev instance that was not used for as long as its policy says, after two warnings. It goes by what the
 * reporter saw, and rests where nobody looked: no look is no idleness. What is here and nowhere else keeps the machine on, unless
 * the answer to a report said otherwise. Source: rules/devinstance.md#idle.
 */
import { IDLE_MINUTES_DEFAULT } from '../schema.ts'
import { LOOK } from './shell.ts'

/** A look that is older tells nothing. */
const LOOK_SECONDS_MAX = 300
/** How long before the stop each warning comes. */
export const WARNED_SECONDS = [300, 60] as const
/** Between two steps, so that each warning can be read whatever the clock does. */
const STEP_SECONDS = 50

/** What looks once a minute whether the machine is to stop. */
export const idleScript = (): string => `#!/bin/sh
# Stops the machine when it was not used for as long as its policy says, after two warnings.
set -u
${LOOK}
seen=$root/run/bottega/idle
policy=$root/var/lib/bottega/policy
own=$root/run/bottega-idle
motd=$root/run/motd.d/bottega
looked=$(number "$seen" looked)
active=$(number "$seen" active)
risk=$(number "$seen" risk)
minutes=$(number "$policy" idleMinutes)
anyway=$(number "$policy" stopWithUnpushedWork)
if [ -z "$looked" ] || [ $((now - looked)) -gt ${LOOK_SECONDS_MAX} ]; then exit 0; fi
idle=$((now - active))
left=$((\${minutes:-${IDLE_MINUTES_DEFAULT}} * 60 - idle))
mkdir -p "$own" "\${motd%/*}"
if [ "$left" -gt ${WARNED_SECONDS[0]} ]; then
  rm -f "$own/step" "$motd"
  exit 0
fi
step=$(number "$own/step" step)
at=$(number "$own/step" at)
if [ $((now - \${at:-0})) -lt ${STEP_SECONDS} ]; then exit 0; fi
say() {
  printf 'step %s\\nat %s\\n' "$1" "$now" > "$own/step"
  echo "$2" > "$motd"
  wall "$2"
}
if [ "\${risk:-0}" -gt 0 ] && [ "\${anyway:-0}" = 0 ]; then
  # said once; a push lets it go on with the warnings
  if [ "$left" -le 0 ] && [ "\${step:-0}" != 3 ]; then
    say 3 "Nobody uses this machine, and it stays on and costs: $risk changes are here and nowhere else. Push them."
  fi
  exit 0
fi
keep="To keep it, type anything in a terminal; for a day: touch /run/bottega/inhibit"
case \${step:-0} in
  0 | 3) say 1 "Not used for $((idle / 60)) minutes: this machine stops in $(((left > 0 ? left : 120) / 60 + 1)) minutes. $keep" ;;
  1) if [ "$left" -le ${WARNED_SECONDS[1]} ]; then say 2 "This machine stops within a minute. $keep"; fi ;;
  *)
    if [ "$left" -le 0 ]; then
      echo "idle for $((idle / 60)) minutes" > "$own/stopping"
      systemctl poweroff
    fi
    ;;
esac
`
