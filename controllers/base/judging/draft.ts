/**
 * Holds drafts of websites against their sources in threads of their own: both were written by others, and the loop serves health, lease
 * and everybody. Accounts take turns; a draft that needs more than it may take is no usable answer.
 */
import type { SiteProposal } from '../../../crds/site/content/drafting/proposal.ts'
import type { ProvenDraft } from '../../../crds/site/content/drafting/prove.ts'
import type { DraftSource } from '../../../crds/site/content/drafting/source.ts'
import { type Asker, makeThreads, type ThreadLimits, TooDear } from '../threads/pool.ts'

/** Hundred sentences over the longest source take some tenths of a second of CPU. */
export const DRAFT_LIMITS: ThreadLimits = {
  threads: 1,
  queueMax: 32,
  accountUnitsMax: 4,
  waitMaxMs: 20_000,
  cpuMaxMs: 5_000,
  wallMaxMs: 30_000,
  heapMaxMib: 192,
  idleMaxMs: 60_000,
}

export type DraftJob = { proposal: SiteProposal; sources: readonly DraftSource[] }

export type DraftJudge = {
  /** As proveDraft; `too dear` when it would not end within what one may take. @throws what `busy` makes when too much waits */
  prove(job: DraftJob, asker: Asker): Promise<ProvenDraft | null | 'too dear'>
  close(): Promise<void>
}

const ENTRY = new URL('./draftthread.ts', import.meta.url)

export const makeDraftJudge = (busy: () => Error, limits: ThreadLimits = DRAFT_LIMITS): DraftJudge => {
  const threads = makeThreads<DraftJob, ProvenDraft | null>({ entry: ENTRY, what: 'The draft', limits, busy })
  return {
    prove: (job, asker) =>
      threads.run(job, asker).catch((error: unknown) => {
        if (error instanceof TooDear) return 'too dear' as const
        throw error
      }),
    close: threads.close,
  }
}
