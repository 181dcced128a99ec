/**
 * What a process stands on, compared with its version again and again: said in one line of the log when it changes, and on
 * /readyz. An older database or definition is not worked on; a newer one is, because changes are made so that the version
 * before can live with them. Where a kind has no definition, all others are worked on.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import type { VersionStanding } from '../base/standing.ts'
import type { Kube } from '../kube/kube.ts'
import { standingOfDefinitions } from '../kube/served.ts'
import { standingOfSchema } from '../store/pg/applied.ts'
import type { Pg } from '../store/pg/pg.ts'
import type { PortCheck } from './port.ts'

const LOOK_MS = 15_000
/** While something is wrong. */
const AGAIN_MS = 2_000

export type StandingsDeps = {
  /** By the name that it has on /readyz. @throws while it cannot be asked */
  looks: Record<string, () => Promise<VersionStanding>>
  log: Log
  lookMs?: number
  againMs?: number
}

export type Standings = {
  checks: Record<string, PortCheck>
  /** Resolves once nothing is older. @throws the signal's reason */
  fit(signal: AbortSignal): Promise<void>
  stop(): void
}

const checkOf = (standing: VersionStanding | undefined): ReturnType<PortCheck> => {
  if (standing === undefined || standing.state === 'same') return true
  return standing.state === 'older' ? standing.detail : { note: `${standing.state}: ${standing.detail}` }
}

/** Looks at once, and then now and then. What cannot be asked leaves the last answer standing. */
export const makeStandings = ({ looks, log, lookMs = LOOK_MS, againMs = AGAIN_MS }: StandingsDeps): Standings => {
  const stopped = new AbortController()
  const known = new Map<string, VersionStanding>()

  const say = (what: string, standing: VersionStanding): void => {
    const before = known.get(what)
    known.set(what, standing)
    if (JSON.stringify(before ?? { state: 'same' }) === JSON.stringify(standing)) return
    if (standing.state === 'same') log.info({ what }, 'what this process stands on fits its version again')
    else if (standing.state === 'partial')
      log.error(
        { what, detail: standing.detail },
        'a part of what this process stands on is missing; the rest is served',
      )
    else if (standing.state === 'newer')
      log.warn({ what, detail: standing.detail }, 'this process is older than what it stands on')
    else log.error({ what, detail: standing.detail }, 'this process is newer than what it stands on')
  }
  /** When all of them were asked and answered last. */
  let answeredAt = Number.NEGATIVE_INFINITY
  const look = async (): Promise<void> => {
    const beganAt = performance.now()
    const answers = await Promise.all(
      Object.entries(looks).map(([what, ask]) =>
        ask()
          .then((standing) => say(what, standing))
          .then(
            () => true,
            (error) => {
              log.debug({ err: error, what }, 'nobody can say whether it fits this version')
              return false
            },
          ),
      ),
    )
    if (answers.every(Boolean)) answeredAt = beganAt
  }
  /** Who stands by has looked all along: what is asked for does not wait for one look more. */
  const isFresh = () => performance.now() - answeredAt < 2 * lookMs
  const fits = () => [...known.values()].every(({ state }) => state !== 'older')
  const loop = async (): Promise<void> => {
    const isWhole = () => [...known.values()].every(({ state }) => state === 'same' || state === 'newer')
    for (;;) {
      await look()
      await sleep(isWhole() ? lookMs : againMs, undefined, { signal: stopped.signal, ref: false })
    }
  }
  loop().catch(() => undefined) // stopped

  return {
    checks: Object.fromEntries(Object.keys(looks).map((what) => [what, () => checkOf(known.get(what))])),
    async fit(signal) {
      if (!isFresh()) await look()
      while (!fits()) {
        await sleep(againMs, undefined, { signal })
        await look()
      }
    },
    stop: () => stopped.abort(),
  }
}

/** What both processes stand on. */
export const makeProcessStandings = ({ pg, kube, log }: { pg: Pg; kube: Pick<Kube, 'raw'>; log: Log }): Standings =>
  makeStandings({
    looks: { schema: () => standingOfSchema({ pg }), definitions: () => standingOfDefinitions(kube) },
    log,
  })
