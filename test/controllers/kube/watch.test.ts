import { setTimeout as sleep } from 'node:timers/promises'
import { KubeError } from '../../../controllers/base/errors.ts'
import { keyOfObject } from '../../../controllers/kube/cache.ts'
import { type Kube, makeKube, type WatchOptions } from '../../../controllers/kube/kube.ts'
import { type Cache, type ReflectOptions, reflect } from '../../../controllers/kube/watch.ts'
import { type Metrics, makeMetrics } from '../../../controllers/ops/metrics.ts'
import { type FaultProxy, isList, isWatch, startFaultProxy, status } from '../../support/doubles/faultproxy.ts'
import { ensureWidgets, makeSpace, makeWidget, until, WIDGET, type Widget } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { sharedKubeconfig } from '../../support/stage/stage.ts'

type Told = { name: string; deleted: boolean; size: number | undefined }
type Rig = {
  proxy: FaultProxy
  kube: Kube
  cache: Cache<Widget>
  told: Told[]
  metrics: Metrics
  watches(): number
  lists(): number
  end(): Promise<void>
}

const QUICK = { minMs: 20, maxMs: 200 }

spec('watch', (t) => {
  let admin: Kube
  let space: string
  const rigs: Rig[] = []

  t.before(async () => {
    admin = makeKube({ kubeconfig: sharedKubeconfig() })
    await ensureWidgets(admin)
  })
  t.before.each(async () => {
    space = await makeSpace(admin)
  })
  t.after.each(async () => {
    for (const rig of rigs.splice(0)) await rig.end()
  })
  t.after(() => admin.close())

  const start = async (
    options: Partial<ReflectOptions<Widget>> = {},
    prepare?: (proxy: FaultProxy) => void,
  ): Promise<Rig> => {
    const proxy = await startFaultProxy(sharedKubeconfig())
    prepare?.(proxy)
    const kube = makeKube({ kubeconfig: proxy.kubeconfig })
    const told: Told[] = []
    const metrics = makeMetrics({ version: 'test', process: 'test', defaults: false })
    const cache = reflect<Widget>({
      kube,
      kind: WIDGET,
      namespace: space,
      backoff: QUICK,
      metrics: metrics.watch,
      onChange: (_key, { deleted, object }) =>
        void told.push({ name: object.metadata.name, deleted, size: object.spec?.size }),
      ...options,
    })
    const end = async () => {
      await cache.stop()
      await kube.close()
      await proxy.close()
    }
    const count = (matches: typeof isWatch) => proxy.seen.filter(matches).length
    const rig = { proxy, kube, cache, told, metrics, watches: () => count(isWatch), lists: () => count(isList), end }
    rigs.push(rig)
    if (!prepare) await cache.synced
    return rig
  }

  const widget = (name: string, size?: number) => makeWidget(admin, space, name, size === undefined ? {} : { size })
  const ref = (name: string) => ({ namespace: space, name })
  const seen = (rig: Rig, name: string) =>
    until(`${name} is in the cache`, () => rig.cache.get(`${space}/${name}`) !== undefined)

  t('the first list comes in pages, then changes arrive, once each', async () => {
    for (let n = 0; n < 5; n += 1) await widget(`w${n}`, n)
    const rig = await start({ pageLimit: 2 })
    assert.is(rig.cache.size(), 5)
    assert.is(rig.lists(), 3)
    await widget('late')
    await seen(rig, 'late')
    await admin.patchSpec(WIDGET, ref('w1'), { spec: { size: 11 } })
    await until('the change is told', () => rig.told.some(({ name, size }) => name === 'w1' && size === 11))
    await admin.delete(WIDGET, ref('w0'))
    await until('the deletion is told', () => rig.told.some(({ name, deleted }) => name === 'w0' && deleted))
    assert.is(rig.told.length, 8)
    assert.is(rig.cache.get(`${space}/w0`), undefined)
  })

  t('objects come without managedFields and frozen to the ground', async () => {
    await widget('cold', 1)
    const rig = await start()
    const held = rig.cache.get(`${space}/cold`)
    assert.not.ok(held?.metadata && 'managedFields' in held.metadata)
    assert.throws(() => Object.assign(held?.spec ?? {}, { size: 2 }), /read only|not extensible/)
  })

  t('bytes that stop without an end are noticed, and nothing is missed', async () => {
    const rig = await start({ idleMs: 400 })
    await until('it watches', () => rig.proxy.open() === 1)
    rig.proxy.stall()
    await widget('unseen')
    await sleep(200)
    assert.is(rig.cache.size(), 0)
    rig.proxy.flow()
    await seen(rig, 'unseen')
    assert.ok(rig.watches() >= 2)
    assert.is(rig.lists(), 1, 'it resumed where it was, without a list')
  })

  t('a cut connection resumes where it was', async () => {
    const rig = await start()
    await until('it watches', () => rig.proxy.open() === 1)
    const { metadata } = await widget('before-cut')
    await seen(rig, 'before-cut')
    rig.proxy.cut()
    await widget('after-cut')
    await seen(rig, 'after-cut')
    assert.is(rig.lists(), 1)
    const resumed = rig.proxy.seen.filter(isWatch).at(-1)
    assert.is(resumed?.query.get('resourceVersion'), metadata.resourceVersion)
    assert.is(resumed?.query.get('allowWatchBookmarks'), 'true')
    assert.ok(Number(resumed?.query.get('timeoutSeconds')) >= 300)
  })

  t('410 as an answer leads to a list that finds what was deleted', async () => {
    await widget('doomed')
    const rig = await start()
    await until('it watches', () => rig.proxy.open() === 1)
    rig.proxy.stall()
    await admin.delete(WIDGET, ref('doomed'))
    await widget('born')
    rig.proxy.answer(isWatch, status(410, 'Expired'))
    rig.proxy.flow()
    rig.proxy.cut()
    await seen(rig, 'born')
    assert.is(rig.lists(), 2)
    assert.equal(
      rig.told.map(({ name, deleted }) => `${name} ${deleted}`),
      ['doomed false', 'born false', 'doomed true'],
    )
  })

  t('410 inside the stream leads to a list too, and an unchanged object is told to nobody again', async () => {
    await widget('same')
    const rig = await start()
    await until('it watches', () => rig.proxy.open() === 1)
    const gone = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }
    rig.proxy.inject(JSON.stringify(gone))
    await until('it has listed again', () => rig.lists() === 2 && rig.watches() === 2)
    assert.is(rig.told.length, 1)
  })

  t('429 waits for Retry-After', async () => {
    const rig = await start()
    await until('it watches', () => rig.proxy.open() === 1)
    rig.proxy.answer(isWatch, { status: 429, headers: { 'retry-after': '1' } })
    const cutAt = performance.now()
    rig.proxy.cut()
    await until('it watches again', () => rig.watches() === 3)
    assert.ok(performance.now() - cutAt >= 990)
  })

  t('garbage in the stream is no event: the truth is listed', async () => {
    const rig = await start()
    await until('it watches', () => rig.proxy.open() === 1)
    rig.proxy.inject('{"type":"ADDED","object":{"metad')
    rig.proxy.inject('<html>502</html>')
    await until('it watches again', () => rig.watches() === 2)
    await widget('after-garbage')
    await seen(rig, 'after-garbage')
    assert.is(rig.lists(), 2)
  })

  t('a first list that fails is tried again', async () => {
    await widget('patient')
    const rig = await start({}, (proxy) => proxy.answer(isList, status(500, 'InternalError'), 7))
    await rig.cache.synced
    assert.is(rig.cache.size(), 1)
  })

  t('a kind that has no definition is not waited for, and its objects come when it has one', async () => {
    await widget('early')
    let isMissing = true
    const none = status(404, '', 'the server could not find the requested resource')
    const rig = await start({}, (proxy) => proxy.answer((one) => isMissing && isList(one), none, 1000))
    assert.is(rig.cache.isServed(), true, 'one answer is none: the server may have just come up')
    await rig.cache.settled
    assert.equal([rig.cache.isServed(), rig.cache.isSynced(), rig.cache.size()], [false, false, 0])
    isMissing = false
    await rig.cache.synced
    assert.is(rig.cache.isServed(), true)
    await seen(rig, 'early')
    assert.is(rig.told.filter(({ name }) => name === 'early').length, 1)
    await widget('later')
    await seen(rig, 'later')
  })

  t('a definition that goes while it is watched is told from objects that were deleted', async () => {
    const rig = await start()
    await until('it watches', () => rig.proxy.open() === 1)
    let isMissing = true
    const none = status(404, '', 'the server could not find the requested resource')
    rig.proxy.answer((one) => isMissing && (isList(one) || isWatch(one)), none, 1000)
    await widget('held')
    await seen(rig, 'held')
    rig.proxy.cut()
    await until('it is not served', () => !rig.cache.isServed())
    assert.is(rig.told.filter(({ deleted }) => deleted).length, 0)
    assert.is(rig.cache.size(), 1, 'nothing is said of its objects')
    isMissing = false
    await until('it is served again', () => rig.cache.isServed())
    assert.is(rig.told.filter(({ deleted }) => deleted).length, 0)
  })

  t('a server that ends each watch at once is not flooded', async () => {
    const startedAt = performance.now()
    const rig = await start({}, (proxy) => proxy.answer(isWatch, { status: 200 }, 1000))
    await sleep(1500)
    const seconds = (performance.now() - startedAt) / 1000
    assert.ok(rig.watches() <= 17 * seconds, `${rig.watches()} watches in ${seconds} s`)
  })

  t('a handler that throws or rejects is logged and counted, and the cache goes on', async () => {
    const rig = await start({
      onChange: (_key, { object }) => {
        if (object.metadata.name === 'sync') throw new Error('handler')
        if (object.metadata.name === 'async') return Promise.reject(new Error('handler'))
        return undefined
      },
    })
    await widget('sync')
    await widget('async')
    await widget('fine')
    await seen(rig, 'fine')
    assert.is(rig.cache.size(), 3)
    assert.match((await rig.metrics.render(undefined)).body, 'bottega_watch_handler_errors_total{kind="Widget"} 2')
  })

  t('a server that is away for a while is awaited, and the staleness shows', async () => {
    await widget('before')
    const rig = await start()
    await until('it watches', () => rig.proxy.open() === 1)
    await rig.proxy.down()
    await widget('meanwhile')
    await sleep(700)
    assert.ok(rig.cache.staleness() >= 600)
    assert.is(rig.cache.get(`${space}/before`)?.metadata.name, 'before', 'reads go on')
    await rig.proxy.up()
    await seen(rig, 'meanwhile')
    await until('it is fresh again', () => rig.cache.staleness() < 600)
  })

  t('stop ends it for good, also while it waits to reconnect', async () => {
    const rig = await start({ backoff: { minMs: 60_000, maxMs: 60_000 } })
    await until('it watches', () => rig.proxy.open() === 1)
    rig.proxy.answer(isWatch, status(500, 'InternalError'), 100)
    rig.proxy.cut()
    await sleep(100)
    const stopped = rig.cache.stop()
    await until('it has stopped', () => Promise.race([stopped.then(() => true), sleep(0, false)]))
    const count = rig.proxy.seen.length
    await sleep(200)
    assert.is(rig.proxy.seen.length, count)
  })

  // On a real server the event may come before the answer: the order is forced here.
  t('our own write is read back and told at once, and its event tells it no second time', async () => {
    const at = (resourceVersion: string) =>
      ({ metadata: { name: 'w', namespace: 's', uid: 'u', resourceVersion } }) as Widget
    let bring = (_version: string) => {}
    const told: string[] = []
    const cache = reflect<Widget>({
      kube: {
        list: async () => ({ resourceVersion: '1', continue: '', items: [at('1')] as never[] }),
        watch: (kind, options) => {
          bring = (version) => options.onEvent({ type: 'MODIFIED', object: at(version) })
          return silentWatch(kind, options)
        },
      },
      kind: WIDGET,
      onChange: (_key, { object }) => void told.push(object.metadata.resourceVersion),
    })
    await cache.synced
    cache.put(at('9'))
    assert.is(cache.get('s/w')?.metadata.resourceVersion, '9')
    bring('9')
    bring('8')
    bring('10')
    assert.equal(told, ['1', '9', '10'])
    await cache.stop()
  })

  t('an older object never takes the place of a newer one, and a deleted one does not come back', async () => {
    const first = await widget('order', 1)
    const rig = await start()
    await admin.patchSpec(WIDGET, ref('order'), { spec: { size: 2 } })
    await until('it is told', () => rig.cache.get(`${space}/order`)?.spec.size === 2)
    rig.cache.put(structuredClone(first))
    assert.is(rig.cache.get(`${space}/order`)?.spec.size, 2)
    const last = structuredClone(rig.cache.get(`${space}/order`))
    await admin.delete(WIDGET, ref('order'))
    await until('it is gone', () => rig.cache.get(`${space}/order`) === undefined)
    if (last) rig.cache.put(last)
    assert.is(rig.cache.get(`${space}/order`), undefined)
  })

  t('who subscribes later is told what is there', async () => {
    await widget('early')
    const rig = await start()
    const keys: string[] = []
    const leave = rig.cache.subscribe((key) => void keys.push(key))
    assert.equal(keys, [`${space}/early`])
    leave()
    await widget('later')
    await seen(rig, 'later')
    assert.is(keys.length, 1)
  })

  // A server does not lose events on request: here the watch is a fake that brings none.
  t('the audit finds what the watch missed, tells it, and counts it', async () => {
    await widget('kept')
    await widget('removed')
    const deaf: Pick<Kube, 'list' | 'watch'> = { list: admin.list, watch: silentWatch }
    const rig = await start({ kube: deaf, relistMs: 300, graceMs: 50 })
    await widget('missed')
    await admin.delete(WIDGET, ref('removed'))
    await seen(rig, 'missed')
    await until('the deletion is found', () => rig.cache.get(`${space}/removed`) === undefined)
    await until('both are counted', async () =>
      /drift_total\{kind="Widget"\} 2/.test((await rig.metrics.render(undefined)).body),
    )
    assert.equal(
      rig.told
        .slice(2)
        .map(({ name, deleted }) => `${name} ${deleted}`)
        .sort(),
      ['missed false', 'removed true'],
    )
  })

  t('a watch that lags a little behind a list has missed nothing', async () => {
    const at = (resourceVersion: string) =>
      ({ metadata: { name: 'w', namespace: 's', uid: 'u', resourceVersion } }) as Widget
    let lists = 0
    let drift = 0
    let bring = () => {}
    const cache = reflect<Widget>({
      kube: {
        list: async () => {
          lists += 1
          if (lists === 2) setTimeout(() => bring(), 60)
          return {
            resourceVersion: lists === 1 ? '1' : '2',
            continue: '',
            items: [at(lists === 1 ? '1' : '2')] as never[],
          }
        },
        watch: (kind, options) => {
          bring = () => options.onEvent({ type: 'MODIFIED', object: at('2') })
          return silentWatch(kind, options)
        },
      },
      kind: WIDGET,
      relistMs: 50,
      graceMs: 300,
      metrics: { restarted: () => {}, handlerFailed: () => {}, watching: () => {}, drifted: () => (drift += 1) },
    })
    await until('the audit has looked twice', () => lists >= 3)
    assert.is(cache.get('s/w')?.metadata.resourceVersion, '2')
    assert.is(drift, 0)
    await cache.stop()
  })

  t('a healthy watch drifts by nothing', async () => {
    const rig = await start({ relistMs: 100, graceMs: 100 })
    for (let n = 0; n < 20; n += 1) {
      await widget(`busy${n}`)
      if (n % 2 === 0) await admin.delete(WIDGET, ref(`busy${n}`))
    }
    await until('the audit has looked', () => rig.lists() >= 3)
    await sleep(250)
    assert.match((await rig.metrics.render(undefined)).body, 'bottega_watch_drift_total{kind="Widget"} 0')
    assert.is(rig.cache.size(), 10)
  })

  // Restoring etcd takes seconds: the lists of two server lives are given by hand.
  t('a server that went back in time is believed', async () => {
    const at = (name: string, resourceVersion: string, size: number) =>
      ({ metadata: { name, namespace: 's', uid: name, resourceVersion }, spec: { size } }) as Widget
    const lives = [
      { resourceVersion: '1000', continue: '', items: [at('old', '900', 2), at('lost', '950', 1)] },
      { resourceVersion: '500', continue: '', items: [at('old', '400', 1)] },
    ]
    let life = 0
    const list = async () => structuredClone(lives[life]) as never
    const told: string[] = []
    const cache = reflect<Widget>({
      kube: { list, watch: silentWatch },
      kind: WIDGET,
      relistMs: 60,
      graceMs: 10,
      onChange: (key, { deleted }) => void told.push(`${key} ${deleted}`),
    })
    await cache.synced
    life = 1
    await until('the old state is taken', () => cache.get('s/old')?.spec.size === 1)
    assert.is(cache.get('s/lost'), undefined)
    assert.equal(told, ['s/old false', 's/lost false', 's/old false', 's/lost true'])
    await cache.stop()
  })

  const listing = async (lives: (number | undefined)[][], resourceVersions: string[]) => {
    let life = 0
    const list = async () => {
      const items = (lives[life] ?? []).map((n) => ({
        metadata: { name: `w${n}`, namespace: 's', uid: `w${n}`, resourceVersion: String(100 + Number(n)) },
      }))
      return { resourceVersion: resourceVersions[life], continue: '', items } as never
    }
    const told: string[] = []
    const cache = reflect<Widget>({
      kube: { list, watch: silentWatch },
      kind: WIDGET,
      relistMs: 60,
      graceMs: 10,
      onChange: (_key, { deleted, lost = false }) => void (deleted && told.push(lost ? 'lost' : 'deleted')),
    })
    await cache.synced
    life = 1
    await until('the second list is taken', () => told.length > 0)
    await cache.stop()
    return told
  }
  const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

  t('what a list lacks counts as deleted while it is little, and as lost when it is much', async () => {
    assert.equal(await listing([upTo(30), upTo(28)], ['500', '600']), ['deleted', 'deleted'])
    assert.equal(new Set(await listing([upTo(30), upTo(5)], ['500', '600'])), new Set(['lost']))
    assert.equal(await listing([upTo(30), upTo(28)], ['500', '400']), ['lost', 'lost'], 'after a server that went back')
  })

  t('keys are namespace and name', () => {
    assert.is(keyOfObject({ metadata: { name: 'n', namespace: 's' } }), 's/n')
    assert.is(keyOfObject({ metadata: { name: 'n' } }), '/n')
  })
})

const silentWatch = (_kind: unknown, { signal }: WatchOptions): Promise<void> =>
  new Promise((_resolve, reject) => {
    const end = () => reject(new KubeError('watch', { status: 0, reason: 'Aborted' }))
    if (signal.aborted) end()
    signal.addEventListener('abort', end)
  })
