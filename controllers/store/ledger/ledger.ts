/**
 * The ledger: numbers, frozen sends, facts, and the outbox of effects on the outside. It lives in PostgreSQL, outlives every
 * resource, and is never rebuilt. All effects carry the epoch of the lease they were decided under (fence.ts), are
 * committed in groups (batch.ts), and may be repeated after any failure.
 */
import type { MailDelivery } from '../../../crds/invoice/facts/deliveries.ts'
import type { InvoiceRecord, SendRecord } from '../../../crds/invoice/facts/ledger.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'
import type { Gate } from '../../../crds/invoice/order/gate.ts'
import type { LaterEntry } from '../../../crds/invoice/order/numbering.ts'
import type { NewEvent } from '../../../crds/kernel/event.ts'
import type { ResourceSchedule } from '../../../crds/kernel/schedule.ts'
import { makeBatch } from '../../base/batch.ts'
import { sha256Of } from '../blobs.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'
import {
  type Appended,
  type FactRow,
  type FactState,
  type FactVerdict,
  makeAppendFact,
  makeDecideFact,
  type NewFact,
} from './facts.ts'
import { type Claimed, makeClaimNumber, makeRegisterReader, type NumberClaim, type RegisterReader } from './register.ts'

const OBSERVE_MAX = 128
/** Reads hold no lock, so a second one may run while the first is answered. */
const OBSERVE_IN_FLIGHT = 2

/**
 * What a mail's row in the outbox says: the kind of its resource, and whose that is. `purpose` is unique per resource;
 * `messageId` stays the same in every attempt.
 */
export type QueuedMail = {
  kind: string
  account: string
  purpose: string
  channel: string
  messageId: string
  payload: unknown
}

/** One send, to be frozen (controllers/store/invoice/look.ts): what stands on the document, its bytes, and the mail that is due because of it (null: none). */
export type Send = {
  resource: string
  n: number
  /** ISO instant. */
  at: string
  gate: Gate
  frozen: Frozen
  content: Buffer
  mail: QueuedMail | null
  /** NewEvent in the same transaction. */
  event?: NewEvent
  /** What falls due because of it, in the same transaction: the resource's rows are these and no others. */
  schedule?: ResourceSchedule
  /** What the register is told of it; the digest is added. */
  entry?: Omit<LaterEntry, 'reference'> | null
}

/**
 * A document that follows from what happened rather than from a send, frozen with the fact that tells of it, and with the
 * mail and the event that follow from it. `id` is unique per resource.
 */
export type StoredSnapshot = {
  resource: string
  id: string
  at: string
  frozen: Frozen
  content: Buffer
  mail: QueuedMail | null
  /** What the register is told of it. */
  entry?: LaterEntry | null
  /** Takes what the bytes are: their sha256 in hex, and how many. */
  fact(stored: { sha256: string; bytes: number }): NewFact
}

/** What the owner of an account is told by mail, with the fact that it follows from, once (sql/functions/notify_owner.sql). */
export type OwnerNotification = {
  resource: string
  at: string
  fact: NewFact | null
  mail: Omit<QueuedMail, 'channel'> | null
  /** The send whose place under the cap of the day is free again. */
  giveBack: number | null
}
/** `factSeq` is the highest fact that is in here; 0 when there is none. Lists are in the order of writing. */
export type ObservedLedger = {
  record: InvoiceRecord | null
  sends: SendRecord[]
  facts: FactRow[]
  factSeq: number
  deliveries: MailDelivery[]
}

export type LedgerReader = RegisterReader & {
  /** All that is known of one resource; many callers share one read. */
  observe(resource: string): Promise<ObservedLedger>
}

export type Ledger = LedgerReader & {
  /** The resource's number: the next of its series, or the one that it has. */
  claimNumber(claim: NumberClaim): Promise<Claimed>
  /** `old`: this resource's snapshot of that id was frozen before, and stays as it was. */
  freezeSnapshot(snapshot: StoredSnapshot): Promise<'new' | 'old'>
  appendFact(fact: NewFact): Promise<Appended>
  decideFact(verdict: FactVerdict): Promise<FactState>
  /** Safe to repeat: gives whether anything was new. */
  notifyOwner(notification: OwnerNotification): Promise<boolean>
}

export type ObservedRow = {
  resource: string
  record: (Omit<InvoiceRecord, 'uids'> & { uid: string }) | null
  sends: SendRecord[] | null
  facts: FactRow[] | null
  deliveries: MailDelivery[] | null
}

const OBSERVE = 'select resource, record, sends, facts, deliveries from observe_resources($1)'

const toRecord = (row: ObservedRow['record'], facts: FactRow[]): InvoiceRecord | null => {
  if (row === null) return null
  const { uid, ...record } = row
  const adopted = facts.filter((fact) => fact.kind === 'adopted').map((fact) => String(fact.body.uid))
  return { ...record, uids: [uid, ...adopted] }
}

export const toObserved = (row: ObservedRow): ObservedLedger => {
  const facts = row.facts ?? []
  const { sends, deliveries } = row
  const factSeq = facts.at(-1)?.seq ?? 0
  return { record: toRecord(row.record, facts), sends: sends ?? [], facts, factSeq, deliveries: deliveries ?? [] }
}

/** The reading half, for who holds no lease. */
export const makeLedgerReader = ({ pg }: { pg: Pg }): LedgerReader => ({
  ...makeRegisterReader({ pg }),
  observe: makeBatch<string, ObservedLedger>({
    max: OBSERVE_MAX,
    inFlight: OBSERVE_IN_FLIGHT,
    async run(resources) {
      const { rows } = await pg.query<ObservedRow>('observe_resources', OBSERVE, [resources])
      const found = new Map(rows.map((row) => [row.resource, row]))
      return resources.map((resource) => {
        const row = found.get(resource)
        if (row === undefined) throw new Error('observe_resources left a resource out')
        return toObserved(row)
      })
    },
  }),
})

/** What freeze_sends takes behind lease and epoch. */
export const freezeValues = (given: readonly Send[]): [sends: string, blobs: string, content: Buffer] => {
  const sends: object[] = []
  const blobs: object[] = []
  let start = 0
  for (const { content, entry, ...rest } of given) {
    const blob = { sha256: sha256Of(content), bytes: content.length }
    sends.push({ ...rest, ...blob, ...(entry && { entry: { ...entry, reference: blob.sha256 } }) })
    blobs.push({ ...blob, start })
    start += content.length
  }
  // The bytes go as one binary value beside the JSON: as text they would be twice as long.
  return [JSON.stringify(sends), JSON.stringify(blobs), Buffer.concat(given.map(({ content }) => content))]
}

const FREEZE_SNAPSHOT = 'select fresh from freeze_snapshot($1, $2, $3, $4)'

const freezeOne = async (pg: Pg, epoch: number, snapshot: StoredSnapshot): Promise<'new' | 'old'> => {
  const { content, fact, ...rest } = snapshot
  const stored = { sha256: sha256Of(content), bytes: content.length }
  const given = { ...rest, ...stored, fact: { ...fact(stored), writtenBy: 'controller' } }
  const values = [LEASE, epoch, JSON.stringify(given), content]
  const { rows } = await pg.query<{ fresh: boolean }>('freeze_snapshot', FREEZE_SNAPSHOT, values)
  return rows[0]?.fresh ? 'new' : 'old'
}

const NOTIFY_OWNER = 'select fresh from notify_owner($1, $2, $3)'

const notifyOwner = async (pg: Pg, epoch: number, notification: OwnerNotification): Promise<boolean> => {
  const fact = notification.fact && { ...notification.fact, writtenBy: 'controller' }
  const values = [LEASE, epoch, JSON.stringify({ ...notification, fact })]
  const { rows } = await pg.query<{ fresh: boolean }>('notify_owner', NOTIFY_OWNER, values)
  return rows[0]?.fresh ?? false
}

/**
 * @param deps.epoch the epoch that takeEpoch gave; asked anew for every effect
 * Effects throw DatabaseUnavailable, StaleEpoch, or DatabaseRefused when a value breaks a rule of the schema.
 */
export const makeLedger = (deps: { pg: Pg; epoch: () => number }): Ledger => {
  const { pg, epoch } = deps
  return {
    ...makeLedgerReader({ pg }),
    claimNumber: makeClaimNumber({ pg, epoch }),
    freezeSnapshot: (snapshot) => freezeOne(pg, epoch(), snapshot),
    appendFact: makeAppendFact({ pg, epoch }),
    decideFact: makeDecideFact({ pg, epoch }),
    notifyOwner: (notification) => notifyOwner(pg, epoch(), notification),
  }
}
