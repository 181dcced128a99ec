import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Problem } from '../../../api/http/problem.ts'
import { webhookRoutes } from '../../../api/webhook/routes.ts'
import type { OperatorDeps } from '../../../controllers/operator.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { makeDeliveries } from '../../../controllers/store/webhook/deliveries.ts'
import { makeEndpoints } from '../../../controllers/store/webhook/endpoints.ts'
import { startWebhookSender } from '../../../controllers/workers/webhook-sender.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { askBy } from '../../support/crash/ask.ts'
import type { Life } from '../../support/crash/crash.ts'
import { keys, type OneProcess } from '../../support/crash/process.ts'
import type { Asking, Story } from '../../support/crash/story.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import type { Json } from '../../support/stage/invoicing.ts'
import type { Namespace } from '../../support/stage/stage.ts'
import { type FakeNet, makeFakeNet, secretFor } from '../../support/stage/webhook-senders.ts'

/** What is done to an endpoint, wherever the processes die: whoever asks again is shown the secret that signs. */

const ALL = '/api/webhooks'
const ARRIVES_MS = 60_000
const LOOK_MS = 50
const ID = 'whk_1'
const URL_OF = 'https://hooks.test/'
const sealer = keys.sealer('webhook-secret')
const byRoutes = askBy(webhookRoutes)

let databaseUrl = ''
let net: FakeNet = makeFakeNet()

const tools = (life: Life) => {
  const pg = makePg({ url: databaseUrl, max: 3, around: life.around })
  const now = () => new Date()
  const exchange: FakeNet['exchange'] = (ask) => life.hostAround({ name: 'post' }, () => net.exchange(ask))
  const deps: Partial<OperatorDeps> = {
    webhookSender: (epoch, hooks) =>
      startWebhookSender({
        ...hooks,
        deliveries: makeDeliveries({ pg, sealer, epoch: () => epoch, now }),
        egress: { ...net, exchange },
        now,
        log: pino({ level: 'silent' }),
      }),
  }
  return { deps, close: () => pg.close() }
}

/** With the store itself, by no life. */
const withEndpoints = async <T>(work: (store: ReturnType<typeof makeEndpoints>) => Promise<T>): Promise<T> => {
  const pg = makePg({ url: databaseUrl, max: 1 })
  try {
    return await work(makeEndpoints({ pg, sealer }))
  } finally {
    await pg.close()
  }
}

const TELL = `
select tell_event('inv-1', 'sent', '{"kind": "Invoice", "account": "demo", "type": "invoice.sent", "data": {}}'::json, now())`

type Stand = { endpoints: string; delivered: number; pending: number }
const STAND = `
select
  (select coalesce(string_agg(url || case when disabled_at is null then '' else ' off' end, ' ' order by url), '')
    from webhook_endpoints) as endpoints,
  (select count(*)::int from deliveries where state = 'delivered') as delivered,
  (select count(*)::int from deliveries where state = 'pending') as pending`
const standIn = async (url: string): Promise<Stand> => (await query(url, STAND))[0] as Stand

type Secrets = { secret: string; previous: string | null }
const secretsNow = async (): Promise<Secrets | undefined> =>
  (await withEndpoints((store) => store.secrets('demo'))).map(({ secret, previous }) => ({ secret, previous }))[0]

type Tale = {
  /** Whether there is an endpoint before, which was told of one event. */
  given: boolean
  ask: [string, { body?: unknown }]
  whole: Stand
  /** Repeats may be told more: a receiver goes by the id. */
  isMore?: (stand: Stand) => boolean
  look?(played: Json | Problem): Promise<void>
  alone?(): Promise<void>
}

const SEEN: Stand = { endpoints: URL_OF, delivered: 1, pending: 0 }

const story = (namespace: string, { given, ask: [what, asked], whole, isMore, look, alone }: Tale): Story<unknown> => {
  const isWhole = (stand: Stand) => JSON.stringify(stand) === JSON.stringify(whole) || isMore?.(stand) === true
  const begun: Stand = given ? SEEN : { endpoints: '', delivered: 0, pending: 0 }
  const isBegun = (stand: Stand) => JSON.stringify(stand) === JSON.stringify(begun)
  /** What is on its way to a receiver arrives, though nobody comes back for it. */
  const arrivedIn = async (url: string): Promise<Stand> => {
    const endMs = performance.now() + ARRIVES_MS
    for (;;) {
      const stand = await standIn(url)
      if (isWhole(stand) || isBegun(stand) || performance.now() > endMs) return stand
      await sleep(LOOK_MS)
    }
  }
  return {
    options: { namespace, mailPort: 9, tools },
    prepare: async (url) => {
      databaseUrl = url
      net = makeFakeNet()
    },
    setUp: async () => {
      if (!given) return
      const made = { account: 'demo', id: ID, url: URL_OF, events: ['*'], secret: secretFor(ID) }
      await withEndpoints((store) => store.create({ ...made, at: new Date().toISOString() }, 3))
      await query(databaseUrl, TELL)
      const endMs = performance.now() + 60_000
      while ((await standIn(databaseUrl)).delivered < 1) assert.ok(performance.now() < endMs, 'it was never told')
    },
    play: async ({ api }: OneProcess, asking: Asking) => {
      const params = { id: ID }
      const answer = await byRoutes(api, what, { params, key: what, ...asked }, asking).catch((error: unknown) => error)
      return answer instanceof Error ? answer : (answer as { body: Json }).body
    },
    isSettled: async (url) => isWhole(await standIn(url)),
    look: async (_url, played) => look?.(played as Json),
    alone: async (url) => {
      const stand = await arrivedIn(url)
      const isDone = isWhole(stand)
      assert.ok(isDone || isBegun(stand), JSON.stringify(stand))
      await alone?.()
      return isDone ? 'all of it' : 'nothing'
    },
    stand: standIn,
    fingerprint: async (url) => [
      await query(url, 'select id, version from webhook_endpoints'),
      await query(url, 'select max(xmin::text::bigint) as deliveries from deliveries'),
      net.asked.length,
    ],
    mayDo: /^(get|list) |^sql (mirror_|observe_|turn_outbox|take_epoch|put_mirror|spread_events|due_endpoints)/,
    looked: /^sql due_endpoints/,
    clear: async () => {},
  }
}

/** What signs now is what the caller was shown. */
const isShown = async (played: Json | Problem): Promise<void> => {
  assert.not.ok(played instanceof Error, String(played))
  const secrets = await secretsNow()
  assert.is((played as Json).secret, secrets?.secret, 'the secret that signs is shown')
}

spec('an endpoint whose processes die at any call', (t) => {
  let namespace: Namespace
  t.before(async () => {
    namespace = await makeDemoNamespace()
  })
  t.after(() => namespace.remove())

  sweep(t, { what: 'it is made once, and its secret shown', callsMin: 2, points: 2 }, () =>
    story(namespace.name, {
      given: false,
      ask: [`POST ${ALL}`, { body: { url: URL_OF } }],
      whole: { endpoints: URL_OF, delivered: 0, pending: 0 },
      look: isShown,
    }),
  )

  sweep(t, { what: 'its secret is changed once, and what signed before signs on', callsMin: 3, points: 2 }, () =>
    story(namespace.name, {
      given: true,
      ask: [`POST ${ALL}/:id/rotate`, {}],
      whole: SEEN,
      async look(played) {
        await isShown(played)
        assert.is((await secretsNow())?.previous, secretFor(ID), 'what receivers have signs on')
      },
      async alone() {
        const secrets = await secretsNow()
        const isOld = secrets?.secret === secretFor(ID) && secrets.previous === null
        assert.ok(isOld || secrets?.previous === secretFor(ID), 'what receivers have signs on')
      },
    }),
  )

  sweep(t, { what: 'it is switched off once', callsMin: 3, points: 1 }, () =>
    story(namespace.name, {
      given: true,
      ask: [`PATCH ${ALL}/:id`, { body: { status: 'disabled' } }],
      whole: { ...SEEN, endpoints: `${URL_OF} off` },
    }),
  )

  sweep(t, { what: 'an event is told again under its id', callsMin: 4, points: 2 }, () =>
    story(namespace.name, {
      given: true,
      ask: [`POST ${ALL}/:id/redeliver`, { body: { after: 0 } }],
      whole: { ...SEEN, delivered: 2 },
      isMore: ({ delivered, pending }) => delivered === 3 && pending === 0,
      look: async () => assert.is(new Set(net.asked.map(({ id, body }) => `${id} ${body}`)).size, 1, 'one event'),
    }),
  )

  sweep(t, { what: 'it is taken away once', callsMin: 2, points: 1 }, () =>
    story(namespace.name, {
      given: true,
      ask: [`DELETE ${ALL}/:id`, {}],
      whole: { endpoints: '', delivered: 0, pending: 0 },
      async look(played) {
        assert.ok(!(played instanceof Error) || (played instanceof Problem && played.code === 'NOT_FOUND'), `${played}`)
      },
    }),
  )
})
