/**
 * Whether the ledger is behind: a resource's status, which is only written after the ledger, knows of more than is on record.
 * So it is after an older copy of the database was put back. What is behind is not numbered, mailed or decided on: the
 * ledger that knew of it may come back (rules/invoice.md#behind).
 */
import { stalled } from '../../../kernel/plan.ts'
import type { InvoiceResource } from '../../schema.ts'
import type { InvoiceFacts, InvoicePhase } from '../../status.ts'
import type { InvoicePlan } from '../../steps.ts'
import type { InvoiceWorld } from '../../world.ts'

/** What the ledger has of an invoice, as far as a status can contradict it. `factSeq` is 0 when there is no fact. */
export type OnRecord = { number: string | null; uids: readonly string[]; isSent: boolean; factSeq: number }

export const onRecordOf = ({ record, sends, restored, factSeq }: InvoiceWorld): OnRecord => ({
  number: record?.number ?? null,
  uids: record?.uids ?? [],
  // what was given back is drawn anew by the next pass
  isSent: sends.length > 0 || restored !== null,
  factSeq,
})

const NEXT = 'the database is older than the cluster; put back its newest copy, or reconcile them'

/** In what the ledger is behind this resource; null when it is not, or when the resource has no number to tell it by. */
export const behindBy = ({ metadata, spec, status }: InvoiceResource, known: OnRecord): string | null => {
  const { number, url, factSeq = 0 } = status ?? {}
  if (number === undefined) return null
  if (known.number === null) return `${number} stands in its status and not in the register: ${NEXT}`
  if (known.number !== number) return `${number} stands in its status and ${known.number} in the register: ${NEXT}`
  // What a test has left is taken out of the ledger before its resource goes.
  if (spec.test) return null
  if (!known.uids.includes(metadata.uid)) return `the register has ${number} for another resource: ${NEXT}`
  if (url !== undefined && !known.isSent) return `the document of ${number} went out and is not on record: ${NEXT}`
  if (factSeq > known.factSeq) {
    return `${factSeq} things happened to ${number} and ${known.factSeq} of them are on record: ${NEXT}`
  }
  return null
}

/** What is known of it stays said. */
const factsOf = ({ status = {} }: InvoiceResource): InvoiceFacts => {
  const { observedGeneration: _, conditions: __, phase = 'draft', ...facts } = status
  return { ...facts, phase: phase as InvoicePhase }
}

export const planBehind = (object: InvoiceResource, detail: string): InvoicePlan => ({
  steps: [],
  status: factsOf(object),
  verdict: stalled('LEDGER_BEHIND', `LEDGER_BEHIND: ${detail}`),
})

/** A number as `<prefix with its year>-` and sequence; null when it is no number of ours. */
export const partsOfNumber = (number: string): { prefix: string; seq: number } | null => {
  const [, prefix, seq] = /^(.+-\d{3}-)(\d{4,15})$/.exec(number) ?? []
  return prefix === undefined ? null : { prefix, seq: Number(seq) }
}
