import { rmSync } from 'node:fs'
import { pino } from 'pino'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { makeCaches } from '../../../controllers/operator.ts'
import { makeCredentials } from '../../../controllers/store/host/hosts.ts'
import { makeAskDeletion } from '../../../controllers/store/ledger/desires.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { reconcile } from '../../../controllers/workers/reconcile/reconcile.ts'
import type { ReconcileSummary } from '../../../controllers/workers/reconcile/words.ts'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, keys as ownKeys, startOneProcess } from '../../support/crash/process.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import {
  type Database,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  type Namespace,
  scratchFolder,
  serviceKubeconfig,
} from '../../support/stage/stage.ts'

/** What is absent was not deleted: a database in front of which the cluster is empty, or another, keeps what it knows. */

const folder = scratchFolder('absence')
const DRAFTS = 25
let catcher: { port: number; stop(): Promise<void> }
let database: Database
const ends: (() => Promise<unknown>)[] = []

const objectOf = (kind: string, name: string, spec: object) => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
})
const account = objectOf('Account', 'demo', { email: 'owner@demo.test', name: 'Demo', plan: 'team' })
const draft = (n: number) => objectOf('Invoice', `inv-draft-${n}`, { account: 'demo', clientName: `Client ${n}` })
const host = objectOf('Host', 'host-one', {
  account: 'demo',
  class: 'owned',
  address: '127.0.0.1',
  port: 1,
  user: 'bottega',
  hostKey: `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, 1)]).toString('base64')}`,
  // of which no key is stored, so that nobody asks the host
  credentialVersion: 2,
  approved: false,
})

const apply = (namespace: Namespace, items: object[]) =>
  kubectlFor(namespace.kubeconfig)(['apply', '-n', namespace.name, '-f', '-'], {
    apiVersion: 'v1',
    kind: 'List',
    items,
  })
const remove = (namespace: Namespace, ...names: string[]) =>
  kubectlFor(namespace.kubeconfig)(['delete', '-n', namespace.name, ...names])
const lead = async (namespace: Namespace): Promise<OneProcess> => {
  const options = { databaseUrl: database.url, namespace: namespace.name, mailPort: catcher.port }
  const process = await startOneProcess(options, makeLife())
  ends.push(() => process.end())
  return process
}
/** As an administrator asks for it, while nobody leads. */
const reconciled = async (namespace: Namespace, restore: string[], apply = false): Promise<ReconcileSummary> => {
  const pg = makePg({ url: database.url, max: 2 })
  const kube = makeKube({ kubeconfig: serviceKubeconfig('reconcile') })
  const log = pino({ level: 'silent' })
  const caches = makeCaches({ kube, namespace: namespace.name, log })
  const clients = { ...{ kube, pg, caches, log, keys: ownKeys }, namespace: namespace.name, now: () => new Date() }
  try {
    return JSON.parse(await reconcile(clients, { apply, json: true, reserve: new Map(), restore: new Set(restore) }))
  } finally {
    await caches.stop()
    await Promise.all([kube.close(), pg.close()])
  }
}
const countOf = async (text: string) => Number((await query(database.url, `select count(*) as n from ${text}`))[0]?.n)
const known = () => countOf('mirror')
const keys = () => countOf('host_credentials')
const putKey = async (name: string) => {
  const pg = makePg({ url: database.url, max: 1 })
  await makeCredentials({ pg, keys: ownKeys }).put(name, 1, 'a private key')
  await pg.close()
}
/** An account, a host with its key, and drafts, all of them seen. */
const filled = async (drafts: number): Promise<Namespace> => {
  const namespace = await makeNamespace()
  ends.push(namespace.remove)
  await putKey('host-one')
  await apply(namespace, [account, host, ...Array.from({ length: drafts }, (_, n) => draft(n))])
  const process = await lead(namespace)
  await eventually('all to be mirrored', async () => (await known()) === drafts + 2)
  await process.end()
  return namespace
}

spec('a cluster that does not hold what the database knows', (t) => {
  t.before(async () => {
    catcher = await startMailCatcher({ dir: folder, port: 0 })
  })
  t.before.each(async () => {
    database = await makeDatabase()
  })
  t.after.each(async () => {
    for (const end of ends.splice(0).reverse()) await end()
    await database.drop()
  })
  t.after(async () => {
    await catcher.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  t('is no reason to forget anything: views and keys stay', async () => {
    await filled(DRAFTS)
    const empty = await makeNamespace()
    ends.push(empty.remove)
    const process = await lead(empty)
    await (await process.operator()).lookAtAll()
    assert.equal([await known(), await keys()], [DRAFTS + 2, 1])
  })

  t('but for a few: what was deleted while nobody ran is forgotten, except a key', async () => {
    const namespace = await filled(3)
    await remove(namespace, 'inv/inv-draft-1', 'bhost/host-one')
    const process = await lead(namespace)
    await (await process.operator()).lookAtAll()
    const rows = await query(database.url, 'select name from mirror order by name')
    assert.equal(
      rows.map(({ name }) => name),
      ['demo', 'inv-draft-0', 'inv-draft-2'],
    )
    assert.is(await keys(), 1, 'it cannot be made again')
    await process.end()

    // it was no deletion after all; the Lease is there wherever the platform was applied
    const metadata = { name: LEASE_NAME, namespace: namespace.name }
    await apply(namespace, [{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata }])
    const plan = await reconciled(namespace, [])
    assert.equal(plan.forgotten, [
      { kind: 'Host', name: 'host-one' },
      { kind: 'Invoice', name: 'inv-draft-1' },
    ])
    assert.ok(plan.decide.some((one) => one.includes('--restore KIND/NAME') && one.includes('Invoice/inv-draft-1')))
    assert.equal(plan.steps, [], 'nobody is asked')
    const nobody = await reconciled(namespace, ['Invoice/nobody'])
    assert.match(nobody.blocked.join(), 'Invoice/nobody cannot be made again: nothing is kept of it')
    const wanted = await reconciled(namespace, ['Invoice/inv-draft-1'], true)
    assert.match(
      wanted.steps.join(),
      'make 1 resources again, as they were asked for last, each known by its rows: Invoice/inv-draft-1',
    )
    const again = await lead(namespace)
    await (await again.operator()).lookAtAll()
    const views = await query(
      database.url,
      "select view ->> 'client_name' as client from mirror where name = 'inv-draft-1'",
    )
    assert.equal(views, [{ client: 'Client 1' }])
    assert.equal((await reconciled(namespace, [])).forgotten, [{ kind: 'Host', name: 'host-one' }])
  })

  t('deletions that were asked for over REST while nobody ran are none, however many', async () => {
    const namespace = await filled(DRAFTS)
    const gone = Array.from({ length: DRAFTS }, (_, n) => `inv-draft-${n}`)
    const uids = await query(database.url, "select name, uid from mirror where kind in ('Invoice', 'Host')")
    const pg = makePg({ url: database.apiUrl, max: 1 })
    const deletions = makeAskDeletion({ pg })
    const of = (kind: string, names: string[]) =>
      deletions.ask(
        kind,
        uids
          .filter(({ name }) => names.includes(String(name)))
          .map(({ name, uid }) => ({ name: String(name), uid: String(uid) })),
      )
    await of('Invoice', gone)
    await of('Host', ['host-one'])
    await pg.close()
    await remove(namespace, 'bhost/host-one', ...gone.map((name) => `inv/${name}`))
    const process = await lead(namespace)
    await (await process.operator()).lookAtAll()
    const rows = await query(database.url, 'select name from mirror order by name')
    assert.equal(
      rows.map(({ name }) => name),
      ['demo'],
    )
    assert.is(await keys(), 0, 'its deletion is on record')
  })

  t('keeps what was asked of each, also of what vanished; one that was asked anew begins anew', async () => {
    const namespace = await filled(2)
    const process = await lead(namespace)
    await process.operator()
    const change = objectOf('Invoice', 'inv-draft-1', { account: 'demo', clientName: 'Another' })
    await apply(namespace, [change])
    const desires = () =>
      query(
        database.url,
        "select name, uid, origin, generation::int, spec ->> 'clientName' as client from desires where kind = 'Invoice' order by name",
      )
    await eventually('the new generation', async () => (await desires())[1]?.generation === 2)
    const [first, second] = await desires()
    assert.is(second?.client, 'Another')
    const [before] = await query(
      database.url,
      "select generation::int, spec ->> 'clientName' as client from desire_history",
    )
    assert.equal(before, { generation: 1, client: 'Client 1' })
    await remove(namespace, 'inv/inv-draft-0')
    const seen = () => query(database.url, "select uid, how, generation::int from deletions where name = 'inv-draft-0'")
    await eventually('it to be on record', async () => (await seen()).length === 1)
    assert.equal(await seen(), [{ uid: first?.uid, how: 'seen', generation: 1 }])
    await apply(namespace, [draft(0)])
    await eventually('the new one', async () => (await desires())[0]?.uid !== first?.uid)
    const [again] = await desires()
    assert.is(again?.origin, again?.uid)
  })

  t('and a deletion that was seen takes the key with it', async () => {
    const namespace = await filled(1)
    const process = await lead(namespace)
    await process.operator()
    await remove(namespace, 'bhost/host-one')
    await eventually('its key to go', async () => (await keys()) === 0)
    await eventually('its view to go', async () => (await known()) === 2)
  })

  t('keeps the key of a host of which there is no view, however old it is', async () => {
    await putKey('host-old')
    await query(database.url, "update host_credentials set written_at = now() - interval '30 days'")
    await putKey('host-new')
    const rows = await query(database.url, 'select host from host_credentials order by host')
    assert.equal(
      rows.map(({ host: name }) => name),
      ['host-new', 'host-old'],
    )
  })
})
