/** What a start looks at first, among thousands to which nothing happened. */
import { setImmediate as turn } from 'node:timers/promises'
import { Waiting } from '../../../controllers/base/errors.ts'
import { makeLog } from '../../../controllers/base/log.ts'
import type { AnyResource } from '../../../controllers/kinds/held.ts'
import { reflect } from '../../../controllers/kube/watch.ts'
import type { ControllerDeps } from '../../../controllers/runtime/contract.ts'
import { runController } from '../../../controllers/runtime/controller.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { RECONCILE_REQUESTED_AT } from '../../../crds/kernel/object.ts'
import { invoiceName, makeCrowd } from '../../../hack/benches/sides/crowd.ts'
import { until } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const SETTLED = 3_000
const CONCURRENCY = 16
/** Passes that had begun by the time the last of all was known, and a few more. */
const SOON = 10 * CONCURRENCY
const NOW = new Date('2026-11-23T12:00:00.000Z')
const MINUTE_MS = 60_000

type Held = AnyResource & { metadata: { annotations?: Record<string, string> } }

const asked = (object: Held, agoMs: number) => {
  const at = new Date(NOW.getTime() - agoMs).toISOString()
  return { ...object, metadata: { ...object.metadata, annotations: { [RECONCILE_REQUESTED_AT]: `${at}/7` } } }
}
/** By the name of what happened to it, in the order of the list: the last ones of all. */
const CASES: Record<string, { isFirst: boolean; change(object: Held): object }> = {
  edited: { isFirst: true, change: (object) => ({ ...object, metadata: { ...object.metadata, generation: 2 } }) },
  new: { isFirst: true, change: ({ status: _status, ...object }) => object },
  unfinished: {
    isFirst: true,
    change: (object) => ({
      ...object,
      status: { observedGeneration: 1, conditions: [{ type: 'Reconciling', status: 'True' }] },
    }),
  },
  asked: { isFirst: true, change: (object) => asked(object, MINUTE_MS) },
  'asked long ago': { isFirst: false, change: (object) => asked(object, 60 * MINUTE_MS) },
  woken: { isFirst: true, change: (object) => object },
}

spec('the start of a controller', (t) => {
  t(`looks first at what happened, also among ${SETTLED} that are settled, and in the end at all`, async () => {
    const names = Object.keys(CASES)
    const total = SETTLED + names.length
    const crowd = makeCrowd({ namespace: 'start', accounts: 1, invoices: total })
    const placeOf = (name: string) => invoiceName(SETTLED + names.indexOf(name))
    for (const name of names)
      crowd.change('Invoice', placeOf(name), (object) => CASES[name]?.change(object as Held) ?? object)
    const cache = reflect<AnyResource>({ kube: crowd.kube, kind: INVOICE, namespace: 'start' })
    await cache.synced
    const order: string[] = []
    const kube = {
      get: async () => ({}),
      patchMeta: async () => ({}),
      patchStatus: async (_kind: unknown, { namespace, name }: { namespace: string; name: string }) =>
        structuredClone(cache.get(`${namespace}/${name}`)),
    } as unknown as ControllerDeps<AnyResource>['kube']
    const controller = {
      kind: INVOICE,
      observe: async ({ metadata }: AnyResource) => {
        order.push(metadata.name)
        await turn()
        throw new Waiting('Test', 'seen')
      },
      plan: () => {
        throw new Error('nothing is planned')
      },
      act: {},
    }
    const log = makeLog({ level: 'silent' })
    const running = runController(controller, { kube, cache, log, now: () => NOW, concurrency: CONCURRENCY })
    running.wake(`start/${placeOf('woken')}`)
    await until('all were looked at', () => new Set(order).size === total)
    for (const [name, { isFirst }] of Object.entries(CASES)) {
      const place = order.indexOf(placeOf(name))
      assert.is(place < SOON, isFirst, `${name} came as number ${place}`)
    }
    await running.stop(1_000)
    void cache.stop()
  })

  t('an account whose passes never end holds up none of another, though it has a thousand of them before', async () => {
    const crowd = makeCrowd({ namespace: 'start', accounts: 1, invoices: 1_000 })
    const last = invoiceName(999)
    crowd.change('Invoice', last, (object) => ({ ...object, spec: { ...(object as Held).spec, account: 'other' } }))
    const cache = reflect<AnyResource>({ kube: crowd.kube, kind: INVOICE, namespace: 'start' })
    await cache.synced
    const looked = new Set<string>()
    const controller = {
      kind: INVOICE,
      observe: ({ metadata }: AnyResource) => {
        looked.add(metadata.name)
        return new Promise<never>(() => {})
      },
      plan: () => {
        throw new Error('nothing is planned')
      },
      act: {},
    }
    const kube = { get: async () => ({}) } as unknown as ControllerDeps<AnyResource>['kube']
    const shares = {
      concurrency: CONCURRENCY,
      accountMost: 12,
      accountOf: ({ spec: { account } }: AnyResource) => account,
    }
    const running = runController(controller, { kube, cache, log: makeLog({ level: 'silent' }), ...shares })
    await until('the one of the other account is looked at', () => looked.has(last))
    assert.is(looked.size, 13)
    await running.stop(0)
    void cache.stop()
  })
})
