/**
 * The reporter of a dev instance: once a minute it says how the machine is, and notes when it was last used, which is what the idle
 * watcher goes by. It runs as the user whose work it looks at, without any right; the token comes in. What waits is bounded, and
 * nothing of it is lost for good: kills are counted since the start and told again in each report.
 * Source: rules/devinstance.md#reporter; cgroup v2 (memory.events, cpu.stat); proc(5); ss(8); git-status(1).
 */
import { HELD_KEYS, TAKE_KEYS } from './authorized.ts'
import { DEV_USER, PREFIX } from './places.ts'
import { type InstalledAgent, LOOK, versionsScript } from './shell.ts'
import { HELD_ENVIRONMENT, TAKE_ENVIRONMENT } from './unseal.ts'

/** Reports that wait while the service is away: two hours of them. */
export const KEPT_REPORTS_MAX = 120
/** An agent is in a turn when it used this much in each of the last two minutes: a blip (a check for updates) is none. */
const TURN_CPU_SECONDS = 3
/** More than the pings of a channel that is merely kept open, less than a model that speaks. */
const TURN_BYTES = 1024
/** A fifth of a core for everybody who is logged in together: a build, not an editor. */
const BUSY_CPU_SECONDS = 12
/** So long after a person last typed or a file changed do agents keep it awake: what runs away ends. */
export const UNATTENDED_SECONDS = 12 * 60 * 60
/** A file that somebody forgot keeps it awake for a day at most. */
export const INHIBIT_SECONDS = 24 * 60 * 60
const REPOSITORIES_MAX = 50
const GIT_SECONDS = 20

const HEAD = `#!/bin/sh
# Says how this machine is, and notes when it was last used. "report stopping" says that it stops.
set -u
export LC_ALL=C
# what this begins has no business with it
token=$(cat)
exec < /dev/null
${LOOK}
home=$root/home/${DEV_USER}
state=$root/var/lib/bottega
run=$root/run/bottega
groups=$root/sys/fs/cgroup
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$state/reports" "$run"

instant() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }
plain() { printf %s "$1" | tr -c 'A-Za-z0-9 ._/@+:~-' '?' | cut -c 1-250; }
newest() { sort -n | awk -v now="$now" '$1 <= now { at = $1 } END { print at + 0 }'; }

looked=$(number "$run/idle" looked)
active=$(number "$run/idle" active)
person=$(number "$run/idle" person)
: "\${looked:=$now}" "\${active:=$now}" "\${person:=$now}"
# A source, with whether it kept the machine awake in this minute.
seen() {
  if [ "$2" -gt "$active" ]; then active=$2; fi
  weight=0
  if [ "$2" -gt "$looked" ] || [ "$2" -eq "$now" ]; then weight=1; fi
  printf '{"source":"%s","weight":%s,"secondsAgo":%s}\\n' "$1" "$weight" $((now - $2)) >> "$work/activity"
}
by_hand() {
  if [ "$2" -eq 0 ]; then return; fi
  if [ "$2" -gt "$person" ]; then person=$2; fi
  seen "$1" "$2"
}
`

/** Work trees: what is here and nowhere else, and when it last changed. */
const GIT = `
git_in() {
  tree=$1
  shift
  timeout ${GIT_SECONDS} git --no-optional-locks -c core.fsmonitor=false -C "$tree" "$@" 2>/dev/null
}
dirty=0 untracked=0 unpushed=0 repositories=
: > "$work/changed"
find "$home" -maxdepth 3 \\( -name node_modules -o -path "$home/.?*" \\) -prune -o -name .git -print 2>/dev/null |
  sort | head -n ${REPOSITORIES_MAX} > "$work/found"
while read -r found; do
  # a work tree beside its repository is told with that
  if [ -f "$found" ] && grep -q /worktrees/ "$found"; then continue; fi
  repo=\${found%/.git}
  d=0 u=0
  git_in "$repo" worktree list --porcelain | sed -n 's/^worktree //p' > "$work/trees"
  while read -r tree; do
    [ -d "$tree" ] || continue
    if ! git_in "$tree" status --porcelain -z --no-renames > "$work/status"; then
      # what cannot be read may hold work
      d=$((d + 1))
      continue
    fi
    tr '\\n\\0' '?\\n' < "$work/status" > "$work/lines"
    d=$((d + $(grep -vc '^??' "$work/lines")))
    u=$((u + $(grep -c '^??' "$work/lines")))
    log=$(git_in "$tree" rev-parse --path-format=absolute --git-path logs/HEAD)
    (
      cd "$tree" && { cut -c 4- "$work/lines" | head -n 200; echo "$log"; } |
        tr '\\n' '\\0' | xargs -0r stat -c %Y --
    ) >> "$work/changed" 2>/dev/null
  done < "$work/trees"
  p=$(git_in "$repo" rev-list --count --exclude='refs/tags/*' --exclude='refs/notes/*' --all --not --remotes) || p=1
  head=$(git_in "$repo" rev-parse --verify -q HEAD)
  dirty=$((dirty + d)) untracked=$((untracked + u)) unpushed=$((unpushed + p))
  repositories=$repositories\${repositories:+,}$(printf '{"path":"%s","dirty":%s,"untracked":%s,"unpushed":%s,"head":"%s"}' \\
    "$(plain "~\${repo#"$home"}")" "$d" "$u" "$p" "$head")
done < "$work/found"
risk=$((dirty + untracked + unpushed))
`

/** Who uses it. Sessions and editors that are merely open are told, and do not count. */
const ACTIVITY = `
by_hand terminal "$(stat -c %X "$root"/dev/pts/[0-9]* 2>/dev/null | newest)"
by_hand edit "$(newest < "$work/changed")"
inhibit=$(stat -c %Y "$run/inhibit" 2>/dev/null || echo 0)
if [ $((now - inhibit)) -lt ${INHIBIT_SECONDS} ]; then seen inhibit "$now"; fi

sample() {
  echo "clock at $now"
  for scope in "$groups"/user.slice/user-*.slice/user@*.service/agents.slice/*.scope "$groups/user.slice"; do
    name=\${scope##*/}
    case $name in *[!A-Za-z0-9_.-]*) continue ;; esac
    sed -n "s/^usage_usec/$name cpu/p" "$scope/cpu.stat"
    sed "s/^/pid $name /" "$scope/cgroup.procs"
  done
  ss -tinpHO state established | sed -n 's/^[0-9 ]*\\([^ ]*\\) *\\([^ ]*\\) .*[,(]pid=\\([0-9]*\\).* bytes_received:\\([0-9]*\\).*/net \\1-\\2 \\3 \\4/p'
}
{
  sed 's/^/old /' "$run/sample"
  sample
} 2>/dev/null | awk -v keep="$work/sample" '
  $1 == "old" { old[$2 " " $3] = $4; next }
  $1 == "pid" { of[$3] = $2; next }
  $1 == "net" { if (!($3 in of) || $2 ~ /-(\\[::ffff:)?127[.]|-\\[::1\\]/) next; $0 = of[$3] " " $2 " " $4 }
  { print > keep; was = old[$1 " " $2] }
  $2 == "at" { if (was) minutes = ($3 - was) / 60; next }
  $2 == "cpu" { cpu[$1] = was == "" ? 0 : ($3 - was) / 1000000; next }
  $3 > was { bytes[$1] += $3 - was }
  END {
    for (name in cpu) {
      all = name == "user.slice"
      busy = minutes > 0 && (cpu[name] >= (all ? ${BUSY_CPU_SECONDS} : ${TURN_CPU_SECONDS}) * minutes || !all && bytes[name] >= ${TURN_BYTES} * minutes)
      if (busy) print name, "busy", 1 > keep
      agent = name
      sub(/(-[0-9]+)?[.]scope$/, "", agent)
      printf "%d {\\"source\\":\\"%s\\",\\"name\\":\\"%s\\",\\"cpuSeconds\\":%.1f,\\"receivedBytes\\":%.0f\\n",
        busy && old[name " busy"], all ? "cpu" : "agent", agent, cpu[name], bytes[name]
    }
  }' | sort -r | head -n 30 > "$work/turns"
mv "$work/sample" "$run/sample"
while read -r turn item; do
  if [ $((now - person)) -ge ${UNATTENDED_SECONDS} ]; then turn=0; fi
  if [ "$turn" = 1 ]; then active=$now; fi
  echo "$item,\\"weight\\":$turn}" >> "$work/activity"
done < "$work/turns"
open() {
  count=$(grep -laE "$2" "$root"/proc/[0-9]*/cmdline 2>/dev/null | wc -l)
  if [ "$count" -gt 0 ]; then printf '{"source":"%s","weight":0,"count":%s}\\n' "$1" "$count" >> "$work/activity"; fi
}
open ssh '^sshd(-session)?: ${DEV_USER}@'
open editor '[.](vscode|cursor|windsurf)[a-z-]*-server|[J]etBrains/RemoteDev|[z]ed-remote-server'
printf 'looked %s\\nactive %s\\nperson %s\\nrisk %s\\n' "$now" "$active" "$person" "$risk" > "$run/idle.new"
mv "$run/idle.new" "$run/idle"
`

/** What the kernel ended. The scope of an agent bears the agent's name and process: a child of it has another process. */
const OOM = `
kills=$(number "$root/proc/vmstat" oom_kill)
oom="{\\"count\\":\${kills:=0}}" victim_kb=0
if [ "$kills" -gt 0 ]; then
  group=$(find "$groups" -name memory.events -exec grep -l '^oom_kill [1-9]' {} + |
    awk -F/ 'NF >= depth { depth = NF; deepest = $0 } END { print deepest }')
  group=\${group#"$groups"}
  journalctl -kb -o short-unix --no-pager 2>/dev/null | awk '
    /oom-kill:/ { at = int($1); line = $0; kb = 0 }
    /Killed process/ && match($0, /anon-rss:[0-9]+/) { kb = substr($0, RSTART + 9, RLENGTH - 9) }
    END {
      if (!at || !match(line, /task_memcg=.*/)) exit
      split(substr(line, RSTART), part, /(,task=|,pid=|,uid=)/)
      group = substr(part[1], 12)
      name = group
      sub(/.*\\//, "", name)
      if (sub("-" part[3] "[.]scope$", "", name)) part[2] = name
      print at, kb, group, part[2]
    }' > "$work/oom"
  if read -r at victim_kb scope victim < "$work/oom"; then
    oom=$(printf '{"count":%s,"victim":"%s","cgroup":"%s","at":"%s"}' \\
      "$kills" "$(plain "$victim")" "$(plain "$scope")" "$(instant "$at")")
  else
    victim_kb=0
    oom=$(printf '{"count":%s,"cgroup":"%s"}' "$kills" "$(plain "\${group%/memory.events}")")
  fi
fi
`

const bodyOf = (agents: readonly InstalledAgent[]): string => `
${versionsScript(agents)}minutes=$(number "$state/policy" idleMinutes)
anyway=$(number "$state/policy" stopWithUnpushedWork)
if [ "$risk" -gt 0 ] && [ "\${anyway:-0}" = 0 ] && [ $((now - active)) -ge $((\${minutes:-720} * 60)) ]; then
  printf '{"source":"unpushed","weight":1,"count":%s}\\n' "$risk" >> "$work/activity"
fi
stopping=
if [ "\${1:-}" = stopping ]; then
  # only what ends with the machine off is a stop: not a new start, nor a new token
  if [ "$(systemctl is-system-running)" != stopping ] || systemctl list-jobs | grep -q reboot.target; then exit 0; fi
  stopping=$(printf ',"stopping":{"reason":"%s"}' "$(plain "$(cat "$root/run/bottega-idle/stopping" 2>/dev/null || echo shutdown)")")
fi
memory=$({ cat "$root/proc/meminfo"; cat "$root"/proc/[0-9]*/status; } 2>/dev/null | awk -v peak="$victim_kb" '
  /^MemTotal:/ { total = $2 }
  /^MemAvailable:/ { free = $2 }
  /^VmHWM:/ && $2 > peak { peak = $2 }
  END { printf "{\\"totalGb\\":%.2f,\\"usedGb\\":%.2f,\\"peakRssGb\\":%.2f}", total / 1048576, (total - free) / 1048576, peak / 1048576 }')
disk=$(df -Pk "$root/" | awk 'NR == 2 { printf "{\\"totalGb\\":%.2f,\\"usedGb\\":%.2f}", ($3 + $4) / 1048576, $3 / 1048576 }')
head=$(git_in "$home/repo" rev-parse --verify -q HEAD)
{
  printf '{"at":"%s","uptimeSeconds":%s' "$(instant "$now")" "$(cut -d. -f1 "$root/proc/uptime")"
  printf ',"memory":%s,"disk":%s,"oom":%s' "$memory" "$disk" "$oom"
  printf ',"git":{"dirty":%s,"untracked":%s,"unpushed":%s,"head":"%s","repositories":[%s]}' \\
    "$dirty" "$untracked" "$unpushed" "$head" "$repositories"
  printf ',"agents":{%s},"activity":[%s]%s}' "$versions" "$(paste -sd, "$work/activity" 2>/dev/null)" "$stopping"
} > "$work/report"
`

/**
 * Sends the oldest first, so that the last that arrives is the present. The token stands on no command line. Each attestation goes along until it
 * was heard; with a report that is refused it goes with no other: they would be refused as well, and with them whose keys open this machine.
 */
const SEND = `
url=$(cat "$root/etc/bottega/url")
${HELD_KEYS}${HELD_ENVIRONMENT}${TAKE_KEYS}${TAKE_ENVIRONMENT}
# What it has and what it asks for is said as it is now: in a report that waited it would be untrue.
now_held() {
  sed '$s/}$//' "$1"
  printf ',"holds":{"keysSha256":"%s"' "$keys_held"
  if [ -n "$held_env" ]; then printf ',"envVersion":"%s"' "$held_env"; fi
  printf '}'
  if [ -s "$work/attested" ]; then printf ',"attested":'; tr -d '\\n' < "$work/attested"; fi
  if [ -n "$seal_to" ]; then printf ',"sealTo":"%s"' "$seal_to"; fi
  printf '}'
}
attested=$root/run/bottega-attest/said
if [ -n "$(find "$attested" -newer "$run/attested" 2>/dev/null)" ] || ! cmp -s "$attested" "$run/attested"; then cat "$attested" > "$work/attested" 2>/dev/null; fi
id=\${token#dbr_}
send() {
  printf 'header = "authorization: Bearer %s"\\n' "$token" |
    curl -K - -s -o "$work/answer" -w '%{http_code}' --max-time 10 -H 'content-type: application/json' \\
      --data-binary "@$1" "$url/api/devboxes/\${id%%_*}/report"
}
if [ -n "$stopping" ]; then
  # never kept: told after the next start it would be untrue
  send "$work/report" > /dev/null
  exit 0
fi
mv "$work/report" "$state/reports/$now"
find "$state/reports" -type f | sort -r | tail -n +${KEPT_REPORTS_MAX + 1} | xargs -r rm -f
for report in "$state"/reports/*; do
  sent=$report
  if [ "$report" = "$state/reports/$now" ]; then
    sent=$work/sent
    now_held "$report" > "$sent"
  fi
  code=$(send "$sent")
  case $code in
    200)
      minutes=$(sed -n 's/.*"idleMinutes": *\\([0-9]\\{1,4\\}\\).*/\\1/p' "$work/answer")
      anyway=$(grep -c '"stopWithUnpushedWork": *true' "$work/answer")
      if [ -n "$minutes" ]; then
        printf 'idleMinutes %s\\nstopWithUnpushedWork %s\\n' "$minutes" "$anyway" > "$state/policy.new"
        mv "$state/policy.new" "$state/policy"
      fi
      if [ "$sent" != "$report" ] && [ -s "$work/attested" ]; then mv "$work/attested" "$run/attested"; fi
      take_keys
      take_env
      ;;
    400 | 413 | 422)
      echo "a report was refused with $code and is dropped" >&2
      if [ "$sent" != "$report" ] && [ -s "$work/attested" ]; then mv "$work/attested" "$run/attested"; fi
      ;;
    401 | 403)
      echo 'the report token is not good any more: give a new one to ${PREFIX}/bin/token' >&2
      exit 1
      ;;
    *) exit 0 ;;
  esac
  rm -f "$report"
done
`

/** What says once a minute how the machine is. */
export const reporterScript = (agents: readonly InstalledAgent[]): string =>
  `${HEAD}${GIT}${ACTIVITY}${OOM}${bodyOf(agents)}${SEND}`
