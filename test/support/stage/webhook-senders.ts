/** The webhook sender by itself, over a real ledger, with a stand-in for the network that a test answers for. */
import { pino } from 'pino'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import type { Egress, EgressAnswer, EgressRequest } from '../../../controllers/net/egress.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg, type Pg } from '../../../controllers/store/pg/pg.ts'
import {
  type Deliveries,
  type Ended,
  makeDeliveries,
  type Notice,
} from '../../../controllers/store/webhook/deliveries.ts'
import { type Endpoints, makeEndpoints } from '../../../controllers/store/webhook/endpoints.ts'
import { startWebhookSender, type WebhookSender } from '../../../controllers/workers/webhook-sender.ts'
import type { EventType } from '../../../crds/kernel/event.ts'
import { secretOf } from '../../../crds/webhook/signature.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type MovedClock, makeMovedClock } from '../doubles/movedclock.ts'
import { makeDatabase } from './stage.ts'

export const START = '2026-11-22T12:00:00.000Z'
const KEY = Buffer.alloc(32, 7)
export const webhookSealer = keysOfOne(KEY).sealer('webhook-secret')
/** A different secret for each endpoint. */
export const secretFor = (id: string): string => secretOf(Buffer.from(id.padEnd(32, '.').slice(0, 32)))

/** What came in, and when by the wall's clock in ms. */
export type Asked = { path: string; id: string; body: string; headers: Record<string, string>; atMs: number }

export const answered = (status: number, headers: Record<string, string> = {}): EgressAnswer => ({
  ...{ ok: true, status, headers, body: Buffer.from('ok'), latencyMs: 1 },
})
export const timedOut: EgressAnswer = {
  ...{ ok: false, fault: 'TIMEOUT', detail: 'gave no whole answer', status: null, body: Buffer.alloc(0), latencyMs: 1 },
}

export type FakeNet = Egress & {
  asked: Asked[]
  at(path: string): Asked[]
  underWay(path: string): number
  most(path: string): number
  answer(asked: Asked): EgressAnswer | Promise<EgressAnswer>
}

/** Answers 200 until told otherwise. */
export const makeFakeNet = (): FakeNet => {
  const under = new Map<string, number>()
  const most = new Map<string, number>()
  const move = (path: string, by: number) => {
    const now = (under.get(path) ?? 0) + by
    under.set(path, now)
    most.set(path, Math.max(now, most.get(path) ?? 0))
  }
  const net: FakeNet = {
    asked: [],
    at: (path) => net.asked.filter((one) => one.path === path),
    underWay: (path) => under.get(path) ?? 0,
    most: (path) => most.get(path) ?? 0,
    answer: () => answered(200),
    exchange: async ({ url, headers, body }: EgressRequest) => {
      const { pathname: path } = new URL(url)
      const one = { path, id: String(headers['webhook-id']), body: String(body), headers, atMs: performance.now() }
      net.asked.push(one)
      move(path, 1)
      try {
        return await net.answer(one)
      } finally {
        move(path, -1)
      }
    },
    judge: async () => null,
    close: async () => {},
  }
  return net
}

export type Row = Record<string, unknown>
export type Office = {
  databaseUrl: string
  pg: Pg
  clock: MovedClock
  endpoints: Endpoints
  net: FakeNet
  sql(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** An endpoint of the account, at `https://hooks.test<path>`; gives its id. */
  open(path: string, account?: string): Promise<string>
  openAt(url: string, over?: { account?: string; events?: string[] }): Promise<string>
  /** So many more events of an account, as the state machines tell them; gives their ids. */
  tell(count: number, account?: string, type?: EventType): Promise<string[]>
  /** Under a new epoch, as whoever leads next. */
  lead(): Promise<{ epoch: number; deliveries: Deliveries }>
  send(deliveries: Deliveries, over?: { net?: Egress; onAttempt?(state: Ended['state']): void }): WebhookSender
  /** Stops every webhook sender that was started and not stopped. */
  end(): Promise<void>
}

const ENDPOINTS_MAX = 10_000
const TELL = `
select m from (
  select tell_event('inv-' || n, 'sent', $1::json, $2::timestamptz) as told,
    'evt_' || left(encode(sha256(convert_to('inv-' || n || E'\\n' || 'sent', 'UTF8')), 'hex'), 32) as m
  from generate_series($3::integer, $4::integer) n
) t`

export const noticeOf = (
  { endpoint, account }: { endpoint: string; account: string },
  _: unknown,
  { state, gone }: Ended,
) => {
  if (state !== 'dead') return null
  const purpose = gone ? `webhook-disabled:${endpoint}` : `webhook-dead:${endpoint}`
  const notice: Notice = {
    kind: 'Account',
    resource: account,
    account,
    purpose,
    messageId: `<${purpose}@test>`,
    payload: { mail: 'test' },
  }
  return notice
}

export const openOffice = async (): Promise<Office> => {
  const database = await makeDatabase()
  const pg = makePg({ url: database.url })
  const clock = makeMovedClock(START)
  const endpoints = makeEndpoints({ pg, sealer: webhookSealer })
  const net = makeFakeNet()
  const running = new Set<WebhookSender>()
  let told = 0
  let opened = 0
  const sql: Office['sql'] = (text, values = []) => query(database.url, text, values)
  const openAt: Office['openAt'] = async (url, { account = 'demo', events = ['*'] } = {}) => {
    opened += 1
    const id = `whk_${opened}`
    const made = { account, id, url, events, secret: secretFor(id), at: clock.now().toISOString() }
    await endpoints.create(made, ENDPOINTS_MAX)
    return id
  }
  return {
    ...{ databaseUrl: database.url, pg, clock, endpoints, net, sql },
    openAt,
    open: (path, account = 'demo') => openAt(`https://hooks.test${path}`, { account }),
    async tell(count, account = 'demo', type = 'invoice.sent') {
      const event = JSON.stringify({ kind: 'Invoice', account, type, data: { invoice: { status: 'sent' } } })
      const rows = await sql(TELL, [event, clock.now().toISOString(), told + 1, told + count])
      told += count
      return rows.map(({ m }) => String(m))
    },
    async lead() {
      const epoch = await takeEpoch(pg, 'test')
      return { epoch, deliveries: makeDeliveries({ pg, sealer: webhookSealer, epoch: () => epoch, now: clock.now }) }
    },
    send(deliveries, { net: egress = net, ...more } = {}) {
      const log = pino({ level: 'silent' })
      const webhookSender = startWebhookSender({ deliveries, egress, now: clock.now, noticeOf, log, ...more })
      const stop = webhookSender.stop
      running.add(webhookSender)
      return {
        ...webhookSender,
        stop: async () => {
          running.delete(webhookSender)
          await stop()
        },
      }
    },
    async end() {
      await Promise.all([...running].map((webhookSender) => webhookSender.stop()))
      await pg.close()
      await database.drop()
    },
  }
}
