/**
 * Random lives of invoices through the real processes: sent, edited, sent again, paid by hand and by card, claimed, credited,
 * refunded and voided in whatever order. Whenever one comes to rest, REST, page, document, mail, checkout and register say the
 * same cents, and no card session outlives its amount. Until then each answer of REST, each page and the register is one whole,
 * of a send that was made. Each moment of a pass, and the XML, is swept without processes (test/crds/invoice/lives.test.ts), one
 * send held midway in test/api/invoice/moments.test.ts. 10,000 of them with --full.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { balanceOf } from '../../../crds/invoice/document/document.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'
import { displayCents, processorUnits } from '../../../crds/values/money.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type Cards, startCards } from '../../support/doubles/cards.ts'
import { readPdf } from '../../support/judges/pdftext.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  startPlatform,
} from '../../support/stage/invoicing.ts'

const FULL = process.env.BOTTEGA_TEST_FULL === '1'
const LIVES = FULL ? 10_000 : 12
const AT_ONCE = 4
const LIMIT_MS = FULL ? 14_400_000 : 300_000
const SEED = 20_261_123
const UNIT = 100
/** Between two looks at one that is not at rest. */
const LOOK_MS = 50

const items = fc.array(
  fc.record({
    description: fc.constantFrom('Retainer', 'Travel', 'Rebate'),
    qty: fc.constantFrom(1, 1.5, 0.333, 12),
    unit_cents: fc.integer({ min: 1, max: 9_000 }).map((units) => units * UNIT),
  }),
  { minLength: 1, maxLength: 3 },
)
const edit = fc.record(
  { items, tax_rate_bp: fc.constantFrom(0, 700, 2000), due_date: fc.constantFrom('2031-01-05', '2031-02-01') },
  { requiredKeys: [] },
)
const cents = fc.integer({ min: 1, max: 900 }).map((units) => units * UNIT)
const MOVES = ['send', 'send', 'checkout', 'card', 'card', 'pay', 'pay', 'claim', 'credit', 'refund', 'void'] as const
const move = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('edit' as const), edit, cents }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom(...MOVES), edit: fc.constant({}), cents }) },
)
const life = fc.record({
  currency: fc.constantFrom('EUR', 'USD', 'JPY'),
  first: items,
  moves: fc.array(move, { minLength: 3, maxLength: 7 }),
})
type Life = typeof life extends fc.Arbitrary<infer L> ? L : never
type Move = Life['moves'][number]

let platform: Platform
let cards: Cards
const ask = (method: string, path: string, body?: unknown) =>
  call(platform.baseUrl, platform.owner, method, `/api/invoices${path}`, body)
const sql = (text: string, values: unknown[]) => query(platform.database.url, text, values)

/** What a client of one send holds. */
type Lived = { id: string; path: string; password: string }

const cookieOf = async ({ path, password }: Lived): Promise<string> => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const entered = await call(platform.baseUrl, null, 'POST', path, `password=${password}`, form)
  return entered.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
}

/** Refusals are part of a life; anything from 500 on is not. */
const taken = async (asked: Promise<{ status: number; text: string; json: Json }>): Promise<Json | null> => {
  const { status, text, json } = await asked
  assert.ok(status < 500, text)
  return status < 300 ? json : null
}

const openSession = async (lived: Lived): Promise<string | null> => {
  const headers = { cookie: await cookieOf(lived), accept: 'application/json' }
  const asked = await taken(call(platform.baseUrl, null, 'POST', `${lived.path}/pay`, undefined, headers))
  return asked === null ? null : String(asked.checkout_url.split('/').at(-1))
}

const DOES: Record<Move['do'], (lived: Lived, move: Move) => Promise<unknown>> = {
  edit: ({ id }, { edit }) => taken(ask('PATCH', `/${id}`, edit)),
  send: async (lived) => {
    const sent = await taken(ask('POST', `/${lived.id}/send`))
    if (sent) lived.password = sent.password
  },
  checkout: openSession,
  card: async (lived) => {
    const session = await openSession(lived)
    if (session !== null) await cards.pay(session)
  },
  pay: ({ id }, { cents }) => taken(ask('POST', `/${id}/payments`, { amount_cents: cents })),
  claim: async (lived, { cents }) => {
    const headers = { cookie: await cookieOf(lived), accept: 'application/json' }
    const body = { reference: `TX-${cents}`, date: '2026-11-20', amount_cents: cents }
    return taken(call(platform.baseUrl, null, 'POST', `${lived.path}/claim`, body, headers))
  },
  credit: ({ id }, { cents }) => taken(ask('POST', `/${id}/credit-note`, { amount_cents: cents })),
  refund: ({ id }, { cents }) => taken(ask('POST', `/${id}/credit-note`, { amount_cents: cents, refund: true })),
  void: ({ id }) => taken(ask('POST', `/${id}/void`)),
}

const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

const entriesOf = (id: string) =>
  sql('select entry, total_cents::int as cents from register where resource = $1 order by step', [id]) as Promise<
    { entry: string; cents: number }[]
  >

const ON_THE_WAY = `
select kind as what, key as which, null::int as attempts, null::timestamptz as due_at, null as last_error
from facts where resource = $1 and state = 'pending'
union all
select channel, purpose, attempts, due_at, last_error
from outbox where resource = $1 and channel <> 'event' and state in ('queued', 'sending')`

/** Nothing is on its way: facts are decided, mails are out, refunds and endings are asked. */
const comeToRest = async (id: string): Promise<void> => {
  let left: unknown[] = []
  await eventually(`${id} to rest`, async () => {
    left = await sql(ON_THE_WAY, [id])
    return left.length === 0
  }).catch((error) => {
    throw new Error(`${error.message}; on its way: ${JSON.stringify(left)}`)
  })
}

/** The words of a life at rest, or null while they do not agree yet: the view is that of a moment ago. */
const holds = async (lived: Lived): Promise<string> => {
  const { id, path } = lived
  const view: Json = (await ask('GET', `/${id}`)).json.invoice
  const { total_cents: total, balance_cents: due, currency, status } = view
  const money = (amount: number): string => displayCents(amount, currency)
  const [frozen] = (await sql('select frozen from sends where resource = $1 order by n desc limit 1', [id])) as {
    frozen: Frozen
  }[]
  const sent = frozen?.frozen as Frozen
  assert.is(total, sent.totalCents, 'REST says what was sent last')
  assert.is(due, status === 'voided' ? 0 : Math.max(0, total - view.paid_cents - view.credited_cents), 'the balance')
  const page = textOf(
    (await call(platform.baseUrl, null, 'GET', path, undefined, { cookie: await cookieOf(lived) })).text,
  )
  assert.ok(page.includes(`Amount due ${money(due)}`) && page.includes(`Total ${money(total)}`), `the page: ${page}`)
  const pdf = await fetch(`${platform.baseUrl}/api/invoices/${id}/pdf`, {
    headers: { authorization: `Bearer ${platform.owner}` },
  })
  const document = readPdf(Buffer.from(await pdf.arrayBuffer()))
    .pages.flat()
    .join('\n')
  assert.ok(document.includes(money(total)), `the document: ${document}`)
  for (const session of cards.sessions.values()) {
    if (session.metadata.invoice_id !== id || session.status !== 'open') continue
    assert.equal([session.amount_total, session.currency.toUpperCase()], [processorUnits(due, currency), currency])
  }
  const entries = await entriesOf(id)
  const owed = entries.filter(({ entry }) => entry === 'issued' || entry === 'amended').at(-1)
  assert.is(owed?.cents, total, 'the register')
  return status
}

const mailsHold = async (id: string): Promise<void> => {
  const rows = (await sql('select n, frozen from sends where resource = $1 order by n', [id])) as {
    n: number
    frozen: Frozen
  }[]
  const mails = await mailsIn(platform.mailDir)
  for (const { n, frozen } of rows) {
    if (frozen.paid !== null) continue
    const own = mails.filter(({ messageId }) => messageId?.startsWith(`<${id}.`) && messageId.includes(`${n}@`))
    const asking = own.find(({ text }) => text?.includes(displayCents(balanceOf(frozen), frozen.currency)))
    assert.ok(asking, `the mail of send ${n} asks for ${balanceOf(frozen)}: ${own.map(({ messageId }) => messageId)}`)
  }
}

/** What of an invoice was looked at while something of it was under way: `newer`, a send that its view did not know yet. */
const looks = { moments: 0, pages: 0, revised: 0, newer: 0 }

type Sums = { paid: number; credited: number; isVoided: boolean }
const sumOf = (parts: { amount_cents: number }[]): number =>
  parts.reduce((total, { amount_cents: cents }) => total + cents, 0)

/** The newest entry of what is owed, and the newest send: of one instant. */
const OWED = `
select (select total_cents::int from register where resource = $1 and entry in ('issued', 'amended') order by step desc limit 1) as owed,
  (select array_agg((frozen->>'totalCents')::int order by n) from sends where resource = $1) as totals`

const owedNow = async (id: string): Promise<number[]> => {
  const [row] = (await sql(OWED, [id])) as { owed: number; totals: number[] }[]
  const { owed = Number.NaN, totals = [] } = row ?? {}
  assert.is(owed, totals.at(-1), 'the register')
  return totals
}

/** The sums of an answer are one whole, and those of a send: never of an edit that is still to be sent. */
const viewHolds = (view: Json, totals: readonly number[]): Sums => {
  const { total_cents: total, paid_cents: paid, credited_cents: credited, status } = view
  const isVoided = status === 'voided'
  assert.is(total, totals[view.send_count - 1], 'REST says what was sent')
  assert.is(view.balance_cents, isVoided ? 0 : Math.max(0, total - paid - credited), 'the balance')
  assert.is(sumOf(view.payments), paid, 'the payments')
  return { paid, credited, isVoided }
}

/** The page between two views: one of the totals that were sent, and what is left of it after the money of either view. */
const pageHolds = (page: string, currency: string, totals: readonly number[], sums: readonly Sums[]): void => {
  const fits = totals.flatMap((total) =>
    sums.map(({ paid, credited, isVoided }) => {
      const due = isVoided ? 0 : Math.max(0, total - paid - credited)
      return [`Amount due ${displayCents(due, currency)}`, `Total ${displayCents(total, currency)}`]
    }),
  )
  assert.ok(
    fits.some((labels) => labels.every((label) => page.includes(label))),
    `the page at a moment: ${page}`,
  )
}

/** @param since how many sends a view has known of before: none goes back */
const momentHolds = async (lived: Lived, cookie: string, since: number): Promise<number> => {
  const read = async (): Promise<Json> => (await ask('GET', `/${lived.id}`)).json.invoice
  const before = await read()
  const html = (await call(platform.baseUrl, null, 'GET', lived.path, undefined, { cookie })).text
  const after = await read()
  const totals = await owedNow(lived.id)
  assert.ok(since <= before.send_count && before.send_count <= after.send_count, 'no view goes back')
  const sums = [before, after].map((view) => viewHolds(view, totals))
  const page = textOf(html)
  const isOpen = page.includes('Amount due')
  // of what either view knew, up to what was on record by then
  if (isOpen) pageHolds(page, before.currency, totals.slice(before.send_count - 1), sums)
  looks.moments += 1
  looks.pages += isOpen ? 1 : 0
  looks.revised += after.pending_revision ? 1 : 0
  looks.newer += totals.length > before.send_count ? 1 : 0
  return after.send_count
}

/** Looks at it again and again until what was asked has come to rest. */
const watched = async (lived: Lived, asked: Promise<unknown>): Promise<void> => {
  let isOver = false
  const done = asked.finally(() => {
    isOver = true
  })
  const cookie = await cookieOf(lived)
  try {
    for (let known = 1; !isOver; await sleep(LOOK_MS)) known = await momentHolds(lived, cookie, known)
  } finally {
    await done
  }
}

const live = async ({ currency, first, moves }: Life): Promise<string> => {
  const made = await ask('POST', '', order({ currency, items: first }))
  assert.is(made.status, 201, made.text)
  const { id, url } = made.json.invoice
  const lived: Lived = { id, path: new URL(url).pathname, password: made.json.password }
  let ended = ''
  for (const one of moves) {
    const asked = DOES[one.do](lived, one).then(() => comeToRest(id))
    await watched(lived, asked)
    let fault: unknown
    ended = await eventually(
      `${id} to say the same after ${one.do}`,
      async () => {
        fault = undefined
        return holds(lived).catch((error) => {
          fault = error
          return ''
        })
      },
      20_000,
    ).catch(() => {
      throw fault
    })
  }
  await mailsHold(id)
  return ended
}

spec('an invoice, whatever becomes of it, through both processes', (t) => {
  t.before(async () => {
    cards = await startCards(() => platform.baseUrl)
    platform = await startPlatform({ env: cards.env })
    await ask('POST', '/settings/rails', { rail: 'stripe', enabled: true })
    // as many lives as are asked for, whatever the plan
    await platform.kubectl([
      'patch',
      'account',
      'demo',
      '--type=merge',
      '-p',
      '{"spec":{"limits":{"sendsPerDay":100000}}}',
    ])
  })
  t.after(async () => {
    await platform.end()
    await cards.end()
  })

  t(
    `says the same cents everywhere at every rest, and one sum at every look between (${LIVES} lives, seed ${SEED})`,
    async () => {
      const lives = fc.sample(life, { numRuns: LIVES, seed: SEED })
      const ends = new Map<string, number>()
      const work = async () => {
        for (let one = lives.pop(); one; one = lives.pop()) {
          const told = JSON.stringify(one)
          const ended = await live(one).catch((error) => {
            throw new Error(`${told}: ${error.details ?? ''}${error.stack}`)
          })
          ends.set(ended, (ends.get(ended) ?? 0) + 1)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      console.log(`  counted: ends ${[...ends].map(([word, count]) => `${count} ${word}`).join(', ')}`)
      console.log(`  counted: between them ${JSON.stringify(looks)}`)
      assert.ok(looks.pages > LIVES && looks.revised > 0, 'looks that see nothing prove little')
      assert.ok(ends.size >= 3, 'lives of one end prove little')
    },
    { timeoutMs: LIMIT_MS },
  )
})
