/** Documents that would hold the renderer for too long, over REST and kubectl; and what was answered, in the next GET. */

import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

let platform: Platform
const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, platform.owner, method, `/api/invoices${path}`, body, headers)
const totalOf = async (): Promise<number> => (await ask('GET', '')).json.total

/** By every bound of bytes and of counts it could be sent: 120 of 500 items, half a megabyte. */
const words = 'خدمات استشارية للمشروع الجزء الأول '.repeat(60).slice(0, 2_000)
const items = Array.from({ length: 120 }, () => ({ description: words, qty: 1, unit_cents: 100 }))
const large = (change: Json = {}) => order({ items, ...change })

const refused = (reply: { status: number; json: Json; text: string }) => {
  assert.equal([reply.status, reply.json?.code], [413, 'DOCUMENT_TOO_LARGE'], reply.text.slice(0, 300))
  assert.match(reply.json.detail, /units of drawing, of which a document may take 5,000,000/)
  assert.equal(reply.json.errors[0].pointer, '/items')
  assert.match(reply.json.next, /fewer words/)
}

spec('a document that takes too long to be drawn', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('is refused by create, as a draft and as a test too, and nothing is stored', async () => {
    const before = await totalOf()
    for (const change of [{}, { send: false }, { test: true }]) refused(await ask('POST', '', large(change)))
    assert.is(await totalOf(), before)
    assert.equal((await platform.kubectl(['get', 'inv', '-o', 'name'])).trim(), '')
  })

  t('is found by preflight, and so are 500 lines of it that are no trouble', async () => {
    const found = (await ask('POST', '/preflight', large())).json
    assert.equal(
      [found.ok, found.problems[0]?.code, found.problems[0]?.pointer],
      [false, 'DOCUMENT_TOO_LARGE', '/items'],
    )
    const lines = Array.from({ length: 500 }, () => ({ ...items[0], description: words.slice(0, 80) }))
    assert.is((await ask('POST', '/preflight', large({ items: lines }))).json.ok, true)
  })

  t('is refused by an edit, which changes nothing, and by a credit note, which takes no number', async () => {
    const made = await ask('POST', '', order())
    const { id, number } = made.json.invoice
    refused(await ask('PATCH', `/${id}`, { items }))
    refused(await ask('POST', `/${id}/credit-note`, { items }))
    const { invoice } = (await ask('GET', `/${id}`)).json
    assert.equal([invoice.number, invoice.version, invoice.credit_notes, invoice.items.length], [number, 1, [], 1])
  })

  t(
    'that came by kubectl is Stalled without a number, seen, neither drawn nor sent, and may be made smaller or deleted',
    async () => {
      const applied = async (name: string, send: boolean) => {
        const lines = items.map(({ description }) => ({ description, qty: '1', unitCents: 100 }))
        await platform.kubectl(['create', '-f', '-'], {
          apiVersion: 'bottega.dev/v1alpha1',
          kind: 'Invoice',
          metadata: { name, namespace: platform.namespace.name },
          spec: { account: 'demo', send, clientEmail: 'billing@acme.test', items: lines },
        })
        return eventually(`${name}, stalled`, async () => {
          const { invoice } = (await ask('GET', `/${name}`)).json
          return invoice?.stalled?.code === 'DOCUMENT_TOO_LARGE' && invoice
        })
      }
      const sent = await applied('inv-large', true)
      assert.equal([sent.number, sent.send_count, sent.status], [null, 0, 'draft'])
      const pdf = await ask('GET', '/inv-large/pdf')
      assert.equal([pdf.status, pdf.json.code], [413, 'DOCUMENT_TOO_LARGE'], pdf.text)
      await applied('inv-large-draft', false)
      refused(await ask('POST', '/inv-large-draft/send'))

      const [one] = order().items
      const smaller = await ask('PATCH', '/inv-large', { items: [one] })
      assert.equal([smaller.status, smaller.json.invoice?.send_count], [200, 1], smaller.text)
      assert.is((await ask('DELETE', '/inv-large-draft')).status, 204)
      assert.is((await ask('GET', '/inv-large-draft')).status, 404)
    },
  )
})

spec('what a POST answered', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('is in the next GET and the next list though nobody has judged it, and may be deleted', async () => {
    await platform.controllers.stop()
    const replies = [
      await ask('POST', '', order(), { prefer: 'respond-async' }),
      await ask('POST', '', order({ send: false, external_ref: 'later' }), { prefer: 'respond-async' }),
    ]
    for (const { status, headers, json } of replies) {
      assert.is(status, 202)
      const { id } = json.invoice
      assert.is(headers.get('location'), `/api/operations/${json.operation_id}`)
      const seen = await call(platform.baseUrl, platform.owner, 'GET', `/api/invoices/${id}`)
      assert.equal([seen.status, seen.json.invoice?.id, seen.json.invoice?.number], [200, id, null], seen.text)
      const stranger = await platform.token('other')
      assert.is((await call(platform.baseUrl, stranger, 'GET', `/api/invoices/${id}`)).status, 404)
    }
    const { invoices, total } = (await ask('GET', '')).json
    assert.equal([total, invoices.length], [2, 2])
    const [sent, draft] = replies.map(({ json }) => json.invoice.id as string)
    const deleted = ask('DELETE', `/${draft}`)
    await platform.controllers.start()
    assert.is((await deleted).status, 204)
    assert.is((await ask('GET', `/${draft}`)).status, 404)
    await eventually('the other one, judged', async () => (await ask('GET', `/${sent}`)).json.invoice?.send_count === 1)
    assert.is((await ask('DELETE', `/${sent}`)).json.code, 'LOCKED_NUMBERED')
  })
})
