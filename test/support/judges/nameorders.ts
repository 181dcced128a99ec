/** Two accounts and one domain, in any order of claims, records, looks, lapses and releases; and what must hold after each step. */
import { GRACE_MS, isHeld, isServed, type NameState } from '../../../crds/names/life.ts'
import { assert } from '../runner/spec.ts'

export const ACCOUNTS = ['a', 'b'] as const
export type AccountName = (typeof ACCOUNTS)[number]
type Act = 'claim' | 'release' | 'set' | 'unset' | 'look'
export type NameAct = { act: Act; by: AccountName } | { act: 'wait'; hours: number }

/** The names under test: pure rows in memory, or PostgreSQL. `now` is ISO. */
export type NamesUnderTest = {
  /** @returns false where the claim was refused, and nothing is kept of it */
  claim(by: AccountName, now: string): Promise<boolean>
  release(by: AccountName, now: string): Promise<void>
  /** Looks at the account's claim, if there is one. */
  look(by: AccountName, hasRecord: boolean, now: string): Promise<void>
  /** `free` where the account claims nothing. */
  state(by: AccountName): Promise<NameState>
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export const drawsOf = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const ACTS: readonly Act[] = ['claim', 'set', 'look', 'look', 'look', 'unset', 'release']
const WAITS = [1, 30, 80, 200]

export const orderOf = (seed: number, length: number): NameAct[] => {
  const draw = drawsOf(seed)
  const one = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T
  return Array.from({ length }, () =>
    draw() < 0.2 ? { act: 'wait', hours: one(WAITS) } : { act: one(ACTS), by: one(ACCOUNTS) },
  )
}

/** What is known of an account without asking those under test. */
type Known = { claims: boolean; hasRecord: boolean; provenBefore: boolean; absentSince: number | null }
type Order = { names: NamesUnderTest; of: Record<AccountName, Known> }

const START_MS = Date.parse('2026-11-22T10:00:00.000Z')
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

const blank = (): Known => ({ claims: false, hasRecord: false, provenBefore: false, absentSince: null })
const otherOf = (by: AccountName): AccountName => (by === 'a' ? 'b' : 'a')

/** One is served at most, and only who has shown a record since it claimed the name. @returns how many are */
const check = async ({ names, of }: Order, where: string): Promise<number> => {
  const states = { a: await names.state('a'), b: await names.state('b') }
  const said = `${where}: ${JSON.stringify(states)}`
  assert.ok(ACCOUNTS.filter((by) => isHeld(states[by])).length <= 1, `one has it: ${said}`)
  const served = ACCOUNTS.filter((by) => isServed(states[by]))
  for (const by of served) assert.ok(of[by].claims && of[by].provenBefore, `${by} has proven it: ${said}`)
  return served.length
}

const look = async ({ names, of }: Order, by: AccountName, nowMs: number, where: string): Promise<void> => {
  const known = of[by]
  if (!known.claims) return
  const before = await names.state(by)
  await names.look(by, known.hasRecord, new Date(nowMs).toISOString())
  const [after, isOthers] = [await names.state(by), isHeld(await names.state(otherOf(by)))]
  if (known.hasRecord) {
    // Whoever shows a record has the name, unless somebody else has it.
    assert.is(after, isOthers ? 'asked' : 'verified', where)
    if (!isOthers) Object.assign(known, { provenBefore: true, absentSince: null })
    return
  }
  known.absentSince ??= nowMs
  const isOver = nowMs - known.absentSince >= GRACE_MS
  if (before === 'missing') assert.is(after, isOver ? 'lapsed' : 'missing', where)
}

const take = async (order: Order, { act, by }: Exclude<NameAct, { act: 'wait' }>, nowMs: number, where: string) => {
  const known = order.of[by]
  const now = new Date(nowMs).toISOString()
  switch (act) {
    case 'set':
    case 'unset':
      known.hasRecord = act === 'set'
      return
    case 'claim':
      if ((await order.names.claim(by, now)) !== false) known.claims = true
      return
    case 'release':
      await order.names.release(by, now)
      Object.assign(known, { claims: false, absentSince: null })
      return
    case 'look':
      return look(order, by, nowMs, where)
    default:
      return act satisfies never
  }
}

/** @returns after how many steps somebody was served, that the order means something */
export const runOrder = async (names: NamesUnderTest, steps: readonly NameAct[], say: string): Promise<number> => {
  const order: Order = { names, of: { a: blank(), b: blank() } }
  let nowMs = START_MS
  let served = 0
  for (const [n, step] of steps.entries()) {
    const where = `${say} step ${n} ${JSON.stringify(step)}`
    if (step.act === 'wait') nowMs += step.hours * HOUR_MS
    else await take(order, step, nowMs, where)
    nowMs += MINUTE_MS
    served += await check(order, where)
  }
  return served
}
