/**
 * What a pass over an invoice looks at, and the send that it freezes: the freezing answers with a look of its own transaction,
 * so that nobody has to ask again what has become of it (hack/decisions/046).
 */
import type { Logo } from '../../../crds/invoice/order/issuer.ts'
import type { IssuerProfile } from '../../../crds/invoice/order/profile.ts'
import type { Scheduled } from '../../../crds/kernel/schedule.ts'
import { makeBatch } from '../../base/batch.ts'
import { freezeValues, type ObservedLedger, type ObservedRow, type Send, toObserved } from '../ledger/ledger.ts'
import { LEASE } from '../pg/fence.ts'
import { isItemFault, type Pg } from '../pg/pg.ts'

const OBSERVE_MAX = 128
/** Sends per transaction, by number and by weight: a lone large document must not make hundreds of small ones wait. */
const FREEZE_MAX = 64
const FREEZE_MAX_BYTES = 8 * 1024 * 1024

const COLUMNS = 'resource, record, sends, facts, deliveries, issuer, has_place as "hasPlace", scheduled'
const OBSERVE = `select ${COLUMNS} from observe_invoices($1, $2, $3)`
const FREEZE = `select ${COLUMNS}, fresh from freeze_invoices($1, $2, $3, $4, $5, $6, $7, $8)`

/** The invoice `resource`, of `account`, under the issuer of that id. */
export type InvoiceKey = { resource: string; account: string; issuer: string }
/** `issuer` is null when there is no row of it. */
export type ObservedInvoice = ObservedLedger & {
  issuer: { profile: IssuerProfile; logo: Logo | null; archived: boolean } | null
  hasPlace: boolean
  /** What is to happen to it at which instant. */
  scheduled: Scheduled[]
}
type Row = ObservedRow & Pick<ObservedInvoice, 'issuer' | 'hasPlace'> & { scheduled: Scheduled[] | null }

const toSeen = (row: Row): ObservedInvoice => {
  const { issuer, hasPlace, scheduled } = row
  return { ...toObserved(row), issuer, hasPlace, scheduled: scheduled ?? [] }
}

/** Each once, as the functions take them. */
const arraysOf = (keys: readonly InvoiceKey[]): string[][] => {
  const distinct = [...new Map(keys.map((key) => [key.resource, key])).values()]
  return [
    distinct.map(({ resource }) => resource),
    distinct.map(({ account }) => account),
    distinct.map(({ issuer }) => issuer),
  ]
}

/** The row of each key, whatever their order. */
const eachRow = <R extends Row>(keys: readonly InvoiceKey[], rows: readonly R[]): R[] => {
  const found = new Map(rows.map((row) => [row.resource, row]))
  return keys.map(({ resource }) => {
    const row = found.get(resource)
    if (row === undefined) throw new Error('observe_invoices left an invoice out')
    return row
  })
}

/** Reads all that a pass over an invoice needs of PostgreSQL; many passes share one read. */
export const makeInvoiceReader = ({ pg }: { pg: Pg }) =>
  makeBatch<InvoiceKey, ObservedInvoice>({
    max: OBSERVE_MAX,
    inFlight: 2,
    async run(keys) {
      const { rows } = await pg.query<Row>('observe_invoices', OBSERVE, arraysOf(keys))
      return eachRow(keys, rows).map(toSeen)
    },
  })
export type InvoiceReader = ReturnType<typeof makeInvoiceReader>

/** `old`: this resource's send `n` was frozen before, and stays as it was. `seen`: all that stands there, after the commit. */
export type FrozenSend = { result: 'new' | 'old'; seen: ObservedInvoice }
type Pending = { send: Send; key: InvoiceKey; epoch: number }

const freezeAll = async (pg: Pg, pending: readonly Pending[]): Promise<FrozenSend[]> => {
  const keys = pending.map(({ key }) => key)
  const values = [LEASE, pending[0]?.epoch, ...freezeValues(pending.map(({ send }) => send)), ...arraysOf(keys)]
  const { rows } = await pg.query<Row & { fresh: number[] }>('freeze_invoices', FREEZE, values)
  const fresh = new Set(rows.flatMap((row) => row.fresh.map((n) => `${n} ${row.resource}`)))
  return eachRow(keys, rows).map((row, index) => {
    const send = pending[index]?.send
    return { result: fresh.delete(`${send?.n} ${send?.resource}`) ? 'new' : 'old', seen: toSeen(row) }
  })
}

const weightOf = (pending: readonly Pending[]): number =>
  pending.reduce((bytes, { send }) => bytes + send.content.length, 0)

/**
 * @param deps.epoch as for the ledger
 * @param deps.gatherMs how long a send may wait for others (batch.ts)
 * @returns a function that freezes one send and looks; safe to call again after any failure. It throws what effects of the
 *   ledger throw
 */
export const makeFreezeSend = ({ pg, epoch, gatherMs }: { pg: Pg; epoch: () => number; gatherMs?: () => number }) => {
  const freeze = makeBatch<Pending, FrozenSend>({
    run: (pending) => freezeAll(pg, pending),
    max: FREEZE_MAX,
    mayJoin: (chosen, next) =>
      chosen[0]?.epoch === next.epoch && weightOf(chosen) + next.send.content.length <= FREEZE_MAX_BYTES,
    isItemFault,
    ...(gatherMs && { gatherMs }),
  })
  return (send: Send, of: Omit<InvoiceKey, 'resource'>): Promise<FrozenSend> =>
    freeze({ send, key: { resource: send.resource, ...of }, epoch: epoch() })
}
export type FreezeSend = ReturnType<typeof makeFreezeSend>
