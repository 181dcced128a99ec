/**
 * Whether this process may believe its clock: it is compared with the database's, which all processes share. Who is more than
 * a minute away does nothing that falls due, for it cannot be taken back, and says so until the two agree again
 * (rules/platform.md#clock, hack/decisions/040).
 */
import { sleep } from '../base/backoff.ts'
import type { Log } from '../base/log.ts'

/** More is told. Every healthy time service keeps well below (chrony and systemd-timesyncd: milliseconds). */
const WARN_MS = 5_000
/** More, and nothing that falls due is done. */
const REFUSE_MS = 60_000
const LOOK_EVERY_MS = 10_000

export type ClockGuardDeps = {
  /** The database's clock, in milliseconds since 1970. */
  readDatabase(): Promise<number>
  /** Ours. */
  wall?: () => number
  /** Monotonic milliseconds: how long the question took, and how far our clock jumped since. */
  elapsed?: () => number
  log: Log
  /** Seconds by which our clock is ahead, negative when it is behind; at each look, and 0 until the first. */
  onSkew?(seconds: number): void
  onRefused?(isRefused: boolean): void
  lookEveryMs?: number
}

/** Instants are milliseconds since 1970. */
export type ClockGuard = {
  /** Before the first look it may not. */
  isTrusted(): boolean
  /** Our clock; while it is not trusted the earlier of the two, so that nothing is due before both say so. */
  earlier(): number
  /** Our clock; while it is not trusted the database's. */
  shared(): number
  /** Begins with CLOCK_SKEWED; null while nothing is wrong. */
  detail(): string | null
  /** Compares the clocks now. @throws what the question throws; what was known before stands */
  look(): Promise<void>
  stop(): void
}

/** What the last look found. `skewMs`: ours minus theirs; `doubtMs`: by how much that may be wrong, for the answer was under way. */
type Seen = { skewMs: number; doubtMs: number; wall: number; elapsed: number }

type Level = 'agree' | 'warn' | 'refuse'

const seconds = (ms: number): number => Math.round(ms) / 1000

/** Looks at once, then every ten seconds. */
export const startClockGuard = (deps: ClockGuardDeps): ClockGuard => {
  const { readDatabase, wall = Date.now, elapsed = () => performance.now(), log, onSkew, onRefused } = deps
  const stopping = new AbortController()
  let seen: Seen | null = null
  let told: Level = 'agree'

  /** A clock that is set between two looks jumps away from the monotonic one. */
  const skewMs = (): number => (seen ? seen.skewMs + (wall() - seen.wall) - (elapsed() - seen.elapsed) : 0)
  /** What is sure of it. */
  const sureMs = (): number => (seen ? Math.max(0, Math.abs(skewMs()) - seen.doubtMs) : 0)
  const levelOf = (): Level => {
    const sure = sureMs()
    if (sure > REFUSE_MS) return 'refuse'
    return sure > WARN_MS ? 'warn' : 'agree'
  }
  const isTrusted = () => seen !== null && levelOf() !== 'refuse'

  const tell = (): void => {
    const level = levelOf()
    const skew = seconds(skewMs())
    onSkew?.(skew)
    onRefused?.(level === 'refuse')
    if (level === told) return
    told = level
    const facts = { skewSeconds: skew }
    if (level === 'agree') log.info(facts, 'the clock agrees with that of the database')
    else if (level === 'warn')
      log.warn(facts, 'the clock is away from that of the database; set the time of both machines')
    else
      log.error(
        { code: 'CLOCK_SKEWED', ...facts },
        'nothing that falls due is done before the clock agrees with that of the database',
      )
  }

  const look = async (): Promise<void> => {
    const [askedAt, from] = [wall(), elapsed()]
    const theirs = await readDatabase()
    const tookMs = elapsed() - from
    seen = { skewMs: askedAt + tookMs / 2 - theirs, doubtMs: tookMs / 2, wall: askedAt, elapsed: from }
    tell()
  }
  const looks = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // whoever needs the database says that it is away
      await look().catch((error) => log.debug({ err: error }, 'the clock of the database was not read'))
      await sleep(deps.lookEveryMs ?? LOOK_EVERY_MS, stopping.signal)
    }
  }
  onSkew?.(0)
  onRefused?.(false)
  void looks()

  return {
    isTrusted,
    earlier: () => (seen === null || isTrusted() ? wall() : Math.min(wall(), wall() - skewMs())),
    shared: () => (seen === null || isTrusted() ? wall() : wall() - skewMs()),
    detail: () => {
      if (levelOf() !== 'refuse') return null
      const skew = Math.round(skewMs() / 1000)
      const where = skew > 0 ? `${skew} s ahead of` : `${-skew} s behind`
      return `CLOCK_SKEWED: this clock is ${where} the database's. Nothing that falls due is done; set the time of both machines right`
    },
    look,
    stop: () => stopping.abort(),
  }
}
