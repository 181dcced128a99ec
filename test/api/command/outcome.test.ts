/**
 * What a request that fails says of itself is true: every route that changes desire, reports or queues is called with the API
 * server or PostgreSQL away before it, between its two writes, and after its commit; then it is looked up what is stored. The
 * calls follow from the routes: one that has none fails table.test.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type LedgerProxy, startLedgerProxy } from '../../support/crash/ledgerproxy.ts'
import { drawn, seed } from '../../support/crash/seed.ts'
import { type FaultProxy, startFaultProxy } from '../../support/doubles/faultproxy.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Reply } from '../../support/stage/invoicing.ts'
import { serviceKubeconfig } from '../../support/stage/stage.ts'
import { type QueuedCall, queuedCalls } from './rows/queued.ts'
import { mapSome, nameOf, queuing, rowsOf, type TableRoute, waiting } from './rows/routes.ts'
import { isNever } from './rows/row.ts'
import { startTableStage } from './rows/stage.ts'
import { isEffect, isStoring, startTruth, type Truth } from './rows/truth.ts'

const ASYNC = { prefer: 'respond-async' }
/** For a client to see that a connection is gone; longer at each further try, for a machine that has much to do. */
const SEEN_MS = 100
const SLOWER = 6
const PREPARE_TRIES = 4
/** Names of what a request is about. */
const IDS = /\b(?:inv|site|app|dev|host|op|iss|p\dx)-?[0-9a-f]+\b/g

const FAULTS = [
  'no ledger',
  'no plane',
  'the plane goes after the first write',
  'the ledger goes after the commit',
] as const
type Fault = (typeof FAULTS)[number]
type Todo = { route: TableRoute; faults: Set<Fault>; prepare(tag: string): Promise<QueuedCall>; call?: QueuedCall }
type Asked = { todo: Todo; reply: Reply }

let stage: Awaited<ReturnType<typeof startTableStage>>
let plane: FaultProxy
let ledger: LedgerProxy
let truth: Truth

/** What goes in the midst of a call goes for one call at a time: a plain run draws a third of the routes for each of these. */
const DRAWN: readonly Fault[] = ['the plane goes after the first write', 'the ledger goes after the commit']
const faultsFor = (route: TableRoute): Set<Fault> => {
  const isDrawn = (fault: Fault) =>
    process.env.BOTTEGA_TEST_FULL === '1' || !DRAWN.includes(fault) || drawn('outcome', fault, nameOf(route)) < 1 / 3
  return new Set(FAULTS.filter(isDrawn))
}

const todosOf = (): Todo[] => {
  const [rows, queued] = [rowsOf(stage), queuedCalls(stage)]
  const prepares = (route: TableRoute) => {
    const waits = rows[nameOf(route)]?.waits
    return queued[nameOf(route)] ?? (waits && !isNever(waits) ? waits.prepare : undefined)
  }
  return [...waiting, ...queuing].flatMap((route): Todo[] => {
    const prepare = prepares(route)
    return prepare ? [{ route, faults: faultsFor(route), prepare }] : []
  })
}

const askOf = async (todo: Todo): Promise<Asked> => {
  const { by, path, body, headers } = todo.call as QueuedCall
  return { todo, reply: await stage.ask(by, todo.route.method, path, body, { ...headers, ...ASYNC }) }
}

/** Until the processes have found what was away. */
const recovered = () =>
  eventually('an answer', async () => (await stage.ask(stage.owner, 'GET', '/api/invoices')).status === 200)

const KNOWABLE = 'that can be known'

/** What is wrong with an answer, seeing whether something is stored; null when it is true. */
const lieOf = ({ status, json }: Reply, fault: Fault, isStored: boolean): string | null => {
  const outcome = status >= 500 ? json?.outcome : undefined
  if (outcome === 'unknown' && fault !== 'the ledger goes after the commit') return KNOWABLE
  if (status === 202 || outcome === 'stored' || outcome === 'unknown') return isStored ? null : 'nothing is stored'
  if (outcome === 'not_stored' || (status >= 400 && status < 500)) return isStored ? 'it is stored' : null
  return status < 300 ? null : 'it does not say what became of it'
}

const told = (fault: Fault, { todo, reply }: Asked, changes: string[]): string[] => {
  const { status, json } = reply
  todo.faults.delete(fault)
  if (changes.length > 0 || status === 202) delete todo.call
  const lie = lieOf(reply, fault, changes.length > 0)
  const what = `${nameOf(todo.route)}, ${fault}: ${status} ${json?.code ?? ''} ${json?.outcome ?? ''}`
  return lie === null ? [] : [`${what}, but ${lie} ${changes.map((line) => line.slice(0, 120))}`]
}

const idsOf = ({ todo: { call }, reply }: Asked): string[] =>
  [...`${call?.path} ${JSON.stringify(call?.body ?? null)} ${reply.text}`.matchAll(IDS)].map(([id]) => id)

/** All calls at once. Whatever has changed is what somebody said is stored. */
const together = async (fault: 'no ledger' | 'no plane', todos: Todo[]): Promise<string[]> => {
  const part = fault === 'no ledger' ? ledger : plane
  await part.down()
  await sleep(SEEN_MS)
  const asked = await mapSome(todos, askOf)
  await part.up()
  await recovered()
  const changes = await truth.changes()
  const known = new Set<string>()
  const wrong = asked.flatMap((one) => {
    const ids = idsOf(one)
    const own = todos.length === 1 ? changes : changes.filter((line) => ids.some((id) => line.includes(id)))
    for (const line of own) known.add(line)
    return told(fault, one, own)
  })
  const strays = changes.filter((line) => !known.has(line))
  return [...wrong, ...strays.map((line) => `${fault}: nobody was told of ${line.slice(0, 200)}`)]
}

type Spared = Parameters<FaultProxy['down']>[0]
type Trap = { arm(goes: (spared?: Spared) => Promise<void>): void; part: 'plane' | 'ledger' }
const TRAPS: Record<Exclude<Fault, 'no ledger' | 'no plane'>, Trap> = {
  'the plane goes after the first write': {
    part: 'plane',
    arm(goes) {
      ledger.after(isEffect, () => goes())
      plane.after(({ method }) => method === 'GET', goes)
    },
  },
  'the ledger goes after the commit': {
    part: 'ledger',
    arm(goes) {
      ledger.after(isStoring, () => goes())
      plane.after(
        ({ method }) => method !== 'GET',
        () => goes(),
      )
    },
  },
}

/** One call, during which a part goes. Where it does not come to that there is nothing to be told. */
const once = async (fault: keyof typeof TRAPS, todo: Todo, seenMs: number): Promise<string[]> => {
  const { arm, part } = TRAPS[fault]
  let isDown = false
  const goes = async (spared?: Spared) => {
    if (isDown) return
    isDown = true
    await (part === 'plane' ? plane.down(spared) : ledger.down())
    await sleep(seenMs)
  }
  // a process that has just lost its ledger refuses what changes anything until its audit is written again
  const asked = await eventually(`${nameOf(todo.route)} to be let in`, async () => {
    arm(goes)
    const one = await askOf(todo)
    return (isDown || one.reply.status !== 503) && one
  })
  ledger.disarm()
  plane.disarm()
  if (isDown) await (part === 'plane' ? plane : ledger).up()
  if (part === 'ledger') await recovered()
  const wrong = told(fault, asked, await truth.changes())
  if (isDown) return wrong
  return part === 'ledger' ? [`${nameOf(todo.route)} stores nothing: ${asked.reply.status} ${asked.reply.text}`] : []
}

/** A connection that breaks while a write is on its way leaves it unknown, and truly so. What is so each time is a lie. */
const KNOWABLE_TRIES = 3

const alone = async (fault: keyof typeof TRAPS, todo: Todo): Promise<string[]> => {
  let wrong: string[] = []
  for (let tries = 0; tries < KNOWABLE_TRIES && todo.call; tries++) {
    wrong = await once(fault, todo, SEEN_MS * SLOWER ** tries)
    if (!wrong.some((line) => line.includes(KNOWABLE))) break
  }
  return wrong
}

const startControllers = async () => {
  await stage.platform.controllers.start()
  const leads = async () =>
    (await stage.ask(stage.admin, 'PATCH', '/api/admin/accounts/other', { name: `n${Date.now()}` })).status === 200
  await eventually('somebody to lead', leads)
}

/** What is to be decided at once is not, on a machine that has much to do: then once more, with another. */
const prepared = async ({ prepare }: Todo, tag: string): Promise<QueuedCall> => {
  for (let left = PREPARE_TRIES; ; left--) {
    try {
      return await prepare(`${tag}x${left}`)
    } catch (error) {
      if (left === 1) throw error
    }
  }
}

/** Each with a call of its own, as long as nothing came of it. */
const round = async (todos: Todo[], n: number): Promise<string[]> => {
  await mapSome(todos, async (todo, m) => {
    todo.call ??= await prepared(todo, `p${n}x${m}`)
  })
  await stage.platform.controllers.stop()
  await truth.changes()
  const wrong: string[] = []
  const left = (fault: Fault) => todos.filter(({ call, faults }) => call && faults.has(fault))
  for (const fault of ['no ledger', 'no plane'] as const) {
    // what only queues is known by no name
    const [single, crowd] = [
      left(fault).filter(({ route }) => queuing.includes(route)),
      left(fault).filter(({ route }) => waiting.includes(route)),
    ]
    for (const todos of [crowd, ...single.map((one) => [one])]) wrong.push(...(await together(fault, todos)))
  }
  for (const fault of ['the plane goes after the first write', 'the ledger goes after the commit'] as const) {
    for (const todo of left(fault)) wrong.push(...(await alone(fault, todo)))
  }
  await startControllers()
  return wrong
}

spec('what is said of a request that failed', (t) => {
  t.before(
    async () => {
      plane = await startFaultProxy(serviceKubeconfig('api'))
      stage = await startTableStage({
        kubeconfigs: { api: plane.kubeconfig, controllers: serviceKubeconfig('controllers') },
        through: async (url) => {
          ledger = await startLedgerProxy(url)
          return ledger.through(url)
        },
      })
      truth = await startTruth(stage.platform)
    },
    { timeoutMs: 240_000 },
  )
  t.after(async () => {
    await stage?.end()
    await Promise.all([truth?.end(), plane?.close(), ledger?.close()])
  })

  t(
    'is true, whichever part goes at whichever moment',
    async () => {
      const todos = todosOf()
      console.log(`  seed ${seed}`)
      assert.ok(todos.length > 50)
      const wrong: string[] = []
      for (let n = 0, left = todos; left.length > 0; n++) {
        wrong.push(...(await round(left, n)))
        // what was stored without the plane is stored before it goes, too
        for (const todo of left) if (!todo.call) todo.faults.delete('the plane goes after the first write')
        left = todos.filter(({ faults }) => faults.size > 0)
      }
      assert.equal(wrong, [])
    },
    { timeoutMs: 600_000 },
  )
})
