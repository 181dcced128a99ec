/** Cuts Han faces to the characters of a site, in a thread of its own: a whole face is 10 MB, and a cut takes tenths of a second. */
import type { HanCut } from '../../../crds/site/render/type/han.ts'
import { Waiting } from '../../base/errors.ts'
import { type Asker, makeThreads, type ThreadLimits } from '../../base/threads/pool.ts'

export type HanJob = Pick<HanCut, 'face' | 'characters'>

/** The thread goes when nothing was cut for a minute: its library keeps what it has grown to. */
export const HAN_LIMITS: ThreadLimits = {
  threads: 1,
  queueMax: 64,
  accountUnitsMax: 8,
  waitMaxMs: 60_000,
  cpuMaxMs: 20_000,
  wallMaxMs: 60_000,
  heapMaxMib: 128,
  idleMaxMs: 60_000,
}

export type HanCutter = {
  /** WOFF2: the same face and characters give the same bytes. @throws Waiting while too much waits */
  cut(job: HanJob, asker: Asker): Promise<Uint8Array>
  close(): Promise<void>
}

const BUSY_RETRY_MS = 5_000

const busy = (): Waiting =>
  new Waiting('UNAVAILABLE', 'UNAVAILABLE: typefaces wait to be cut; this one is when it is its turn', BUSY_RETRY_MS)

export const makeHanCutter = (limits: ThreadLimits = HAN_LIMITS): HanCutter => {
  const entry = new URL('./hanthread.ts', import.meta.url)
  const threads = makeThreads<HanJob, Uint8Array>({ entry, what: 'The typeface', limits, busy })
  return {
    cut: ({ face, characters }, asker) => threads.run({ face, characters }, asker),
    close: threads.close,
  }
}
