/** A leader that stands still for longer than its lease, and comes back when somebody else leads: the database refuses it. */
import { readFileSync } from 'node:fs'
import { type Ending, pidOf } from '../../../hack/lib/processes.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, mailsIn, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

const SENDS = 60
const LATER = 20
const LANES = 6

let platform: Platform
let pid: number
const sql = (text: string) => query(platform.database.url, text)
const countOf = async (text: string) => Number((await sql(`select count(*)::int as n from ${text}`))[0]?.n)
const epochs = async () => Number((await sql('select epoch from epochs'))[0]?.epoch)
const epochAt = async (url: string) => Number(/^bottega_epoch (\d+)/m.exec(await (await fetch(url)).text())?.[1])
const log = () => readFileSync(platform.controllers.logFile, 'utf8')
/** `T`: it stands still. */
const stateOf = (one: number) => readFileSync(`/proc/${one}/stat`, 'utf8').split(') ')[1]?.[0]

/** As a careful client does: the same request again until it is answered. */
const send = (ref: string): Promise<string> =>
  eventually(`an answer to ${ref}`, async () => {
    const body = order({ external_ref: ref })
    const reply = await call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body)
    assert.ok(reply.status < 300 || reply.status === 503, reply.text)
    return (reply.status === 200 || reply.status === 201) && String(reply.json.number)
  })
const sendAll = async (name: string, count: number): Promise<string[]> => {
  const refs = Array.from({ length: count }, (_, n) => `${name}-${n}`)
  const numbers: string[] = []
  const lane = async () => {
    for (let ref = refs.pop(); ref; ref = refs.pop()) numbers.push(await send(ref))
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return numbers
}

/** Each number once and without a hole, each in one mail; what was under way when it stood still may come again, and is counted. */
const assertOnce = async (numbers: readonly string[]) => {
  const rows = await sql('select seq::int, resource from register order by seq')
  assert.equal(
    rows.map(({ seq }) => seq),
    Array.from({ length: numbers.length }, (_, n) => n + 1),
  )
  assert.equal([new Set(rows.map(({ resource }) => resource)).size, new Set(numbers).size], [rows.length, rows.length])
  const [series] = await sql('select count::int, first_bad from series s, verify_series(s.id)')
  assert.equal(series, { count: numbers.length, first_bad: null })
  await eventually('every mail', async () => (await countOf("outbox where channel = 'mail' and state <> 'sent'")) === 0)
  const ids = (await mailsIn(platform.mailDir)).map(({ messageId }) => messageId)
  const [{ unknowns } = {}] = await sql('select sum(unknowns)::int as unknowns from outbox')
  assert.is(new Set(ids).size, numbers.length)
  assert.ok(ids.length <= numbers.length + Number(unknowns), `${ids.length} mails, ${unknowns} unknown`)
}

spec('a leader that stands still', (t) => {
  t.before(async () => {
    platform = await startPlatform()
    await platform.standby.start()
    pid = pidOf(platform.controllers)
  })
  t.after(async () => {
    // whatever became of it: one that stands still takes no leave
    if (platform.controllers.pid() === pid) process.kill(pid, 'SIGCONT')
    await platform.end()
  })

  t(
    'loses the epoch to who stands by; when it goes on its next effect is refused, it ends, and nothing is doubled',
    async () => {
      const epoch = await eventually('it to lead', () => epochAt(platform.metricsUrls.controllers))
      const sending = sendAll('stopped', SENDS)
      await eventually('the middle of it', async () => (await countOf('register')) >= SENDS / 4)
      process.kill(pid, 'SIGSTOP')
      const atStop = await countOf('register')
      assert.ok(atStop < SENDS, 'it stands still before the end')
      const numbers = await sending
      assert.equal([await epochs(), await epochAt(platform.standbyMetricsUrl)], [epoch + 1, epoch + 1])
      assert.equal([platform.controllers.pid(), stateOf(pid)], [pid, 'T'], 'it stands still all the while')
      assert.not.match(log(), 'another process leads')

      let ending: Ending | undefined
      platform.controllers.onDeath((how) => {
        ending = how
      })
      const meanwhile = sendAll('resumed', LATER)
      process.kill(pid, 'SIGCONT')
      // by the database alone: a lost lease ends no process
      const how = await eventually('it to end', async () => ending)
      assert.equal(how, { code: 1, signal: null })
      assert.match(log(), /"why":"another process leads".*"msg":"ended at once"/)
      numbers.push(...(await meanwhile))
      assert.is(await epochs(), epoch + 1, 'nobody led in between')
      await assertOnce(numbers)

      await platform.controllers.start()
      numbers.push(...(await sendAll('after', 1)))
      assert.equal([await epochs(), await epochAt(platform.metricsUrls.controllers)], [epoch + 1, 0], 'it stands by')
      await assertOnce(numbers)
    },
    { timeoutMs: 300_000 },
  )
})
