import { pino } from 'pino'
import type { ApiRequest } from '../../../api/http/route.ts'
import { createInvoice } from '../../../api/invoice/create.ts'
import { recordPayment } from '../../../api/invoice/money/money.ts'
import type { OperatorDeps } from '../../../controllers/operator.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { makeDeliveries } from '../../../controllers/store/webhook/deliveries.ts'
import { makeEndpoints } from '../../../controllers/store/webhook/endpoints.ts'
import { startWebhookSender } from '../../../controllers/workers/webhook-sender.ts'
import { query } from '../../../hack/platform/postgres.ts'
import type { CrashPoint, Life } from '../../support/crash/crash.ts'
import { type ProcessApi, refNamed } from '../../support/crash/process.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweepAlone, sweeps } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { eventually, order } from '../../support/stage/invoicing.ts'
import { kubectlFor, type Namespace } from '../../support/stage/stage.ts'
import { type FakeNet, makeFakeNet, secretFor, webhookSealer } from '../../support/stage/webhook-senders.ts'

/**
 * An invoice that is sent and paid, and an endpoint that is told, killed at every call, the posts among them: each event has
 * its place once, arrives at least once under one id, and nothing is left to do (support/sweep.ts).
 */

const name = refNamed('inv', 'demo', 'the-told-order')
let namespace: Namespace
let databaseUrl = ''
let net: FakeNet = makeFakeNet()
/** The post at which the first life ends, where a story is about that. */
let lastPost: { nth: number; when: CrashPoint['when'] } | null = null

const request = (more: object): ApiRequest =>
  ({
    caller: { account: 'demo', profile: { plan: 'team' } },
    headers: {},
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/invoices',
    params: { id: name },
    ...more,
  }) as unknown as ApiRequest
const CREATE = request({ body: order({ external_ref: 'the-told-order' }) })
const PAY = request({ body: {}, idempotencyKey: 'cd'.repeat(32) })

/** The network as a life sees it: a dead one posts to nobody, and hears no answer. */
const tools = (life: Life) => {
  const pg = makePg({ url: databaseUrl, max: 3, around: life.around })
  const now = () => new Date()
  const deps: Partial<OperatorDeps> = {
    webhookSender: (epoch, hooks) =>
      startWebhookSender({
        ...hooks,
        deliveries: makeDeliveries({ pg, sealer: webhookSealer, epoch: () => epoch, now }),
        egress: {
          ...net,
          exchange: (ask) => {
            const isLast = lastPost !== null && life.calls.filter((call) => call === 'post').length === lastPost.nth - 1
            if (isLast && lastPost !== null) life.endIn({ call: 0, when: lastPost.when })
            if (isLast) lastPost = null
            return life.hostAround({ name: 'post' }, () => net.exchange(ask))
          },
        },
        now,
        log: pino({ level: 'silent' }),
      }),
  }
  return { deps, close: () => pg.close() }
}

const openEndpoint = async (url: string): Promise<void> => {
  const pg = makePg({ url, max: 1 })
  const made = { account: 'demo', id: 'whk_1', url: 'https://hooks.test/', events: ['invoice.*'] }
  const at = new Date().toISOString()
  await makeEndpoints({ pg, sealer: webhookSealer }).create({ ...made, secret: secretFor('whk_1'), at }, 3)
  await pg.close()
}

const play = async (api: ProcessApi): Promise<void> => {
  const made = await createInvoice(api, CREATE)
  assert.ok(made.status === 200 || made.status === 201, `answered ${made.status}`)
  const paid = await recordPayment(api, PAY)
  assert.is(paid.status, 200)
}

const eventsOf = (url: string) =>
  query(url, 'select id, type, sequence::int, object_sequence::int as place from events')
const delivered = (url: string) =>
  query(
    url,
    `select e.id, d.attempt from deliveries d join events e on e.account = d.account and e.sequence = d.sequence
    where d.state = 'delivered' order by e.sequence`,
  )

const nothingPending = async (url: string): Promise<boolean> => {
  const left = await query(
    url,
    `select 1 from outbox where channel = 'event' and due_at is not null
    union all select 1 from deliveries where state = 'pending'`,
  )
  return left.length === 0
}

const story = (): Story<void> => ({
  options: { namespace: namespace.name, mailPort: 9, tools },
  prepare: async (url) => {
    databaseUrl = url
    net = makeFakeNet()
    await openEndpoint(url)
  },
  play: ({ api }) => play(api),
  isSettled: async (url) => (await nothingPending(url)) && (await delivered(url)).length === 2,
  look: async (url) => {
    const events = await eventsOf(url)
    assert.equal(
      events.map(({ type, sequence, place }) => [type, sequence, place]),
      [
        ['invoice.sent', 1, 1],
        ['invoice.paid', 2, 2],
      ],
    )
    const rows = await delivered(url)
    // a sender that died is no reason for another attempt: it is the same one, begun again
    assert.equal(
      rows,
      events.map(({ id }) => ({ id, attempt: 1 })),
    )
    for (const { id } of events) {
      const bodies = net.asked.filter((asked) => asked.id === id).map(({ body }) => body)
      assert.ok(bodies.length >= 1 && bodies.length <= 2, `${id} was posted ${bodies.length} times`)
      assert.is(new Set(bodies).size, 1)
    }
    assert.equal(
      net.asked.filter(({ id }) => !events.some((event) => event.id === id)),
      [],
    )
  },
  alone: async (url) => {
    // the one who posts is no resource: an operator that has nothing to do does not say that it is done
    await eventually('all that was told to be posted', () => nothingPending(url))
    const told = (await eventsOf(url)).map(({ id }) => id)
    assert.equal(
      (await delivered(url)).map(({ id }) => id),
      told,
      'each that was told arrived',
    )
    for (const id of told) {
      const times = net.asked.filter((asked) => asked.id === id).length
      assert.ok(times >= 1 && times <= 2, `${id} was posted ${times} times`)
    }
    return `${told.length} events`
  },
  fingerprint: async (url) => [
    await query(
      url,
      `select (select count(*) from facts) as facts, (select max(xmin::text::bigint) from events) as events,
        (select max(xmin::text::bigint) from deliveries) as deliveries`,
    ),
    net.asked.length,
  ],
  mayDo: /^(get|list) |^sql (mirror_|observe_|turn_outbox|take_epoch|put_mirror|spread_events|due_endpoints)/,
  looked: /^sql due_endpoints/,
  clear: async () => {
    await kubectlFor(namespace.kubeconfig)(['delete', 'inv', name, '-n', namespace.name, '--ignore-not-found'])
  },
  deathsMin: 40,
  every: 45,
})

spec('a process that dies at any call while it tells of an invoice', (t) => {
  t.before(async () => {
    namespace = await makeDemoNamespace()
  })
  t.after(async () => {
    await namespace.remove()
  })

  t('without a crash, each is posted once', async () => {
    const { calls } = await live(story())
    assert.is(calls.filter((call) => call === 'post').length, 2)
  })

  for (const when of ['before', 'after'] as const) {
    t(`${when} each post: nobody knows how that ended, and it is posted again`, async () => {
      for (const nth of [1, 2]) {
        lastPost = { nth, when }
        assert.ok((await live(story())).crashed)
        // the other may have been under way as well, and nobody knows how that ended either
        const least = when === 'before' ? 2 : 3
        assert.ok(net.asked.length >= least && net.asked.length <= least + 1, `${net.asked.length} posts`)
      }
    })
  }

  sweeps(t, 'each has one place and arrives under one id', story)
  sweepAlone(t, 'each has one place and arrives under one id', story)
})
