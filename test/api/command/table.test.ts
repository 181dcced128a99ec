/**
 * Every route that may answer 202, called while nobody decides: at once, after the bounded wait, again under the same key, and
 * of a resource that is deleted meanwhile; and as it refuses. The rows follow from the routes: one that has none here fails.
 */
import { isKeyed } from '../../../api/http/stages/idempotency.ts'
import { ABSENT_MAX } from '../../../crds/kernel/desire/absence.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Json, type Reply } from '../../support/stage/invoicing.ts'
import { queuedCalls } from './rows/queued.ts'
import { mapSome, nameOf, queuing, rowsOf, type TableRoute, waiting } from './rows/routes.ts'
import { isNever, type TableCall, type TableRow, type TableRows, type TableStage, type Waits } from './rows/row.ts'
import { startTableStage } from './rows/stage.ts'

type Way = 'async' | 'timeout' | 'gone'

const ASYNC = { prefer: 'respond-async' }

const settledOf = async <T>(settled: PromiseSettledResult<T> | undefined): Promise<T> => {
  if (settled?.status !== 'fulfilled') throw settled?.reason
  return settled.value
}

spec('every route that may answer before it is decided', (t) => {
  let stage: TableStage
  let rows: TableRows
  let count = 0

  const rowOf = (route: TableRoute) => rows[nameOf(route)] as TableRow
  const say = ({ method }: TableRoute, { path, body, headers, by }: TableCall, more: Record<string, string>) =>
    stage.ask(by, method, path, body, { ...headers, ...more })
  const operationOf = async ({ json }: Reply, by: string): Promise<Json> =>
    (await stage.sure(by, 'GET', `/api/operations/${json.operation_id}`)).operation
  const endOf = (what: string, reply: Reply, by: string): Promise<Json> =>
    eventually(`the verdict of ${what}`, async () => {
      const operation = await operationOf(reply, by)
      return operation.state !== 'pending' && operation
    })
  const whileNobodyDecides = async <T>(work: () => Promise<T>): Promise<T> => {
    await stage.platform.controllers.stop()
    try {
      return await work()
    } finally {
      await stage.platform.controllers.start()
    }
  }

  type Cell = { what: string; route: TableRoute; way: Way; waits: Waits; call: TableCall }
  const cellsOf = (ways: readonly Way[]): Omit<Cell, 'call'>[] =>
    waiting.flatMap((route) => {
      const { waits } = rowOf(route)
      if (isNever(waits)) return []
      const there = ways.filter((way) => way !== 'gone' || !isNever(waits.gone))
      return there.map((way) => ({ what: `${nameOf(route)}, ${way}`, route, way, waits }))
    })
  const ask = ({ what, route, way, call }: Cell): Promise<Reply> =>
    say(route, call, { 'idempotency-key': what.replaceAll(' ', '_'), ...(way !== 'timeout' && ASYNC) })

  /** Asked, and with an operation that is pending; its resource is deleted where that is the way. */
  const askPending = async (cell: Cell): Promise<Reply> => {
    const { what, route, way, waits, call } = cell
    const reply = await ask(cell)
    assert.equal([reply.status, reply.headers.get('retry-after')], [202, '2'], `${what}: ${reply.text}`)
    const operation = await operationOf(reply, call.by)
    assert.equal([operation.state, operation.method], ['pending', route.method], what)
    const name = operation.resource.split('/').pop()
    if (way === 'gone') await stage.platform.kubectl(['delete', waits.kind, name, '--wait=false', '--ignore-not-found'])
    return reply
  }

  /** The same again is answered with the same. */
  const askAgain = async (cell: Cell, status: number, body: Json): Promise<void> => {
    if (!isKeyed(cell.route)) return
    const again = await ask(cell)
    assert.equal([again.status, again.headers.get('idempotency-replayed')], [status, 'true'], cell.what)
    assert.equal(again.json, body, cell.what)
  }

  const judgeEnd = async (cell: Cell, reply: Reply): Promise<void> => {
    const { what, way, waits, call } = cell
    if (way !== 'gone' && waits.status === 'pending') return askAgain(cell, 202, reply.json)
    const { state, status, result, problem } = await endOf(what, reply, call.by)
    assert.is(state, way === 'gone' ? waits.gone : 'succeeded', `${what}: ${JSON.stringify(problem)}`)
    if (way === 'gone' || waits.status === 'pending') return
    assert.is(status, waits.status, what)
    await askAgain(cell, waits.status, result)
  }

  /** Asks all of it while nobody decides, and looks at how it ends. */
  const decide = async (made: Omit<Cell, 'call'>[]): Promise<void> => {
    const cells = await mapSome(made, async (cell) => {
      count += 1
      return { ...cell, call: await cell.waits.prepare(`t${count}`) }
    })
    const asked = await whileNobodyDecides(() => Promise.allSettled(cells.map(askPending)))
    const ends = await Promise.allSettled(
      cells.map(async (cell, n) => {
        const reply = await settledOf(asked[n])
        return judgeEnd(cell, reply)
      }),
    )
    assert.equal(
      ends.flatMap((end) => (end.status === 'rejected' ? [`${end.reason}`] : [])),
      [],
    )
  }

  t.before(
    async () => {
      stage = await startTableStage()
      rows = rowsOf(stage)
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => stage?.end())

  t('has a row, if its 202 names an operation; and has a call, if it only queues', () => {
    assert.equal(waiting.map(nameOf).sort(), Object.keys(rows).sort())
    assert.equal(queuing.map(nameOf).sort(), Object.keys(queuedCalls(stage)).sort())
  })

  t('leads to its verdict: at once, after the wait, and to a repeat', () => decide(cellsOf(['async', 'timeout'])), {
    timeoutMs: 300_000,
  })

  t(
    'says how it ends when its resource goes before anybody looks',
    async () => {
      const cells = cellsOf(['gone'])
      // of more than a few nobody would believe that they were deleted
      while (cells.length > 0) await decide(cells.splice(0, ABSENT_MAX))
    },
    { timeoutMs: 300_000 },
  )

  t(
    'refuses in the same words whoever waits and whoever does not',
    async () => {
      const wrong = await mapSome(waiting, async (route, n) => {
        const { refused } = rowOf(route)
        if (isNever(refused)) return []
        const call = await refused.prepare(`r${n}`)
        const told = async (reply: Reply): Promise<unknown> => {
          const problem = reply.status === 202 ? (await endOf(nameOf(route), reply, call.by)).problem : reply.json
          return [problem?.status, problem?.code, problem?.detail]
        }
        const later = await told(await say(route, call, ASYNC))
        const [status, code, detail] = (await told(await say(route, call, {}))) as [number, string, string]
        const same = JSON.stringify(later) === JSON.stringify([status, code, detail])
        return code === refused.code && status >= 400 && same ? [] : [[nameOf(route), later, [status, code, detail]]]
      })
      assert.equal(wrong.flat(), [])
    },
    { timeoutMs: 600_000 },
  )

  t(
    'or shows what is queued, where it can be read at once',
    async () => {
      const calls = await mapSome(queuing, async (route, n) => {
        const prepare = queuedCalls(stage)[nameOf(route)]
        return { route, call: await prepare?.(`q${n}`) }
      })
      await whileNobodyDecides(() =>
        mapSome(calls, async ({ route, call }) => {
          assert.ok(call)
          const { path, body, headers, by } = call
          const reply = await stage.ask(by, route.method, path, body, { ...headers, ...ASYNC })
          assert.is(reply.status, 202, `${nameOf(route)}: ${reply.text}`)
          const location = reply.headers.get('location') ?? ''
          const seen = await stage.ask(by, 'GET', location, undefined, headers)
          assert.is(seen.status, 200, `${location}: ${seen.text}`)
        }),
      )
    },
    { timeoutMs: 240_000 },
  )
})
