/**
 * Every route that changes desire or reports a fact, called while a part is away: before anything is stored, between the fact
 * and the wake, and after. Each says in one of three words what became of it, and the word is true. The rows are those of the
 * table (table.test.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { type FaultProxy, startFaultProxy } from '../../support/doubles/faultproxy.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Json, type Reply } from '../../support/stage/invoicing.ts'
import { serviceKubeconfig } from '../../support/stage/stage.ts'
import { accountRows } from './rows/accounts.ts'
import { appAndHostRows } from './rows/apps.ts'
import { devInstanceRows } from './rows/devinstances.ts'
import { invoiceRows } from './rows/invoices.ts'
import { isNever, type TableCall, type TableRows, type TableStage } from './rows/row.ts'
import { siteRows } from './rows/sites.ts'
import { startTableStage } from './rows/stage.ts'

const ASYNC = { prefer: 'respond-async' }
/** Until all that were asked wait for their verdict. */
const WAITING_MS = 5_000
/** Resources that are made at a time, and how long each may take. */
const WIDTH = 4
const PREPARE_MS = 120_000
const SEND_AGAIN = /send (it|the same)|again/i

type Cell = { what: string; method: string; call: TableCall }
type Answered = { cell: Cell; reply: Reply }

spec('a part that is away', (t) => {
  let stage: TableStage
  let proxy: FaultProxy
  let rows: TableRows
  let count = 0

  t.before(
    async () => {
      proxy = await startFaultProxy(serviceKubeconfig('api'))
      stage = await startTableStage({
        kubeconfigs: { api: proxy.kubeconfig, controllers: serviceKubeconfig('controllers') },
      })
      rows = {
        ...invoiceRows(stage),
        ...siteRows(stage),
        ...appAndHostRows(stage),
        ...devInstanceRows(stage),
        ...accountRows(stage),
      }
    },
    { timeoutMs: 240_000 },
  )
  t.after(async () => {
    await stage?.platform.end()
    await proxy?.close()
  })

  /** A call of every route, whose resource is made now. */
  const prepareAll = async (): Promise<Cell[]> => {
    const left = allRoutes.flatMap((route) => {
      const what = `${route.method} ${route.path}`
      const waits = rows[what]?.waits
      return waits === undefined || isNever(waits) ? [] : [{ what, method: route.method, waits }]
    })
    const cells: Cell[] = []
    const work = async () => {
      for (let next = left.shift(); next; next = left.shift()) {
        const { what, method, waits } = next
        // the parts that were away are coming back, and the machine may be busy
        const prepare = () => {
          count += 1
          return waits.prepare(`o${count}`).catch(() => false as const)
        }
        cells.push({ what, method, call: await eventually(`a resource for ${what}`, prepare, PREPARE_MS) })
      }
    }
    await Promise.all(Array.from({ length: WIDTH }, work))
    assert.ok(cells.length > 30)
    return cells
  }
  const ask = async (cell: Cell, more: Record<string, string> = {}): Promise<Answered> => {
    const { path, body, headers, by } = cell.call
    return { cell, reply: await stage.ask(by, cell.method, path, body, { ...headers, ...more }) }
  }
  const askAll = (cells: readonly Cell[], more = {}): Promise<Answered[]> =>
    Promise.all(cells.map((one) => ask(one, more)))
  const sayOf = ({ cell, reply: { status, json, headers } }: Answered) => ({
    what: cell.what,
    status,
    outcome: json?.outcome,
    location: headers.get('location') !== null,
    isToldToRepeat: SEND_AGAIN.test(json?.detail ?? ''),
  })
  /** What says anything else. */
  const wrong = (answers: readonly Answered[], isRight: (said: ReturnType<typeof sayOf>) => boolean) =>
    answers.filter((one) => !isRight(sayOf(one))).map((one) => [sayOf(one), one.reply.text.slice(0, 300)])
  const serves = (cell: Cell) =>
    eventually(
      'the service to be back',
      async () => (await stage.ask(cell.call.by, 'GET', '/api/account')).status === 200,
    )
  /** It was not stored: the same again is the first. */
  const asksAnew = async (cells: readonly Cell[]): Promise<void> => {
    const replies = await askAll(cells, ASYNC)
    assert.equal(
      wrong(replies, ({ status }) => status < 300),
      [],
    )
  }

  t(
    'before anything is stored: the database is down, nothing is stored, and the same again is the first',
    async () => {
      const cells = await prepareAll()
      await stage.platform.postgres.kill()
      const answers = await askAll(cells)
      await stage.platform.postgres.start()
      assert.equal(
        wrong(answers, (said) => said.status === 503 && said.outcome === 'not_stored' && !said.location),
        [],
      )
      if (cells[0]) await serves(cells[0])
      await proxy.down()
      const refused = await askAll(cells, ASYNC)
      await proxy.up()
      const isRefused = ({ reply }: Answered) => reply.status === 503
      assert.equal(
        wrong(refused, (said) =>
          said.status === 503
            ? said.outcome === 'not_stored' && !said.location
            : said.status === 202 && said.location && !said.isToldToRepeat,
        ),
        [],
        'nobody listens where the API server was',
      )
      // what only needs the ledger is stored
      assert.ok(refused.some(isRefused) && !refused.every(isRefused))
      await asksAnew(refused.filter(isRefused).map(({ cell }) => cell))
    },
    { timeoutMs: 600_000 },
  )

  t(
    'between the fact and the wake: what is stored has an address, and of what nobody knows it is said where to look',
    async () => {
      const cells = await prepareAll()
      proxy.hang(({ method }) => method !== 'GET')
      const answers = await askAll(cells, ASYNC)
      proxy.flow()
      assert.equal(
        wrong(answers, ({ status, outcome, location, isToldToRepeat }) => {
          if (isToldToRepeat || !location) return false
          return status === 202 || (status === 503 && outcome === 'unknown')
        }),
        [],
      )
      const stored = answers.filter(({ reply }) => reply.status === 202 && reply.json?.operation_id !== undefined)
      assert.ok(stored.length > 5)
      const undecided = async (): Promise<Json[]> => {
        const operations = await Promise.all(
          stored.map(async ({ cell, reply }) => {
            const { operation } = await stage.sure(cell.call.by, 'GET', `/api/operations/${reply.json.operation_id}`)
            const waits = rows[cell.what]?.waits
            const mayWait = waits && !isNever(waits) && waits.status === 'pending'
            return operation.state === 'pending' && !mayWait ? [cell.what] : []
          }),
        )
        return operations.flat()
      }
      await eventually('each verdict', async () => (await undecided()).length === 0)
    },
    { timeoutMs: 600_000 },
  )

  t(
    'after: who waits for a verdict when the database dies is told where it will stand, and never to send it again',
    async () => {
      const cells = await prepareAll()
      await stage.platform.controllers.stop()
      const asked = askAll(cells)
      await sleep(WAITING_MS)
      await stage.platform.postgres.kill()
      const answers = await asked
      await stage.platform.postgres.start()
      await stage.platform.controllers.start()
      assert.equal(
        wrong(
          answers,
          ({ status, location, isToldToRepeat }) => status < 300 && (status < 202 || location) && !isToldToRepeat,
        ),
        [],
      )
    },
    { timeoutMs: 600_000 },
  )
})
