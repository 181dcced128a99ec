/** A PostgreSQL that hangs, and one whose disk is full: what is said meanwhile is true, and all goes on by itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { query } from '../../../hack/platform/postgres.ts'
import { type LedgerProxy, startLedgerProxy } from '../../support/crash/ledgerproxy.ts'
import { type SmallDisk, startSmallDisk } from '../../support/crash/smalldisk.ts'
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

const HUNG_MS = 30_000
const FULL_ROUNDS = 12
const FULL_PAUSE_MS = 500
/** Between two rounds of requests. */
const PAUSE_MS = 2_000
/** The client of PostgreSQL gives a statement up after 18 s, and a connection after 2 s. */
const ANSWER_MS = 30_000
/** Repeats at once. */
const LANES = 4
/** As the chart's probe waits. */
const HEALTH_MS = 10_000
/** From the end of the fault to the first answer. */
const BACK_MS = 30_000

let platform: Platform
let ledger: LedgerProxy
let disk: SmallDisk

type Asked = { what: 'read' | 'order' | 'payment'; ref: string; over?: Json; ms: number; reply: Reply }

const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, platform.owner, method, `/api/invoices${path}`, body, headers)
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const timed = async (what: Asked['what'], ref: string, work: Promise<Reply>): Promise<Asked> => {
  const startMs = performance.now()
  const reply = await work
  return { what, ref, reply, ms: Math.round(performance.now() - startMs) }
}
const readOf = (id: string) => timed('read', id, api('GET', `/${id}`))
const orderOf = async (ref: string, over: Json = {}): Promise<Asked> => ({
  ...(await timed('order', ref, api('POST', '', order({ external_ref: ref, ...over })))),
  over,
})
/** Without a key: its reference is its own. */
const payOf = (id: string, ref: string) =>
  timed('payment', ref, api('POST', `/${id}/payments`, { amount_cents: 100, reference: ref }))

const isReport = (text: string) => text.includes('report_facts(')

/** What does not answer at once is down for whoever asks it: a kubelet would end it. */
const watchHealth = () => {
  const lapses: string[] = []
  let isOver = false
  const watch = async (url: string) => {
    for (; !isOver; await sleep(500)) {
      const page = fetch(url, { signal: AbortSignal.timeout(HEALTH_MS) }).then(({ status }) => `${status}`)
      const said = await page.catch((error: Error) => error.name)
      if (said !== '200') lapses.push(`${url}: ${said}`)
    }
  }
  const watching = Object.values(platform.metricsUrls).map((url) => watch(url.replace('/metrics', '/healthz')))
  return async () => {
    isOver = true
    await Promise.all(watching)
    return lapses
  }
}

const readyz = async () =>
  Promise.all(
    Object.values(platform.metricsUrls).map(async (url) => (await fetch(url.replace('/metrics', '/readyz'))).status),
  )
const back = () => eventually('an answer', async () => (await api('GET', '')).status === 200, BACK_MS)
const settled = () =>
  eventually('all that was reported to be decided', async () => {
    const [row] = await sql("select count(*)::int as n from facts where state = 'pending'").catch(() => [])
    return row?.n === 0 && (await readyz()).every((status) => status === 200)
  })

/** How many resources of each reference there are: the cluster is asked, not who answered. */
const madeOf = async (): Promise<Map<string, number>> => {
  const { items } = JSON.parse(await platform.kubectl(['get', 'inv', '-o', 'json']))
  const counts = new Map<string, number>()
  for (const { spec } of items) counts.set(spec.externalRef, (counts.get(spec.externalRef) ?? 0) + 1)
  return counts
}
const paidOf = async (id: string): Promise<Map<string, number>> => {
  // whoever waited for a connection may take the first places
  const { payments } = await eventually('a view', async () => {
    const { status, json } = await api('GET', `/${id}`)
    return status === 200 && json.invoice
  })
  const counts = new Map<string, number>()
  for (const { reference } of payments) counts.set(reference, (counts.get(reference) ?? 0) + 1)
  return counts
}

/** What is wrong with an answer, seeing how often what was asked is there. */
const lieOf = ({ what, ref, reply: { status, json } }: Asked, times: number): string[] => {
  const said = status === 503 ? json.outcome : status < 300 ? 'stored' : `${status}`
  const fits = { stored: times === 1, not_stored: times === 0, unknown: times <= 1 }[said as string] ?? false
  return fits ? [] : [`${what} ${ref}: ${status} ${json.code ?? ''} ${said}, and it is there ${times} times`]
}

const tally = (asked: readonly Asked[]): string => {
  const counts = new Map<string, number>()
  for (const { what, reply } of asked) {
    const said = `${what} ${reply.status} ${reply.json.code ?? ''} ${reply.json.outcome ?? ''}`.trim()
    counts.set(said, (counts.get(said) ?? 0) + 1)
  }
  const slowest = Math.max(...asked.map(({ ms }) => ms))
  return `${[...counts].map(([said, n]) => `${n} × ${said}`).join(', ')}; slowest ${slowest} ms`
}

/** As a client does that was told 503: looks first, and asks again while it is not there. */
const repeated = async ({ what, ref, over }: Asked, id: string): Promise<void> => {
  await eventually(`${what} ${ref} to be there`, async () => {
    if (what === 'payment') return (await paidOf(id)).has(ref) || (await payOf(id, ref)).reply.status === 200
    return [200, 201].includes((await orderOf(ref, over)).reply.status)
  })
}

/** Nobody was lied to; whoever asks again has it once; numbers have no hole, and each went out in one mail. */
const assertTrue = async (asked: readonly Asked[], id: string): Promise<void> => {
  const writes = asked.filter(({ what }) => what !== 'read')
  const timesOf = async () => {
    const [made, paid] = [await madeOf(), await paidOf(id)]
    return ({ what, ref }: Asked) => (what === 'order' ? made : paid).get(ref) ?? 0
  }
  let lies: string[] = []
  const isTrue = async () => {
    const times = await timesOf()
    lies = writes.flatMap((one) => lieOf(one, times(one)))
    return lies.length === 0
  }
  // what was taken is worked on
  await eventually('what was said to be true', isTrue, BACK_MS).catch(() => assert.equal(lies, []))
  const left = [...writes]
  const lane = async () => {
    for (let one = left.pop(); one; one = left.pop()) await repeated(one, id)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  await settled()
  const times = await timesOf()
  assert.equal(
    writes.filter((one) => times(one) !== 1).map((one) => `${one.what} ${one.ref}: ${times(one)} times`),
    [],
  )
  const numbers = await sql('select seq::int from register order by seq')
  assert.equal(
    numbers.map(({ seq }) => seq),
    numbers.map((_, n) => n + 1),
  )
  await eventually('a mail of each', async () => (await mailsIn(platform.mailDir)).length === numbers.length)
}

spec('a PostgreSQL that does not serve', (t) => {
  t.before(async () => {
    disk = startSmallDisk()
    platform = await startPlatform({
      dataFolder: disk.folder,
      through: async (url) => {
        ledger = await startLedgerProxy(url)
        return ledger.through(url)
      },
    })
  })
  t.after(async () => {
    ledger?.flow()
    try {
      await platform?.end()
      await ledger?.close()
    } finally {
      disk?.end()
    }
  })

  t(
    'hung under both processes: they live, every call ends in time with a true word, and all goes on by itself',
    async () => {
      const known = (await orderOf('known')).reply.json.invoice
      const pids = [platform.api.pid(), platform.controllers.pid()]
      const lapses = watchHealth()
      const [hung, flowing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      // it is stored, and nobody hears of it
      ledger.after(isReport, async () => {
        ledger.stall()
        hung.resolve()
        await flowing.promise
      })
      const unheard = payOf(known.id, 'unheard')
      await hung.promise
      const endMs = performance.now() + HUNG_MS
      const asking: Promise<Asked>[] = [unheard]
      for (let n = 0; performance.now() < endMs; n++) {
        asking.push(readOf(known.id), orderOf(`hung-${n}`), payOf(known.id, `paid-${n}`))
        await sleep(PAUSE_MS)
      }
      assert.equal(await readyz(), [503, 503])
      ledger.flow()
      flowing.resolve()
      const flowMs = performance.now()
      const asked = await Promise.all(asking)
      await back()
      console.log(`  ${tally(asked)}; serving again after ${Math.round(performance.now() - flowMs)} ms`)
      assert.equal(
        asked.filter(({ ms }) => ms > ANSWER_MS).map(({ what, ms }) => `${what} ${ms} ms`),
        [],
      )
      await settled()
      const { status, json } = (await unheard).reply
      assert.equal([status, json.outcome], [503, 'unknown'])
      await assertTrue(asked, known.id)
      assert.equal(await lapses(), [])
      assert.equal([platform.api.pid(), platform.controllers.pid()], pids)
    },
    { timeoutMs: 180_000 },
  )

  t(
    'with a full disk: what is refused is not there, and with room again all goes on by itself',
    async () => {
      const known = (await orderOf('known-too')).reply.json.invoice
      const pids = [platform.api.pid(), platform.controllers.pid(), platform.postgres.pid()]
      const { id: issuer } = (await api('POST', '/issuers', { number_prefix: 'FULL' })).json.issuer
      const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const
      // more than any table has left
      const picture = await sharp({ create: { width: 700, height: 700, channels: 3, noise, background: '#fff' } })
        .png()
        .toBuffer()
      const putLogo = () => api('POST', `/issuers/${issuer}/logo`, picture, { 'content-type': 'image/png' })
      const logo = async () => (await api('GET', `/issuers/${issuer}/logo`)).status
      disk.fill()
      const lapses = watchHealth()
      const asking: Promise<Asked>[] = []
      for (let n = 0; n < FULL_ROUNDS; n++) {
        // nothing of it compresses: it wants pages of its own
        const terms = Array.from({ length: 100 }, () => crypto.randomUUID()).join(' ')
        asking.push(readOf(known.id), orderOf(`full-${n}`, { terms }), payOf(known.id, `full-${n}`))
        await sleep(FULL_PAUSE_MS)
      }
      const refused = await putLogo()
      const asked = await Promise.all(asking)
      disk.empty()
      const emptyMs = performance.now()
      await back()
      console.log(`  ${tally(asked)}; serving again after ${Math.round(performance.now() - emptyMs)} ms`)
      await settled()
      const { status, json } = refused
      assert.equal([status, json.code, json.outcome], [503, 'UNAVAILABLE', 'not_stored'], refused.text)
      assert.is(await logo(), 404)
      await eventually('it to be taken', async () => (await putLogo()).status === 200)
      assert.is(await logo(), 200)
      const isUnknown = ({ reply }: Asked) => reply.status === 503 && reply.json.outcome === 'unknown'
      assert.not.ok(asked.some(isUnknown), 'the server itself has said that it is not done')
      // a full disk keeps nobody from reading; a busy machine has no connection to spare for some, and says that
      const reads = asked.filter(({ what }) => what === 'read').map(({ reply }) => reply)
      const isShed = ({ status, json: { detail } }: Reply) => status === 503 && /cannot be reached/.test(detail)
      assert.ok(reads.some((reply) => reply.status === 200))
      assert.equal(
        reads.filter((reply) => reply.status !== 200 && !isShed(reply)).map(({ text }) => text),
        [],
      )
      await assertTrue(asked, known.id)
      assert.equal(await lapses(), [])
      assert.equal([platform.api.pid(), platform.controllers.pid(), platform.postgres.pid()], pids)
    },
    { timeoutMs: 180_000 },
  )
})
