/**
 * What a request may have written so far: the one place that knows whether a failure leaves it stored, not stored or unknown
 * (rules/platform.md#stored-or-not). It follows a request through whatever its handler awaits.
 *
 * Only what changes what the caller asked about counts. What guards a request, or lapses by itself (keys, places, attempts,
 * audit, bytes under their hash), leaves nothing behind that a repeat would double.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { KubeError } from '../../controllers/base/errors.ts'
import type { Kube } from '../../controllers/kube/kube.ts'
import { isNeverSent } from '../../controllers/kube/transport.ts'
import { isPlaneAway } from '../../controllers/store/pg/away.ts'
import { type AroundQuery, DatabaseUnavailable } from '../../controllers/store/pg/pg.ts'
import type { Stored } from '../http/problem.ts'

/** `open`: nobody knows whether it was done. */
type Writes = { done: number; open: number }

const current = new AsyncLocalStorage<Writes>()

/** Refused, or never sent: what was to be written is not there. */
const isUndone = (error: unknown): boolean => {
  if (error instanceof KubeError) return !isPlaneAway(error) || isNeverSent(error)
  return !(error instanceof DatabaseUnavailable) || error.isUndone
}

/** Counts one write. */
export const writing = async <T>(write: () => Promise<T>): Promise<T> => {
  const writes = current.getStore()
  if (!writes) return write()
  writes.open += 1
  try {
    const result = await write()
    writes.open -= 1
    writes.done += 1
    return result
  } catch (error) {
    if (isUndone(error)) writes.open -= 1
    throw error
  }
}

/**
 * Lays something ready for a desire (a place, a name, a key), which is nothing without it. Where what uses it has written
 * nothing for certain it is given back, and nothing was stored; where that fails too, nobody knows.
 */
export const layingReady = async <Laid, R>({
  lay,
  use,
  giveBack,
}: {
  lay(): Promise<Laid>
  use(laid: Laid): Promise<R>
  giveBack(laid: Laid): Promise<unknown>
}): Promise<R> => {
  const writes = current.getStore() ?? { done: 0, open: 0 }
  const own: Writes = { done: 0, open: 0 }
  const laid = await current.run(own, lay).catch((error: unknown) => {
    writes.open += own.done + own.open
    throw error
  })
  const before = writes.done + writes.open
  try {
    return await current.run(writes, () => use(laid))
  } catch (error) {
    const isUnused = writes.done + writes.open === before
    if (isUnused) await current.run({ done: 0, open: 0 }, () => giveBack(laid)).catch(() => (writes.open += 1))
    throw error
  }
}

/** Runs a request. @param work is given what is known of it whenever it asks */
export const followed = <T>(work: (outcome: () => Stored) => Promise<T>): Promise<T> => {
  const writes: Writes = { done: 0, open: 0 }
  // of what was done nobody has seen the end: whoever answers with an error has lost it on the way
  return current.run(writes, () => work(() => (writes.done + writes.open > 0 ? 'unknown' : 'not_stored')))
}

/** Functions of the ledger that change what a caller asks about. The others that the api may call read, or guard a request. */
export const WRITERS: readonly string[] = [
  ...['mint_token', 'create_endpoint', 'report_devbox', 'note_devbox', 'add_ssh_key', 'bring_devbox_env'],
  ...['ask_signin', 'store_app_outcome', 'ask_issuer_logo', 'drop_issuer_logo', 'ping_endpoint', 'redeliver_events'],
  ...[
    'release_quarantined',
    'receive_site_message',
    'drop_site_message',
    'create_issuer',
    'change_issuer',
    'move_dev_clock',
  ],
  ...['claim_base_domain', 'release_base_domain', 'ask_base_look', 'ask_app_run', 'cancel_app_run'],
  ...['ask_app_backup', 'cancel_app_backup', 'delete_app_backup'],
]
/**
 * What is reserved or laid ready for a desire is nothing without it, and is found again by a repeat. Facts are counted one by one
 * (api/wiring/stores.ts): several requests share a statement.
 */
export const HARMLESS: readonly string[] = [
  ...['report_facts', 'append_audit', 'show_mirror', 'put_blobs', 'reserve_key', 'take_ai_place', 'lapse_app_logs'],
  ...['take_send_slots', 'give_back_send_slot', 'take_site_place', 'give_back_site_place', 'take_publish_place'],
  ...[
    'take_app_slug',
    'give_back_app_slug',
    'take_app_room',
    'give_back_app_room',
    'take_app_preview',
    'give_back_app_preview',
    'reckon_anew',
    'tell_wake',
    'claim_site_name',
    'arrive_in_site_queue',
  ],
  ...['put_host_credential', 'ask_deletion', 'take_back_deletion', 'origins_of'],
  ...['reserve_devbox', 'release_devbox_reservation', 'take_back_host_credential', 'take_back_app_env'],
  ...['take_back_app_operation', 'claim_places', 'move_place', 'base_domains'],
  ...['claim_app_names', 'ask_app_look', 'app_names', 'use_access_link'],
]
const CALLS = /\b(\w+)\(/g
const CHANGES = /^\s*(insert into|update|delete from|with\b[\s\S]*\b(insert into|update|delete from))\s+(\w+)/i
const GUARDS =
  /^(idempotency|operations|attempts|app_log_requests|app_log_chunks|app_sources|app_uploads|app_passwords|app_plans)$/

const isWrite = (text: string): boolean => {
  if ([...text.matchAll(CALLS)].some(([, name = '']) => WRITERS.includes(name))) return true
  const [, , , table = ''] = CHANGES.exec(text) ?? []
  return table !== '' && !GUARDS.test(table)
}

/** Counts statements that write. */
export const aroundWrites: AroundQuery = ({ text }, run) => (isWrite(text) ? writing(run) : run())

/** Counts what is written to the cluster. An annotation that wakes is no such thing: it may be lost (command/wake.ts). */
export const countingWrites = (kube: Kube): Kube => ({
  ...kube,
  create: (kind, object) => writing(() => kube.create(kind, object)),
  patchSpec: (kind, ref, patch, precondition) => writing(() => kube.patchSpec(kind, ref, patch, precondition)),
  delete: (kind, ref, precondition) => writing(() => kube.delete(kind, ref, precondition)),
})
