/**
 * How a register that an older copy of the database has cut short goes on: behind its last entry each number that is known of has
 * an entry again, the others are set aside as lost, and nobody is given one of them (rules/invoice.md#behind).
 */
import { belongsTo } from '../../../kernel/fields.ts'
import { SEQ_DIGITS } from '../../order/number.ts'
import type { RestoredEntry } from './restoration.ts'

/** A register as it stands; `prefix` is followed by the sequence. */
export type CutSeries = { id: string; account: string; prefix: string; last: number }
/** Numbers of an account's series are known to have been given up to this one. */
export type KnownUpTo = { account: string; prefix: string; seq: number }

export type SeriesEntry = { seq: number; prefix: string } & (
  | ({ entry: 'restored' } & Omit<RestoredEntry, 'series' | 'account' | 'prefix' | 'seq'>)
  | { entry: 'lost'; kind: RestoredEntry['kind'] }
)
export type SeriesPlan = { id: string; account: string; prefix: string; last: number; entries: SeriesEntry[] }

export type SeriesInput = {
  series: readonly CutSeries[]
  entries: readonly RestoredEntry[]
  /** Of their resources those that have an entry already, as after a reconciliation that did not come to its end. */
  held: ReadonlySet<string>
  known: readonly KnownUpTo[]
  /** By the id of a series: numbers up to this one may have been given, a person says. */
  reserve: ReadonlyMap<string, number>
}

/** As it stands on a document. */
export const formatSeq = ({ prefix, seq }: { prefix: string; seq: number }): string =>
  `${prefix}${String(seq).padStart(SEQ_DIGITS, '0')}`

const kindOf = (id: string): RestoredEntry['kind'] => (id.split('/')[2] === 'credit_note' ? 'credit_note' : 'invoice')

/** Two that claim one number, or one that somebody else has by now. */
const clashOf = (wanted: readonly RestoredEntry[], { last }: CutSeries): string | null => {
  const given = wanted.find(({ seq }) => seq <= last)
  if (given) return `the register has ${formatSeq(given)} for another resource than ${given.resource}`
  const twice = wanted.find(({ seq }, at) => wanted[at + 1]?.seq === seq)
  return twice ? `two resources say that they have ${formatSeq(twice)}; one is ${twice.resource}` : null
}

const planOf = (of: CutSeries, { entries, known, reserve }: SeriesInput): SeriesPlan | { blocked: string } => {
  const wanted = entries.filter(({ series }) => series === of.id).sort((a, b) => a.seq - b.seq)
  const clash = clashOf(wanted, of)
  if (clash !== null) return { blocked: clash }
  const told = known.filter((one) => belongsTo(one, of.account) && one.prefix === of.prefix)
  const top = Math.max(of.last, reserve.get(of.id) ?? 0, ...[...wanted, ...told].map(({ seq }) => seq))
  const bySeq = new Map(wanted.map((one) => [one.seq, one]))
  const prefixFrom = (seq: number) => wanted.find((one) => one.seq >= seq)?.prefix ?? wanted.at(-1)?.prefix ?? of.prefix
  const plan = Array.from({ length: top - of.last }, (_, at): SeriesEntry => {
    const seq = of.last + 1 + at
    const found = bySeq.get(seq)
    if (!found) return { seq, prefix: prefixFrom(seq), entry: 'lost', kind: kindOf(of.id) }
    const { series: _series, account: _account, ...entry } = found
    return { ...entry, entry: 'restored' }
  })
  return { ...of, entries: plan }
}

/** @returns what is to be written of each series, those alone of which something is; and why some cannot be */
export const planSeries = (given: SeriesInput): { series: SeriesPlan[]; blocked: string[] } => {
  const input = { ...given, entries: given.entries.filter(({ resource }) => !given.held.has(resource)) }
  const begun = new Map(input.series.map((one) => [one.id, one]))
  for (const { series: id, account, prefix } of input.entries) {
    if (!begun.has(id)) begun.set(id, { id, account, prefix, last: 0 })
  }
  const unknown = [...input.reserve.keys()].filter((id) => !begun.has(id))
  const plans = [...begun.values()].map((one) => planOf(one, input))
  return {
    series: plans.flatMap((plan) => ('blocked' in plan || plan.entries.length === 0 ? [] : [plan])),
    blocked: [
      ...plans.flatMap((plan) => ('blocked' in plan ? [plan.blocked] : [])),
      ...unknown.map((id) => `there is no series ${id} to set numbers of aside`),
    ],
  }
}
