/** The documents of an invoice over REST: what is inside them, what they lack, and a renderer that is switched off. */
import { rmSync } from 'node:fs'
import { createStack } from '../../../hack/platform/stack.ts'
import { png } from '../../support/builders/logos.ts'
import { type PdfFile, readPdf } from '../../support/judges/pdftext.ts'
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
import { scratchFolder, serviceKubeconfig } from '../../support/stage/stage.ts'

let platform: Platform
const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, platform.owner, method, `/api/invoices${path}`, body, headers)
const get = async (path: string): Promise<Json> => (await ask('GET', path)).json

const bytesOf = async (path: string): Promise<{ status: number; type: string | null; bytes: Buffer }> => {
  const headers = { authorization: `Bearer ${platform.owner}` }
  const response = await fetch(`${platform.baseUrl}/api/invoices${path}`, { headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, type: response.headers.get('content-type'), bytes }
}
const pdfOf = async (path: string): Promise<PdfFile> => {
  const { status, bytes } = await bytesOf(path)
  assert.is(status, 200, bytes.toString('utf8', 0, 300))
  return readPdf(bytes)
}
const PLACED = { client_country: 'DE', client_address: 'Torstraße 1', client_city: 'Berlin' }
const make = async (change: Json = {}): Promise<Json> => {
  const made = await ask('POST', '', order({ ...PLACED, ...change }))
  assert.is(made.status, 201, made.text)
  return made.json.invoice
}
const INSIDE = { profile: 'EN 16931', reason: null }

spec('the documents of an invoice', (t) => {
  t.before(async () => {
    platform = await startPlatform()
    const seller = { legal_name: 'Demo Studio SL', tax_id: 'ESB00000000', address: 'Calle Mayor 1', country: 'ES' }
    const set = await ask('PATCH', '/settings/profile', seller)
    assert.is(set.status, 200, set.text)
    const logo = await fetch(`${platform.baseUrl}/api/invoices/issuers/iss-default/logo`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.owner}`, 'content-type': 'application/octet-stream' },
      body: png,
    })
    assert.is(logo.status, 200, await logo.text())
  })
  t.after(() => platform.end())

  t('carry the electronic invoice, byte for byte what /xml gives, and the logo', async () => {
    const { id, number, warnings } = await make()
    assert.equal(warnings, [])
    const { attachments, pictures } = await pdfOf(`/${id}/pdf`)
    assert.equal(
      attachments.map(({ name, relationship }) => [name, relationship]),
      [['factur-x.xml', 'Alternative']],
    )
    assert.is(pictures, 1)
    const xml = await bytesOf(`/${id}/xml`)
    assert.is(xml.type, 'application/xml; charset=utf-8')
    assert.ok(attachments[0]?.bytes.equals(xml.bytes))
    const { snapshots } = await get(`/${id}/snapshots`)
    assert.equal(
      snapshots.map(({ kind, number: on, xml: inside }: Json) => [kind, on, inside]),
      [['invoice', number, INSIDE]],
    )
  })

  t('say by rule what they lack, and carry it once it is given and they are sent again', async () => {
    const { id, warnings } = await make({
      client_country: undefined,
      client_address: undefined,
      client_city: undefined,
    })
    assert.equal(
      warnings.map((one: string) => one.split(' ').slice(0, 2).join(' ')),
      ['XML_INCOMPLETE: /client_address', 'XML_INCOMPLETE: /client_country'],
    )
    assert.is((await pdfOf(`/${id}/pdf`)).attachments.length, 0)
    const [plain] = (await get(`/${id}/snapshots`)).snapshots
    assert.equal(plain.xml, { profile: null, reason: 'EN 16931 asks for more: BR-10, BR-11' })
    const refused = await ask('GET', `/${id}/xml`)
    assert.equal([refused.status, refused.json.code], [409, 'XML_INCOMPLETE'])
    assert.equal(
      refused.json.errors.map(({ pointer }: Json) => pointer),
      ['/client_address', '/client_country'],
    )

    assert.is((await ask('PATCH', `/${id}`, { client_country: 'DE' })).status, 200)
    const again = await ask('POST', `/${id}/send`)
    assert.equal([again.status, again.json.invoice.warnings], [200, []], again.text)
    assert.is((await pdfOf(`/${id}/pdf`)).attachments.length, 1)
    assert.equal(
      (await get(`/${id}/snapshots`)).snapshots.map((one: Json) => one.xml.profile),
      ['EN 16931', null],
    )
    assert.is((await bytesOf(`/${id}/xml?sha256=${plain.sha256}`)).status, 409)
  })

  t('follow the money: the PAID one asks for nothing, a credit note has its own, a voided one has none', async () => {
    const { id, number } = await make()
    await ask('POST', `/${id}/payments`)
    const paid = await pdfOf(`/${id}/pdf`)
    assert.ok(paid.attachments[0]?.bytes.equals((await bytesOf(`/${id}/xml`)).bytes))
    assert.match(paid.attachments[0]?.bytes.toString() ?? '', /<ram:DuePayableAmount>0.00</)
    const credited = await ask('POST', `/${id}/credit-note`, { amount_cents: 24_000, reason: 'late' })
    assert.is(credited.status, 201, credited.text)
    const note = credited.json.credit_note
    const [inside] = (await pdfOf(`/${id}/snapshots/${note.sha256}`)).attachments
    assert.ok(inside?.bytes.equals((await bytesOf(`/${id}/xml?sha256=${note.sha256}`)).bytes))
    assert.match(inside?.bytes.toString() ?? '', /<ram:TypeCode>381</)
    const ubl = await bytesOf(`/${id}/xml?syntax=ubl&sha256=${note.sha256}`)
    assert.match(ubl.bytes.toString(), /<CreditNote /)

    const voided = await make()
    await ask('POST', `/${voided.id}/void`)
    assert.is((await pdfOf(`/${voided.id}/pdf`)).attachments.length, 0)
    const refused = await ask('GET', `/${voided.id}/xml`)
    assert.equal([refused.status, refused.json.code], [409, 'XML_OF_VOID'])
    const listed = (await get(`/${id}/snapshots`)).snapshots.map((one: Json) => [one.kind, one.number, one.xml.profile])
    assert.equal(listed, [
      ['credit_note', note.number, 'EN 16931'],
      ['paid', number, 'EN 16931'],
      ['invoice', number, 'EN 16931'],
    ])
    const [gone, sent] = (await get(`/${voided.id}/snapshots`)).snapshots
    assert.equal([gone.kind, gone.xml], ['void', { profile: null, reason: 'A voided invoice asks for nothing.' }])
    assert.is((await bytesOf(`/${voided.id}/xml?sha256=${sent.sha256}`)).status, 200)
  })

  t('name the characters that they cannot show, on the draft and on what was sent', async () => {
    const items = [{ description: 'Fee 🧾', qty: 1, unit_cents: 100 }]
    const draft = await make({ send: false, items })
    const wanted = /^GLYPH_MISSING: \/items\/0\/description has 🧾 \(U\+1F9FE\)/
    const shown = async (id: string): Promise<string> => (await get(`/${id}`)).invoice.warnings.join('\n')
    await eventually('the warning on the draft', async () => wanted.test(await shown(draft.id)))
    const drawn = await pdfOf(`/${draft.id}/pdf`)
    assert.equal([drawn.attachments.length, drawn.pictures], [0, 1])
    const sent = await ask('POST', `/${draft.id}/send`)
    assert.match(sent.json.invoice.warnings[0], wanted)
  })

  t('of another account, or of another invoice, are not there', async () => {
    const [one, other] = [await make(), await make()]
    const [{ sha256 }] = (await get(`/${one.id}/snapshots`)).snapshots
    assert.is((await bytesOf(`/${other.id}/xml?sha256=${sha256}`)).status, 404)
    const stranger = await platform.token('other')
    const answer = await call(platform.baseUrl, stranger, 'GET', `/api/invoices/${one.id}/xml?sha256=${sha256}`)
    assert.is(answer.status, 404)
    assert.is((await ask('GET', `/${one.id}/xml?sha256=../x`)).status, 400)
  })
})

spec('a renderer that is switched off', (t) => {
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_PDF_RENDER: 'off' } })
  })
  t.after(() => platform.end())

  t('refuses drafts, keeps a send until it is on again, and then sends it once', async () => {
    const draft = await make({ send: false })
    const refused = await ask('GET', `/${draft.id}/pdf`)
    assert.equal([refused.status, refused.json.code], [503, 'PDF_RENDER_OFF'])
    const waiting = await ask('POST', '', order({ external_ref: 'while-off' }), { prefer: 'respond-async' })
    assert.is(waiting.status, 202, waiting.text)
    const { id } = waiting.json.invoice
    const numbered = await eventually('the number', async () => (await get(`/${id}`)).invoice?.number)
    assert.equal((await get(`/${id}/snapshots`)).snapshots, [])

    const folder = scratchFolder('on')
    const on = await createStack({
      folder,
      owner: process.env.BOTTEGA_OWNER ?? `test-${process.pid}`,
      namespace: platform.namespace.name,
      databaseUrl: platform.database.url,
      kubeconfigs: { api: serviceKubeconfig('api'), controllers: serviceKubeconfig('controllers') },
      env: { BOTTEGA_SECRET_KEY: platform.secretKey, BOTTEGA_PUBLIC_URL: platform.baseUrl },
    })
    await platform.controllers.stop()
    await on.mail.start()
    await on.controllers.start()
    try {
      const mail = await eventually('the mail', async () => (await mailsIn(on.mailDir))[0])
      assert.ok(mail.subject?.includes(numbered))
      const { invoice } = await get(`/${id}`)
      assert.equal([invoice.number, invoice.send_count, invoice.status], [numbered, 1, 'sent'])
      assert.is((await get(`/${id}/snapshots`)).snapshots.length, 1)
      assert.is((await bytesOf(`/${id}/pdf`)).status, 200)
      assert.is((await mailsIn(on.mailDir)).length, 1)
    } finally {
      await on.controllers.stop()
      await on.mail.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

spec('a draft that is not drawn in time', (t) => {
  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('answers PDF_BUSY with Retry-After, and is there when it is asked for again', async () => {
    const { id } = await make({ send: false })
    await platform.controllers.stop()
    const busy = await ask('GET', `/${id}/pdf`)
    assert.equal([busy.status, busy.json.code, busy.headers.get('retry-after')], [503, 'PDF_BUSY', '5'])
    await platform.controllers.start()
    assert.is((await bytesOf(`/${id}/pdf`)).status, 200)
  })
})
