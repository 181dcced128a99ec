/** Draws documents in threads of their own, so that a long one holds up nothing else. */
import { DRAW_UNITS_MAX, frozenCost } from '../../../crds/invoice/document/drawcost.ts'
import type { Frozen, FrozenDraft } from '../../../crds/invoice/order/frozen.ts'
import { Waiting } from '../../base/errors.ts'
import { type Asker, makeThreads, type ThreadLimits } from '../../base/threads/pool.ts'
import type { Extras } from './pdf.ts'

/** `threads` 0: the renderer is off. From `dearUnits` on a document is dear: it is drawn where it holds up only its like. */
export type RendererLimits = ThreadLimits & { dearUnits: number }

export const RENDERER_LIMITS: RendererLimits = {
  threads: 1,
  queueMax: 64,
  accountUnitsMax: DRAW_UNITS_MAX,
  waitMaxMs: 20_000,
  cpuMaxMs: 20_000,
  wallMaxMs: 60_000,
  heapMaxMib: 96,
  dearUnits: 500_000,
}

/** Dear ones come rarely, one after the other: their thread and its fonts go when none has come for so long. */
const DEAR_LIMITS = { threads: 1, idleMaxMs: 60_000 }

const BUSY_RETRY_MS = 5_000
const OFF_RETRY_MS = 60_000

/** What a thread is given. */
export type RenderJob = { frozen: Frozen | FrozenDraft; extras: Extras }

export type Renderer = {
  /** @throws TooDear; Waiting while the renderer is busy or off */
  render(frozen: Frozen | FrozenDraft, asker: Asker, extras?: Extras): Promise<Buffer>
  /** Ends the threads; what waits or is drawn is refused. */
  close(): Promise<void>
}

const ENTRY = new URL('./renderthread.ts', import.meta.url)

const busy = (): Waiting =>
  new Waiting('PDF_BUSY', 'PDF_BUSY: documents wait to be drawn; this one is drawn when it is its turn', BUSY_RETRY_MS)

/** Threads live on: parsed fonts are their worth. */
export const makeRenderer = (limits: RendererLimits = RENDERER_LIMITS): Renderer => {
  const openThreads = (own: ThreadLimits) =>
    makeThreads<RenderJob, Uint8Array>({ entry: ENTRY, what: 'The document', limits: own, busy })
  const quick = openThreads(limits)
  const dear = openThreads({ ...limits, ...DEAR_LIMITS })
  return {
    render: async (frozen, asker, extras = {}) => {
      if (limits.threads === 0)
        throw new Waiting('PDF_RENDER_OFF', 'PDF_RENDER_OFF: the renderer is switched off', OFF_RETRY_MS)
      const { units } = frozenCost(frozen)
      const threads = units < limits.dearUnits ? quick : dear
      const bytes = await threads.run({ frozen, extras }, asker, units)
      return Buffer.from(bytes.buffer)
    },
    close: async () => {
      await Promise.all([quick.close(), dear.close()])
    },
  }
}
