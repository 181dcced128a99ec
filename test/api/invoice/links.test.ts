/** Links and passwords of pages that were given away are ended, over REST and by kubectl, on real parts; sites beside invoices. */
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, type Minter, makeMinter } from '../../support/stage/callers.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  startPlatform,
} from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'

let platform: Platform
let minter: Minter

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const ask = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  by: string | null = null,
) => call(platform.baseUrl, by, method, path, body, headers)
const own = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  ask(method, path, body, headers, platform.owner)
const sure = async (path: string, body: unknown = {}): Promise<Json> => {
  const reply = await own('POST', path, body)
  assert.ok(reply.status < 300, `${path}: ${reply.status} ${reply.text}`)
  return reply.json
}
const pathOf = (url: string) => new URL(url).pathname
const read = async (id: string): Promise<Json> => (await own('GET', `/api/invoices/${id}`)).json.invoice
const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)
const factsOf = async (id: string) =>
  (await sql("select key, body, state from facts where resource = $1 and kind = 'link' order by seq", [id])).map(
    ({ key, body, state }) => ({ key, ...(body as Json), state }),
  )
const toldOf = async (id: string): Promise<string[]> =>
  (
    await sql("select payload ->> 'type' as type from outbox where resource = $1 and channel = 'event' order by id", [
      id,
    ])
  ).map(({ type }) => String(type))
const patch = (kind: string, name: string, change: object) =>
  platform.kubectl(['patch', kind, name, '--type=merge', '-p', JSON.stringify({ spec: change })])
const statusOf = async (kind: string, name: string): Promise<Json> =>
  JSON.parse(await platform.kubectl(['get', kind, name, '-o', 'json'])).status

type Client = { id: string; path: string; password: string; cookie: string }
const enter = (path: string, password: string) => ask('POST', path, `password=${password}`, FORM)
/** Past the gate, or what its cookie is worth. */
const sees = async (path: string, cookie: string) => (await ask('GET', `${path}/pdf`, undefined, { cookie })).status
const opened = async (change: Record<string, unknown> = {}): Promise<Client> => {
  const { invoice, url, password } = await sure('/api/invoices', order(change))
  const path = pathOf(url)
  const entered = await enter(path, password)
  assert.is(entered.status, 303)
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  assert.is(await sees(path, cookie), 200)
  return { id: invoice.id, path, password, cookie }
}

spec('links that were given away', (t) => {
  t.before(async () => {
    platform = await startPlatform()
    minter = makeMinter(platform)
  })
  t.after(async () => {
    await minter.end()
    await platform.end()
  })

  t('lead nowhere once they are ended, with the visits that they began; the new one is told and mailed', async () => {
    const client = await opened({ client_email: 'ended@acme.test' })
    const { status, json } = await own('POST', `/api/invoices/${client.id}/link/rotate`, { reason: 'In a forum' })
    assert.equal([status, json.version, json.invoice.link_versions], [200, 2, { link: 2, password: 1 }])
    const fresh = pathOf(json.url)
    assert.is.not(fresh, client.path)
    assert.is(json.invoice.url, json.url)
    assert.is(json.password, client.password, 'the password stays')
    assert.equal(
      [await sees(client.path, client.cookie), (await enter(client.path, client.password)).status],
      [404, 404],
    )
    assert.is(await sees(fresh, client.cookie), 401, 'what the old link opened is over')
    assert.is((await enter(fresh, json.password)).status, 303)
    assert.equal(await factsOf(client.id), [
      { key: 'link:link:2', purpose: 'link', version: 2, by: 'demo', reason: 'In a forum', state: 'accepted' },
    ])
    assert.equal((await toldOf(client.id)).at(-1), 'invoice.link_rotated')
    const [audited] = await sql(
      "select count(*) as n from audit where account = 'demo' and entry::text like '%/link/rotate%'",
    )
    assert.is(Number(audited?.n), 1)
    await sure(`/api/invoices/${client.id}/remind`)
    const reminder = await eventually('the reminder', async () =>
      (await mailsIn(platform.mailDir)).find(
        ({ to, text }) => to?.[0]?.address === 'ended@acme.test' && text?.includes(fresh),
      ),
    )
    assert.not.ok(reminder.text?.includes(client.path))
    const again = await sure(`/api/invoices/${client.id}/send`)
    assert.is(pathOf(again.url), fresh)
    assert.is((await enter(fresh, again.password)).status, 303)
  })

  t(
    'answer alike whether they were ended or never made, in the language that is asked for, with what to do',
    async () => {
      const client = await opened()
      await sure(`/api/invoices/${client.id}/link/rotate`)
      const never = client.path.slice(0, -1) + (client.path.endsWith('A') ? 'B' : 'A')
      for (const [headers, words] of [
        [{}, /ask the sender for a new link/],
        [{ 'accept-language': 'fr, es-MX;q=0.8, en;q=0.5' }, /pida un enlace nuevo/],
        [{ 'accept-language': 'zh-TW' }, /索取新的連結/],
      ] as const) {
        const [dead, none] = [
          await ask('GET', client.path, undefined, headers),
          await ask('GET', never, undefined, headers),
        ]
        assert.equal([dead.status, dead.text], [404, none.text])
        assert.match(dead.text, words)
      }
      const json = await ask('GET', client.path, undefined, { accept: 'application/json' })
      assert.equal([json.status, json.json.code], [404, 'NOT_FOUND'])
    },
  )

  t('are ended once, however often it is asked for', async () => {
    const { id } = await opened()
    const asked = () => own('POST', `/api/invoices/${id}/link/rotate`, { version: 2 })
    const answers = await Promise.all([asked(), asked(), asked()])
    assert.equal(
      answers.map(({ status, json }) => [status, json.version]),
      Array(3).fill([200, 2]),
    )
    assert.equal((await asked()).json.replayed, true)
    const once = { 'idempotency-key': `rotate-${id}` }
    const turn = () => own('POST', `/api/invoices/${id}/link/rotate`, {}, once)
    assert.equal([(await turn()).json.version, (await turn()).json.version], [3, 3])
    assert.is((await factsOf(id)).length, 2)
    assert.is((await own('POST', `/api/invoices/${id}/link/rotate`, { version: 0 })).json.code, 'INVALID_FIELD')
  })

  t('a password alone is ended, with the visits that it began; the link stays', async () => {
    const client = await opened()
    const { json } = await own('POST', `/api/invoices/${client.id}/password/rotate`)
    assert.equal([json.version, pathOf(json.url)], [2, client.path])
    assert.is.not(json.password, client.password)
    assert.is(await sees(client.path, client.cookie), 401)
    assert.equal(
      [(await enter(client.path, client.password)).status, (await enter(client.path, json.password)).status],
      [403, 303],
    )
  })

  t('by kubectl in the same words; a version never goes back, and a voided or paid invoice takes it too', async () => {
    const { id, path } = await opened()
    await sure(`/api/invoices/${id}/void`)
    await patch('inv', id, { linkVersions: { link: 4 } })
    await eventually('the new link', async () => (await statusOf('inv', id)).linkVersions?.link === 4)
    assert.is((await ask('GET', path)).status, 404)
    const { url, link_versions } = await read(id)
    assert.equal([(await ask('GET', pathOf(url))).status, link_versions.link], [200, 4])
    assert.equal(
      (await factsOf(id)).map(({ key, by }) => [key, by]),
      [['link:link:4', null]],
    )
    const refused = await patch('inv', id, { linkVersions: { link: 3 } }).catch((error: Error) => error.message)
    assert.match(String(refused), /a version never goes back/)
    const other = await patch('inv', id, { terms: 'other' }).catch((error: Error) => error.message)
    assert.match(String(other), /LOCKED_VOID/)
    assert.is((await own('POST', `/api/invoices/${id}/link/rotate`)).json.version, 5, 'REST counts on from there')
    const paid = await opened()
    await sure(`/api/invoices/${paid.id}/payments`)
    await patch('inv', paid.id, { linkVersions: { password: 2 } })
    await eventually('the end of it', async () => (await enter(paid.path, paid.password)).status === 403)
  })

  t('are dead from when it is stored, with nobody there to take it in', async () => {
    const client = await opened()
    const { site } = await sure('/api/website/generate', { content: siteContent() })
    const preview = pathOf(site.preview_url)
    assert.is((await ask('GET', preview)).status, 200)
    await platform.controllers.stop()
    const soon = { prefer: 'respond-async' }
    for (const path of [`/api/invoices/${client.id}/link/rotate`, `/api/website/${site.id}/preview/rotate`])
      assert.is((await own('POST', path, {}, soon)).status, 202)
    assert.equal([(await ask('GET', client.path)).status, (await ask('GET', preview)).status], [404, 404])
    assert.equal(
      (await factsOf(client.id)).map(({ state }) => state),
      ['pending'],
    )
    await platform.controllers.start()
    const { url } = await eventually('the view', async () => {
      const view = await read(client.id)
      return view.link_versions.link === 2 && view
    })
    assert.equal([(await ask('GET', pathOf(url))).status, (await ask('GET', client.path)).status], [200, 404])
  })

  t('of a site: the preview with what a reviewer had opened of it, and the page of the review', async () => {
    const { site } = await sure('/api/website/generate', { content: siteContent() })
    const { site: submitted } = await sure(`/api/website/${site.id}/submit-review`)
    await addAccount(platform, 'reader', { role: 'reviewer' })
    const by = await minter.session('reader')
    const review = pathOf(submitted.review.url)
    const look = (path: string) => ask('GET', path, undefined, {}, by)
    const form = /name="form_token" value="([^"]+)"/.exec((await look(review)).text)?.[1] ?? ''
    const open = (path: string) =>
      ask('POST', `${path}/open`, `form_token=${form}`, { ...FORM, origin: platform.baseUrl }, by)
    const frozen = (await open(review)).headers.get('location') ?? ''
    assert.is((await ask('GET', pathOf(new URL(frozen, platform.baseUrl).href))).status, 200)

    const previewed = await sure(`/api/website/${site.id}/preview/rotate`, { reason: 'Left the team' })
    assert.equal([previewed.version, previewed.site.link_versions], [2, { preview: 2, review: 1, form: 1 }])
    const old = [pathOf(site.preview_url), pathOf(new URL(frozen, platform.baseUrl).href)]
    for (const path of old) assert.is((await ask('GET', path)).status, 404)
    assert.is((await ask('GET', pathOf(previewed.url))).status, 200)
    const anew = (await open(review)).headers.get('location') ?? ''
    assert.is((await ask('GET', pathOf(new URL(anew, platform.baseUrl).href))).status, 200)

    const reviewed = await sure(`/api/website/${site.id}/review/rotate`)
    assert.equal([(await look(review)).status, (await open(review)).status], [404, 404])
    assert.is((await look(pathOf(reviewed.url))).status, 200)
    await patch('wsite', site.id, { linkVersions: { review: 7 } })
    await eventually('the end of it', async () => (await look(pathOf(reviewed.url))).status === 404)
    assert.equal((await statusOf('wsite', site.id)).linkVersions, { preview: 2, review: 7 })
    assert.equal((await toldOf(site.id)).filter((type) => type === 'website.link_rotated').length, 3)
  })

  /** As if the database had been copied before: neither the facts nor the views know of it. */
  const forget = async (name: string) => {
    await sql('alter table facts disable trigger user')
    await sql("delete from facts where kind = 'link' and resource = $1", [name])
    await sql('alter table facts enable trigger user')
    await sql("update mirror set view = (view::jsonb - 'link_versions')::json where name = $1", [name])
  }

  t('are ended again where the database has forgotten that they were, by what the resource knows', async () => {
    const { site } = await sure('/api/website/generate', { content: siteContent() })
    const preview = pathOf(site.preview_url)
    await sure(`/api/website/${site.id}/preview/rotate`)
    await platform.controllers.stop()
    await forget(site.id)
    assert.is((await ask('GET', preview)).status, 200, 'it has forgotten')
    await platform.controllers.start()
    const again = await eventually('it to be on record again', async () => {
      const facts = await factsOf(site.id)
      return facts.length > 0 && facts
    })
    assert.equal(
      again.map(({ key, reason }) => [key, reason]),
      [['link:preview:2', 'restored']],
    )
    assert.is((await ask('GET', preview)).status, 404)
    const told = (await toldOf(site.id)).filter((type) => type === 'website.link_rotated')
    assert.is(told.length, 1, 'nobody is told again')
  })

  t('stay dead while an older copy of the database is known to be one, and nobody leads', async () => {
    const client = await opened()
    await sure(`/api/invoices/${client.id}/link/rotate`)
    const fresh = pathOf((await read(client.id)).url)
    await platform.controllers.stop()
    await forget(client.id)
    assert.is((await ask('GET', client.path)).status, 200, 'it has forgotten')
    await platform.controllers.start()
    await eventually('the resource to be asked', async () => (await ask('GET', client.path)).status === 404)
    assert.equal(await factsOf(client.id), [], 'that is for a reconciliation to give back')
    const refused = await own('POST', `/api/invoices/${client.id}/link/rotate`)
    assert.equal([refused.status, refused.json.code], [503, 'LEDGER_BEHIND'])
    assert.is((await ask('GET', fresh)).status, 200)
  })
})
