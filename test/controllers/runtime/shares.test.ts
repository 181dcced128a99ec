import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import type { QueueLane } from '../../../controllers/runtime/lanes.ts'
import { makeQueue, type QueueOptions } from '../../../controllers/runtime/queue.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** Keys are `<account>-<n>`. Items end when the test says so. */
const start = (options: Partial<QueueOptions> = {}) => {
  const open = new Map<string, () => void>()
  const started: string[] = []
  const queue = makeQueue({
    name: 'test',
    concurrency: 8,
    accountOf: ofKey,
    onItem: (key) => {
      started.push(key)
      const { promise, resolve } = Promise.withResolvers<undefined>()
      open.set(key, () => resolve(undefined))
      return promise
    },
    ...options,
  })
  const finish = async (key: string) => {
    open.get(key)?.()
    open.delete(key)
    await turn()
  }
  const add = async (account: string, count: number, lane?: 'asked' | 'routine') => {
    for (let n = 0; n < count; n += 1) queue.add(`${account}-${n}`, lane)
    await turn()
  }
  const runningOf = (account: string) => [...open.keys()].filter((key) => ofKey(key) === account).length
  return { queue, started, finish, add, runningOf, open }
}

const ofKey = (key: string): string => key.split('-')[0] ?? ''

const event = fc.record({
  do: fc.constantFrom('add', 'finish'),
  key: fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(30)).map((parts) => parts.join('-')),
  lane: fc.constantFrom('asked', 'routine'),
  pick: fc.nat(1_000),
})

/** The queue, and which keys are to wait in it. */
const makeModel = (concurrency: number, accountMost: number) => {
  const { queue, open, started, finish, runningOf } = start({ concurrency, accountMost })
  const waiting = new Set<string>()
  let seen = 0
  const check = () => {
    for (const key of started.slice(seen)) waiting.delete(key)
    seen = started.length
    for (const account of 'abcd') assert.ok(runningOf(account) <= accountMost, `${account} has too many`)
    const mayGo = [...waiting].filter((key) => runningOf(ofKey(key)) < accountMost)
    assert.ok(open.size === concurrency || mayGo.length === 0, `a place is idle, and ${mayGo.join()} wait`)
  }
  const finishOne = async ({ pick }: { pick: number }) => {
    const key = [...open.keys()][pick % Math.max(1, open.size)]
    if (key !== undefined) await finish(key)
    check()
  }
  return {
    add: async ({ key, lane }: { key: string; lane: QueueLane }) => {
      if (!open.has(key)) waiting.add(key)
      queue.add(key, lane)
      await turn()
      check()
    },
    finish: finishOne,
    finishAll: async () => {
      while (open.size > 0) await finishOne({ pick: 0 })
      assert.is(queue.size(), 0)
      assert.is(waiting.size, 0, 'all is done')
    },
  }
}

spec('shares of a queue', (t) => {
  t('an account is looked at next, however many keys of another came before it', async () => {
    const { started, finish, add } = start({ concurrency: 2 })
    await add('a', 1_000)
    await add('b', 2)
    await finish('a-0')
    assert.equal(started, ['a-0', 'a-1', 'b-0'])
    await finish('b-0')
    assert.is(started.at(-1), 'b-1', 'who runs none comes before who runs one')
    await finish('b-1')
    assert.is(started.at(-1), 'a-2')
  })

  t('passes that never end hold no more than their share while others wait', async () => {
    const { finish, add, runningOf, open } = start()
    await add('stuck', 100)
    assert.is(runningOf('stuck'), 8, 'all of them are its own while nobody else waits')
    await add('b', 200)
    for (let n = 0; n < 4; n += 1) await finish(`stuck-${n}`)
    // it has asked for a hundred; from here on none of its own ends
    for (let n = 0; n < 100; n += 1) {
      const next = [...open.keys()].find((key) => ofKey(key) === 'b')
      assert.ok(next, 'one of b runs')
      if (next) await finish(next)
      assert.is(runningOf('stuck'), 4)
      assert.is(runningOf('b'), 4)
    }
  })

  t('where passes can be long, no account ever holds the last of them', async () => {
    const { add, runningOf } = start({ accountMost: 6 })
    await add('stuck', 100)
    assert.is(runningOf('stuck'), 6)
    await add('b', 1, 'routine')
    assert.is(runningOf('b'), 1, 'at once, though it is not asked for and a hundred are')
    await add('c', 1)
    assert.is(runningOf('c'), 1)
  })

  t("what is nobody's takes its turn, and has no bound", async () => {
    const { add, runningOf } = start({ accountMost: 2, accountOf: (key) => (ofKey(key) === 'x' ? '' : ofKey(key)) })
    await add('x', 100)
    assert.is(runningOf('x'), 8)
  })

  t('a key whose account is another by now is counted where it was started', async () => {
    let account = 'a'
    const { queue, finish, started } = start({ concurrency: 4, accountMost: 1, accountOf: () => account })
    queue.add('k-0')
    await turn()
    account = 'b'
    queue.add('k-1')
    await turn()
    await finish('k-0')
    account = 'a'
    queue.add('k-2')
    await turn()
    assert.equal(started, ['k-0', 'k-1', 'k-2'])
  })

  t(
    'whatever comes and ends: all is done, nobody goes beyond a bound, and no place is idle that somebody may have',
    async () => {
      const runs = fc.asyncProperty(
        fc.array(event, { maxLength: 120 }),
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom(Number.POSITIVE_INFINITY, 1, 2, 3, 4),
        async (events, concurrency, accountMost) => {
          const model = makeModel(concurrency, accountMost)
          for (const one of events) await model[one.do](one)
          await model.finishAll()
        },
      )
      await fc.assert(runs, { numRuns: 150, seed: 20261128 })
    },
  )
})
