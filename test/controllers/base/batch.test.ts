import { setImmediate as turn } from 'node:timers/promises'
import { makeBatch } from '../../../controllers/base/batch.ts'
import { until } from '../../support/doubles/widget.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** A run that waits until it is let go, and keeps what it was given. */
const gated = () => {
  const runs: number[][] = []
  const gates: PromiseWithResolvers<void>[] = []
  const run = async (items: number[]): Promise<number[]> => {
    runs.push(items)
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    await gate.promise
    return items.map((item) => item * 10)
  }
  return { runs, run, open: (index: number) => gates[index]?.resolve() }
}

class Poison extends Error {}

spec('batch', (t) => {
  t('a lone item goes at once, and what arrives meanwhile shares the next run', async () => {
    const { runs, run, open } = gated()
    const batch = makeBatch({ run })
    const first = batch(1)
    await turn()
    assert.equal(runs, [[1]])
    const others = [batch(2), batch(3)]
    await turn()
    assert.equal(runs, [[1]])
    open(0)
    assert.is(await first, 10)
    assert.equal(runs, [[1], [2, 3]])
    open(1)
    assert.equal(await Promise.all(others), [20, 30])
  })

  t('callers that were answered together come back together', async () => {
    const runs: number[][] = []
    const batch = makeBatch<number, number>({
      run: async (items) => {
        runs.push(items)
        return items
      },
    })
    const caller = async (item: number) => {
      await batch(item)
      await batch(item)
    }
    await Promise.all([1, 2, 3].map(caller))
    assert.equal(runs, [
      [1, 2, 3],
      [1, 2, 3],
    ])
  })

  t('a run waits for company as long as it is told, and the next is asked anew', async () => {
    const { runs, run, open } = gated()
    let gatherMs = 1_000
    const batch = makeBatch({ run, gatherMs: () => gatherMs })
    void batch(1)
    await turn()
    void batch(2)
    assert.equal(runs, [])
    await until('the run', () => runs.length > 0)
    assert.equal(runs, [[1, 2]])
    open(0)
    await turn()
    gatherMs = 0
    void batch(3)
    await turn()
    assert.equal(runs, [[1, 2], [3]])
  })

  t('no run is larger than the limit, and order is kept', async () => {
    const runs: number[][] = []
    const batch = makeBatch<number, number>({
      max: 2,
      run: async (items) => {
        runs.push(items)
        return items
      },
    })
    await Promise.all([1, 2, 3, 4, 5].map((item) => batch(item)))
    assert.equal(runs, [[1, 2], [3, 4], [5]])
  })

  t('an item that may not join begins the next run', async () => {
    const { runs, run, open } = gated()
    const batch = makeBatch({ run, mayJoin: (chosen, next) => (chosen[0] ?? 0) % 2 === next % 2 })
    const all = [batch(0), batch(1), batch(3), batch(2)]
    await turn()
    open(0)
    await all[0]
    open(1)
    await all[2]
    open(2)
    await Promise.all(all)
    assert.equal(runs, [[0], [1, 3], [2]])
  })

  t('several runs are in flight when that is allowed', async () => {
    const { runs, run } = gated()
    const batch = makeBatch({ run, inFlight: 2 })
    for (const item of [1, 2, 3, 4]) {
      void batch(item)
      await turn()
    }
    assert.equal(runs, [[1], [2]])
  })

  t('only the guilty item of a batch fails', async () => {
    const batch = makeBatch<number, number>({
      isItemFault: (error) => error instanceof Poison,
      run: async (items) => {
        if (items.includes(3)) throw new Poison('three')
        return items
      },
    })
    const settled = await Promise.allSettled([0, 1, 2, 3, 4].map((item) => batch(item)))
    assert.equal(
      settled.map((one) => one.status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    )
  })

  t('a failure that is nobody’s fault fails all at once, and the next item is served again', async () => {
    let runs = 0
    let down = true
    const batch = makeBatch<number, number>({
      isItemFault: (error) => error instanceof Poison,
      run: async (items) => {
        runs++
        if (down) throw new Error('down')
        return items
      },
    })
    const settled = await Promise.allSettled([1, 2, 3].map((item) => batch(item)))
    assert.ok(settled.every((one) => one.status === 'rejected'))
    assert.is(runs, 1)
    down = false
    assert.is(await batch(4), 4)
  })

  t('a run that answers for fewer items than it was given fails them', async () => {
    const batch = makeBatch<number, number>({ run: async () => [] })
    await assert.rejects(batch(1), 'a batch of 1 gave 0 results')
  })
})
