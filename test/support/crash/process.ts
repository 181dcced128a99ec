import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { makeUploadReader } from '../../../api/app/sources/reading/reader.ts'
import { makeTokenStore } from '../../../api/auth/token-store.ts'
import { namesFor } from '../../../api/command/name.ts'
import { makeOwnDoor } from '../../../api/command/own.ts'
import { makeWaiter, type Waiter } from '../../../api/command/wait.ts'
import { makeWake } from '../../../api/command/wake.ts'
import type { Caller } from '../../../api/http/caller.ts'
import { Problem } from '../../../api/http/problem.ts'
import { makeAudit } from '../../../api/http/stages/audit.ts'
import { LIMIT_DEFAULTS, makeLimits } from '../../../api/http/stages/limits.ts'
import { makePdfText } from '../../../api/io/pdftext.ts'
import type { Commanding, Deps } from '../../../api/wiring/deps.ts'
import { makeStores, type Stores } from '../../../api/wiring/stores.ts'
import type { ComposeJudge } from '../../../controllers/base/judging/judge.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { type Mailer, makeMailer } from '../../../controllers/io/mail.ts'
import { makePdf } from '../../../controllers/io/pdf/pdf.ts'
import { type Kube, makeKube } from '../../../controllers/kube/kube.ts'
import { makeEgress } from '../../../controllers/net/egress.ts'
import { makeCaches, type Operator, type OperatorDeps, startOperator } from '../../../controllers/operator.ts'
import { makeAppendAudit } from '../../../controllers/store/audit.ts'
import { makeOutbox } from '../../../controllers/store/ledger/outbox.ts'
import { type MirrorReader, makeMirrorReader } from '../../../controllers/store/mirror.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import { makeOperationStore } from '../../../controllers/store/request/operations.ts'
import { startMailSender } from '../../../controllers/workers/mail-sender.ts'
import { envFilesOf, judgeCompose, recipesOf } from '../../../crds/app/compose/judge.ts'
import { proveDraft } from '../../../crds/site/content/drafting/prove.ts'
import { serviceKubeconfig } from '../stage/stage.ts'
import { Crashed, type Life } from './crash.ts'
import { lagging } from './lag.ts'

export const keys = keysOfOne(Buffer.alloc(32, 7))
/** What the api calls the resource of a reference, and of an Idempotency-Key. */
export const refNamed = (prefix: string, account: string, externalRef: string): string =>
  namesFor(keys, prefix, { caller: { account } as Caller }, externalRef)(0)
export const keyNamed = (prefix: string, account: string, idempotencyKey: string): string =>
  namesFor(keys, prefix, { caller: { account } as Caller, idempotencyKey })(0)
const pdf = makePdf()
/** In the thread of the test: what a life calls is counted, and a judge calls nothing. */
const composeJudge: Pick<ComposeJudge, 'judge' | 'namedFiles'> = {
  judge: async (source, deployTarget) => judgeCompose(source, deployTarget),
  namedFiles: async (source, target) => [...envFilesOf(source, target), ...recipesOf(source, target)],
}
const wall = () => new Date()
/** Longer than any jump of a clock that is moved (main.ts does the same). */
const MOVED_LEASE_MS = 100 * 365 * 86_400_000
/** A busy machine is no database that is away. */
const CONNECT_MS = 20_000
/** What a dead process has to notice it. */
const DEAD_MS = 1_000

/** What a story's requests are answered with: commands, all stores, no card processor and no language model. */
export type ProcessApi = Commanding &
  Stores &
  Pick<
    Deps,
    'allowLoopback' | 'authenticate' | 'cards' | 'composeJudge' | 'egress' | 'limits' | 'publicUrl' | 'tokens'
  > &
  Pick<Deps, 'audit' | 'draftJudge' | 'llm' | 'pdfText' | 'uploadReader'>

/** Both processes in one, every call of which passes through a life (crash.ts). */
export type OneProcess = {
  /** What handlers need of the api; a story adds what is its own. */
  api: ProcessApi
  /** What the test asks on its own account: no call of a life. */
  mirror: MirrorReader
  operator(): Promise<Operator>
  /** May be called again. */
  end(): Promise<void>
}

export type ProcessOptions = {
  databaseUrl: string
  namespace: string
  mailPort: number
  /** The platform's clock, where it is not the wall's. */
  now?: () => Date
  /** How late the controllers see what others wrote, in ms; and not all of it (lag.ts). */
  lagMs?: number
  /** More for the controllers, bound to the life: connections to hosts, as an example. `close` ends it. */
  tools?: (life: Life) => { deps: Partial<OperatorDeps>; close(): Promise<void> }
}

type Clients = { pg: Pg; apiKube: Kube; controllersKube: Kube; smtp: Mailer }
type Reading = { mirror: MirrorReader; waiter: Waiter }

const sharedOf = ({ namespace, now = wall }: ProcessOptions) => ({
  keys,
  namespace,
  publicUrl: 'http://pages.test',
  now,
})

const operatorDepsOf = (options: ProcessOptions, life: Life, { pg, controllersKube, smtp }: Clients): OperatorDeps => {
  const shared = sharedOf(options)
  return {
    ...shared,
    kube: controllersKube,
    pg,
    composeJudge,
    pdf: { render: (frozen, _asker, extras) => pdf.render(frozen, extras) },
    cards: null,
    paymentWorker: null,
    retentionDays: 30,
    allowLoopback: true,
    egress: makeEgress({ allowLoopback: true }),
    hostAround: life.hostAround,
    mailDomain: 'bottega.test',
    log: pino({ level: 'silent' }),
    mailSender: (epoch, hooks) =>
      startMailSender({
        ...hooks,
        outbox: makeOutbox({ pg, epoch: () => epoch, now: shared.now }),
        // A dead process sends nothing.
        mailer: { ...smtp, send: (mail) => (life.isDead() ? Promise.reject(new Crashed('dead')) : smtp.send(mail)) },
        keys,
        publicUrl: 'http://pages.test',
        now: shared.now,
        log: pino({ level: 'silent' }),
        lanes: 1,
        ...(options.now && { leaseMs: MOVED_LEASE_MS }),
      }),
    // events stay in the outbox, unless a story is about their delivery
    webhookSender: () => ({ wake: () => {}, queued: () => {}, stop: async () => {} }),
  }
}

/** Visitors come with the cookie of a page; nobody has signed in. */
const nobody = async (): Promise<never> => {
  throw new Problem('UNAUTHENTICATED', 'Nobody has signed in.')
}

const apiDepsOf = (options: ProcessOptions, { pg, apiKube }: Clients, { mirror, waiter }: Reading): ProcessApi => {
  const shared = sharedOf(options)
  return {
    ...makeStores({ pg, keys }),
    audit: makeAudit({ append: makeAppendAudit({ pg }) }),
    authenticate: nobody,
    composeJudge,
    egress: { judge: async () => null, exchange: makeEgress({ allowLoopback: true }).exchange },
    tokens: makeTokenStore({ pg, keys }),
    ...shared,
    kube: apiKube,
    wake: makeWake({ kube: apiKube, namespace: shared.namespace, now: shared.now }),
    ...makeOwnDoor({ mirror, waiter }),
    allowLoopback: true,
    operations: makeOperationStore({ pg, sealer: keys.sealer('operation') }),
    follow: () => false,
    limits: makeLimits(LIMIT_DEFAULTS),
    cards: null,
    llm: null,
    pdfText: makePdfText(),
    uploadReader: makeUploadReader(),
    draftJudge: { prove: async ({ proposal, sources }) => proveDraft(proposal, sources) },
  }
}

/** Starts to lead at once. */
export const startOneProcess = async (options: ProcessOptions, life: Life): Promise<OneProcess> => {
  const { databaseUrl, mailPort } = options
  const pg = makePg({ url: databaseUrl, max: 6, around: life.around, connectTimeoutMs: CONNECT_MS })
  const kube = (role: 'api' | 'controllers') =>
    makeKube({ kubeconfig: serviceKubeconfig(role), fieldManager: `bottega-${role}`, around: life.kubeAround })
  const [apiKube, seeing] = [kube('api'), kube('controllers')]
  const controllersKube = options.lagMs === undefined ? seeing : lagging(seeing, options.lagMs)
  const smtp = makeMailer({ url: `smtp://127.0.0.1:${mailPort}`, from: 'billing@bottega.test', pool: 1 })
  const clients: Clients = { pg, apiKube, controllersKube, smtp }
  const more = options.tools?.(life)
  const deps: OperatorDeps = { ...operatorDepsOf(options, life, clients), ...more?.deps }
  const caches = makeCaches(deps)
  const mirror = makeMirrorReader({ pg })
  const waiter = await makeWaiter({ pg, mirror })
  const aside = makePg({ url: databaseUrl, max: 1 })
  const leading = takeEpoch(pg, 'sweep').then((epoch) => startOperator(deps, caches, epoch))
  leading.catch(() => {})
  const end = async () => {
    // One that died between taking the epoch and its first lists never leads, and never fails to.
    const given = life.isDead() ? [sleep(DEAD_MS)] : []
    const operator = await Promise.race([leading.catch(() => undefined), ...given])
    await operator?.stop(life.isDead() ? 0 : 5_000)
    await caches.stop()
    await waiter.close()
    smtp.close()
    await more?.close()
    await Promise.all([apiKube.close(), controllersKube.close(), pg.close(), aside.close()])
  }
  let ended: Promise<void> | undefined
  return {
    api: apiDepsOf(options, clients, { mirror, waiter }),
    mirror: makeMirrorReader({ pg: aside }),
    operator: () => leading,
    end: () => {
      ended ??= end()
      return ended
    },
  }
}
