import { keyIdOf } from '../../../controllers/base/keyring.ts'
import { type Kube, makeKube } from '../../../controllers/kube/kube.ts'
import { type AnyObject, LEASE } from '../../../controllers/kube/objects.ts'
import { keepRoots, ROOTS, readKeptRoots } from '../../../controllers/runtime/keptroots.ts'
import { openKeys } from '../../../controllers/store/installation/open.ts'
import { KeyUnknown } from '../../../controllers/store/installation/ringkeys.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { LEASE_NAME } from '../../../crds/kernel/platform.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { kubectlFor, makeDatabase, makeNamespace, serviceKubeconfig } from '../../support/stage/stage.ts'

const [OWN, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]

spec('the roots on the Lease', (t) => {
  const ends: (() => Promise<unknown>)[] = []
  let kube: Kube
  t.before(() => {
    kube = makeKube({ kubeconfig: serviceKubeconfig('controllers') })
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await kube.close()
  })
  const databaseOf = async () => {
    const database = await makeDatabase()
    const pg = makePg({ url: database.url, max: 2 })
    ends.push(async () => {
      await pg.close()
      await database.drop()
    })
    return pg
  }
  const leaseOf = async () => {
    const { name: namespace, remove } = await makeNamespace()
    ends.push(remove)
    const metadata = { name: LEASE_NAME, namespace }
    await kubectlFor()(['create', '-f', '-'], { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata })
    return metadata
  }

  t('outlive the database: what follows from them is the same in an empty one, under the same ring alone', async () => {
    const [lease, lost, empty] = [await leaseOf(), await databaseOf(), await databaseOf()]
    assert.equal(await readKeptRoots(kube, lease), [])
    const before = await openKeys({ pg: lost, secretKeys: [OWN], makes: true, kept: () => readKeptRoots(kube, lease) })
    before.stop()
    await keepRoots({ kube, pg: lost }, lease)
    const given = { pg: empty, makes: true, kept: () => readKeptRoots(kube, lease) }
    await assert.rejects(
      openKeys({ ...given, secretKeys: [OTHER] }),
      (error: unknown) => error instanceof KeyUnknown && error.message.includes(keyIdOf(OWN)),
    )
    const after = await openKeys({ ...given, secretKeys: [OTHER, OWN] })
    after.stop()
    assert.is(after.keys.installation, before.keys.installation)
    assert.equal(after.keys.resourceName('ref'), before.keys.resourceName('ref'))
    assert.is(after.keys.linkToken('inv-1', 1), before.keys.linkToken('inv-1', 1))
    // without the Lease it would be an installation of its own
    const stranger = await openKeys({ pg: await databaseOf(), secretKeys: [OWN], makes: true })
    stranger.stop()
    assert.not.equal(stranger.keys.installation, before.keys.installation)
  })

  t('are read by who may write nothing, where the database has none', async () => {
    const [lease, lost, empty] = [await leaseOf(), await databaseOf(), await databaseOf()]
    const before = await openKeys({ pg: lost, secretKeys: [OWN], makes: true })
    before.stop()
    await keepRoots({ kube, pg: lost }, lease)
    const kept = () => readKeptRoots(kube, lease)
    const reader = await openKeys({ pg: empty, secretKeys: [OWN], makes: false, kept })
    await reader.refresh()
    reader.stop()
    assert.is(reader.keys.installation, before.keys.installation)
    const count = 'select (select count(*) from roots) + (select count(*) from ring_keys) as n'
    assert.is(Number((await empty.query<{ n: number }>('count', count, [])).rows[0]?.n), 0)
  })

  t('are written once, and say nothing of a secret', async () => {
    const [lease, pg] = [await leaseOf(), await databaseOf()]
    const { keys, stop } = await openKeys({ pg, secretKeys: [OWN], makes: true })
    stop()
    await keepRoots({ kube, pg }, lease)
    const first = await kube.get<AnyObject>(LEASE, lease)
    await keepRoots({ kube, pg }, lease)
    assert.is((await kube.get<AnyObject>(LEASE, lease)).metadata.resourceVersion, first.metadata.resourceVersion)
    const text = first.metadata.annotations?.[ROOTS] ?? ''
    assert.match(text, '"id":"first"')
    for (const secret of [OWN, keys.lastingKey('resource-name')])
      for (const form of ['base64', 'hex'] as const) assert.not.ok(text.includes(secret.toString(form)))
  })
})
