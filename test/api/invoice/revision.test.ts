/** An edit of what was sent, on real parts: shown as pending everywhere, previewed for its owner alone, in effect once it is sent. */
import { readPdf } from '../../support/judges/pdftext.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import {
  call,
  eventually,
  type Json,
  order,
  type Platform,
  type Reply,
  startPlatform,
} from '../../support/stage/invoicing.ts'

let platform: Platform
const TOTAL = 144_000
const EDITED = 720_000
const ITEMS = [{ description: 'Retainers', qty: 7.5, unit_cents: 80_000 }]
const ask = (method: string, path: string, body?: unknown, token = platform.owner) =>
  call(platform.baseUrl, token, method, `/api/invoices${path}`, body)
const refused = (reply: Reply, status: number, code: string) =>
  assert.equal([reply.status, reply.json?.code], [status, code], reply.text)
const make = async (change: Record<string, unknown> = {}): Promise<Json> => {
  const made = await ask('POST', '', order(change))
  assert.is(made.status, 201, made.text)
  return { ...made.json.invoice, password: made.json.password }
}
const fetched = (url: string, accept: string, token = platform.owner) =>
  fetch(url, { headers: { authorization: `Bearer ${token}`, accept } })
const conditionsOf = async (id: string): Promise<Json[]> =>
  JSON.parse(await platform.kubectl(['get', 'inv', id, '-o', 'json'])).status.conditions
const entriesOf = async (number: string): Promise<Json[]> => {
  const { series } = (await ask('GET', '/numbering')).json
  const own = series.find((one: Json) => one.kind === 'invoice' && !one.test)
  assert.is(own.verified, true)
  const { entries } = (await ask('GET', `/numbering?series=${encodeURIComponent(own.id)}&limit=200`)).json
  return entries.filter((one: Json) => one.number === number)
}

spec('what was edited since it was sent', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t(
    'is pending in REST, in the resource and in a preview, and what was sent counts until it is sent again',
    async () => {
      const sent = await make()
      assert.is(sent.pending_revision, null)
      const edited = await ask('PATCH', `/${sent.id}`, { items: ITEMS, due_date: '2031-01-05' })
      assert.is(edited.status, 200, edited.text)
      const { total_cents, balance_cents, pending_revision: revision } = edited.json.invoice
      assert.equal([total_cents, balance_cents, revision.totals.total_cents], [TOTAL, TOTAL, EDITED])
      assert.ok(
        revision.changed.some((one: Json) => one.pointer === '/items/0/qty' && one.from === 1.5 && one.to === 7.5),
      )
      assert.equal((await ask('GET', `/${sent.id}`)).json.invoice.pending_revision, revision)
      const [condition] = (await conditionsOf(sent.id)).filter(({ type }) => type === 'PendingRevision')
      assert.match(condition?.message ?? '', /1,440\.00 EUR to 7,200\.00 EUR/)
      assert.match(await platform.kubectl(['describe', 'inv', sent.id]), /PendingRevision/)

      assert.is(revision.preview_url, `${platform.baseUrl}/api/invoices/${sent.id}/revision`)
      const pdf = await fetched(revision.preview_url, '*/*')
      const bytes = Buffer.from(await pdf.arrayBuffer())
      const told = `${pdf.status} ${bytes.toString('latin1').slice(0, 500)}`
      assert.is(pdf.headers.get('content-type'), 'application/pdf', told)
      const text = readPdf(bytes).pages.flat().join('\n')
      for (const words of [/7,200\.00/, /has not been sent/, new RegExp(sent.number)]) assert.match(text, words)
      const page = await fetched(revision.preview_url, 'text/html,application/xhtml+xml,*/*;q=0.8')
      assert.match(page.headers.get('content-type') ?? '', /text\/html/)
      assert.match(await page.text(), /has not been sent[\s\S]*1,440\.00 EUR → 7,200\.00 EUR[\s\S]*7,200\.00/)
      assert.is((await fetched(revision.preview_url, '*/*', await platform.token('other'))).status, 404)

      const again = await ask('POST', `/${sent.id}/send`)
      assert.is(again.status, 200, again.text)
      assert.equal([again.json.invoice.total_cents, again.json.invoice.pending_revision], [EDITED, null])
      assert.is((await fetched(revision.preview_url, '*/*')).status, 404)
      await eventually('the condition to go', async () =>
        (await conditionsOf(sent.id)).every(({ type }) => type !== 'PendingRevision'),
      )
      await ask('POST', `/${sent.id}/void`)
      const entries = await eventually('the void to be entered', async () => {
        const found = await entriesOf(sent.number)
        return found.length === 3 && found
      })
      assert.equal(
        entries.map(({ entry, total_cents: cents }: Json) => [entry, cents]),
        [
          ['issued', TOTAL],
          ['amended', EDITED],
          ['voided', EDITED],
        ],
      )
      const { snapshots } = (await ask('GET', `/${sent.id}/snapshots`)).json
      assert.ok(
        snapshots.some(({ sha256 }: Json) => sha256 === entries[1]?.reference),
        'the digest of its document',
      )
      assert.is((await fetched(`${platform.baseUrl}/api/invoices/${sent.id}/revision/pdf`, '*/*')).status, 404)
    },
  )

  t('keeps its currency, its issuer and its test mode', async () => {
    const { id } = await make()
    refused(await ask('PATCH', `/${id}`, { currency: 'GBP' }), 409, 'LOCKED_NUMBERED')
    assert.is((await ask('GET', `/${id}`)).json.invoice.pending_revision, null)
  })

  t('is said to the client, in what it differs, beside the amount that counts', async () => {
    const sent = await make({ client_email: 'reader@acme.test' })
    await ask('PATCH', `/${sent.id}`, { items: ITEMS })
    const form = new URLSearchParams({ password: sent.password })
    const opened = await fetch(sent.url, { method: 'POST', body: form, redirect: 'manual' })
    const cookie = opened.headers.getSetCookie().join('; ')
    const page = await (await fetch(sent.url, { headers: { cookie } })).text()
    assert.match(page, /Amount due[\s\S]*1,440\.00 EUR[\s\S]*class="note edited"[\s\S]*1,440\.00 EUR → 7,200\.00 EUR/)
  })
})
