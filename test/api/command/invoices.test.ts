/** Commands on invoices that are answered before they are decided: at the operation stands what a caller who waited is told. */
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

const ASYNC = { prefer: 'respond-async' }
const ALL = '/api/invoices'

spec('an invoice, asked for by who does not wait', (t) => {
  let platform: Platform
  const owner = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
    call(platform.baseUrl, platform.owner, method, path, body, headers)
  const make = async (change: Record<string, unknown> = {}): Promise<Json> => {
    const made = await owner('POST', ALL, order(change))
    assert.is(made.status, 201, made.text)
    return made.json
  }
  /** Each is asked while nobody decides, and answered 202. @returns their operations once they are settled, by their order */
  const decidedLater = async (asks: (() => Promise<Reply>)[]): Promise<Json[]> => {
    const replies: Reply[] = []
    await platform.controllers.stop()
    try {
      for (const ask of asks) replies.push(await ask())
    } finally {
      await platform.controllers.start()
    }
    return Promise.all(
      replies.map(({ status, headers, json, text }) => {
        const location = headers.get('location') ?? ''
        assert.equal([status, location], [202, `/api/operations/${json.operation_id}`], text)
        return eventually('the verdict', async () => {
          const { operation } = (await owner('GET', location)).json
          return operation.state !== 'pending' && operation
        })
      }),
    )
  }
  const later =
    (path: string, body?: unknown, method = 'POST') =>
    () =>
      owner(method, path, body, ASYNC)
  const sendsUsed = async (): Promise<number> =>
    (await owner('GET', '/api/account')).json.account.quotas.sends_per_day.used

  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000' } })
  })
  t.after(() => platform.end())

  t('is told of its number and its password when it is made', async () => {
    const asked = order({ external_ref: 'made-later' })
    const [made] = await decidedLater([later(ALL, asked)])
    assert.equal([made.state, made.status, made.resource], ['succeeded', 201, `${ALL}/${made.result.invoice.id}`])
    const { idempotent_replay, invoice, ...again } = (await owner('POST', ALL, asked)).json
    const { invoice: first, ...told } = made.result
    assert.equal([told, first.id, idempotent_replay], [again, invoice.id, true])
    assert.ok(told.number && told.password)
  })

  t('is told of what became of each change, in the words of its route', async () => {
    const draft = await make({ send: false })
    const [edited, gone, repeated, voided] = await Promise.all([make(), make({ send: false }), make(), make()])
    const one = ({ invoice }: Json, rest = '') => `${ALL}/${invoice.id}${rest}`
    const operations = await decidedLater([
      later(one(edited), { terms: '30 days' }, 'PATCH'),
      later(one(draft, '/send')),
      later(one(gone), undefined, 'DELETE'),
      later(one(repeated, '/recurrence'), { every: 'month', day: 1, mode: 'draft' }),
      later(one(voided, '/void')),
    ])
    assert.equal(
      operations.map(({ state, status, result }) => [state, status, result && Object.keys(result)]),
      [
        ['succeeded', 200, ['invoice']],
        ['succeeded', 200, ['number', 'url', 'password', 'invoice']],
        ['succeeded', 204, null],
        ['succeeded', 200, ['recurrence']],
        ['succeeded', 200, ['invoice']],
      ],
    )
    const [change, send, , , end] = operations
    assert.equal([change.result.invoice.terms, end.result.invoice.status], ['30 days', 'voided'])
    assert.equal([send.result.invoice.status, send.result.invoice.send_count], ['sent', 1])
  })

  t('is told of each fact that was accepted, and of the one that was not', async () => {
    const { invoice, password } = await make()
    const path = `${ALL}/${invoice.id}`
    const half = Math.ceil(invoice.total_cents / 2)
    const [paid, reminded, again, credited, refused] = await decidedLater([
      later(`${path}/payments`, { amount_cents: half, reference: 'TX-1' }),
      later(`${path}/remind`),
      later(`${path}/send`),
      later(`${path}/credit-note`, { amount_cents: 100, reason: 'Late' }),
      later(`${path}/payments`, { amount_cents: half, reference: 'TX-2' }),
    ])
    assert.equal([paid.status, paid.result.invoice.payments[0].reference], [200, 'TX-1'])
    assert.equal([reminded.status, Object.keys(reminded.result)], [200, ['reminder', 'invoice']])
    assert.equal([again.status, again.result.invoice.send_count], [200, 2])
    assert.ok(again.result.password && again.result.password !== password)
    assert.equal([credited.status, credited.result.credit_note.amount_cents], [201, 100])
    assert.equal([refused.state, refused.problem.code, 'result' in refused], ['refused', 'BAD_PAID_AMOUNT', false])
  })

  t('has its place among the sends of the day again when it is refused later', async () => {
    const made = await owner('POST', `${ALL}/issuers`, { number_prefix: 'LATER' })
    const { id } = made.json.issuer
    const draft = await make({ send: false, issuer_id: id })
    const before = await sendsUsed()
    const [send] = await decidedLater([
      async () => {
        const asked = await owner('POST', `${ALL}/${draft.invoice.id}/send`, undefined, ASYNC)
        assert.is(await sendsUsed(), before + 1)
        assert.is((await owner('DELETE', `${ALL}/issuers/${id}`)).status, 204)
        return asked
      },
    ])
    assert.equal([send.state, send.problem.code], ['refused', 'BAD_ISSUER'])
    assert.is(await sendsUsed(), before)
  })

  t('has its rail switched when the account is looked at', async () => {
    const body = { rail: 'stripe', enabled: true }
    const [rail] = await decidedLater([later(`${ALL}/settings/rails`, body)])
    assert.equal([rail.state, rail.status, rail.result], ['succeeded', 200, { ...body, available: false }])
    // the first look finds it so
    assert.is((await owner('POST', `${ALL}/settings/rails`, body, ASYNC)).status, 200)
  })
})
