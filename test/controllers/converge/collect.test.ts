import { pino } from 'pino'
import type { Command, FactGoal } from '../../../api/command/command.ts'
import { append } from '../../../api/command/report.ts'
import { settle } from '../../../api/command/settle.ts'
import type { Answer, ApiRequest } from '../../../api/http/route.ts'
import { receiveCardEvent } from '../../../api/invoice/cards/card-webhook.ts'
import { checkoutCommand, creditCommand } from '../../../api/invoice/commands.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { type CardProcessor, makeCardProcessor } from '../../../controllers/io/cards.ts'
import type { OperatorDeps } from '../../../controllers/operator.ts'
import { makeOutbox } from '../../../controllers/store/ledger/outbox.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { startPaymentWorker } from '../../../controllers/workers/payment-worker.ts'
import { checkoutKey } from '../../../crds/invoice/facts/collected.ts'
import { creditKey } from '../../../crds/invoice/facts/records.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { ShownInvoice } from '../../../crds/invoice/rest/shown.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type CardStandIn, startCardStandIn } from '../../../hack/stage/cardstandin.ts'
import type { Life } from '../../support/crash/crash.ts'
import { type ProcessApi, refNamed } from '../../support/crash/process.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweepAlone, sweeps } from '../../support/crash/sweep.ts'
import { SECRET_KEY, WEBHOOK_SECRET } from '../../support/doubles/cards.ts'
import { viewIn } from '../../support/judges/viewin.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { order } from '../../support/stage/invoicing.ts'
import { kubectlFor, type Namespace } from '../../support/stage/stage.ts'

/**
 * An invoice that is paid by card and refunded, killed at every call, those to the card processor among them: one session,
 * one payment, one refund, each told once, and nothing left to do (support/sweep.ts).
 */

const name = refNamed('inv', 'demo', 'the-card-order')
let namespace: Namespace
let cards: CardStandIn
let databaseUrl = ''

const request = (more: object): ApiRequest =>
  ({
    caller: { account: 'demo', profile: { plan: 'team', rails: ['stripe'] } },
    headers: {},
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/invoices',
    ...more,
  }) as unknown as ApiRequest
const CREATE = request({ body: order({ external_ref: 'the-card-order', test: true }) })

/** The processor as a life calls it: a dead one calls nobody. */
const withLife = (processor: CardProcessor, life: Life): CardProcessor => ({
  livemode: processor.livemode,
  open: (ask, of) => life.hostAround({ name: 'card open' }, () => processor.open(ask, of)),
  end: (ask) => life.hostAround({ name: 'card end' }, () => processor.end(ask)),
  refund: (ask, of) => life.hostAround({ name: 'card refund' }, () => processor.refund(ask, of)),
  refunded: (ask, of) => life.hostAround({ name: 'card refunded' }, () => processor.refunded(ask, of)),
})

const tools = (life: Life) => {
  const processor = withLife(makeCardProcessor({ secretKey: SECRET_KEY, apiBase: cards.apiBase }), life)
  const pg = makePg({ url: databaseUrl, max: 2, around: life.around })
  const now = () => new Date()
  const deps: Partial<OperatorDeps> = {
    cards: processor,
    paymentWorker: (epoch, hooks) =>
      startPaymentWorker({
        ...hooks,
        outbox: makeOutbox({ pg, epoch: () => epoch, now }),
        processor,
        now,
        log: pino({ level: 'silent' }),
      }),
  }
  return { deps, close: () => pg.close() }
}

/** The same report each time, as a caller repeats it. */
const report = (
  api: ProcessApi,
  command: Command<FactGoal, ShownInvoice, ProcessApi>,
  fact: { key: string; kind: string; body: Record<string, unknown> },
): Promise<Answer> =>
  settle(api, request({}), command, {
    name,
    whose: { account: 'demo' },
    resource: `/api/invoices/${name}`,
    pending: {},
    act: () => append(api, { kind: INVOICE, name, fact }),
  })

const play = async (given: ProcessApi): Promise<void> => {
  const api: ProcessApi = { ...given, cards: { read: (raw) => JSON.parse(raw.toString('utf8')), checkoutOrigin: '' } }
  const made = await createInvoice(api, CREATE)
  assert.ok(made.status === 200 || made.status === 201, `answered ${made.status}`)
  const checkout = await report(api, checkoutCommand, { key: checkoutKey('payer'), kind: 'checkout', body: {} })
  assert.is(checkout.status, 200, 'the checkout is decided on')
  const { checkout_url: url } = checkout.body as { checkout_url: string }
  const id = url.split('/').at(-1) ?? ''
  await cards.pay(id)
  const event = { type: 'checkout.session.completed', livemode: false, data: { object: cards.sessions.get(id) } }
  const message = request({ form: Buffer.from(JSON.stringify(event)) })
  // the processor says it until somebody has heard it
  for (const _ of [1, 2]) assert.is((await receiveCardEvent(api, message)).status, 200)
  const body = { amountCents: 44_000, items: null, reason: '', refund: true }
  await report(api, creditCommand, { key: creditKey('cn-1'), kind: 'credit', body })
}

const told = async (url: string) =>
  (await query(url, "select payload ->> 'type' as type from outbox where channel = 'event' order by id")).map(
    ({ type }) => type,
  )

const story = (): Story<void> => ({
  options: { namespace: namespace.name, mailPort: 9, tools },
  prepare: async (url) => {
    databaseUrl = url
    await cards?.stop()
    cards = await startCardStandIn({ secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET, webhookUrl: () => '' })
    cards.isSilent = true
  },
  play: ({ api }) => play(api),
  isSettled: async (url) => {
    const open = "select 1 from outbox where channel = 'card' and state <> 'sent'"
    const view = await viewIn(url, INVOICE)
    return (await query(url, open)).length === 0 && view?.refunded_cents === 44_000
  },
  look: async (url) => {
    assert.equal(await told(url), ['invoice.sent', 'invoice.paid', 'invoice.credit_noted', 'invoice.refunded'])
    assert.equal([cards.sessions.size, cards.refunds.size], [1, 1])
    const rows = await query(url, "select purpose from outbox where channel = 'card' order by id")
    assert.equal(
      rows.map(({ purpose }) => purpose),
      ['session:1', 'refund:cn-1.1'],
    )
    const payments = await query(
      url,
      "select state, outcome ->> 'amountCents' as cents from facts where kind = 'payment'",
    )
    assert.equal(payments, [{ state: 'accepted', cents: '144000' }])
  },
  alone: async (url) => {
    const [{ payments, register } = {}] = await query(
      url,
      `select (select count(*)::int from facts where kind = 'payment') as payments,
        (select coalesce(string_agg(kind, ' ' order by kind), '') from register) as register`,
    )
    assert.ok(Number(payments) <= 1 && cards.sessions.size <= 1 && cards.refunds.size <= 1, 'nothing twice')
    assert.is(cards.refunds.size > 0, String(register).includes('credit_note'), 'what was credited is refunded')
    const types = await told(url)
    assert.is(new Set(types).size, types.length, 'each told once')
    return String(types.at(-1) ?? 'nothing')
  },
  fingerprint: async (url) => [
    await query(
      url,
      'select (select count(*) from facts) as facts, (select max(xmin::text::bigint) from mirror) as mirror',
    ),
    cards.requests.length,
  ],
  mayDo: /^(get|list) |^sql (mirror_|observe_|issuer_profiles|turn_outbox|take_epoch|put_mirror)/,
  looked: /^sql observe_invoices/,
  clear: async () => {
    await kubectlFor(namespace.kubeconfig)(['delete', 'inv', name, '-n', namespace.name, '--ignore-not-found'])
  },
  deathsMin: 40,
  every: 50,
})

spec('a process that dies at any call while an invoice is paid by card', (t) => {
  t.before(async () => {
    namespace = await makeDemoNamespace({ rails: ['stripe'] })
  })
  t.after(async () => {
    await cards?.stop()
    await namespace.remove()
  })

  t('without a crash, one session, one payment and one refund', async () => {
    const { calls } = await live(story())
    assert.equal(
      calls.filter((call) => call.startsWith('card ')),
      ['card open', 'card refund'],
    )
  })

  sweeps(t, 'one session, one payment, one refund', story)
  sweepAlone(t, 'one session, one payment, one refund', story)
})
