/** A part is killed amid sends and comes back: each send ends, as one invoice with one number and one mail. */
import { readFileSync } from 'node:fs'
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'
import { type Owned, ownControlPlane } from '../../support/stage/stage.ts'

const SENDS = 60
const LANES = 8
/** So many are refused before it is started again. */
const REFUSED = 4

let platform: Platform
let plane: Owned<ControlPlane>
/** Of the parts before, whatever became of them. */
let sentBefore = 0
const sql = (text: string) => query(platform.database.url, text)
const countOf = async (text: string) => Number((await sql(`select count(*)::int as n from ${text}`))[0]?.n)
const get = (path: string) => call(platform.baseUrl, platform.owner, 'GET', `/api/invoices${path}`)

type Part = { name: string; kill(): Promise<void>; start(): Promise<void>; servesReads: boolean }
const parts: readonly Part[] = [
  {
    name: 'the API server',
    kill: () => plane.processes.apiserver.kill(),
    start: () => plane.processes.apiserver.start(),
    servesReads: true,
  },
  { name: 'the api', kill: () => platform.api.kill(), start: () => platform.api.start(), servesReads: false },
  {
    name: 'PostgreSQL',
    kill: () => platform.postgres.kill(),
    start: () => platform.postgres.start(),
    servesReads: false,
  },
]

/** Every second one is known by the key of its request alone. @returns null where nobody answers */
const ask = (tag: string, n: number): Promise<Reply | null> => {
  const client = { client_email: `client-${n}@${tag}.test` }
  const [body, headers]: [Json, Record<string, string>] =
    n % 2 === 0
      ? [order({ ...client, external_ref: `${tag}-${n}` }), {}]
      : [order(client), { 'idempotency-key': `${tag}-${n}` }]
  return call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body, headers).catch((error) => {
    if (error instanceof TypeError) return null
    throw error
  })
}

/** What was sent, and what was answered beside that. */
type Sent = { ended: Reply[]; others: (Reply | null)[] }

/** As careful clients do: the same request again until it is answered. */
const sendAll = async (tag: string, { ended, others }: Sent): Promise<void> => {
  const left = Array.from({ length: SENDS }, (_, n) => n)
  const lane = async () => {
    for (let n = left.pop(); n !== undefined; n = left.pop()) {
      const one = n
      const answer = async () => {
        const reply = await ask(tag, one)
        const isSent = reply !== null && (reply.status === 200 || reply.status === 201)
        if (!isSent) others.push(reply)
        return isSent && reply
      }
      ended.push(await eventually(`an answer to send ${n}`, answer, 120_000))
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** What the api says of requests that it could make nothing of. */
const failures = (): string[] =>
  readFileSync(platform.api.logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"msg":"request failed"'))

/** Stored or not, or not known: no refusal is without its word. */
const assertWords = (others: Sent['others']): void => {
  const words = others.map((one) => (one ? `${one.status} ${one.json.code ?? ''} ${one.json.outcome ?? ''}` : 'nobody'))
  console.log(`  counted: ${words.length} other answers: ${[...new Set(words)].join(', ')}`)
  const isFine = (one: Reply | null) =>
    one === null || one.status === 202 || one.status === 409 || (one.status === 503 && one.json.outcome)
  const wrong = others.filter((one) => !isFine(one))
  assert.equal(wrong.length > 0 ? [...wrong.map((one) => one?.text), ...failures()] : [], [])
}

const assertOnce = async (tag: string, ended: readonly Reply[]): Promise<void> => {
  const rows = await sql('select seq::int, resource from register order by seq')
  const all = sentBefore + SENDS
  assert.equal(
    rows.map(({ seq }) => seq),
    Array.from({ length: all }, (_, n) => n + 1),
  )
  const sorted = (ids: readonly Json[]) => [...ids].sort()
  const mine = new Map(ended.map(({ json }) => [json.invoice.id, json.number]))
  assert.equal(sorted(rows.slice(sentBefore).map(({ resource }) => resource)), sorted([...mine.keys()]))
  const { items } = JSON.parse(await platform.kubectl(['get', 'inv', '-o', 'json']))
  assert.equal([items.length, mine.size], [all, SENDS], 'nothing was made twice')
  for (const { metadata, status } of items)
    if (mine.has(metadata.name)) assert.is(status.number, mine.get(metadata.name))
  const [series] = await sql('select count::int, first_bad from series s, verify_series(s.id)')
  assert.equal(series, { count: all, first_bad: null })
  await eventually(
    'every mail',
    async () => (await countOf("outbox where channel = 'mail' and state = 'sent'")) === all,
  )
  const mails = (await mailsIn(platform.mailDir)).filter((mail) => mail.to?.[0]?.address?.endsWith(`@${tag}.test`))
  const [{ unknowns } = {}] = await sql('select sum(unknowns)::int as unknowns from outbox')
  assert.is(new Set(mails.map(({ messageId }) => messageId)).size, SENDS)
  // what could not be recorded as sent is counted, and comes again under its own id
  assert.ok(mails.length <= SENDS + Number(unknowns), `${mails.length} mails, ${unknowns} unknown`)
}

spec('a part that is killed amid sends', (t) => {
  t.before(async () => {
    plane = await ownControlPlane()
    platform = await startPlatform({ plane })
  })
  t.after(async () => {
    await platform?.end()
    await plane?.end()
  })

  for (const { name, kill, start, servesReads } of parts)
    t(
      `${name}: every send ends, each is one invoice with one number and one mail, and nothing else crashed`,
      async () => {
        const tag = name.replaceAll(/\W/g, '-').toLowerCase()
        const pids = () => [name === 'the api' ? null : platform.api.pid(), platform.controllers.pid()]
        const before = pids()
        sentBefore = await countOf('register')
        const sent: Sent = { ended: [], others: [] }
        const sending = sendAll(tag, sent)
        await eventually('the middle of it', async () => (await countOf('register')) >= sentBefore + SENDS / 4)
        await kill()
        assert.ok(sent.ended.length < SENDS, 'the kill comes before the end')
        await eventually('some to be refused', async () => sent.others.length >= REFUSED)
        if (servesReads) assert.is((await get('')).status, 200, 'reads go on')
        await start()
        await sending
        assertWords(sent.others)
        await assertOnce(tag, sent.ended)
        assert.equal(pids(), before, 'nothing else crashed')
      },
      { timeoutMs: 300_000 },
    )
})
