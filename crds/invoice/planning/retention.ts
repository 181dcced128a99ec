/** When a finished invoice leaves the cluster (rules/platform.md#resources-are-scarce). */
import { PAUSED } from '../../kernel/object.ts'
import type { InvoiceResource } from '../schema.ts'

/** How long one that was brought back stays at least: somebody is about to act on it. */
export const STAY_MS = 3_600_000
export const RETENTION_DAYS_DEFAULT = 30
const DAY_MS = 86_400_000

/** Nothing has happened to an invoice that may leave since this instant. */
export const quietSince = (now: Date, retentionDays: number): string =>
  new Date(now.getTime() - retentionDays * DAY_MS).toISOString()

/**
 * Whether the resource has nothing left to do: paid, fully credited or voided, judged as it stands and found in order. What
 * the ledger knows beside it (mails under way, reports that nobody decided on, how long ago something happened) is asked
 * there. Test invoices are not kept at all but purged.
 */
export const isFinished = ({ metadata, spec, status }: InvoiceResource, now: Date): boolean => {
  const { generation, deletionTimestamp, creationTimestamp, annotations = {} } = metadata
  if (spec.test || status?.number === undefined || deletionTimestamp !== undefined) return false
  if (annotations[PAUSED] === 'true' || status.observedGeneration !== generation) return false
  if (status.phase !== 'paid' && status.phase !== 'voided') return false
  // what is repeated every month has something left to do
  if (status.phase !== 'voided' && spec.recurrence && !spec.recurrence.paused) return false
  if (now.getTime() - Date.parse(creationTimestamp) < STAY_MS) return false
  return status.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') ?? false
}
