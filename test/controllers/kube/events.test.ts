import { setTimeout as sleep } from 'node:timers/promises'
import { isNotFound } from '../../../controllers/base/errors.ts'
import { type EventNote, makeEvents } from '../../../controllers/kube/events.ts'
import { type KindRef, type Kube, makeKube } from '../../../controllers/kube/kube.ts'
import { applyNamespace } from '../../../hack/platform/platform.ts'
import { ensureWidgets, makeSpace, makeWidget, WIDGET, type Widget } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { kubectlFor, serviceKubeconfig, sharedKubeconfig } from '../../support/stage/stage.ts'

const EVENT: KindRef = { kind: 'Event', plural: 'events', group: 'events.k8s.io' }
type EventObject = {
  metadata: { name: string }
  reason: string
  note: string
  type: string
  action: string
  reportingController: string
  regarding: { uid: string; kind: string; apiVersion: string }
  series?: { count: number }
}

spec('events', (t) => {
  let kube: Kube
  /** As the controllers, who write them. */
  let own: Kube
  let space: string
  let widget: Widget

  t.before(async () => {
    kube = makeKube({ kubeconfig: sharedKubeconfig() })
    own = makeKube({ kubeconfig: serviceKubeconfig('controllers') })
    await ensureWidgets(kube)
  })
  t.before.each(async () => {
    space = await makeSpace(kube)
    widget = await makeWidget(kube, space, 'w')
  })
  t.after(() => Promise.all([kube.close(), own.close()]).then(() => {}))

  const note = (extra: Partial<EventNote> = {}): EventNote => ({
    object: widget,
    kind: WIDGET,
    type: 'Warning',
    reason: 'NoItems',
    action: 'Reconcile',
    message: 'NO_ITEMS: add one',
    ...extra,
  })
  const listed = async () => (await kube.list<EventObject>(EVENT, { namespace: space })).items

  t('an Event tells what, about whom and by whom', async () => {
    const events = makeEvents({ kube, reporter: 'bottega-controllers' })
    events.emit(note())
    await events.flush()
    const [event, ...others] = await listed()
    assert.is(others.length, 0)
    assert.equal(
      [event?.type, event?.reason, event?.action, event?.note],
      ['Warning', 'NoItems', 'Reconcile', 'NO_ITEMS: add one'],
    )
    assert.is(event?.reportingController, 'bottega-controllers')
    assert.is(event?.regarding.uid, widget.metadata.uid)
    assert.is(event?.regarding.apiVersion, `${WIDGET.group}/${WIDGET.version}`)
    assert.is(event?.series, undefined)
  })

  t('repeats become a series of one Event, written seldom, by the rights of the controllers', async () => {
    await applyNamespace(kubectlFor(), space)
    let at = Date.parse('2026-11-21T10:00:00Z')
    let writes = 0
    const raw: Kube['raw'] = (...args) => {
      writes += 1
      return own.raw(...args)
    }
    const counted: Kube = { ...own, raw }
    const events = makeEvents({ kube: counted, reporter: 'r', now: () => new Date(at) })
    for (let n = 0; n < 30; n += 1) {
      events.emit(note())
      at += 1_000
    }
    await events.flush()
    const [event, ...others] = await listed()
    assert.is(others.length, 0)
    assert.is(event?.series?.count, 30)
    assert.ok(writes <= 4, `${writes} writes`)
    at += 400_000
    events.emit(note())
    await events.flush()
    assert.is((await listed()).length, 2, 'after the pause a new one')
  })

  t('what is said in other words is another Event, so that the newest one is true', async () => {
    const events = makeEvents({ kube, reporter: 'r' })
    for (const release of [1, 2, 2]) events.emit(note({ reason: 'Live', message: `release ${release} is live` }))
    await events.flush()
    const said = (await listed()).map(({ note: words, series }) => `${words} × ${series?.count ?? 1}`)
    assert.equal(said.sort(), ['release 1 is live × 1', 'release 2 is live × 2'])
  })

  t('the counts of a series arrive in their order, however slow the first writes are', async () => {
    let at = Date.parse('2026-11-21T10:00:00Z')
    let writes = 0
    const slowly = async () => {
      writes += 1
      if (writes < 3) await sleep(60 * (3 - writes))
    }
    const create: Kube['create'] = async (...args) => slowly().then(() => kube.create(...args))
    const raw: Kube['raw'] = async (...args) => slowly().then(() => kube.raw(...args))
    const events = makeEvents({ kube: { ...kube, create, raw }, reporter: 'r', now: () => new Date(at) })
    for (let n = 0; n < 30; n += 1) {
      events.emit(note())
      at += 1_000
    }
    await events.flush()
    const [event] = await listed()
    assert.is(event?.series?.count, 30)
  })

  t('a long note is cut by bytes and loses its secrets', async () => {
    const events = makeEvents({ kube, reporter: 'r' })
    events.emit(note({ message: `postgres://bottega:hunter2@db/x ${'é'.repeat(2_000)}` }))
    await events.flush()
    const [event] = await listed()
    assert.ok(event, 'it is there')
    assert.ok(Buffer.byteLength(event?.note ?? '') <= 1_000)
    assert.not.match(event?.note ?? '', /hunter2|\uFFFD/)
  })

  t('a flood is bounded, and what was dropped is counted', async () => {
    let dropped = 0
    const now = new Date('2026-11-21T10:00:00Z')
    const events = makeEvents({ kube, reporter: 'r', now: () => now, onDropped: () => (dropped += 1) })
    for (let n = 0; n < 80; n += 1) events.emit(note({ reason: `Reason${n}` }))
    await events.flush()
    assert.is((await listed()).length, 50)
    assert.is(dropped, 30)
  })

  t('a server that refuses fails nobody', async () => {
    let dropped = 0
    const broken: Kube = { ...kube, create: () => Promise.reject(new Error('away')) }
    const events = makeEvents({ kube: broken, reporter: 'r', onDropped: () => (dropped += 1) })
    events.emit(note())
    await events.flush()
    assert.is(dropped, 1)
  })

  t('a series whose Event expired starts anew', async () => {
    let at = Date.parse('2026-11-21T10:00:00Z')
    const events = makeEvents({ kube, reporter: 'r', now: () => new Date(at) })
    events.emit(note())
    await events.flush()
    const [event] = await listed()
    await kube.delete(EVENT, { namespace: space, name: event?.metadata.name ?? '' })
    await assert.rejects(kube.get(EVENT, { namespace: space, name: event?.metadata.name ?? '' }), isNotFound)
    at += 20_000
    events.emit(note())
    await events.flush()
    events.emit(note())
    await events.flush()
    assert.is((await listed()).length, 1)
  })
})
