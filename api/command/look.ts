/**
 * Waiting for what the controllers say: watch, act, look, and look again with a bound (rules/platform.md#bounded-wait). The
 * one place that waits; whoever is asked by a request goes through settle.ts.
 */
import type { KindRef } from '../../controllers/kube/kube.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { isAway } from '../../controllers/store/pg/away.ts'
import type { KindOf } from '../../crds/kernel/kind.ts'
import { Problem } from '../http/problem.ts'
import type { OwnMirror, OwnWaiter, Whose } from './own.ts'
import { WAIT_MS, type Watched } from './wait.ts'

/**
 * What a row says of a request.
 * - `pending`: nothing yet
 * - `decided`: how it ended
 * - `overtaken`: something that was asked later has been taken in with it; who has waited all the while takes what stands
 * - `remade`: another resource has the name by now, or still has it
 * - `gone`: the resource is not there any more
 */
export type Judgement = 'pending' | 'decided' | 'overtaken' | 'remade' | 'gone'

export type Watching<View> = { kind: KindRef & KindOf<View>; name: string; whose: Whose }

/** The resource went while its verdict was waited for. */
export class DeletedMeanwhile extends Problem {
  override name = 'DeletedMeanwhile'
  constructor(name: string) {
    super('NOT_FOUND', `${name} was deleted while this was waited for; nothing more comes of it.`)
  }
}

/** What comes after something was stored: null where a part is away, and the verdict still to come. */
export const afterStored = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (isAway(error)) return null
    throw error
  })

/** Watches from before the change until the answer, or for longer where `keep` is called. */
export const underWatch = async <View, T>(
  deps: { waiter: OwnWaiter },
  { kind, name, whose }: Watching<View>,
  use: (watched: Watched<View>, keep: () => void) => Promise<T>,
): Promise<T> => {
  const watched = deps.waiter.watch(kind, name, whose)
  let isKept = false
  try {
    return await use(watched, () => {
      isKept = true
    })
  } finally {
    if (!isKept) watched.leave()
  }
}

export type Judging<Goal, View, Outcome> = {
  judge(goal: Goal, row: MirrorRow<View> | undefined): Judgement
  conclude(goal: Goal, row: MirrorRow<View> | undefined): Promise<Outcome | null>
  /** As a Command's: there is nothing to look at before the watch hears of it. */
  isNew?(goal: Goal): boolean
  /** Looks once. */
  isAsync?: boolean
  isPatient?: boolean
  /** WAIT_MS when left out. */
  waitMs?: number
}

/** Who waits takes what stands, whatever else has been taken in with it. */
const isDecided = (judgement: Judgement): boolean => judgement === 'decided' || judgement === 'overtaken'

export const lookUntil = async <Goal, View, Outcome>(
  deps: { mirror: OwnMirror },
  { kind, name, whose }: Watching<View>,
  { judge, conclude, isNew, isAsync, isPatient, waitMs = WAIT_MS }: Judging<Goal, View, Outcome>,
  { goal, watched }: { goal: Goal; watched: Watched<View> },
): Promise<Outcome | null> => {
  const endMs = performance.now() + waitMs
  const isSpared = !isAsync && isNew?.(goal) === true && watched.isQuiet()
  let found = isSpared ? null : { row: await deps.mirror.get(kind, name, whose) }
  for (;;) {
    const judgement = found === null ? 'pending' : judge(goal, found.row)
    if (judgement === 'gone') throw new DeletedMeanwhile(name)
    const isTaken = isDecided(judgement)
    const outcome = isTaken ? await conclude(goal, found?.row) : null
    if (outcome !== null || isAsync || (isTaken && !isPatient)) return outcome
    const isNews = (now: MirrorRow<View> | undefined) =>
      isTaken || judge(goal, now) === 'gone' || isDecided(judge(goal, now))
    found = await watched.until(isNews, endMs - performance.now())
    if (found === null) return null
  }
}

/**
 * For what is no request of its own: acts, and gives what came of it.
 * @returns null when the time was up, or a part is away @throws DeletedMeanwhile; what `act` and `conclude` throw
 */
export const waitFor = <Goal, View, Outcome>(
  deps: { waiter: OwnWaiter; mirror: OwnMirror },
  asked: Watching<View> & Judging<Goal, View, Outcome> & { act(): Promise<Goal> },
): Promise<Outcome | null> =>
  underWatch(deps, asked, async (watched) => {
    const goal = await asked.act()
    return afterStored(lookUntil(deps, asked, asked, { goal, watched }))
  })
