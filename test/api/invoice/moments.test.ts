/**
 * An edited invoice in the midst of its next send: it is on record and mailed, and its view is still that of before. Whoever
 * looks then sees one sum on whatever he looks at, and nobody is led to pay what is asked for no more.
 */
import { displayCents } from '../../../crds/values/money.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type Cards, startCards } from '../../support/doubles/cards.ts'
import { type FaultProxy, startFaultProxy } from '../../support/doubles/faultproxy.ts'
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
import { serviceKubeconfig } from '../../support/stage/stage.ts'

const itemsOf = (unit_cents: number) => [{ description: 'Retainer', qty: 1, unit_cents }]
const BEFORE = 120_000
const SINCE = 300_000
const money = (cents: number): string => displayCents(cents, 'EUR')
/** Each by the taxes that they all bear. */
const total = (cents: number): number => (cents * 12) / 10

let platform: Platform
let cards: Cards
let proxy: FaultProxy
const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  call(platform.baseUrl, platform.owner, method, `/api/invoices${path}`, body, headers)
const read = async (id: string): Promise<Json> => (await ask('GET', `/${id}`)).json.invoice
const sql = (text: string, values: unknown[]) => query(platform.database.url, text, values)
const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

const cookieOf = async (path: string, password: string): Promise<string> => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const entered = await call(platform.baseUrl, null, 'POST', path, `password=${password}`, form)
  return entered.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
}
const pageOf = async (path: string, cookie: string): Promise<string> =>
  (await call(platform.baseUrl, null, 'GET', path, undefined, { cookie })).text
const documentOf = async (id: string): Promise<string> => {
  const headers = { authorization: `Bearer ${platform.owner}` }
  const pdf = await fetch(`${platform.baseUrl}/api/invoices/${id}/pdf`, { headers })
  return readPdf(Buffer.from(await pdf.arrayBuffer()))
    .pages.flat()
    .join('\n')
}
const openSessions = (id: string) =>
  [...cards.sessions.values()].filter(({ metadata, status }) => metadata.invoice_id === id && status === 'open')

/** No other sum, wherever: the form would ask for it, and what was edited was sent. */
const assertPage = (html: string, due: number, other: number): void => {
  const text = textOf(html)
  assert.ok(text.includes(`Amount due ${money(due)}`) && text.includes(`Total ${money(due)}`), text)
  assert.not.ok(text.includes(money(other)), `${money(other)} on the page: ${text}`)
}

spec('an invoice whose next send is under way', (t) => {
  t.before(async () => {
    proxy = await startFaultProxy(serviceKubeconfig('controllers'))
    cards = await startCards(() => platform.baseUrl)
    const kubeconfigs = { api: serviceKubeconfig('api'), controllers: proxy.kubeconfig }
    platform = await startPlatform({ env: cards.env, kubeconfigs })
    await ask('POST', '/settings/rails', { rail: 'stripe', enabled: true })
  })
  t.after(async () => {
    await platform?.end()
    await cards?.end()
    await proxy?.close()
  })

  t(
    'shows one sum to whoever looks, before its view is made anew, and leads nobody to the checkout of before',
    async () => {
      const made = await ask('POST', '', order({ items: itemsOf(BEFORE) }))
      assert.is(made.status, 201, made.text)
      const { id, url } = made.json.invoice
      const { pathname: path } = new URL(url)
      const first = await cookieOf(path, made.json.password)
      const json = { accept: 'application/json', prefer: 'respond-async' }
      const pay = (cookie: string) =>
        call(platform.baseUrl, null, 'POST', `${path}/pay`, undefined, { ...json, cookie })
      await pay(first)
      const [session] = await eventually('a checkout', async () => openSessions(id).length > 0 && openSessions(id))
      assert.is((await ask('PATCH', `/${id}`, { items: itemsOf(SINCE) })).status, 200)

      // an edit alone changes nothing of what is owed
      const edited = await read(id)
      assert.equal([edited.total_cents, edited.balance_cents], [total(BEFORE), total(BEFORE)])
      assert.is(edited.pending_revision.totals.total_cents, total(SINCE))
      const shown = textOf(await pageOf(path, first))
      assert.ok(shown.includes(`Amount due ${money(total(BEFORE))}`), shown)
      assert.ok((await documentOf(id)).includes(money(total(BEFORE))))

      const [held, on] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const isStatus = ({ method, path: asked }: { method: string; path: string }) =>
        method === 'PATCH' && asked.endsWith(`/invoices/${id}/status`)
      proxy.after(isStatus, async () => {
        held.resolve()
        await on.promise
      })
      const asked = await ask('POST', `/${id}/send`, undefined, { prefer: 'respond-async' })
      assert.is(asked.status, 202, asked.text)
      await held.promise
      try {
        const sends = await sql("select n, frozen->'totalCents' as total from sends where resource = $1 order by n", [
          id,
        ])
        assert.equal(sends, [
          { n: 1, total: total(BEFORE) },
          { n: 2, total: total(SINCE) },
        ])
        const entries = await sql(
          'select entry, total_cents::int as total from register where resource = $1 order by step',
          [id],
        )
        assert.equal(entries.at(-1), { entry: 'amended', total: total(SINCE) })
        const view = await read(id)
        assert.equal([view.send_count, view.total_cents, view.balance_cents], [1, total(BEFORE), total(BEFORE)])
        assert.ok((await documentOf(id)).includes(money(total(SINCE))))
        const second = await cookieOf(path, platform.keys.password(id, 2, 1))
        assertPage(await pageOf(path, second), total(SINCE), total(BEFORE))
        const paying = await pay(second)
        assert.not.match(paying.text, session?.id ?? '')
        assert.is(paying.status, 202, paying.text)
        await eventually('the mail', async () =>
          (await mailsIn(platform.mailDir)).some(({ text }) => text?.includes(money(total(SINCE)))),
        )
      } finally {
        on.resolve()
      }

      const view = await eventually('the view', async () => {
        const now = await read(id)
        return now.send_count === 2 && now
      })
      assert.equal([view.total_cents, view.balance_cents, view.pending_revision], [total(SINCE), total(SINCE), null])
      await eventually('the checkout of before to end', async () =>
        openSessions(id).every(({ amount_total }) => amount_total === total(SINCE)),
      )
      assertPage(
        await pageOf(path, await cookieOf(path, platform.keys.password(id, 2, 1))),
        total(SINCE),
        total(BEFORE),
      )
    },
  )
})
