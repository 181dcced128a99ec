import { pino } from 'pino'
import { StaleEpoch } from '../../../controllers/base/errors.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { makeCaches } from '../../../controllers/operator.ts'
import { raiseAbove, type Taking, takeNextEpoch } from '../../../controllers/runtime/epoch.ts'
import { makeInstallation } from '../../../controllers/store/installation/installation.ts'
import { makeDeletionReader } from '../../../controllers/store/ledger/desires.ts'
import { makeKnown } from '../../../controllers/store/ledger/known.ts'
import { makeMirror } from '../../../controllers/store/mirror.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { judge, type TruthVerdict } from '../../../controllers/workers/truths/judgement.ts'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  copyDatabase,
  type Database,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  type Namespace,
  serviceKubeconfig,
} from '../../support/stage/stage.ts'

/** The marks of an installation in its database and on its Lease, put back, lost and mixed up. */

const ends: (() => Promise<unknown>)[] = []
const OWN_KEY = Buffer.alloc(32, 7)

type Stand = { judged(): Promise<TruthVerdict>; lead(): Promise<number>; taking: Taking; epoch(): Promise<number> }

/** A process of that key, before that database and in that namespace. */
const stand = async (database: Database, { name }: Namespace, key = OWN_KEY): Promise<Stand> => {
  const pg = makePg({ url: database.url, max: 2 })
  const kube = makeKube({ kubeconfig: serviceKubeconfig('controllers') })
  const log = pino({ level: 'silent' })
  const caches = makeCaches({ kube, namespace: name, log })
  ends.push(async () => {
    await caches.stop()
    await Promise.all([kube.close(), pg.close()])
  })
  const installation = makeInstallation({ pg })
  const epoch = () => 0
  const deps = { kube, namespace: name, keys: keysOfOne(key), installation, caches, log, accept: undefined }
  const asked = {
    ...{ ...deps, deletions: makeDeletionReader({ pg }) },
    ...{ mirror: makeMirror({ pg, epoch }), known: makeKnown({ pg, epoch }) },
  }
  const taking = { kube, pg, installation, ref: { namespace: name, name: LEASE_NAME } }
  return {
    judged: () => judge(asked),
    lead: async () => {
      assert.is((await judge(asked)).wrong, null)
      return takeNextEpoch(taking, 'test')
    },
    taking,
    epoch: async () => (await installation.read())?.epoch ?? 0,
  }
}
const codeOf = async ({ judged }: Stand) => (await judged()).wrong?.code ?? null
/** All that says who may lead by it. */
const marksIn = async ({ url }: Database) => [
  await query(url, 'select * from installation'),
  await query(url, 'select * from epochs'),
  await query(url, 'select kind, name, uid from mirror order by 1, 2'),
]
const annotations = async ({ name }: Namespace): Promise<Record<string, string>> => {
  const text = await kubectlFor()(['get', 'lease', LEASE_NAME, '-n', name, '-o', 'json'])
  return JSON.parse(text).metadata.annotations ?? {}
}
/** As the platform makes it, before the first leader. */
const withLease = async (namespace: Namespace): Promise<Namespace> => {
  const metadata = { name: LEASE_NAME, namespace: namespace.name }
  await kubectlFor()(['create', '-f', '-'], { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata })
  return namespace
}
const annotate = ({ name }: Namespace, mark: string) =>
  kubectlFor()(['annotate', 'lease', LEASE_NAME, '-n', name, '--overwrite', mark])

spec('who may lead by a database', (t) => {
  let home: Namespace
  let database: Database
  let older: Database
  const fresh = async () => {
    const made = await makeDatabase()
    ends.push(made.drop)
    return made
  }
  t.before(async () => {
    home = await withLease(await makeNamespace())
    database = await fresh()
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await home.remove()
  })

  t('one id and each epoch stand on both sides', async () => {
    const first = await stand(database, home)
    assert.is(await first.lead(), 1)
    const [row] = await query(database.url, 'select id, namespace, kept_epoch from installation')
    assert.equal([row?.namespace, Number(row?.kept_epoch)], [home.name, 1])
    const marks = await annotations(home)
    assert.equal([marks['bottega.dev/installation'], marks['bottega.dev/epoch']], [row?.id, '1'])
    await ends.pop()?.()
    older = await copyDatabase(database.url)
    ends.push(older.drop)
    const again = await stand(database, home)
    assert.equal([await again.lead(), await again.lead()], [2, 3])
    assert.is((await annotations(home))['bottega.dev/epoch'], '3')
  })

  t('not by an older copy of it, nor by an empty one: nothing is taken, and nothing goes back', async () => {
    const empty = await fresh()
    for (const copy of [older, empty]) {
      const before = await marksIn(copy)
      const process = await stand(copy, home)
      assert.is(await codeOf(process), 'LEDGER_BEHIND')
      const [installation] = await marksIn(copy)
      assert.equal((await marksIn(copy)).slice(1), before.slice(1))
      assert.is(installation?.[0]?.id, before[0]?.[0]?.id)
      assert.is((await annotations(home))['bottega.dev/epoch'], '3')
    }
    assert.is((await query(empty.url, 'select 1 from installation')).length, 0, 'an empty one belongs to nobody still')
    const said = await query(older.url, `select disagreement ->> 'code' as code from installation`)
    assert.is(said[0]?.code, 'LEDGER_BEHIND', 'which the api reads')
  })

  t('not where the cluster is the older copy', async () => {
    await annotate(home, 'bottega.dev/epoch=2')
    const process = await stand(database, home)
    assert.is(await codeOf(process), 'CLUSTER_BEHIND')
    assert.is(await process.epoch(), 3)
    await annotate(home, 'bottega.dev/epoch=3')
    assert.is(await codeOf(process), null)
    const [row] = await query(database.url, 'select disagreement from installation')
    assert.is(row?.disagreement, null)
  })

  t('a Lease that was made anew takes the marks of the database', async () => {
    await kubectlFor()([
      'annotate',
      'lease',
      LEASE_NAME,
      '-n',
      home.name,
      'bottega.dev/epoch-',
      'bottega.dev/installation-',
    ])
    const process = await stand(database, home)
    assert.is(await process.lead(), 4)
    assert.is((await annotations(home))['bottega.dev/epoch'], '4')
  })

  t(
    'not with another key, in another namespace, or beside another installation: nothing at all is written',
    async () => {
      const staging = await withLease(await makeNamespace())
      ends.push(() => staging.remove())
      const theirs = await stand(await fresh(), staging, Buffer.alloc(32, 9))
      await theirs.lead()
      const before = await marksIn(database)
      assert.is(await codeOf(await stand(database, home, Buffer.alloc(32, 9))), 'KEY_UNKNOWN')
      assert.is(await codeOf(await stand(database, staging)), 'CLUSTER_UNKNOWN')
      await annotate(home, 'bottega.dev/installation=another')
      assert.is(await codeOf(await stand(database, home)), 'CLUSTER_UNKNOWN')
      await annotate(home, `bottega.dev/installation=${before[0]?.[0]?.id}`)
      assert.equal(await marksIn(database), before)
      assert.is(await codeOf(await stand(database, home)), null)
    },
  )

  t('a host that knows a higher epoch has it raised on both sides, unless somebody else leads', async () => {
    const process = await stand(database, home)
    const held = await process.lead()
    const raised = await raiseAbove(process.taking, held, 50)
    assert.equal([raised, await process.epoch(), (await annotations(home))['bottega.dev/epoch']], [51, 51, '51'])
    const refused = await raiseAbove(process.taking, held, 90).catch((error: unknown) => error)
    assert.instance(refused, StaleEpoch)
    assert.is(await process.epoch(), 51)
    assert.is(await process.lead(), 52)
  })
})
