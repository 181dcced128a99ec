import { setImmediate as turn } from 'node:timers/promises'
import { makeMetrics } from '../../../controllers/ops/metrics.ts'
import { makeQueue, type Queue, type QueueOptions } from '../../../controllers/runtime/queue.ts'
import { type FakeClock, fakeClock } from '../../support/doubles/fakeclock.ts'
import { assert, spec } from '../../support/runner/spec.ts'

type Result = { afterMs?: number } | undefined
type Rig = {
  queue: Queue
  clock: FakeClock
  runs: string[]
  most: () => number
  finish(key: string, result?: Result): Promise<void>
  fail(key: string): Promise<void>
}

/** Items end when the test says so. */
const start = (options: Partial<QueueOptions> = {}): Rig => {
  const clock = fakeClock()
  const runs: string[] = []
  const open = new Map<string, PromiseWithResolvers<Result>>()
  let most = 0
  const queue = makeQueue({
    name: 'test',
    concurrency: 2,
    clock,
    random: () => 0.5,
    onItem: (key) => {
      assert.not.ok(open.has(key), `${key} runs twice at a time`)
      runs.push(`${key}@${clock.now()}`)
      const item = Promise.withResolvers<Result>()
      open.set(key, item)
      most = Math.max(most, open.size)
      return item.promise
    },
    ...options,
  })
  const end = async (key: string, act: (item: PromiseWithResolvers<Result>) => void) => {
    await clock.pass(0)
    const item = open.get(key)
    assert.ok(item, `${key} runs`)
    open.delete(key)
    if (item) act(item)
    await clock.pass(0)
  }
  return {
    queue,
    clock,
    runs,
    most: () => most,
    finish: (key, result) => end(key, (item) => item.resolve(result)),
    fail: (key) => end(key, (item) => item.reject(new Error('no'))),
  }
}

spec('queue', (t) => {
  t('a key that waits twice runs once', async () => {
    const { queue, runs, finish } = start()
    queue.add('a')
    queue.add('a')
    await finish('a')
    assert.equal(runs, ['a@0'])
    assert.is(queue.size(), 0)
  })

  t('a key added while it runs runs once more, after it, never beside it', async () => {
    const { queue, runs, finish } = start()
    queue.add('a')
    await turn()
    queue.add('a')
    queue.add('a')
    await turn()
    assert.equal(runs, ['a@0'])
    await finish('a')
    assert.equal(runs, ['a@0', 'a@0'])
    await finish('a')
    assert.is(runs.length, 2)
  })

  t('so many at a time, in order of arrival', async () => {
    const { queue, runs, finish, most } = start()
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key)
    await turn()
    assert.is(queue.size(), 2)
    await finish('b')
    await finish('a')
    await finish('c')
    await finish('d')
    assert.equal(
      runs.map((run) => run[0]),
      ['a', 'b', 'c', 'd'],
    )
    assert.is(most(), 2)
  })

  t('what is asked for goes before what is only looked at again, also when it waits there already', async () => {
    const { queue, runs, finish } = start({ concurrency: 1 })
    const settled = Array.from({ length: 3_000 }, (_, n) => `settled-${n}`)
    for (const key of settled) queue.add(key, 'routine')
    await turn()
    queue.add('new')
    queue.add('settled-2999')
    queue.add('settled-2999', 'routine')
    assert.is(queue.size(), 3_000)
    for (const key of ['settled-0', 'new', 'settled-2999', 'settled-1']) await finish(key)
    assert.equal(runs.slice(0, 5), ['settled-0@0', 'new@0', 'settled-2999@0', 'settled-1@0', 'settled-2@0'])
    assert.is(queue.size(), 2_996)
  })

  t('the routine is not left standing, however much is asked', async () => {
    const { queue, runs, finish } = start({ concurrency: 1 })
    for (const key of ['r1', 'r2', 'r3']) queue.add(key, 'routine')
    for (let n = 0; n < 40; n += 1) queue.add(`asked-${n}`)
    for (let n = 0; n < 40; n += 1) {
      await turn()
      await finish(runs.at(-1)?.split('@')[0] ?? '')
    }
    const places = runs.flatMap((run, place) => (run.startsWith('r') ? [place] : []))
    assert.equal(places, [15, 31])
  })

  t(
    'what was asked for is asked for until it has succeeded; what runs again by itself much later is routine',
    async () => {
      const { queue, clock, runs, finish, fail } = start({ concurrency: 1, backoff: { minMs: 100, maxMs: 100 } })
      const crowd = (from: number) => {
        for (let n = from; n < from + 5; n += 1) queue.add(`r${n}`, 'routine')
      }
      const names = () => runs.map((run) => run.split('@')[0])
      queue.add('a')
      await fail('a')
      crowd(0)
      await clock.pass(200)
      await finish('r0')
      assert.is(names().at(-1), 'a')
      await finish('a', { afterMs: 1_000 })
      await clock.pass(2_000)
      await finish('r1')
      assert.is(names().at(-1), 'a')
      await finish('a', { afterMs: 3_600_000 })
      await clock.pass(3_600_000)
      await finish('r2')
      assert.is(names().at(-1), 'r3')
    },
  )

  t('in a crowd further keys start together, and without one at once', async () => {
    const { queue, clock, runs, finish } = start({ concurrency: 9, batchedStart: { from: 2, ms: 30 } })
    queue.add('a')
    queue.add('b')
    await clock.pass(0)
    queue.add('c')
    await clock.pass(20)
    queue.add('d')
    assert.equal(runs, ['a@0', 'b@0'])
    await clock.pass(20)
    assert.equal(runs.slice(2).toSorted(), ['c@30', 'd@30'])
    for (const key of ['a', 'b', 'c', 'd']) await finish(key)
    queue.add('e')
    await clock.pass(0)
    assert.is(runs.at(-1), `e@${clock.now()}`)
  })

  t('of several delays the earliest counts', async () => {
    const { queue, clock, runs, finish } = start()
    queue.addAfter('a', 5_000)
    queue.addAfter('a', 1_000)
    queue.addAfter('a', 9_000)
    queue.addAfter('b', 2_000)
    await clock.pass(1_000)
    await finish('a')
    await clock.pass(20_000)
    assert.equal(runs, ['a@1000', 'b@2000'])
  })

  t('a hundred delays come in the order of their instants', async () => {
    const { queue, clock, runs } = start({ concurrency: 1000 })
    for (let n = 0; n < 100; n += 1) queue.addAfter(`k${n}`, ((n * 37) % 100) * 10 + 10)
    await clock.pass(2_000)
    assert.is(runs.length, 100)
    for (let n = 0; n < 100; n += 1) assert.ok(runs.includes(`k${n}@${((n * 37) % 100) * 10 + 10}`), `k${n}`)
  })

  t('failures wait longer and longer, up to the cap, and success forgets them', async () => {
    const { queue, clock, runs, fail, finish } = start({ backoff: { minMs: 100, maxMs: 400 } })
    queue.add('a')
    for (let n = 0; n < 5; n += 1) {
      await fail('a')
      await clock.pass(300)
    }
    // Three quarters of 100, 200, 400, 400, each from the failure before; the clock steps by 300.
    assert.equal(runs, ['a@0', 'a@75', 'a@450', 'a@900', 'a@1200', 'a@1500'])
    await finish('a')
    queue.add('a')
    await fail('a')
    await clock.pass(75)
    assert.is(runs.length, 8)
  })

  t('a failure may have a wait of its own', async () => {
    const backoffOf = (error: unknown) => (error instanceof Error ? { minMs: 10, maxMs: 20 } : undefined)
    const { queue, clock, runs, fail } = start({ backoff: { minMs: 1_000, maxMs: 300_000 }, backoffOf })
    queue.add('a')
    for (let n = 0; n < 3; n += 1) {
      await fail('a')
      await clock.pass(20)
    }
    assert.is(runs.length, 4)
  })

  t('the delay is jittered between half and all of it', async () => {
    for (const [random, expected] of [
      [0, 50],
      [0.999999, 99],
    ] as const) {
      const { queue, clock, runs, fail } = start({ backoff: { minMs: 100, maxMs: 400 }, random: () => random })
      queue.add('a')
      await fail('a')
      await clock.pass(500)
      assert.is(Math.floor(Number(runs[1]?.split('@')[1])), expected)
    }
  })

  t('an item may ask to come back', async () => {
    const { queue, clock, runs, finish } = start()
    queue.add('a')
    await finish('a', { afterMs: 700 })
    await clock.pass(1_000)
    assert.equal(runs, ['a@0', 'a@700'])
  })

  t('a delay beyond what a timer can hold does not fire at once', async () => {
    const { queue, clock, runs } = start()
    const month = 30 * 24 * 3_600_000
    queue.addAfter('a', month)
    await clock.pass(1_000)
    assert.is(runs.length, 0)
    assert.ok(clock.longest() <= 2 ** 31 - 1)
    await clock.pass(month)
    assert.equal(runs, [`a@${month}`])
  })

  t('a throw before the first await is a failure like any other', async () => {
    const clock = fakeClock()
    let runs = 0
    const queue = makeQueue({
      name: 'test',
      clock,
      random: () => 0,
      onItem: () => {
        runs += 1
        throw new Error('at once')
      },
    })
    queue.add('a')
    await clock.pass(1_000)
    assert.ok(runs > 3)
  })

  t('a forgotten key does not come back', async () => {
    const { queue, clock, runs, fail } = start()
    queue.add('a')
    await fail('a')
    queue.forget('a')
    await clock.pass(600_000)
    assert.is(runs.length, 1)
    assert.is(queue.delayed(), 0)
  })

  t('a drain waits for what runs and starts nothing more', async () => {
    const { queue, clock, runs, finish } = start({ concurrency: 1 })
    queue.add('a')
    queue.add('b')
    queue.addAfter('c', 10)
    await turn()
    const drained = queue.drain(5_000)
    queue.add('d')
    await finish('a')
    assert.is(await drained, true)
    await clock.pass(10_000)
    assert.equal(runs, ['a@0'])
  })

  t('a drain past its deadline says so, and aborts', async () => {
    let signal: AbortSignal | undefined
    const { queue, clock } = start({
      onItem: (_key, given) => {
        signal = given
        return new Promise(() => {})
      },
    })
    queue.add('a')
    await turn()
    const drained = queue.drain(5_000)
    await clock.pass(4_999)
    assert.not.ok(signal?.aborted)
    await clock.pass(1)
    assert.is(await drained, false)
    assert.ok(signal?.aborted)
  })

  t('it is measured under the names that the dashboards know', async () => {
    const metrics = makeMetrics({ version: '1', process: 'test', defaults: false })
    const { queue, clock, fail } = start({ metrics: metrics.queue, concurrency: 1 })
    queue.add('a')
    queue.add('b')
    await clock.pass(1_000)
    queue.add('b')
    await clock.pass(2_000)
    const { body } = await metrics.render(undefined)
    assert.match(body, 'workqueue_depth{name="test"} 1')
    assert.match(body, 'workqueue_adds_total{name="test"} 2')
    assert.match(body, 'workqueue_unfinished_work_seconds{name="test"} 3')
    assert.match(body, 'workqueue_longest_running_processor_seconds{name="test"} 3')
    await fail('a')
    const after = (await metrics.render(undefined)).body
    assert.match(after, 'workqueue_retries_total{name="test"} 1')
    assert.match(after, 'workqueue_work_duration_seconds_sum{name="test"} 3')
    assert.match(after, 'workqueue_queue_duration_seconds_sum{name="test"} 3')
  })
})
