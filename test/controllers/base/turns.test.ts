import fc from 'fast-check'
import { makeTurns } from '../../../controllers/base/threads/turns.ts'
import { assert, spec } from '../../support/runner/spec.ts'

type One = { account: string; n: number }

const ACCOUNTS = ['a', 'b', 'c', 'd'] as const

const account = fc.constantFrom(...ACCOUNTS)
const mayGo = fc.subarray<string>([...ACCOUNTS], { minLength: 1 })
const move = fc.record({
  do: fc.constantFrom('add', 'add', 'addFirst', 'drop', 'take', 'take'),
  account,
  at: fc.nat(4),
  mayGo,
})

type Move = { account: string; at: number; mayGo: string[] }

/** The turns beside what they are to be: a list for each account, and when each was served last. */
const makeModel = () => {
  const turns = makeTurns<One>()
  const waiting = new Map<string, One[]>(ACCOUNTS.map((name) => [name, []]))
  const served = new Map<string, number>()
  const ofOne = (name: string) => waiting.get(name) ?? []
  return {
    add: ({ account }: Pick<Move, 'account'>, n: number) => {
      turns.add({ account, n })
      ofOne(account).push({ account, n })
    },
    addFirst: ({ account }: Pick<Move, 'account'>, n: number) => {
      turns.addFirst({ account, n })
      ofOne(account).unshift({ account, n })
    },
    drop: ({ account, at }: Pick<Move, 'account' | 'at'>) => {
      const dropped = turns.of(account)[at] ?? { account, n: -1 }
      turns.drop(dropped)
      if (dropped.n >= 0) ofOne(account).splice(at, 1)
    },
    take: ({ mayGo }: Pick<Move, 'mayGo'>, n: number) => {
      const may = mayGo.filter((name) => ofOne(name).length > 0)
      const taken = turns.take((name) => mayGo.includes(name))
      assert.is(taken === undefined, may.length === 0, 'one goes whenever one may')
      if (!taken) return
      const longest = Math.min(...may.map((name) => served.get(name) ?? -1))
      assert.is(served.get(taken.account) ?? -1, longest, 'nobody who may go has waited longer for a turn')
      assert.equal(ofOne(taken.account).shift(), taken, 'the first of its account')
      served.set(taken.account, n)
    },
    agrees: () => {
      for (const name of ACCOUNTS) assert.equal(turns.of(name), ofOne(name))
      assert.is(turns.size(), [...waiting.values()].flat().length)
    },
  }
}

spec('turns of accounts', (t) => {
  t('a thousand of one hold nobody up', () => {
    const turns = makeTurns<One>()
    for (let n = 0; n < 1_000; n += 1) turns.add({ account: 'a', n })
    turns.add({ account: 'b', n: 0 })
    const taken = [turns.take(), turns.take(), turns.take()]
    assert.equal(taken, [
      { account: 'a', n: 0 },
      { account: 'b', n: 0 },
      { account: 'a', n: 1 },
    ])
  })

  t('what goes on comes before whatever else its account has, and not before others', () => {
    const turns = makeTurns<One>()
    for (const account of ['a', 'b']) for (let n = 1; n < 3; n += 1) turns.add({ account, n })
    const first = turns.take()
    if (first) turns.addFirst(first)
    const taken = [turns.take(), turns.take(), turns.take()]
    assert.equal(taken, [
      { account: 'b', n: 1 },
      { account: 'a', n: 1 },
      { account: 'b', n: 2 },
    ])
  })

  t('whatever comes and goes, nothing is lost or twice, and who was served longest ago is next', () => {
    const runs = fc.property(fc.array(move, { maxLength: 200 }), (moves) => {
      const model = makeModel()
      for (const [n, one] of moves.entries()) {
        model[one.do](one, n)
        model.agrees()
      }
    })
    fc.assert(runs, { numRuns: 300, seed: 20261128 })
  })

  t('nobody has two turns while another waits for one', () => {
    const runs = fc.property(fc.array(account, { minLength: 1, maxLength: 120 }), (adds) => {
      const turns = makeTurns<One>()
      for (const [n, name] of adds.entries()) turns.add({ account: name, n })
      const order: string[] = []
      for (let one = turns.take(); one; one = turns.take()) {
        order.push(one.account)
        const others = new Set(ACCOUNTS.filter((name) => turns.of(name).length > 0 && name !== one.account))
        for (const name of others) {
          const since = order.slice(order.lastIndexOf(name) + 1)
          const most = Math.max(...ACCOUNTS.map((other) => since.filter((served) => served === other).length))
          assert.ok(most <= 1, `${name} waits while ${since.join('')} go`)
        }
      }
      assert.is(order.length, adds.length)
    })
    fc.assert(runs, { numRuns: 200, seed: 20261128 })
  })
})
