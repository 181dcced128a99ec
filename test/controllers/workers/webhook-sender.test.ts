import { setTimeout as sleep } from 'node:timers/promises'
import { StaleEpoch } from '../../../controllers/base/errors.ts'
import { CONCURRENCY_MAX } from '../../../controllers/workers/endpoint-queues.ts'
import { REPEATS_AT_ONCE, REPEATS_PER_SECOND_MAX } from '../../../controllers/workers/webhook-sender.ts'
import { ROTATION_MS } from '../../../crds/webhook/endpoint.ts'
import { ATTEMPTS_MAX, RETRY_AFTER_MS } from '../../../crds/webhook/schedule.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import {
  type Asked,
  answered,
  type Office,
  openOffice,
  START,
  secretFor,
  timedOut,
} from '../../support/stage/webhook-senders.ts'

/** The webhook sender over a real ledger; who is at the other end of the network is the test. */

const after = (ms: number): string => new Date(Date.parse(START) + ms).toISOString()
const HOUR_MS = 3_600_000

spec('the webhook sender', (t) => {
  let office: Office
  t.before.each(async () => {
    office = await openOffice()
  })
  t.after.each(async () => {
    await office.end()
  })

  const states = async (endpoint: string) =>
    Object.fromEntries(
      (
        await office.sql('select state, count(*)::int as n from deliveries where endpoint = $1 group by 1', [endpoint])
      ).map(({ state, n }) => [state, n]),
    )
  const allSettled = async (endpoint: string, count: number) => (await states(endpoint)).delivered === count
  const ids = (asked: readonly Asked[]) => asked.map(({ id }) => id)

  t('sends each event once to each endpoint, in order, the same bytes to all', async () => {
    const [one, two] = [await office.open('/one'), await office.open('/two')]
    await office.open('/other', 'other')
    const told = await office.tell(300)
    const { deliveries } = await office.lead()
    office.send(deliveries)
    for (const id of [one, two]) await eventually('all', () => allSettled(id, 300))
    assert.equal(ids(office.net.at('/one')), told)
    assert.equal(ids(office.net.at('/two')), told)
    const bodies = (path: string) => office.net.at(path).map(({ body }) => body)
    assert.equal(bodies('/one'), bodies('/two'))
    assert.equal(
      bodies('/one').map((body) => JSON.parse(body).sequence),
      told.map((_, index) => index + 1),
    )
    assert.equal(office.net.at('/other'), [])
  })

  t('finds without being woken what is told to one while another keeps it busy', async () => {
    await office.open('/busy')
    await office.open('/new', 'other')
    await office.tell(6_000)
    const { deliveries } = await office.lead()
    office.net.answer = () => sleep(5).then(() => answered(200))
    office.send(deliveries)
    await eventually('work', async () => office.net.at('/busy').length > 100)
    await office.tell(1, 'other')
    let told = 6_000
    const isNew = () => office.net.asked.some(({ path }) => path === '/new')
    await eventually('the news', async () => {
      if (isNew()) return true
      // however slow the machine is, the other never runs out of work
      if (office.net.asked.length > told - 3_000) told += (await office.tell(1_000)).length
      return false
    })
    const before = office.net.asked.findIndex(({ path }) => path === '/new')
    await eventually('the other to go on', async () => office.net.asked.length > before + 100)
  })

  t('lets one that hangs cost the others nothing, and tries it one at a time', async () => {
    const good = await office.open('/good')
    await office.open('/hangs')
    await office.tell(400)
    const gates: (() => void)[] = []
    office.net.answer = ({ path }) =>
      path === '/hangs' ? new Promise((resolve) => void gates.push(() => resolve(timedOut))) : answered(200)
    const { deliveries } = await office.lead()
    office.send(deliveries)
    await eventually('the good one to have all', () => allSettled(good, 400))
    const begun = office.net.at('/hangs').length
    assert.ok(begun <= 4, `${begun} at the one that hangs`)
    await eventually('it to be tried alone', async () => {
      if (office.net.at('/hangs').length > begun + 1) return true
      for (const open of gates.splice(0)) open()
      return false
    })
    assert.is(office.net.underWay('/hangs'), 1)
    const leased = await office.sql(
      "select count(*)::int as n from deliveries where state = 'pending' and lease_until is not null",
    )
    assert.ok(Number(leased[0]?.n) <= 1, 'what it is not trusted with is free for another')
    office.net.answer = () => timedOut
    for (const open of gates) open()
  })

  t('trusts one that recovers with one, two, four … sixteen at once', async () => {
    const endpoint = await office.open('/recovers')
    await office.tell(200)
    await office.sql('update webhook_endpoints set failing_since = now(), last_error = $2 where id = $1', [
      endpoint,
      'x',
    ])
    const gates: (() => void)[] = []
    office.net.answer = () => new Promise((resolve) => void gates.push(() => resolve(answered(200))))
    const { deliveries } = await office.lead()
    office.send(deliveries)
    for (const places of [1, 2, 4, 8, 16, 16]) {
      await eventually(`${places} at once`, async () => office.net.underWay('/recovers') === places)
      await sleep(100)
      assert.is(office.net.underWay('/recovers'), places)
      gates.shift()?.()
    }
    assert.is(office.net.most('/recovers'), CONCURRENCY_MAX)
    office.net.answer = () => answered(200)
    for (const open of gates) open()
    await eventually('all', () => allSettled(endpoint, 200))
    assert.equal(await office.sql('select failing_since from webhook_endpoints'), [{ failing_since: null }])
  })

  t('follows the schedule to the dead letter, with the same id and bytes, and tells the owner once', async () => {
    const endpoint = await office.open('/fails')
    const [id] = await office.tell(1)
    office.net.answer = () => answered(500)
    const { deliveries } = await office.lead()
    office.send(deliveries)
    let passedMs = 0
    for (const [index, stepMs] of RETRY_AFTER_MS.entries()) {
      await eventually('the next', async () => (await states(endpoint)).failed === index + 1)
      // not before its time
      passedMs += stepMs - 40_000
      office.clock.moveTo(after(passedMs))
      await sleep(1_300)
      assert.is(office.net.asked.length, index + 1)
      passedMs += 40_000 + stepMs * 0.1 + 20_000
      office.clock.moveTo(after(passedMs))
    }
    await eventually('the end', async () => (await states(endpoint)).dead === 1)
    assert.equal(
      ids(office.net.asked),
      Array.from({ length: ATTEMPTS_MAX }, () => id),
    )
    assert.is(new Set(office.net.asked.map(({ body }) => body)).size, 1)
    assert.equal(await office.sql("select purpose from outbox where channel = 'mail'"), [
      { purpose: `webhook-dead:${endpoint}` },
    ])
  })

  t('waits for as long as the receiver asks', async () => {
    const endpoint = await office.open('/later')
    await office.tell(1)
    office.net.answer = () => answered(429, { 'retry-after': '7200' })
    const { deliveries } = await office.lead()
    const earliestMs = office.clock.now().getTime() + 2 * HOUR_MS
    office.send(deliveries)
    await eventually('the next', async () => (await states(endpoint)).failed === 1)
    const [row] = await office.sql("select due_at from deliveries where state = 'pending'")
    const latestMs = office.clock.now().getTime() + 2 * HOUR_MS
    const dueMs = Number(row?.due_at)
    assert.ok(dueMs >= earliestMs && dueMs <= latestMs, `${earliestMs} ${dueMs} ${latestMs}`)
  })

  t('brings repeats to their end while there is always news for the one that fails', async () => {
    const endpoint = await office.open('/fails')
    await office.tell(3)
    office.net.answer = () => sleep(20).then(() => answered(500))
    const { deliveries } = await office.lead()
    office.send(deliveries)
    await eventually('three to fail', async () => (await states(endpoint)).failed === 3)
    await office.tell(2_000)
    await eventually(
      'the news to be spread',
      async () => (await office.sql('select count(*)::int as n from deliveries where attempt = 1'))[0]?.n === 2_003,
    )
    office.clock.moveTo(after(2 * 60_000))
    await eventually(
      'the repeats',
      async () => (await office.sql("select 1 from deliveries where attempt = 2 and state = 'failed'")).length >= 3,
    )
    const [left] = await office.sql("select count(*)::int as n from deliveries where attempt = 1 and state = 'pending'")
    assert.ok(Number(left?.n) > 1_000, `${left?.n} still to come`)
  })

  t('sends nothing more to one that is gone, and tells its owner', async () => {
    const endpoint = await office.open('/gone')
    await office.tell(100)
    let asked = 0
    const gate = Promise.withResolvers<void>()
    office.net.answer = () => {
      asked += 1
      if (asked <= 12) return answered(200)
      return asked === 13 ? answered(410) : gate.promise.then(() => answered(410))
    }
    const { deliveries } = await office.lead()
    office.send(deliveries)
    await eventually('its end', async () => (await states(endpoint)).dead > 0)
    gate.resolve()
    await eventually('what was under way', async () => ((await states(endpoint)).pending ?? 0) === 0)
    const begun = office.net.at('/gone').length
    assert.ok(begun <= 13 + CONCURRENCY_MAX, `${begun} were begun`)
    await sleep(300)
    assert.is(office.net.at('/gone').length, begun)
    const [row] = await office.sql('select disabled_reason from webhook_endpoints')
    assert.is(row?.disabled_reason, 'it answered 410 Gone')
    const mails = await office.sql("select purpose from outbox where channel = 'mail'")
    assert.equal(mails, [{ purpose: `webhook-disabled:${endpoint}` }])
  })

  t('goes on after an endpoint was deleted with all that waited for it', async () => {
    const [left, stays] = [await office.open('/left'), await office.open('/stays')]
    await office.tell(200)
    office.net.answer = () => sleep(20).then(() => answered(200))
    const { deliveries } = await office.lead()
    office.send(deliveries)
    await eventually('work', async () => office.net.at('/left').length > 10)
    assert.ok(await office.endpoints.remove({ account: 'demo', id: left }))
    await eventually('the other', () => allSettled(stays, 200))
    assert.equal(await states(left), {})
    await office.tell(1)
    await eventually('the next', () => allSettled(stays, 201))
  })

  t('takes an attempt again whose lease ran out, under the same id', async () => {
    const endpoint = await office.open('/late')
    const [id] = await office.tell(1)
    const { deliveries } = await office.lead()
    await deliveries.spread()
    const asked = { firsts: new Map([[endpoint, 1]]), agains: [], released: [] }
    const [lost] = await deliveries.turn([], { ...asked, leaseMs: 60_000 })
    assert.equal([lost?.event.id, lost?.begun], [id, 1])
    office.send(deliveries)
    await sleep(1_300)
    assert.equal(office.net.asked, [], 'it is leased')
    office.clock.moveTo(after(61_000))
    await eventually('it to be taken again', () => allSettled(endpoint, 1))
    assert.equal(ids(office.net.asked), [id])
    const rows = await office.sql('select begun, attempt from deliveries')
    assert.equal(rows, [{ begun: 2, attempt: 1 }])
    // who comes late with the outcome of the first changes nothing
    const outcome = {
      status: 500,
      latencyMs: 1,
      fault: 'HTTP_500',
      response: null,
      nextAt: after(HOUR_MS),
      isLast: false,
    }
    await deliveries.turn([{ id: lost?.id ?? 0, begun: 1, state: 'failed', ...outcome }], {
      ...asked,
      firsts: new Map(),
      leaseMs: 1,
    })
    assert.equal(await states(endpoint), { delivered: 1 })
  })

  t('takes over at once what an older epoch has begun, and the older one can record nothing', async () => {
    const endpoint = await office.open('/fenced')
    const told = await office.tell(20)
    const old = await office.lead()
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    office.net.answer = () => gate.then(() => answered(500))
    const first = office.send(old.deliveries)
    await eventually('some to be begun', async () => office.net.asked.length >= 4)
    const begun = ids(office.net.asked)
    const young = await office.lead()
    await assert.rejects(old.deliveries.spread(), (error) => error instanceof StaleEpoch)
    office.net.answer = () => answered(200)
    office.send(young.deliveries)
    await eventually('all', () => allSettled(endpoint, 20))
    open()
    await first.stop()
    assert.equal(await states(endpoint), { delivered: 20 })
    assert.equal(ids(office.net.asked).slice(begun.length).sort(), told.toSorted())
  })

  t('loses nothing when it is stopped, and sends nothing twice', async () => {
    const endpoint = await office.open('/stopped')
    const told = await office.tell(500)
    office.net.answer = () => sleep(20).then(() => answered(200))
    for (let life = 0; life < 3; life += 1) {
      const { deliveries } = await office.lead()
      const webhookSender = office.send(deliveries)
      const from = office.net.asked.length
      await eventually('work', async () => office.net.asked.length >= from + 40)
      await webhookSender.stop()
      assert.is(office.net.underWay('/stopped'), 0)
      assert.is((await states(endpoint)).delivered, office.net.asked.length)
    }
    office.send((await office.lead()).deliveries)
    await eventually('all', () => allSettled(endpoint, 500))
    assert.equal(ids(office.net.asked), told)
  })

  t('signs with both secrets for a day after a rotation, and then with the new one alone', async () => {
    const endpoint = await office.open('/turns')
    const { deliveries } = await office.lead()
    office.send(deliveries)
    const signatures = async () => {
      const from = office.net.asked.length
      await office.tell(1)
      await eventually('it', async () => office.net.asked.length > from)
      return String(office.net.asked.at(-1)?.headers['webhook-signature']).split(' ').length
    }
    assert.is(await signatures(), 1)
    const times = { at: after(0), until: after(ROTATION_MS) }
    assert.ok(await office.endpoints.rotate({ account: 'demo', id: endpoint }, secretFor('new'), times))
    assert.is(await signatures(), 2, 'at once')
    office.clock.moveTo(after(ROTATION_MS + 1_000))
    await eventually('the old one to end', async () => (await signatures()) === 1)
  })

  t('does not overrun a thousand that come back, and holds up no news meanwhile', async () => {
    const paths = Array.from({ length: 1_000 }, (_, n) => `/storm/${n}`)
    for (let at = 0; at < paths.length; at += 50) {
      await Promise.all(paths.slice(at, at + 50).map((path) => office.open(path, 'storm')))
    }
    const quiet = await office.open('/quiet', 'quiet')
    await office.tell(1, 'storm')
    office.net.answer = () => answered(503)
    const { deliveries } = await office.lead()
    office.send(deliveries)
    const count = async (state: string) =>
      Number(
        (
          await office.sql('select count(*)::int as n from deliveries where state = $1 and endpoint <> $2', [
            state,
            quiet,
          ])
        )[0]?.n,
      )
    await eventually('all to fail', async () => (await count('failed')) === 1_000)
    office.net.answer = () => answered(200)
    const from = office.net.asked.length
    const startMs = performance.now()
    office.clock.moveTo(after(2 * 60_000))
    const repeatsSoFar = () => office.net.asked.slice(from).filter(({ path }) => path !== '/quiet')
    const toldAfter: number[] = []
    const news = (async () => {
      while (office.net.asked.length < from + 900) {
        toldAfter.push(repeatsSoFar().length)
        await office.tell(1, 'quiet')
        await sleep(200)
      }
    })()
    await eventually('all to get through', async () => (await count('delivered')) === 1_000)
    await news
    await eventually('the news', () => allSettled(quiet, toldAfter.length))
    const asked = office.net.asked.slice(from)
    const repeats = repeatsSoFar()
    assert.is(new Set(repeats.map(({ path }) => path)).size, 1_000)
    // never sooner than the rate lets it out, however late
    for (const [nth, { atMs }] of repeats.entries()) {
      const soonestMs = ((nth + 1 - REPEATS_AT_ONCE) / REPEATS_PER_SECOND_MAX) * 1_000
      assert.ok(atMs - startMs >= soonestMs - 1, `repeat ${nth} after ${atMs - startMs} ms`)
    }
    const places = asked.flatMap(({ path }, place) => (path === '/quiet' ? [place] : []))
    const overtook = places.map((place, nth) => place - nth - (toldAfter[nth] ?? 0))
    assert.ok(Math.max(...overtook) < 900, `${Math.max(...overtook)} repeats went before news that was told`)
    console.log(`  counted: ${Math.max(...overtook)} repeats at most went before news that was told`)
  })
})
