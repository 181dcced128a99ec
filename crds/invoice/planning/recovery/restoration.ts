/**
 * What an older copy of the ledger is given back from the status of an invoice that it is behind of: its number, that it was sent,
 * what was paid and credited, and its uid (rules/invoice.md#behind, hack/decisions/036). Documents are drawn anew from the
 * spec, and nobody is told again.
 */
import { instantAt } from '../../../values/calendar.ts'
import { LINK_FACT, type LinkBody, linkKey, linksNow, unrecordedLinks } from '../../../values/links.ts'
import { displayCents } from '../../../values/money.ts'
import { RECEIPT } from '../../document/freeze.ts'
import type { InvoiceRecord } from '../../facts/ledger.ts'
import { creditKey, paymentKey, type Recorded, sendKey } from '../../facts/records.ts'
import { restoredKey } from '../../facts/restored.ts'
import { INVOICE_LINKS } from '../../facts/versions.ts'
import { seriesOf } from '../../order/number.ts'
import { type Payload, payloadOf } from '../../order/payload.ts'
import { totalsOf } from '../../order/totals.ts'
import { DEFAULT_ISSUER, type InvoiceResource, type InvoiceSpec, type InvoiceStatus } from '../../schema.ts'
import { partsOfNumber } from './behind.ts'

/** The hour of an instant of which only the day is known: that day in every zone near the issuer's. */
const NOON = '12:00'

/** What the ledger has of the invoice; `factSeq` is 0 when there is no fact. */
export type LedgerSide = Pick<Recorded, 'payments' | 'credits' | 'resends' | 'links'> & {
  record: Pick<InvoiceRecord, 'number' | 'uids'> | null
  sends: number
  factSeq: number
}

/** An entry of the register as it is to stand there again; `prefix` is followed by the sequence. */
export type RestoredEntry = {
  series: string
  account: string
  prefix: string
  seq: number
  resource: string
  uid: string
  kind: 'invoice' | 'credit_note'
  totalCents: number
  currency: string
  /** ISO instant. */
  issuedAt: string
  claimed: Record<string, unknown>
}

/** `outcome` is what was decided about it. */
export type RestoredRow = {
  key: string
  kind: string
  body: Record<string, unknown>
  outcome?: Record<string, unknown>
}

/** `leastSeq` is the place of the first of `facts`, at least: the status has folded that many. */
export type Restoration = {
  name: string
  account: string
  number: string
  entries: RestoredEntry[]
  facts: RestoredRow[]
  leastSeq: number
  /** In plain words. */
  does: string[]
}
/** Why it is left to a person, with what to do. */
export type Unrestorable = { name: string; account: string; number: string; blocked: string }

type Known = { invoice: InvoiceResource; status: InvoiceStatus; number: string; zone: string }

const blockedBy = ({ invoice, status, number }: Known, ledger: LedgerSide): string | null => {
  const { spec, metadata } = invoice
  if (ledger.record !== null && ledger.record.number !== number)
    return `the register has ${ledger.record.number} for it: two documents were made; tell its client which one holds, void the other by hand, and delete this resource`
  if (partsOfNumber(number) === null) return `${number} is no number of ours: delete this resource`
  const total = totalsOf(spec).totalCents
  if (status.url === undefined || ledger.sends >= (status.sends ?? 1) || total === status.totalCents) return null
  const money = (cents: number) => displayCents(cents, spec.currency)
  return `it was sent over ${money(status.totalCents ?? 0)}, and its spec says ${money(total)}: set the spec back to what was sent (kubectl edit inv ${metadata.name}), and plan again`
}

const entryOf = (
  known: Known,
  of: { number: string; resource: string; kind: RestoredEntry['kind']; totalCents: number },
) => {
  const { invoice, status, zone } = known
  const { account, test, currency } = invoice.spec
  const { prefix = '', seq = 0 } = partsOfNumber(of.number) ?? {}
  const issuerId = status.issuerId ?? DEFAULT_ISSUER
  const issuedOn = status.issuedOn ?? ''
  // of the name of a series only the year of the day counts, not the prefix
  const { id: series } = seriesOf({ account, issuerId, prefix: '', test, kind: of.kind, issuedOn })
  const base = { series, account, prefix, seq, uid: invoice.metadata.uid, currency: status.currency ?? currency }
  return { ...base, ...of, issuedAt: instantAt(issuedOn, NOON, zone).toISOString() }
}

const orderOf = (spec: InvoiceSpec, status: InvoiceStatus): Payload => ({
  ...payloadOf(spec, status.issuerId ?? DEFAULT_ISSUER),
  totalCents: status.totalCents ?? 0,
  send: true,
})

const claimedOf = (spec: InvoiceSpec, status: InvoiceStatus): Record<string, unknown> => ({
  ...orderOf(spec, status),
  account: spec.account,
  ...(spec.externalRef !== undefined && { externalRef: spec.externalRef }),
})

const sumOf = (rows: readonly { amountCents: number }[]): number => rows.reduce((sum, row) => sum + row.amountCents, 0)

/** What was paid beside what a receipt says of itself, which its next pass records. */
const paymentRows = ({ invoice: { spec }, status }: Known, { payments }: LedgerSide, seq: number): RestoredRow[] => {
  const hasReceipt = payments.some(({ id }) => id === RECEIPT)
  const ofReceipt = spec.paid && !hasReceipt ? (spec.paid.amountCents ?? totalsOf(spec).totalCents) : 0
  const amountCents = (status.paidCents ?? 0) - sumOf(payments) - ofReceipt
  if (amountCents <= 0) return []
  const body = { amountCents, method: 'restored', reference: '', declaredBy: 'owner', order: orderOf(spec, status) }
  return [{ key: paymentKey(`restored-${seq}`), kind: 'payment', body }]
}

const lostNotes = ({ status }: Known, { credits }: LedgerSide) =>
  (status.creditNotes ?? []).filter(({ id }) => !credits.some((credit) => credit.id === id))

const creditRows = (known: Known, ledger: LedgerSide): RestoredRow[] =>
  lostNotes(known, ledger).map(({ id, amountCents }) => ({
    key: creditKey(id),
    kind: 'credit',
    body: { amountCents, items: null, reason: '', refund: false },
    outcome: { amountCents, isWhole: false, order: orderOf(known.invoice.spec, known.status) },
  }))

const resendRows = ({ status }: Known, { resends }: LedgerSide, seq: number): RestoredRow[] =>
  Array.from({ length: Math.max(0, (status.sends ?? 1) - 1 - resends) }, (_, at) => ({
    key: sendKey(`restored-${seq}-${at}`),
    kind: 'send',
    body: {},
  }))

const linkRows = ({ invoice }: Known, { links: { recorded } }: LedgerSide): RestoredRow[] =>
  unrecordedLinks(INVOICE_LINKS, linksNow(INVOICE_LINKS, invoice, recorded), recorded).map(({ purpose, version }) => ({
    key: linkKey(purpose, version),
    kind: LINK_FACT,
    body: { purpose, version, by: null, reason: 'restored' } satisfies LinkBody,
  }))

const factsOf = (known: Known, ledger: LedgerSide): RestoredRow[] => {
  const { invoice, status } = known
  const { factSeq = 0, phase, url, creditNotes = [] } = status
  const { uid } = invoice.metadata
  const isStranger = ledger.record !== null && !ledger.record.uids.includes(uid)
  const sends = url === undefined ? 0 : (status.sends ?? 1)
  return [
    { key: restoredKey(factSeq), kind: 'restored', body: { sends, phase, notes: creditNotes.map(({ id }) => id) } },
    ...(isStranger ? [{ key: `uid:${uid}`, kind: 'adopted', body: { uid } }] : []),
    ...resendRows(known, ledger, factSeq),
    ...paymentRows(known, ledger, factSeq),
    ...creditRows(known, ledger),
    ...linkRows(known, ledger),
  ]
}

const wordsOf = ({ number, status, invoice }: Known, ledger: LedgerSide, facts: readonly RestoredRow[]): string[] => {
  const paid = facts.find(({ kind }) => kind === 'payment')?.body.amountCents
  const money = (cents: unknown) => displayCents(Number(cents), status.currency ?? invoice.spec.currency)
  const notes = facts.filter(({ kind }) => kind === 'credit').length
  return [
    ...(ledger.record === null ? [`keeps ${number}, restored in the register`] : []),
    ...(status.url !== undefined && ledger.sends === 0 ? ['its document is drawn anew, and not mailed'] : []),
    ...(paid === undefined ? [] : [`${money(paid)} paid, as its status says`]),
    ...facts.flatMap(({ kind, body }) =>
      kind === LINK_FACT ? [`its ${body.purpose}s of before version ${body.version} stay ended`] : [],
    ),
    ...(notes > 0 ? [`${notes} credit notes, as its status says`] : []),
    ...(facts.some(({ kind }) => kind === 'adopted') ? ['known by its present uid'] : []),
    ...(status.url === undefined ? [] : ['what it would have been reminded of by now counts as given']),
    `${status.factSeq ?? 0} things happened to it, ${ledger.factSeq} are on record; what they were in detail is lost`,
  ]
}

/**
 * @param invoice one that behindBy says something of
 * @param zone of its issuer
 */
export const restorationOf = (
  invoice: InvoiceResource,
  ledger: LedgerSide,
  zone: string,
): Restoration | Unrestorable => {
  const { metadata, spec, status } = invoice
  const number = status?.number ?? ''
  const of = { name: metadata.name, account: spec.account, number }
  if (status === undefined) return { ...of, blocked: 'it has no status' }
  const known = { invoice, status, number, zone }
  const blocked = blockedBy(known, ledger)
  if (blocked !== null) return { ...of, blocked }
  const facts = factsOf(known, ledger)
  const own = { number, resource: metadata.name, kind: 'invoice' as const, totalCents: status.totalCents ?? 0 }
  const entries = [
    ...(ledger.record === null ? [{ ...entryOf(known, own), claimed: claimedOf(spec, status) }] : []),
    ...lostNotes(known, ledger).map(({ id, number: note, amountCents }) => ({
      ...entryOf(known, {
        number: note,
        resource: `${metadata.name}/${id}`,
        kind: 'credit_note',
        totalCents: amountCents,
      }),
      claimed: { invoice: metadata.name, amountCents, currency: status.currency },
    })),
  ]
  return { ...of, entries, facts, leastSeq: status.factSeq ?? 0, does: wordsOf(known, ledger, facts) }
}
