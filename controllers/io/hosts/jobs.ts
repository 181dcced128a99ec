/**
 * Detached jobs: a folder per id under `~/.bottega/jobs`, with the job's input, its log, who runs it, and how it ended.
 * A job goes on when the connection is cut or we restart; in doubt its folder is read, and nothing is started again
 * (rules/host.md#jobs).
 *
 * `runner` holds pid, start time and boot id, so that a pid which the kernel handed out again is not mistaken for it.
 * `claimed` is written before the start: a job that was claimed and neither runs nor has ended was lost, and stays lost.
 */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { quoted, type RemoteBody, type RemoteScript } from './remote.ts'

export const LOG_KEPT_BYTES = 64 * 1024
/** How long a cancelled job has between SIGTERM and SIGKILL. */
const CANCEL_GRACE_SECONDS = 5
/** How often is looked whether something has come: a process each time. */
const LOOK_SECONDS = 0.04
/** Looks that a job which was claimed has to say that it runs. */
const BREATHS = 250
/** The exit code of a job that was killed: by its limit, by `cancelJob`, or by a reboot of the host. */
export const KILLED = 137
const ID = /^[a-z0-9][a-z0-9-]{0,62}$/

/** `log` holds the last 64 KiB of stdout and stderr together. A job that was killed has code 137. */
export type HostJobState =
  | { state: 'absent' }
  | { state: 'running' }
  | { state: 'exited'; code: number; log: string; cancelled: boolean }

/**
 * A detached job: it goes on when we are cut off or restart. The same id never runs twice on a host, whatever was lost
 * on the way; ids are `[a-z0-9-]`, at most 63 long, and name one step of one operation. Lines and body are its stdin.
 * The script begins in the job's own folder (home is `$HOME`), which `dropJob` removes; what it leaves running in its
 * process group ends with it.
 */
export type Job = {
  id: string
  script: RemoteScript
  lines?: readonly string[]
  body?: RemoteBody
  /** The host itself ends the job then. */
  limitMs: number
}

/** In the jobs' folder, with the job's id in `$id`, and in `$looks` how long its end is waited for. */
const COMMON = `umask 077
mkdir -p .bottega/jobs && cd .bottega/jobs || exit 1
IFS= read -r id && IFS= read -r looks || exit 1
start_of() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f1,20; }
boot=$(cat /proc/sys/kernel/random/boot_id)
is_running() {
  read -r pid start on < "$id/runner" 2>/dev/null || return 1
  [ "$on" = "$boot" ] || return 1
  case "$(start_of "$pid")" in "Z $start") return 1;; *" $start") return 0;; *) return 1;; esac
}
ended() { rm -f "$id/input"; printf '%s\\n' "$1" > "$id/exit.partial" && mv "$id/exit.partial" "$id/exit"; }
begun() {
  # Between the claim and the runner's first breath there is nothing to see yet.
  tries=0
  while [ ! -f "$id/runner" ] && [ ! -f "$id/exit" ] && [ $tries -lt ${BREATHS} ]; do
    sleep ${LOOK_SECONDS}; tries=$((tries + 1))
  done
}
await_end() {
  while [ ! -f "$id/exit" ] && [ "$looks" -gt 0 ]; do sleep ${LOOK_SECONDS}; looks=$((looks - 1)); done
}
locked() { exec 8>>".lock-$id" && flock 8; }
report() {
  if [ -f "$id/claimed" ]; then
    begun
    await_end
    is_running || [ -f "$id/exit" ] || ended ${KILLED}
  fi
  if [ -f "$id/exit" ]; then
    [ -f "$id/cancelled" ] && how=cancelled || how=ended
    printf 'exited %s %s\\n' "$(cat "$id/exit")" "$how"
    tail -c ${LOG_KEPT_BYTES} "$id/log" 2>/dev/null
  elif [ -f "$id/claimed" ]; then echo running
  else echo absent
  fi
  exit 0
}
`

/**
 * What runs detached, in a session of its own, the head of its process group. Its log holds what the script says; its
 * input, which may hold secrets, is gone when it ends. The watch ends the whole group at the limit.
 */
const RUNNER = `id=$1 limit=$2
cd "$id" || exit 1
read -r state start <<EOT
$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f1,20)
EOT
printf '%s %s %s\\n' $$ "$start" "$(cat /proc/sys/kernel/random/boot_id)" > runner.partial && mv runner.partial runner
[ -f cancelled ] || [ -f exit ] && exit
( sleep "$limit"; printf '${KILLED}\\n' > exit.limit; mv exit.limit exit; rm -f input; kill -KILL 0 ) </dev/null >/dev/null 2>&1 &
watch=$!
umask 022
sh ./script < input > log 2>&1
code=$?
umask 077
rm -f input
printf '%s\\n' "$code" > exit.partial
mv exit.partial exit
kill -KILL 0
`

/** Reads the job's limit in seconds and the size of its input, then the input itself. */
const startText = (script: RemoteScript): string => `${COMMON}IFS= read -r limit && IFS= read -r bytes || exit 1
if [ ! -f "$id/claimed" ] && [ ! -f "$id/exit" ]; then
  new=$(mktemp -d .new-XXXXXXXX) || exit 1
  trap 'rm -rf "$new"' EXIT
  cat > "$new/input" || exit 1
  # A connection that is cut looks like the end of the input.
  [ "$(wc -c < "$new/input")" -eq "$bytes" ] || exit 1
  printf '%s' ${quoted(script.text)} > "$new/script" || exit 1
  locked
  if [ ! -d "$id" ]; then
    : > "$new/claimed" && : > "$new/log" && sync "$new/input" "$new/claimed" && mv -T "$new" "$id" || exit 1
    setsid sh -c ${quoted(RUNNER)} runner "$id" "$limit" </dev/null >/dev/null 2>&1 8>&- 9>&- &
  fi
  exec 8>&-
fi
report
`

const STATE: RemoteScript = { name: 'job state', text: `${COMMON}report\n` }

const CANCEL: RemoteScript = {
  name: 'job cancel',
  text: `${COMMON}locked
if [ ! -d "$id" ]; then mkdir "$id" && : > "$id/cancelled" && ended ${KILLED}; report; fi
[ -f "$id/exit" ] && report
: > "$id/cancelled"
# It says who runs it before it looks for the mark, and we look for it after setting the mark: one of us sees the other.
begun
if is_running; then
  kill -TERM "-$pid" 2>/dev/null
  for second in $(seq ${CANCEL_GRACE_SECONDS}); do is_running || break; sleep 1; done
  kill -KILL "-$pid" 2>/dev/null
fi
[ -f "$id/exit" ] || ended ${KILLED}
report
`,
}

const DROP: RemoteScript = {
  name: 'job drop',
  text: `${COMMON}drop() {
  locked
  if [ -d "$id" ] && { [ -f "$id/exit" ] || ! is_running; }; then rm -rf "$id"; fi
  rm -f ".lock-$id"
}
drop
while IFS= read -r id; do drop; done
`,
}

const stateOf = (text: string): HostJobState => {
  const line = text.slice(0, text.indexOf('\n'))
  const [word, code, how] = line.split(' ')
  if (word === 'absent') return { state: 'absent' }
  if (word === 'running') return { state: 'running' }
  assert(word === 'exited' && /^\d{1,3}$/.test(code ?? ''), `a job is absent, running or exited, not ${word}`)
  return { state: 'exited', code: Number(code), log: text.slice(line.length + 1), cancelled: how === 'cancelled' }
}

export type JobRun = {
  script: RemoteScript
  lines: readonly string[]
  body?: RemoteBody
  lane: 'work' | 'status'
  /** Changes of a job carry the leader's epoch. */
  fenced: boolean
  deadlineMs: number
}

const LOOK_LIMIT_MS = 10_000
const CANCEL_LIMIT_MS = 30_000
/** Of 100 MB over a slow line. */
const START_LIMIT_MS = 600_000

const bytesOf = (body: RemoteBody | undefined): number =>
  body === undefined ? 0 : Buffer.isBuffer(body) ? body.length : body.bytes

/** Lines before a body, as one input. */
const inputOf = ({ lines = [], body }: Job): RemoteBody => {
  const head = Buffer.from(lines.map((line) => `${line}\n`).join(''))
  if (body === undefined) return head
  if (Buffer.isBuffer(body)) return Buffer.concat([head, body])
  const { stream, bytes } = body
  async function* joined() {
    yield head
    yield* stream
  }
  return { stream: Readable.from(joined(), { objectMode: false }), bytes: head.length + bytes }
}

/** How long the host waits for the job's end before it answers how the job stands. */
export type JobWait = { waitMs?: number }

const NO_LOOK = '0'
const looksIn = (waitMs: number): string => String(Math.round(waitMs / 1000 / LOOK_SECONDS))

/** @param run runs a script that must end well: another exit code than 0 is an error */
export const makeJobs = (run: (input: JobRun) => Promise<string>) => {
  const named = (id: string): string => {
    assert(ID.test(id), `${id} is no id of a job`)
    return id
  }
  return {
    startJob: async (job: Job, { waitMs = 0 }: JobWait = {}): Promise<HostJobState> => {
      for (const line of job.lines ?? []) assert(!/[\n\0]/.test(line), 'a line holds neither a line feed nor NUL')
      const body = inputOf(job)
      const limitSeconds = Math.ceil(job.limitMs / 1000)
      const lines = [named(job.id), looksIn(waitMs), String(limitSeconds), String(bytesOf(body))]
      const script = { name: `start ${job.script.name}`, text: startText(job.script) }
      return stateOf(await run({ script, lines, body, lane: 'work', fenced: true, deadlineMs: START_LIMIT_MS }))
    },
    jobState: async (id: string, { waitMs = 0 }: JobWait = {}): Promise<HostJobState> => {
      const lines = [named(id), looksIn(waitMs)]
      // Who waits must not stand in the way of who looks or cancels.
      const lane = waitMs > 0 ? 'work' : 'status'
      return stateOf(await run({ script: STATE, lines, lane, fenced: false, deadlineMs: LOOK_LIMIT_MS + waitMs }))
    },
    cancelJob: async (id: string): Promise<HostJobState> => {
      const lines = [named(id), NO_LOOK]
      return stateOf(await run({ script: CANCEL, lines, lane: 'status', fenced: true, deadlineMs: CANCEL_LIMIT_MS }))
    },
    dropJob: async (id: string, ...more: readonly string[]): Promise<void> => {
      const lines = [named(id), NO_LOOK, ...more.map(named)]
      await run({ script: DROP, lines, lane: 'status', fenced: true, deadlineMs: LOOK_LIMIT_MS })
    },
  }
}
