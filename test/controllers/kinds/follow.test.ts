/** Followers are found by an index: what one change costs does not depend on how many resources there are. */
import { setImmediate as turn } from 'node:timers/promises'
import { makeLog } from '../../../controllers/base/log.ts'
import { watchKinds } from '../../../controllers/kinds/caches.ts'
import type { AnyResource, Caches } from '../../../controllers/kinds/held.ts'
import { type Control, type FollowRule, follow, indexFollowers } from '../../../controllers/kinds/kind-controller.ts'
import { CONTROLS } from '../../../controllers/kinds/list.ts'
import { reflect } from '../../../controllers/kube/watch.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { accountName, type Crowd, invoiceName, makeCrowd } from '../../../hack/benches/sides/crowd.ts'
import { until } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const ACCOUNTS = 200
const INVOICES = 2_000
const namespace = 'crowd'
const log = makeLog({ level: 'silent' })

const unready = (object: object) => ({
  ...object,
  status: { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'False' }] },
})

spec('followers', (t) => {
  let crowd: Crowd
  let caches: Caches
  t.before.each(async () => {
    crowd = makeCrowd({ namespace, accounts: ACCOUNTS, invoices: INVOICES })
    caches = watchKinds({ kube: crowd.kube, namespace, log })
    await caches.synced
    await turn()
  })
  t.after.each(() => void caches.stop())

  const invoices = CONTROLS.find(({ kind }) => kind.kind === INVOICE.kind) as Control
  /** Follows as the operator does, and notes who is woken. */
  const start = () => {
    const woken: string[] = []
    const end = follow(
      invoices,
      { wake: (key, lane) => void woken.push(`${key.split('/')[1]} ${lane}`) },
      { cacheOf: (kind) => caches.byKind.get(kind), followers: caches.followers.get(INVOICE.kind) ?? [] },
    )
    return { woken, end }
  }

  t(`${ACCOUNTS} accounts are there at the start, and concern nobody: all are looked at in any case`, async () => {
    const { woken, end } = start()
    await turn()
    assert.equal(woken, [])
    end()
  })

  t('one changed account wakes its own that are not ready, and those alone', async () => {
    const name = invoiceName(7)
    const { woken, end } = start()
    crowd.change('Invoice', name, unready)
    crowd.change('Account', accountName(7), (account) => account)
    assert.equal(woken, [`${name} asked`])
    crowd.change('Account', accountName(8), (account) => account)
    assert.is(woken.length, 1)
    end()
    crowd.change('Account', accountName(7), (account) => account)
    assert.is(woken.length, 1)
  })

  t('one that has become ready, or is gone, follows no more', async () => {
    const [a, b] = [invoiceName(7), invoiceName(7 + ACCOUNTS)]
    const { woken, end } = start()
    for (const name of [a, b]) crowd.change('Invoice', name, unready)
    crowd.change('Invoice', a, (invoice) => ({
      ...unready(invoice),
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }))
    crowd.change('Invoice', b, (invoice) => ({
      ...invoice,
      metadata: { ...invoice.metadata, deletionTimestamp: '2026-11-23T00:00:00Z', finalizers: [] },
    }))
    crowd.change('Account', accountName(7), (account) => account)
    assert.equal(woken, [])
    end()
  })

  t('a change costs as many questions as it has followers, and the index one for each resource', async () => {
    let [asked, placed] = [0, 0]
    const counted: FollowRule<AnyResource> = {
      kind: 'Account',
      under: ({ spec: { account } }) => {
        placed += 1
        return account ?? null
      },
      of: ({ metadata }) => metadata.name,
      concerns: () => {
        asked += 1
        return true
      },
    }
    const fresh = reflect<AnyResource>({ kube: crowd.kube, kind: INVOICE, namespace })
    const followers = indexFollowers({ follows: [counted] }, fresh)
    await fresh.synced
    assert.is(placed, INVOICES)
    const woken: string[] = []
    const cacheOf = (kind: string) => (kind === INVOICE.kind ? fresh : caches.byKind.get(kind))
    const given = { kind: invoices.kind, follows: [counted] }
    const end = follow(given, { wake: (key) => void woken.push(key) }, { cacheOf, followers })
    await turn()
    assert.equal([asked, placed], [0, INVOICES])
    for (let n = 0; n < ACCOUNTS; n += 1) crowd.change('Account', accountName(n), (account) => account)
    await until('all are woken', () => woken.length === INVOICES)
    assert.equal([asked, placed], [INVOICES, INVOICES])
    assert.is(new Set(woken).size, INVOICES)
    end()
    void fresh.stop()
  })

  t('a change that concerns a crowd lets others in between, and everybody who waits before it', async () => {
    const follows: FollowRule<AnyResource>[] = [{ kind: 'Account', under: () => 'all', of: () => 'all' }]
    const fresh = reflect<AnyResource>({ kube: crowd.kube, kind: INVOICE, namespace })
    const followers = indexFollowers({ follows }, fresh)
    await fresh.synced
    const lanes = new Set<unknown>()
    let woken = 0
    const wake = (_key: string, lane: unknown) => {
      woken += 1
      lanes.add(lane)
    }
    const cacheOf = (kind: string) => (kind === INVOICE.kind ? fresh : caches.byKind.get(kind))
    const end = follow({ kind: invoices.kind, follows }, { wake }, { cacheOf, followers })
    crowd.change('Account', accountName(1), (account) => account)
    assert.ok(woken < INVOICES / 3, `${woken} in one turn`)
    await until('all are woken', () => woken === INVOICES)
    assert.equal([...lanes], ['routine'])
    end()
    void fresh.stop()
  })

  t('who comes to a cache of many is told of them in turns, as they are by then, and of each change once', async () => {
    const cache = caches.byKind.get(INVOICE.kind)
    assert.ok(cache)
    const told = new Map<string, number>()
    let turns = 0
    const end = cache?.subscribe(
      (key, { held, deleted }) => {
        if (held) told.set(key, (told.get(key) ?? 0) + 1)
        if (deleted) told.set(key, -1)
      },
      { inTurns: true },
    )
    const first = told.size
    assert.ok(first > 0 && first < INVOICES / 3, `${first} in one turn`)
    const last = `${namespace}/${invoiceName(INVOICES - 1)}`
    crowd.change('Invoice', invoiceName(INVOICES - 1), (invoice) => ({
      ...invoice,
      metadata: { ...invoice.metadata, deletionTimestamp: '2026-11-23T00:00:00Z', finalizers: [] },
    }))
    for (let size = -1; size !== told.size; turns += 1) {
      size = told.size
      await turn()
      await turn()
    }
    assert.is(told.get(last), -1)
    assert.is(told.size, INVOICES)
    assert.equal(new Set(told.values()), new Set([1, -1]))
    assert.ok(turns > 2)
    end?.()
  })
})
