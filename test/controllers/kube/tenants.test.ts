/** One platform over the namespaces of its tenants, by the rights of its processes, on a real API server. */
import { isAlreadyExists, isNamespaceNotServed, isNotFound } from '../../../controllers/base/errors.ts'
import { makeEvents } from '../../../controllers/kube/events.ts'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { makeTenantDoor, type TenantDoor } from '../../../controllers/kube/tenants/door.ts'
import { type Cache, reflect } from '../../../controllers/kube/watch.ts'
import { makePlaces, type PlaceStore } from '../../../controllers/store/installation/places.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { namespacesOf, type Tenants } from '../../../crds/account/tenants.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { InvoiceResource } from '../../../crds/invoice/schema.ts'
import { GROUP, VERSION } from '../../../crds/kernel/object.ts'
import { applyTenantNamespace } from '../../../hack/platform/platform.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import {
  type Database,
  kubectlFor,
  makeDatabase,
  makeNamespace,
  makeTenantNamespace,
  type Namespace,
  serviceKubeconfig,
} from '../../support/stage/stage.ts'

const AGAIN_MS = 100

spec('a platform over several namespaces', (t) => {
  const kubectl = kubectlFor()
  const ends: (() => Promise<unknown>)[] = []
  let [home, a, b]: Namespace[] = []
  let database: Database
  let places: PlaceStore
  let tenants: Tenants
  let api: TenantDoor
  let operator: TenantDoor
  let cache: Cache<InvoiceResource>
  const nameOf = (namespace: Namespace | undefined) => namespace?.name ?? ''
  const items = [{ description: 'October', qty: '1', unitCents: 100 }]
  const invoice = (name: string, account: string, namespace = nameOf(home)) => ({
    ...{ apiVersion: `${GROUP}/${VERSION}`, kind: 'Invoice', metadata: { name, namespace } },
    spec: { account, clientName: 'ACME', clientEmail: 'billing@acme.test', items },
  })
  const create = (name: string, account: string, namespace: Namespace | undefined) =>
    kubectl(['create', '-f', '-'], invoice(name, account, nameOf(namespace)))
  const where = ['-o', 'jsonpath={.items[*].metadata.namespace}']
  const placed = async (name: string) =>
    (await kubectl(['get', 'inv', '-A', `--field-selector=metadata.name=${name}`, ...where])).split(' ').sort()
  const held = (name: string) => cache.get(`${nameOf(home)}/${name}`)
  const ref = (name: string) => ({ namespace: nameOf(home), name })
  const open = (process: 'api' | 'controllers', of: Tenants): TenantDoor => {
    const pg = makePg({ url: process === 'api' ? database.apiUrl : database.url, max: 2 })
    const kube = makeKube({ kubeconfig: serviceKubeconfig(process) })
    ends.push(
      () => pg.close(),
      () => kube.close(),
    )
    return makeTenantDoor({ kube, tenants: of, places: makePlaces({ pg }), againMs: AGAIN_MS })
  }
  const reflected = (door: TenantDoor): Cache<InvoiceResource> => {
    const made = reflect<InvoiceResource>({
      ...{ kube: door.kube, kind: INVOICE, namespace: nameOf(home), pageLimit: 2, graceMs: 100 },
      backoff: { minMs: 50, maxMs: 200 },
    })
    ends.push(() => made.stop())
    return made
  }
  const codesOf = (door: TenantDoor) =>
    Object.fromEntries(door.strays.list().map(({ code, object }) => [object.metadata.name, code]))

  t.before(async () => {
    ;[home, a, b] = await Promise.all([makeNamespace(), makeTenantNamespace(), makeTenantNamespace()])
    database = await makeDatabase()
    const bound = [
      { namespace: nameOf(a), accounts: ['demo'] },
      { namespace: nameOf(b), accounts: ['other'] },
    ]
    tenants = { home: nameOf(home), bound }
    const pg = makePg({ url: database.url, max: 2 })
    ends.push(() => pg.close())
    places = makePlaces({ pg })
    assert.is(await places.isUsed(), false)
    await places.serve(namespacesOf(tenants))
    api = open('api', tenants)
    operator = open('controllers', tenants)
    await create('before', 'demo', a)
    cache = reflected(operator)
    await cache.synced
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await Promise.all([home?.remove(), a?.remove(), b?.remove()])
    await database?.drop()
  })

  t('writes what is of an account to where it is bound, and all else at home', async () => {
    for (const [name, account, there] of [
      ['of-demo', 'demo', a],
      ['of-other', 'other', b],
      ['of-third', 'third', home],
    ] as const) {
      const made = await api.kube.create<InvoiceResource>(INVOICE, invoice(name, account))
      assert.is(made.metadata.namespace, nameOf(home))
      assert.equal(await placed(name), [nameOf(there)])
    }
  })

  t('sees all of them as one: those that stood, that come, change and go', async () => {
    for (const name of ['before', 'of-demo', 'of-other', 'of-third'])
      await eventually(name, async () => held(name)?.metadata.namespace === nameOf(home))
    await operator.kube.patchStatus(INVOICE, ref('of-other'), { phase: 'draft' })
    await eventually('the change', async () => held('of-other')?.status?.phase === 'draft')
    await api.kube.patchMeta(INVOICE, ref('of-demo'), { annotations: { seen: 'yes' } })
    await eventually('the change', async () => held('of-demo')?.metadata.annotations?.seen === 'yes')
    await api.kube.delete(INVOICE, ref('of-demo'))
    await eventually('the end', async () => held('of-demo') === undefined)
    await eventually('the place to be free', async () => (await places.find('Invoice', 'of-demo')) === null)
    assert.is(cache.size(), 3)
  })

  t('finds by name what it has not seen, and nothing of a namespace that is not on its list', async () => {
    const fresh = open('api', { home: nameOf(home), bound: tenants.bound.slice(1) })
    const found = await fresh.kube.get<InvoiceResource>(INVOICE, ref('of-other'))
    assert.equal([found.spec.account, found.metadata.namespace], ['other', nameOf(home)])
    await assert.rejects(fresh.kube.get(INVOICE, ref('nobody')), isNotFound)
    // it is not gone: nobody may take it for that
    await assert.rejects(fresh.kube.get(INVOICE, ref('before')), isNamespaceNotServed)
    await assert.rejects(fresh.kube.create(INVOICE, invoice('before', 'demo')), isNamespaceNotServed)
    await assert.rejects(fresh.kube.delete(INVOICE, ref('before')), isNamespaceNotServed)
    assert.equal(await placed('before'), [nameOf(a)])
  })

  t('shows nobody what stands where its account is not bound', async () => {
    await create('forged', 'other', a)
    await create('at-home', 'other', home)
    const told = () => ['forged', 'at-home'].every((name) => codesOf(operator)[name] === 'ACCOUNT_ELSEWHERE')
    await eventually('both to be told', async () => told())
    assert.equal([held('forged'), held('at-home')], [undefined, undefined])
    await assert.rejects(api.kube.get(INVOICE, ref('forged')), isNotFound)
    for (const name of ['forged', 'at-home']) {
      await assert.rejects(api.kube.patchMeta(INVOICE, ref(name), { annotations: { a: 'b' } }), isNotFound)
      await assert.rejects(api.kube.delete(INVOICE, ref(name)), isNotFound)
    }
  })

  t('knows a name as one resource, of whoever came first, in every process and after a start', async () => {
    await create('twin', 'demo', a)
    await eventually('the first', async () => held('twin')?.spec.account === 'demo')
    await create('twin', 'other', b)
    await eventually('the second to be told', async () => codesOf(operator).twin === 'NAME_TAKEN')
    assert.is(held('twin')?.spec.account, 'demo')
    await assert.rejects(api.kube.create(INVOICE, invoice('twin', 'other')), isAlreadyExists)
    const read = await api.kube.get<InvoiceResource>(INVOICE, ref('twin'))
    assert.is(read.spec.account, 'demo')
    const standby = open('controllers', { ...tenants, bound: tenants.bound.toReversed() })
    const second = reflected(standby)
    await second.synced
    assert.is(second.get(`${nameOf(home)}/twin`)?.spec.account, 'demo')
    assert.is(codesOf(standby).twin, 'NAME_TAKEN')
    assert.is(second.size(), cache.size())

    await kubectl(['delete', 'inv', 'twin', '-n', nameOf(a)])
    await eventually('the first to go', async () => held('twin') === undefined)
    await kubectl(['annotate', 'inv', 'twin', '-n', nameOf(b), 'looked=again'])
    await eventually('the second', async () => held('twin')?.spec.account === 'other')
    assert.is(codesOf(operator).twin, undefined)
    // the api had seen the first
    assert.is((await api.kube.get<InvoiceResource>(INVOICE, ref('twin'))).spec.account, 'other')
  })

  t('tells Events beside what they are about', async () => {
    const events = makeEvents({ kube: operator.kube, reporter: 'bottega-controllers' })
    const object = held('of-other')
    if (object === undefined) throw new Error('of-other is not held')
    events.emit({ object, kind: INVOICE, type: 'Warning', reason: 'Tried', message: 'TRIED: by a test' })
    await events.flush()
    const told = (namespace: string) =>
      kubectl(['get', 'events.events.k8s.io', '-o', 'jsonpath={.items[*].reason}', '-n', namespace])
    assert.match(await told(nameOf(b)), 'Tried')
    assert.not.match(await told(nameOf(home)), 'Tried')
    assert.is(operator.livesIn(INVOICE, 'of-other'), nameOf(b))
  })

  t('goes on for all others while one cannot be looked into, and forgets nothing of that one', async () => {
    const before = cache.size()
    await kubectl(['delete', 'role', 'bottega-controllers-tenant', '-n', nameOf(b)])
    const fresh = open('controllers', tenants)
    const started = reflected(fresh)
    await eventually('a start without it', async () => started.isSynced())
    assert.is(started.get(`${nameOf(home)}/before`)?.spec.account, 'demo')
    assert.is(started.get(`${nameOf(home)}/of-other`), undefined)
    const unserved = await places.unserved()
    assert.equal(
      unserved.map(({ account, namespace }) => [account, namespace]),
      [['other', nameOf(b)]],
    )
    assert.ok((unserved[0]?.count ?? 0) >= 2)
    await create('meanwhile', 'demo', a)
    await eventually('what comes elsewhere', async () => started.get(`${nameOf(home)}/meanwhile`) !== undefined)
    assert.is(cache.size() >= before, true)

    await applyTenantNamespace(kubectl, nameOf(b))
    await eventually('it to be seen again', async () => started.get(`${nameOf(home)}/of-other`) !== undefined)
    await eventually('it to be served', async () => (await places.unserved()).length === 0)
  })
})
