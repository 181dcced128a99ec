/**
 * Whether database, cluster and key belong together (judgement.ts), asked before anybody leads and again when something is lost:
 * while they do not, what is kept is served and nobody works on it. Which of them is behind is said in a line of the log, an
 * Event, an annotation of the Lease, a metric and the readiness (hack/decisions/030, 036), and on the resources that tell it (marks.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { TruthCode } from '../../../crds/kernel/desire/absence.ts'
import { GROUP } from '../../../crds/kernel/object.ts'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import type { Events } from '../../kube/events.ts'
import type { Kube } from '../../kube/kube.ts'
import { type AnyObject, LEASE } from '../../kube/objects.ts'
import { type JudgeDeps, judge, sentenceOf, type TruthVerdict } from './judgement.ts'
import { makeMarks } from './marks.ts'

/** How often it is asked again while they disagree. */
const AGAIN_MS = 10_000
/** At first: a watch that is a moment behind is no disagreement, and whoever takes over is waited for. */
const FIRST_AGAIN_MS = 500

/** On the Lease, while they disagree: code and sentence. */
export const DISAGREEMENT = `${GROUP}/disagreement`

export type TruthsDeps = JudgeDeps & {
  kube: Pick<Kube, 'get' | 'patchMeta' | 'patchStatus'>
  now(): Date
  events?: Events
  /** After each look. `behind`: how many resources know of more than the database. */
  onJudged(code: TruthCode | null, behind: number): void
  /** For tests. */
  againMs?: number
}

export type Truths = {
  /** Resolves once all agree; says so while they do not. @throws the signal's reason, or what could not be asked */
  agree(signal: AbortSignal): Promise<void>
  /** Something went that nobody deleted, or a kind is not served: looks again, until they agree. */
  doubt(): void
  /** Begins with the code; null while nothing is known to be wrong. */
  detail(): string | null
  stop(): void
}

const REASONS: Record<TruthCode, string> = {
  CLUSTER_UNKNOWN: 'ClusterUnknown',
  CLUSTER_BEHIND: 'ClusterBehind',
  LEDGER_BEHIND: 'LedgerBehind',
  KEY_UNKNOWN: 'KeyUnknown',
}

/** One line, one Event and one annotation for each thing that is wrong. @returns says what is wrong, and of whom it is known */
const makeVoice = (deps: TruthsDeps) => {
  const { kube, namespace, home = namespace, log, events } = deps
  const ref = { namespace: home, name: LEASE_NAME }
  /** Undefined before the first look: the Lease may still say what an earlier process found. */
  let said: string | null | undefined
  /** Beside the log, which has it already: who cannot write there says it in the other places. */
  const mark = async (detail: string | null): Promise<void> => {
    try {
      // mostly there is nothing to take back: who takes over writes nothing more than it must
      const isMarked = async () => (await kube.get<AnyObject>(LEASE, ref)).metadata.annotations?.[DISAGREEMENT]
      if (detail === null && (await isMarked()) === undefined) return
      await kube.patchMeta(LEASE, ref, { annotations: { [DISAGREEMENT]: detail } })
    } catch (error) {
      log.warn({ err: error }, 'the Lease does not say whether database and cluster agree')
    }
  }
  return {
    said: () => said ?? null,
    say: async (): Promise<TruthVerdict> => {
      const verdict = await judge(deps)
      const { wrong, behind } = verdict
      deps.onJudged(wrong?.code ?? null, behind.length)
      const detail = wrong && `${wrong.code}: ${sentenceOf(wrong).detail}`
      if (detail === said) return verdict
      const isFirst = said === undefined
      said = detail
      if (wrong === null && !isFirst) log.info('database and cluster agree')
      if (wrong !== null) log.error({ code: wrong.code, token: wrong.token }, detail ?? '')
      await mark(detail)
      const object = wrong && (await kube.get<AnyObject>(LEASE, ref).catch(() => null))
      if (object && detail !== null) {
        events?.emit({
          kind: LEASE,
          type: 'Warning',
          reason: REASONS[wrong.code],
          action: 'Lead',
          message: detail,
          object,
        })
      }
      return verdict
    },
  }
}

export const makeTruths = (deps: TruthsDeps): Truths => {
  const { log } = deps
  const againMs = deps.againMs ?? AGAIN_MS
  const stopped = new AbortController()
  const voice = makeVoice(deps)
  const mark = makeMarks(deps)
  let doubting = false
  /** Something went since the last look. */
  let isRung = false

  const doubt = async (): Promise<void> => {
    let wasUnserved: boolean
    do {
      isRung = false
      wasUnserved = deps.caches.unserved().length > 0
      await voice.say().catch((error) => {
        isRung = true
        log.warn({ err: error }, 'nobody can say whether the cluster is the right one')
      })
      await sleep(againMs, undefined, { signal: stopped.signal })
      // what is missing of a kind is seen once it is served again
    } while (voice.said() !== null || isRung || wasUnserved)
  }

  const ring = (): void => {
    isRung = true
    if (doubting || stopped.signal.aborted) return
    doubting = true
    doubt()
      .catch(() => undefined) // stopped
      .finally(() => {
        doubting = false
      })
  }

  return {
    async agree(signal) {
      for (let waitMs = FIRST_AGAIN_MS; ; waitMs *= 2) {
        signal.throwIfAborted()
        const { wrong, behind } = await voice.say()
        if (wrong === null) break
        // whoever holds the lease: nobody else says anything of a resource
        await mark(behind, signal)
        await sleep(Math.min(waitMs, againMs), undefined, { signal })
      }
      if (deps.caches.unserved().length > 0) ring()
    },
    doubt: ring,
    detail: voice.said,
    stop: () => stopped.abort(),
  }
}
