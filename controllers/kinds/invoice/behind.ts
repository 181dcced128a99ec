/**
 * Where the ledger is behind the cluster (crds/invoice/planning/recovery/behind.ts): looked for once before anything is done, and kept up by the
 * passes. No number is given that a resource has, no mail goes out about one that is behind.
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { behindBy, partsOfNumber } from '../../../crds/invoice/planning/recovery/behind.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import type { Log } from '../../base/log.ts'
import type { KnownNumber, KnownNumbers } from '../../store/ledger/known.ts'
import type { Held } from '../held.ts'

/** Invoices that are compared in one turn of the event loop. */
const LOOK_AT_ONCE = 1_000
/** Names in the one line of the log. */
const NAMES_SHOWN = 5

export type Behind = {
  /** Looks at all that the watch holds. To be done before the first pass. */
  look(): Promise<void>
  /** What a pass has found of a resource. */
  note(resource: { name: string; account: string }, isBehind: boolean): void
  /** Its resource is gone: it is no sign any more. */
  forget(name: string): void
  has(name: string): boolean
  ofAccount(account: string): boolean
  /** The highest number that is known of a series; 0 when none is. */
  known(account: string, prefix: string): number
  /** A number of the series was refused, because it is known: that outlives the resource by which it is known. */
  keep(account: string, prefix: string): Promise<void>
  count(): number
}

export type BehindDeps = {
  known: KnownNumbers
  invoices: Held<InvoiceResource>
  log: Log
  /** How many there are, whenever that changes. */
  onCount?: ((count: number) => void) | undefined
}

/** The resources of which the ledger is behind now, and in what. Only looks. */
export const findBehind = async (
  known: Pick<KnownNumbers, 'onRecord'>,
  invoices: Pick<Held<InvoiceResource>, 'list'>,
): Promise<{ invoice: InvoiceResource; detail: string }[]> => {
  const numbered = new Map(
    invoices.list().flatMap((one) => (one.status?.number === undefined ? [] : [[one.metadata.name, one] as const])),
  )
  const names = [...numbered.keys()]
  const found: { invoice: InvoiceResource; detail: string }[] = []
  for (let from = 0; from < names.length; from += LOOK_AT_ONCE) {
    for (const { name, ...onRecord } of await known.onRecord(names.slice(from, from + LOOK_AT_ONCE))) {
      const invoice = numbered.get(name)
      const detail = invoice ? behindBy(invoice, onRecord) : null
      if (invoice && detail !== null) found.push({ invoice, detail })
    }
  }
  return found
}

const keyOf = (account: string, prefix: string): string => `${account}\n${prefix}`

/** Of each series the highest number. */
type Highest = Map<string, KnownNumber>

const raise = (highest: Highest, number: KnownNumber): void => {
  const key = keyOf(number.account, number.prefix)
  if ((highest.get(key)?.seq ?? 0) < number.seq) highest.set(key, number)
}

/** What a status says that its invoice and its credit notes are called. */
const numbersIn = ({ spec, status }: InvoiceResource): KnownNumber[] =>
  [status?.number ?? '', ...(status?.creditNotes ?? []).map(({ number }) => number)].flatMap((number) => {
    const parts = partsOfNumber(number)
    return parts ? [{ account: spec.account, ...parts }] : []
  })

/** The numbers that resources have now, or were seen to have, and that their series have not come to: of each the highest. Only looks. */
export const findAhead = async (
  known: Pick<KnownNumbers, 'ahead' | 'numbers'>,
  invoices: Pick<Held<InvoiceResource>, 'list'>,
): Promise<KnownNumber[]> => {
  const highest: Highest = new Map()
  for (const one of await known.numbers()) raise(highest, one)
  for (const [at, invoice] of invoices.list().entries()) {
    for (const one of numbersIn(invoice)) raise(highest, one)
    if ((at + 1) % LOOK_AT_ONCE === 0) await nextTurn()
  }
  return known.ahead([...highest.values()])
}

export const makeBehind = ({ known, invoices, log, onCount }: BehindDeps): Behind => {
  /** Account by resource. */
  const behind = new Map<string, string>()
  const highest: Highest = new Map()
  let isTold = false

  const count = () => {
    onCount?.(behind.size)
    if (behind.size === 0 || isTold) return
    isTold = true
    const names = [...behind.keys()].slice(0, NAMES_SHOWN)
    log.error(
      { code: 'LEDGER_BEHIND', count: behind.size, names },
      'the database is older than the cluster: what it has lost is neither numbered nor mailed again; put back its newest copy',
    )
  }
  const see = (invoice: InvoiceResource) => {
    for (const number of numbersIn(invoice)) raise(highest, number)
  }

  return {
    async look() {
      // holds what is there now, and hears of what comes
      invoices.subscribe((_key, { object }) => see(object))
      for (const number of await known.ahead([...highest.values()])) await known.keep(number)
      const [numbers, found] = await Promise.all([known.numbers(), findBehind(known, invoices)])
      for (const number of numbers) raise(highest, number)
      for (const { invoice } of found) behind.set(invoice.metadata.name, invoice.spec.account)
      count()
    },
    note({ name, account }, isBehind) {
      if (behind.has(name) === isBehind) return
      if (isBehind) behind.set(name, account)
      else behind.delete(name)
      count()
    },
    forget(name) {
      if (behind.delete(name)) count()
    },
    has: (name) => behind.has(name),
    ofAccount: (account) => [...behind.values()].includes(account),
    known: (account, prefix) => highest.get(keyOf(account, prefix))?.seq ?? 0,
    async keep(account, prefix) {
      const number = highest.get(keyOf(account, prefix))
      if (number) await known.keep(number)
    },
    count: () => behind.size,
  }
}
