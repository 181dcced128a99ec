/** The leader dies, or is told to go, again and again: whoever stands by gives the next number soon, and nothing comes twice. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Ending, pidOf, type Service } from '../../hack/lib/processes.ts'
import { query } from '../../hack/platform/postgres.ts'
import { assert, spec } from '../support/runner/spec.ts'
import {
  call,
  eventually,
  mailsIn,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../support/stage/invoicing.ts'

const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const KILLS = isFull ? 50 : 10
/** From the kill to the next number; how long it may take where ten other processes want each core says nothing. */
const HANDOVER_LIMIT_MS = isFull ? 6_000 : 60_000
const STOP_LIMIT_MS = 10_000
/** The last of them is mailed once it is sure that nothing else is. */
const LATE_MAIL_MS = 2_000

spec('the hand-over', (t) => {
  let platform: Platform
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
  t.before(async () => {
    platform = await startPlatform()
    await platform.standby.start()
    // as a kubelet would: one that was replaced for being slow ends, and comes back to stand by
    for (const one of [platform.controllers, platform.standby]) one.onDeath(() => void one.start().catch(() => {}))
  })
  t.after(() => platform.end())

  const leads = async (url: string): Promise<boolean> => {
    const page = await fetch(url).then(
      (answer) => answer.text(),
      () => '',
    )
    return /^bottega_epoch [1-9]/m.test(page)
  }
  const leader = (): Promise<Service> =>
    eventually('a leader', async () => {
      const { metricsUrls, controllers, standby } = platform
      if (await leads(metricsUrls.controllers)) return controllers
      return (await leads(metricsUrls.standby)) && standby
    })
  /** As a client does: again under its reference, where nobody could say what became of it. */
  const send = (ref: string): Promise<Reply> =>
    eventually(`an answer to ${ref}`, async () => {
      const body = order({ external_ref: ref })
      const reply = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body)
      return reply.status !== 503 && reply
    })
  const numbersAfter = (before: number) =>
    eventually(
      'the next number',
      async () => Number((await sql('select count(*)::int as n from register'))[0]?.n) > before,
      HANDOVER_LIMIT_MS,
    )
  /** Each reference has one number, the numbers have no gap, and each was mailed once. */
  const nothingTwice = async (refs: number) => {
    await eventually('all numbers', async () => (await sql('select count(*)::int as n from register'))[0]?.n === refs)
    const numbers = await sql("select number, resource from register where kind = 'invoice' order by seq")
    assert.is(numbers.length, refs)
    assert.is(new Set(numbers.map(({ resource }) => resource)).size, refs)
    assert.is(Number(String(numbers.at(-1)?.number).split('-').at(-1)), refs)
    await eventually('the mails', async () => (await mailsIn(platform.mailDir)).length >= refs)
    await sleep(LATE_MAIL_MS)
    const ids = (await mailsIn(platform.mailDir)).map(({ messageId }) => messageId)
    const unknowns = (await sql('select coalesce(sum(unknowns), 0)::int as n from outbox'))[0]?.n
    // one that was under way at a kill may come again, under its own id, and is counted
    assert.ok(ids.length - new Set(ids).size <= Number(unknowns), `${ids.length} mails, ${unknowns} unknown`)
    assert.is(new Set(ids).size, refs)
  }
  let sent = 0

  t(
    `the leader is killed ${KILLS} times: the next number within ${HANDOVER_LIMIT_MS / 1000} s, nothing twice`,
    async () => {
      const tookMs: number[] = []
      for (let n = 0; n < KILLS; n += 1) {
        await send(`before-${n}`)
        sent += 1
        await numbersAfter(sent - 1)
        const victim = await leader()
        const startedMs = performance.now()
        await victim.kill()
        const after = send(`after-${n}`)
        await numbersAfter(sent)
        tookMs.push(Math.round(performance.now() - startedMs))
        const { status, text } = await after
        assert.ok(status < 300, text)
        sent += 1
        await victim.start()
      }
      console.log(`  the hand-overs took ${tookMs.join(', ')} ms`)
      await nothingTwice(sent)
    },
    { timeoutMs: KILLS * 60_000 },
  )

  t('SIGTERM amid sends: exit 0 in time, the lease is given back, and nothing is lost or comes twice', async () => {
    const leaver = await leader()
    const ended = new Promise<Ending>((resolve) => leaver.onDeath(resolve))
    const sends = Array.from({ length: 60 }, async (_, n) => {
      await sleep(n * 20)
      return send(`amid-${n}`)
    })
    await sleep(400)
    process.kill(pidOf(leaver), 'SIGTERM')
    const late = sleep(STOP_LIMIT_MS, null, { ref: false })
    assert.equal(await Promise.race([ended, late]), { code: 0, signal: null })
    const replies = await Promise.all(sends)
    assert.equal(
      replies.filter(({ status }) => status >= 300).map(({ text }) => text),
      [],
    )
    sent += replies.length
    await nothingTwice(sent)
  })

  t('a second signal ends it at once', async () => {
    const leaver = await leader()
    const ended = new Promise<Ending>((resolve) => leaver.onDeath(resolve))
    const pid = pidOf(leaver)
    process.kill(pid, 'SIGTERM')
    process.kill(pid, 'SIGINT')
    assert.equal(await ended, { code: 1, signal: null })
    await leader()
  })
})
