/**
 * The operator without its process: caches, ledger, courier and one controller per kind, wired by hand. main.ts gives it
 * the real clients; the crash sweep gives it clients that die.
 */
import { ACCOUNT } from '../crds/account/kind.ts'
import type { AccountResource } from '../crds/account/plan.ts'
import { INVOICE } from '../crds/invoice/kind.ts'
import type { InvoiceResource } from '../crds/invoice/plan.ts'
import { keyOf } from '../crds/object.ts'
import { accountController } from './account.ts'
import { startSpecAudit } from './audit.ts'
import type { Courier, CourierHooks } from './courier.ts'
import { makeDirectory } from './directory.ts'
import { invoiceController } from './invoice.ts'
import type { Pdf } from './io/pdf.ts'
import { makeAppendAudit, makeAuditKnows } from './runtime/audit.ts'
import { makeBlobs } from './runtime/blobs.ts'
import { type ControllerDeps, type RunningController, runController } from './runtime/controller.ts'
import type { Events } from './runtime/events.ts'
import { makeInvoiceReader } from './runtime/issuers.ts'
import type { Keys } from './runtime/keys.ts'
import type { Kube } from './runtime/kube.ts'
import { makeLedger } from './runtime/ledger.ts'
import type { Log } from './runtime/log.ts'
import type { Metrics } from './runtime/metrics.ts'
import { makeMirror } from './runtime/mirror.ts'
import type { Pg } from './runtime/pg.ts'
import { makeSlots } from './runtime/slots.ts'
import { type Cache, reflect } from './runtime/watch.ts'
import { startSweep } from './sweep.ts'

/** Passes at once. Most of a pass is waiting for a commit that others share, so many cost little and batch well. */
const INVOICE_CONCURRENCY = 64
const ACCOUNT_CONCURRENCY = 4
/** A crowd: from here on a pass is slowed by the others anyway, and a short wait for company spares them all work. */
const CROWD = { from: 6, ms: 60 }
/** How long a view waits for others while there is a crowd: the passes of a wave end one by one. */
const VIEW_GATHER_MS = 40

export type OperatorDeps = {
  kube: Kube
  pg: Pg
  pdf: Pdf
  keys: Keys
  namespace: string
  publicUrl: string
  mailDomain: string
  log: Log
  now: () => Date
  metrics?: Metrics
  events?: Events
  /** Starts who delivers the mail that these passes queue, under the same epoch. */
  courier: (epoch: number, hooks: CourierHooks) => Courier
}

/** What every process of the controllers keeps, leader or not, so that a standby takes over warm. */
export type Caches = { accounts: Cache<AccountResource>; invoices: Cache<InvoiceResource> }

export const makeCaches = ({ kube, namespace, log, metrics }: OperatorDeps): Caches => {
  const common = { kube, namespace, log, ...(metrics && { metrics: metrics.watch }) }
  return {
    accounts: reflect<AccountResource>({ ...common, kind: ACCOUNT }),
    invoices: reflect<InvoiceResource>({ ...common, kind: INVOICE }),
  }
}

export type Operator = {
  /** Nothing waits and nothing runs. */
  idle(): boolean
  /** Ends intake, lets passes and the mail under way end, within the bound. */
  stop(deadlineMs: number): Promise<void>
}

/** Rows of resources that went while nobody looked: each is forgotten as if its deletion had been seen. */
const forgetMissed = async (
  mirror: ReturnType<typeof makeMirror>,
  kind: string,
  uids: string[],
  forget: (name: string) => void,
) => {
  for (const name of await mirror.unknown(kind, uids)) forget(name)
}

/**
 * Starts to lead: from here on every effect carries `epoch`.
 * @param epoch what takeEpoch gave
 */
export const startOperator = async (deps: OperatorDeps, caches: Caches, epoch: number): Promise<Operator> => {
  const { kube, pg, namespace, log, now, metrics } = deps
  await Promise.all([caches.accounts.synced, caches.invoices.synced])

  const fenced = { pg, epoch: () => epoch }
  const ledger = makeLedger(fenced)
  const gatherMs = () => ((invoices?.busy() ?? 0) >= CROWD.from ? VIEW_GATHER_MS : 0)
  const mirror = makeMirror({ ...fenced, gatherMs })
  const directory = makeDirectory(caches.accounts, namespace)
  let courier: Courier | undefined
  let invoices: RunningController | undefined

  const run = <O>(cache: Cache<O>, concurrency: number): ControllerDeps<O> => ({
    kube,
    cache,
    log,
    now,
    concurrency,
    ...(metrics && { metrics }),
    ...(deps.events && { events: deps.events }),
  })

  const accounts = runController(accountController({ mirror }), run(caches.accounts, ACCOUNT_CONCURRENCY))
  const controller = invoiceController({
    ...deps,
    ledger,
    mirror,
    blobs: makeBlobs({ pg }),
    read: makeInvoiceReader({ pg }),
    slots: makeSlots({ pg }),
    accounts: directory,
    onQueued: () => courier?.wake(),
  })
  invoices = runController(controller, {
    ...run(caches.invoices, INVOICE_CONCURRENCY),
    wave: CROWD,
  })

  // An invoice that waits for its account is looked at when the account appears.
  const unsubscribe = caches.accounts.subscribe((_key, { object, deleted }) => {
    if (deleted) return
    for (const invoice of caches.invoices.list()) {
      const isReady = invoice.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
      if (invoice.spec.account === object.metadata.name && !isReady) invoices?.wake(keyOf(invoice.metadata))
    }
  })
  courier = deps.courier(epoch, {
    onDelivered: (name) => invoices?.wake(keyOf({ namespace, name })),
  })
  const endSpecAudit = startSpecAudit({
    caches,
    knows: makeAuditKnows({ pg }),
    append: makeAppendAudit({ pg }),
    now,
    log,
  })
  const endSweep = startSweep({ pg, now, log })
  const uidsOf = (cache: Cache<InvoiceResource> | Cache<AccountResource>) =>
    cache.list().map(({ metadata }) => metadata.uid)
  const wakeGone = (controllerOf: RunningController) => (name: string) => controllerOf.wake(keyOf({ namespace, name }))
  await forgetMissed(mirror, INVOICE.kind, uidsOf(caches.invoices), wakeGone(invoices))
  await forgetMissed(mirror, ACCOUNT.kind, uidsOf(caches.accounts), wakeGone(accounts))

  return {
    idle: () => accounts.busy() === 0 && (invoices?.busy() ?? 0) === 0,
    stop: async (deadlineMs) => {
      unsubscribe()
      endSpecAudit()
      endSweep()
      await Promise.all([accounts.stop(deadlineMs), invoices?.stop(deadlineMs), courier?.stop()])
    },
  }
}
