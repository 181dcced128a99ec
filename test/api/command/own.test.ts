/** The door that asks whose a row is, and names that another account has taken before. */

import { type Names, namesFor } from '../../../api/command/name.ts'
import { makeOwnDoor } from '../../../api/command/own.ts'
import type { ApiRequest } from '../../../api/http/route.ts'
import { keysOfOne } from '../../../controllers/base/keys.ts'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import { refName } from '../../../crds/kernel/fields.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

const asking = { caller: { account: 'demo' } } as ApiRequest

spec('the door of rows', (t) => {
  const row: MirrorRow<never> = {
    kind: 'Invoice',
    name: 'inv-1',
    account: 'other',
    uid: 'uid-1',
    generation: 1,
    observedGeneration: 1,
    view: undefined as never,
    createdAt: '2026-11-21T09:30:00.000Z',
    updatedAt: '2026-11-21T09:30:00.000Z',
    archived: false,
  }
  const { mirror, waiter } = makeOwnDoor({
    mirror: { get: async () => row, list: async () => ({ rows: [], total: 0 }) },
    waiter: {
      isLeaving: () => false,
      watch: () => ({
        until: async (done) => (done(row) || done(undefined) ? { row } : null),
        isQuiet: () => true,
        leave: () => {},
      }),
    },
  })

  t('shows a row to its account, and to whoever says why it is not asked', async () => {
    assert.is(await mirror.get(INVOICE, 'inv-1', { account: 'other' }), row)
    assert.is(await mirror.get(INVOICE, 'inv-1', { because: 'role' }), row)
  })
  t('shows nobody else that there is one', async () => {
    assert.is(await mirror.get(INVOICE, 'inv-1', { account: 'demo' }), undefined)
  })
  t('hands none of somebody else to whoever waits for his own', async () => {
    const seen: unknown[] = []
    const watched = waiter.watch(INVOICE, 'inv-1', { account: 'demo' })
    const found = await watched.until((one) => seen.push(one) > 1)
    assert.equal([seen, found], [[undefined, undefined], { row: undefined }])
  })
  t('names a thing by the server key: the same for the same reference, and for no other account, key or kind', () => {
    const [keys, others] = [keysOfOne(Buffer.alloc(32, 1)), keysOfOne(Buffer.alloc(32, 2))]
    const name = namesFor(keys, 'inv', asking, 'order-1')(0)
    assert.match(name, /^inv-[0-9a-f]{32}$/)
    assert.is(name, namesFor(keys, 'inv', asking, 'order-1')(0))
    const foreign = { caller: { account: 'other' } } as ApiRequest
    const rest = [
      namesFor(keys, 'inv', asking, 'order-1')(1),
      namesFor(keys, 'inv', asking, 'order-2')(0),
      namesFor(keys, 'inv', foreign, 'order-1')(0),
      namesFor(others, 'inv', asking, 'order-1')(0),
      namesFor(keys, 'inv', { ...asking, idempotencyKey: 'ab'.repeat(32) })(0),
      refName('inv', { account: 'demo', externalRef: 'order-1' }),
    ]
    assert.is(new Set([name, ...rest]).size, rest.length + 1)
  })
})

spec('names that another account has taken before', (t) => {
  let platform: Platform
  const ask = (method: string, path: string, body?: unknown) =>
    call(platform.baseUrl, platform.owner, method, path, body)
  const namesOf = (prefix: string, ref: string): Names => namesFor(platform.keys, prefix, asking, ref)
  const apply = (kind: string, name: string, own: object) =>
    platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind,
      metadata: { name },
      spec: { account: 'other', ...own },
    })
  /** As a neighbour with kubectl writes it, numbered and mailed. */
  const takeInvoice = async (name: string, externalRef: string): Promise<void> => {
    const items = [{ description: 'Secret work', qty: '1', unitCents: 4_200 }]
    const client = { clientName: 'Mallory', clientEmail: 'mallory@acme.test', dueDate: '2027-12-20' }
    await apply('Invoice', name, { externalRef, send: true, currency: 'EUR', items, ...client })
    const number = ['get', 'inv', name, '-o', 'jsonpath={.status.number}']
    await eventually('its number', async () => (await platform.kubectl(number)) !== '')
  }
  const takeSite = async (name: string, externalRef: string): Promise<void> => {
    await apply('Site', name, { externalRef, content: { meta: { companyName: 'Mallory' } } })
    const digest = ['get', 'wsite', name, '-o', 'jsonpath={.status.digest}']
    await eventually('its rendering', async () => (await platform.kubectl(digest)) !== '')
  }
  const foreign = /Mallory|mallory|4200|Secret work/

  t.before(async () => {
    platform = await startPlatform()
  })
  t.after(() => platform.end())

  t('are of no use where they follow from account and reference alone', async () => {
    await takeInvoice(refName('inv', { account: 'demo', externalRef: 'guessed' }), 'guessed')
    const made = await ask('POST', '/api/invoices', order({ external_ref: 'guessed' }))
    assert.equal([made.status, made.json.invoice?.client_name], [201, 'ACME'], made.text)
    assert.not.match(made.text, foreign)
    await takeSite(refName('site', { account: 'demo', externalRef: 'guessed' }), 'guessed')
    const content = { meta: { company_name: 'Own' } }
    const site = await ask('POST', '/api/website/generate', { external_ref: 'guessed', content })
    assert.equal([site.status, site.json.replayed], [201, false], site.text)
    assert.not.match(site.text, foreign)
  })

  t('are left alone where they were learnt: the caller gets an invoice of its own, and a repeat finds it', async () => {
    await takeInvoice(namesOf('inv', 'learnt')(0), 'learnt')
    const body = order({ external_ref: 'learnt' })
    const made = await ask('POST', '/api/invoices', body)
    assert.equal([made.status, made.json.invoice?.client_name], [201, 'ACME'], made.text)
    assert.is(made.json.invoice.id, namesOf('inv', 'learnt')(1))
    const again = await ask('POST', '/api/invoices', body)
    assert.equal([again.status, again.json.number, again.json.password], [200, made.json.number, made.json.password])
    assert.not.match(made.text + again.text, foreign)
  })

  t('and a site of its own', async () => {
    await takeSite(namesOf('site', 'learnt')(0), 'learnt')
    const body = { external_ref: 'learnt', content: { meta: { company_name: 'Own' } } }
    const made = await ask('POST', '/api/website/generate', body)
    assert.equal([made.status, made.json.site.id], [201, namesOf('site', 'learnt')(1)], made.text)
    const again = await ask('POST', '/api/website/generate', body)
    assert.equal([again.status, again.json.replayed, again.json.site.id], [200, true, made.json.site.id], again.text)
    assert.not.match(made.text + again.text, foreign)
  })

  t(
    'are told of by a refusal that says nothing else, where all are taken; the place of the send is free again',
    async () => {
      const names = namesOf('inv', 'all')
      for (const n of [0, 1, 2, 3]) await takeInvoice(names(n), `all-${n}`)
      const used = async () => (await ask('GET', '/api/account')).json.account.quotas.sends_per_day.used
      const before = await used()
      const refused = await ask('POST', '/api/invoices', order({ external_ref: 'all' }))
      assert.equal([refused.status, refused.json.code], [409, 'NAME_TAKEN'], refused.text)
      assert.not.match(refused.text, foreign)
      assert.is(await used(), before)
    },
  )

  t('one reference asked for twice at once is one invoice, under whatever name', async () => {
    await takeInvoice(namesOf('inv', 'crowd')(0), 'crowd')
    const body = order({ external_ref: 'crowd' })
    const replies = await Promise.all([1, 2, 3, 4].map(() => ask('POST', '/api/invoices', body)))
    assert.is(new Set(replies.map(({ json }) => json.number)).size, 1, replies.map(({ text }) => text).join('\n'))
  })

  t('a reference that kubectl gave an invoice of the same account is that invoice', async () => {
    const { items, ...rest } = order()
    const spec = { account: 'demo', externalRef: 'by-kubectl', send: true, currency: 'EUR', taxRateBp: 2000 }
    const client = { clientName: rest.client_name, clientEmail: rest.client_email, dueDate: rest.due_date }
    const lines = [{ description: items[0]?.description, qty: '1.5', unitCents: 80_000 }]
    await apply('Invoice', 'inv-by-kubectl', { ...spec, ...client, items: lines })
    const get = () => ask('GET', '/api/invoices/inv-by-kubectl')
    await eventually('the invoice', async () => (await get()).json?.invoice?.number)
    const again = await ask('POST', '/api/invoices', order({ external_ref: 'by-kubectl' }))
    assert.equal([again.status, again.json.invoice.id], [200, 'inv-by-kubectl'], again.text)
  })

  t('a draft under a reference is not the same as its send: refused at once, and no second one is made', async () => {
    const draft = await ask('POST', '/api/invoices', order({ external_ref: 'draft', send: false }))
    assert.is(draft.status, 201, draft.text)
    const sent = await ask('POST', '/api/invoices', order({ external_ref: 'draft' }))
    assert.equal([sent.status, sent.json.code], [409, 'REF_PAYLOAD_MISMATCH'], sent.text)
    const list = await ask('GET', '/api/invoices?external_ref=draft')
    assert.is(list.json.total, 1)
  })
})
