import { mkdirSync, rmSync } from 'node:fs'
import { pino } from 'pino'
import { makeAttempts } from '../../api/auth/attempts.ts'
import type { Deps } from '../../api/deps.ts'
import { createInvoice } from '../../api/invoice/create.ts'
import { LIMIT_DEFAULTS, makeLimits } from '../../api/limits.ts'
import type { Answer, ApiRequest } from '../../api/route.ts'
import { makeWaiter } from '../../api/wait.ts'
import { startCourier } from '../../controllers/courier.ts'
import { readFontFiles } from '../../controllers/io/fonts.ts'
import { makeMailer } from '../../controllers/io/mail.ts'
import { makePdf } from '../../controllers/io/pdf.ts'
import { makeCaches, type OperatorDeps, startOperator } from '../../controllers/operator.ts'
import { makeAccounts } from '../../controllers/runtime/accounts.ts'
import { makeBlobs } from '../../controllers/runtime/blobs.ts'
import { makeAppendFact } from '../../controllers/runtime/facts.ts'
import { takeEpoch } from '../../controllers/runtime/fence.ts'
import { makeIssuers } from '../../controllers/runtime/issuers.ts'
import { makeKeys } from '../../controllers/runtime/keys.ts'
import { makeKube } from '../../controllers/runtime/kube.ts'
import { makeLedgerReader } from '../../controllers/runtime/ledger.ts'
import { makeMirrorReader } from '../../controllers/runtime/mirror.ts'
import { makeOutbox } from '../../controllers/runtime/outbox.ts'
import { makePg } from '../../controllers/runtime/pg.ts'
import { makeSlots } from '../../controllers/runtime/slots.ts'
import { refName } from '../../crds/fields.ts'
import type { InvoiceResource } from '../../crds/invoice/plan.ts'
import { query } from '../../hack/lib/postgres.ts'
import { startMailCatcher } from '../../hack/mailcatcher.ts'
import { Crashed, type CrashPoint, type Life, makeLife } from '../support/crash.ts'
import { eventually, mailsIn, order } from '../support/invoicing.ts'
import { assert, spec } from '../support/spec.ts'
import {
  kubectlFor,
  makeDatabase,
  makeNamespace,
  type Namespace,
  scratchFolder,
  serviceKubeconfig,
} from '../support/stage.ts'

/**
 * The crash sweep: one create-and-send, killed before and after every API call and every SQL statement of both
 * processes, started again, and looked at: one number, one mail, Ready, and nothing left to do.
 */

const serverKey = Buffer.alloc(32, 7)
const keys = makeKeys(serverKey)
const pdf = makePdf({ fonts: readFontFiles() })
const folder = scratchFolder('converge')
const name = refName('inv', { account: 'demo', externalRef: 'the-order' })
const now = () => new Date()
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }

/** Both processes in one, every call of which passes through `life`. */
const startProcess = async (databaseUrl: string, life: Life) => {
  const pg = makePg({ url: databaseUrl, max: 6, around: life.around })
  const kube = (role: 'api' | 'controllers') =>
    makeKube({ kubeconfig: serviceKubeconfig(role), around: life.kubeAround })
  const [apiKube, controllersKube] = [kube('api'), kube('controllers')]
  const smtp = makeMailer({ url: `smtp://127.0.0.1:${catcher.port}`, from: 'billing@bottega.test', pool: 1 })
  const deps: OperatorDeps = {
    kube: controllersKube,
    pg,
    pdf,
    keys,
    namespace: namespace.name,
    publicUrl: 'http://pages.test',
    mailDomain: 'bottega.test',
    log: pino({ level: 'silent' }),
    now,
    courier: (epoch, hooks) =>
      startCourier({
        ...hooks,
        outbox: makeOutbox({ pg, epoch: () => epoch, now }),
        // A dead process sends nothing.
        mailer: { ...smtp, send: (mail) => (life.isDead() ? Promise.reject(new Crashed('dead')) : smtp.send(mail)) },
        keys,
        publicUrl: 'http://pages.test',
        now,
        log: pino({ level: 'silent' }),
        lanes: 1,
      }),
  }
  const caches = makeCaches(deps)
  const mirror = makeMirrorReader({ pg })
  const waiter = await makeWaiter({ pg, mirror })
  // What a creation needs of them.
  const api: Partial<Deps> = {
    kube: apiKube,
    ledger: makeLedgerReader({ pg }),
    appendFact: makeAppendFact({ pg, epoch: null }),
    mirror,
    blobs: makeBlobs({ pg }),
    issuers: makeIssuers({ pg }),
    waiter,
    keys,
    attempts: makeAttempts({ pg }),
    accounts: makeAccounts({ pg }),
    slots: makeSlots({ pg }),
    limits: makeLimits(LIMIT_DEFAULTS),
    namespace: namespace.name,
    publicUrl: 'http://pages.test',
    now,
  }
  const leading = takeEpoch(pg, 'sweep').then((epoch) => startOperator(deps, caches, epoch))
  leading.catch(() => {})
  return {
    post: (): Promise<Answer> =>
      createInvoice(
        api as Deps,
        {
          caller: { account: 'demo', profile: { plan: 'team' } },
          body: order({ external_ref: 'the-order' }),
          headers: {},
        } as unknown as ApiRequest,
      ),
    operator: () => leading,
    end: async () => {
      const operator = await leading.catch(() => undefined)
      await operator?.stop(life.isDead() ? 0 : 5_000)
      await caches.stop()
      await waiter.close()
      smtp.close()
      await Promise.all([apiKube.close(), controllersKube.close(), pg.close()])
    },
  }
}

const object = async (): Promise<InvoiceResource | undefined> => {
  const text = await kubectlFor(namespace.kubeconfig)([
    'get',
    'inv',
    name,
    '-n',
    namespace.name,
    '-o',
    'json',
    '--ignore-not-found',
  ])
  return text === '' ? undefined : JSON.parse(text)
}
const isReady = (found: InvoiceResource | undefined) =>
  found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

const mailState = async (url: string) =>
  (await query(url, 'select state, attempts::int, unknowns::int, message_id as id from outbox'))[0]

/** One life up to its crash (or its end), a second life after it, and what the world looks like then. */
const live = async (point: CrashPoint | undefined): Promise<{ crashed: boolean; calls: string[] }> => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const database = await makeDatabase()
  const life = makeLife(point)
  const first = await startProcess(database.url, life).catch((error) => {
    if (life.isDead()) return null
    throw error
  })
  const posted = first?.post().catch((error: unknown) => error)
  const settled = eventually(
    'the mail to be sent',
    async () => (await mailState(database.url))?.state === 'sent' && isReady(await object()),
  )
  settled.catch(() => {})
  await Promise.race([life.death, Promise.all([posted, settled])])
  const delivered = async () => life.isDead() || (await view(database.url))?.delivery?.state === 'sent'
  await eventually('the view of the delivery, or the crash', delivered)
  const crashed = life.isDead()
  await first?.end()

  const second = makeLife()
  try {
    const next = await startProcess(database.url, second)
    // The client never got its answer, so it asks again.
    const answer = await next.post()
    assert.ok(answer.status === 200 || answer.status === 201, `answered ${answer.status}`)
    await eventually('Ready', async () => isReady(await object()))
    await eventually('the mail', async () => (await mailState(database.url))?.state === 'sent')
    await eventually('the delivery in the view', async () => (await view(database.url))?.delivery?.state === 'sent')
    await lookedAt(database.url, answer)
    await next.end()
    await nothingLeft(database.url)
    return { crashed, calls: life.calls }
  } finally {
    await kubectlFor(namespace.kubeconfig)(['delete', 'inv', name, '-n', namespace.name, '--ignore-not-found'])
    await database.drop()
  }
}

const view = async (url: string) =>
  (await query(url, "select view from mirror where kind = 'Invoice'"))[0]?.view as
    | { delivery?: { state: string } }
    | undefined

const lookedAt = async (url: string, answer: Answer) => {
  const numbers = await query(url, 'select number from register')
  assert.is(numbers.length, 1, 'one number')
  assert.match(String(numbers[0]?.number), /^INV-\d{3}-0001$/)
  assert.is((answer.body as { number: string }).number, numbers[0]?.number)
  const [series] = await query(url, 'select id from series')
  const [verified] = await query(url, 'select count::int, first_bad from verify_series($1)', [series?.id])
  assert.equal(verified, { count: 1, first_bad: null })
  assert.is((await query(url, 'select 1 from sends')).length, 1, 'one send')
  assert.equal(await query(url, 'select used from send_days'), [{ used: 1 }], 'one place under the cap')

  const mail = await mailState(url)
  const caught = (await mailsIn(folder)).filter(({ messageId }) => messageId === mail?.id)
  // A second delivery is allowed only where the outcome of the first was counted as unknown.
  assert.ok(
    caught.length >= 1 && caught.length <= 1 + Number(mail?.unknowns),
    `${caught.length} mails, ${mail?.unknowns} unknown`,
  )
}

const READS = /^(get|list) |^sql (mirror_|observe_|issuer_profiles)/
/** A turn without a settlement takes what is due: nothing is. The epoch is each life's own. */
const HARMLESS = /^sql (turn_outbox|take_epoch)/

/** A third life looks at everything and does nothing. */
const nothingLeft = async (url: string) => {
  const before = await object()
  const rows = () =>
    query(url, 'select (select count(*) from sends) as sends, (select max(xmin::text::bigint) from mirror) as mirror')
  const [held] = await rows()
  const life = makeLife()
  const process = await startProcess(url, life)
  const operator = await process.operator()
  await eventually('the pass', async () => life.calls.includes('sql observe_invoices') && operator.idle())
  await process.end()
  assert.equal(
    life.calls.filter((call) => !READS.test(call) && !HARMLESS.test(call) && call !== 'sql put_mirror'),
    [],
  )
  assert.equal((await rows())[0], held)
  assert.is((await object())?.metadata.resourceVersion, before?.metadata.resourceVersion)
}

spec('a process that dies at any call', (t) => {
  t.before(async () => {
    namespace = await makeNamespace()
    catcher = await startMailCatcher({ dir: folder, port: 0 })
    const kubectl = kubectlFor(namespace.kubeconfig)
    const account = { email: 'owner@demo.test', name: 'Demo', plan: 'team' }
    await kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: account,
    })
  })
  t.after(async () => {
    await catcher.stop()
    await namespace.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  let calls: string[] = []
  t('without a crash, one create-and-send is as it should be', async () => {
    ;({ calls } = await live(undefined))
    assert.is(calls.filter((call) => call.startsWith('create ')).length, 1)
    const patches = calls.filter((call) => call.startsWith('patch ') && call.includes('/invoices/'))
    assert.is(patches.length, 1, 'one status patch')
  })

  for (const when of ['before', 'after'] as const) {
    t(
      `${when} any call: one number, one mail, Ready, nothing left to do`,
      async () => {
        let deaths = 0
        for (let at = 0; ; at++) {
          const { crashed, calls: made } = await live({ call: at, when }).catch((error) => {
            throw new Error(`crash ${when} call ${at}: ${error.stack}`)
          })
          if (!crashed) break
          deaths++
          assert.ok(at < 200, `no end after ${made.length} calls`)
        }
        assert.ok(deaths >= 15, `only ${deaths} crash points`)
        console.log(`  ${deaths} crash points ${when} a call`)
      },
      { timeoutMs: 300_000 },
    )
  }
})
