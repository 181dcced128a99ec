/** Draws documents in threads of their own, so that a long one holds up nothing else. */
import { DRAW_UNITS_MAX, frozenCost } from '../../../crds/invoice/document/drawcost.ts'
import type { Frozen, FrozenDraft } from '../../../crds/invoice/order/frozen.ts'
import { Waiting } from '../../base/errors.ts'
import { type Asker, JobFailed, makeThreads, type ThreadLimits } from '../../base/threads/pool.ts'
import type { Extras } from './pdf.ts'
import { PROBE } from './probe.ts'

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

/** A document that cannot be drawn, while others can. `how` is safe to show. */
export class Undrawable extends Error {
  readonly how: string

  constructor(how: string, options?: ErrorOptions) {
    super(`the document cannot be drawn: ${how}`, options)
    this.name = 'Undrawable'
    this.how = how
  }
}

/** `isSuspect`: it failed before, and is drawn where it holds up only its like. */
export type Drawer = Asker & { isSuspect?: boolean }

/** What a thread is given. */
export type RenderJob = { frozen: Frozen | FrozenDraft; extras: Extras }

export type Renderer = {
  /** @throws TooDear; Undrawable; Waiting while the renderer is busy or off; Error while it draws nothing at all */
  render(frozen: Frozen | FrozenDraft, drawer: Drawer, extras?: Extras): Promise<Buffer>
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
    render: async (frozen, { isSuspect = false, ...asker }, extras = {}) => {
      if (limits.threads === 0)
        throw new Waiting('PDF_RENDER_OFF', 'PDF_RENDER_OFF: the renderer is switched off', OFF_RETRY_MS)
      const { units } = frozenCost(frozen)
      const threads = units < limits.dearUnits && !isSuspect ? quick : dear
      try {
        const bytes = await threads.run({ frozen, extras }, asker, units)
        return Buffer.from(bytes.buffer)
      } catch (error) {
        if (!(error instanceof JobFailed)) throw error
        // what fails now is no fault of this document
        await threads.run({ frozen: PROBE, extras: {} }, asker)
        throw new Undrawable(error.how, { cause: error })
      }
    },
    close: async () => {
      await Promise.all([quick.close(), dear.close()])
    },
  }
}
