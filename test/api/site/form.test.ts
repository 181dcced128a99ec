/** The contact form of a site, from the post of a visitor to the mail, the list and the event. */
import { randomBytes } from 'node:crypto'
import {
  ADDRESS_MESSAGES,
  KEPT_DAYS,
  MAIL_APART_MS,
  SITE_MESSAGES_PER_DAY,
} from '../../../crds/site/publishing/messages/message.ts'
import { FORM_WORDS } from '../../../crds/site/publishing/messages/words.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { canaryValue } from '../../support/canaries/answers.ts'
import { plant } from '../../support/canaries/plant.ts'
import { openings } from '../../support/judges/policy.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { call, eventually, type Json, mailsIn, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { type FormSite, formSite, liveForm } from '../../support/stage/publishing.ts'

type Posted = { status: number; location: string | null; text: string; headers: Headers }

spec('the contact form of a site', (t) => {
  let platform: Platform
  let other: string
  const as = (token: string, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(platform.baseUrl, token, method, path, body, headers)

  t.before(async () => {
    platform = await startPlatform({
      env: { BOTTEGA_RATE_PER_SECOND: '1000', BOTTEGA_PROXIES: '1', BOTTEGA_DEV_CLOCK: 'on' },
    })
    other = await platform.token('other')
  })
  t.after(() => platform.end())

  const words = FORM_WORDS.en
  let addresses = 0
  /** Each visitor from another house, unless it says from which. */
  const anywhere = () => `198.51.${Math.floor(addresses / 250)}.${(addresses++ % 250) + 1}`
  const written = (change: Record<string, string> = {}) => ({
    name: 'Ana Ruiz',
    email: 'ana@visitor.test',
    message: `Is the jug still there? ${randomBytes(6).toString('hex')}`,
    page: 'index.html',
    website: '',
    ...change,
  })

  const live = ({ label, ...rest }: { label: string; token?: string; content?: object }): Promise<FormSite> =>
    liveForm(platform, { ...rest, url: `https://${label}.forms.test/` })
  const post = async (
    action: string,
    fields: Record<string, string> | string,
    headers: Record<string, string> = {},
  ): Promise<Posted> => {
    const answer = await fetch(action, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'x-forwarded-for': anywhere(),
        ...headers,
      },
      body: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
    })
    const { status } = answer
    return { status, location: answer.headers.get('location'), text: await answer.text(), headers: answer.headers }
  }
  const send = (site: FormSite, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
    post(site.action, written(fields), { origin: site.origin, ...headers })
  const messages = async ({ id, token }: FormSite, path = ''): Promise<Json> =>
    (await as(token, 'GET', `/api/website/${id}/messages${path}`)).json
  const countOf = async (site: FormSite): Promise<number> => (await messages(site)).total
  const stampIn = (text: string): string => /name="stamp" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const inDatabase = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)

  t('posts to the platform, where the policy of the page lets it', async () => {
    const site = await live({ label: 'where' })
    assert.ok(site.action.startsWith(`${platform.baseUrl}/s/`), site.action)
    const { json } = await as(platform.owner, 'GET', `/api/website/${site.id}`)
    const preview = await fetch(json.site.preview_url)
    const policy = preview.headers.get('content-security-policy') ?? ''
    assert.match(policy, `form-action ${platform.baseUrl}/s/;`)
    assert.match(policy, /sandbox allow-forms$/)
    assert.equal(openings(policy), [])
  })

  t('mails the owner what a visitor wrote, thanks the visitor, lists it, and tells of it without a word', async () => {
    const site = await live({ label: 'mail', content: { contact: { form: true, email: 'stranger@elsewhere.test' } } })
    const message = canaryValue('question')
    const sent = await send(site, { message, phone: '+34 600 000 000', email: 'reply@visitor.test' })
    assert.equal(
      [sent.status, sent.location],
      [303, `${new URL(site.action).pathname}/sent?page=index.html`],
      sent.text,
    )

    const thanks = await fetch(`${platform.baseUrl}${sent.location}`)
    const page = await thanks.text()
    assert.is(thanks.status, 200)
    assert.match(page, words.sent)
    assert.match(page, `href="${site.url}#contact"`)
    assert.equal(openings(thanks.headers.get('content-security-policy')), [])

    const mail = await eventually('the mail', async () =>
      (await mailsIn(platform.mailDir)).find(
        ({ subject }) => subject?.includes('Voss Ceramics') && subject.includes('Ana Ruiz'),
      ),
    )
    assert.equal(
      [mail.to?.map(({ address }) => address), mail.replyTo?.map(({ address }) => address)],
      [['owner@demo.test'], ['reply@visitor.test']],
    )
    assert.ok(mail.text?.includes(message) && mail.html?.includes('+34 600 000 000'))
    assert.not.ok(JSON.stringify(mail.headers).includes('stranger@elsewhere.test'))

    const [listed] = (await messages(site)).messages
    assert.equal(
      [listed.name, listed.email, listed.phone, listed.message, listed.held, listed.lang, listed.page],
      ['Ana Ruiz', 'reply@visitor.test', '+34 600 000 000', message, false, 'en', 'index.html'],
    )
    const event = await eventually('the event', async () => {
      const { json } = await as(platform.owner, 'GET', '/api/events')
      return json.events.find((one: Json) => one.type === 'website.message_received' && one.data.site.id === site.id)
    })
    assert.equal(event.data.message, { id: listed.id, held: false })
    assert.not.ok(JSON.stringify(event).includes('Ana'))
  })

  t('keeps what was written sealed, and nothing of it in the cluster', async () => {
    const site = await live({ label: 'sealed' })
    const message = canaryValue('confidence')
    // the rows that are read at the end of a platform are purged by then
    plant('message of a visitor', message)
    await send(site, { message, name: canaryValue('name') })
    const [row] = await inDatabase(
      "select m.*, encode(sealed, 'escape') as plain from site_messages m where site = $1",
      [site.id],
    )
    const [mail] = await inDatabase('select payload from outbox where resource = $1', [`message/${row?.id}`])
    for (const text of [JSON.stringify(row), String(row?.plain), JSON.stringify(mail)])
      assert.not.ok(text.includes(message))
    assert.not.ok((await platform.kubectl(['get', 'wsite', site.id, '-o', 'yaml'])).includes(message))
    assert.not.ok((await platform.kubectl(['get', 'events', '-o', 'yaml'])).includes(message))
  })

  t('thanks a program that fills in what nobody sees, and keeps nothing', async () => {
    const site = await live({ label: 'trap' })
    const sent = await send(site, { website: 'https://spam.test' })
    assert.equal([sent.status, await countOf(site)], [303, 0])
  })

  t('shows what is wrong beside its field, and keeps what was typed', async () => {
    const site = await live({ label: 'faults' })
    const typed = 'A <b>bold</b> & "quoted" one'
    const answer = await send(site, { name: '', email: 'nobody', message: typed })
    assert.equal([answer.status, await countOf(site)], [400, 0])
    assert.match(answer.text, 'id="write-email-fault"')
    assert.ok(answer.text.includes(words.faults.name) && answer.text.includes(words.faults.email))
    assert.ok(answer.text.includes('A &lt;b&gt;bold&lt;/b&gt; &amp; &quot;quoted&quot; one</textarea>'))
    assert.match(answer.text, 'value="nobody"')
    assert.not.match(answer.text, 'write-message-fault')
  })

  t(
    'shows what came from elsewhere once more, and takes it from there, not too soon and not for another site',
    async () => {
      const [site, second] = [await live({ label: 'again' }), await live({ label: 'second' })]
      const fields = written()
      for (const origin of [undefined, 'null', 'https://copy.test', 'https://again.forms.test.evil.test']) {
        const shown = await post(site.action, fields, origin === undefined ? {} : { origin })
        assert.equal([shown.status, await countOf(site)], [200, 0], origin)
        assert.ok(shown.text.includes(words.once) && shown.text.includes(fields.message))
      }
      const shown = await post(site.action, fields, { origin: 'null' })
      const stamped = { ...fields, stamp: stampIn(shown.text) }
      const early = await post(site.action, stamped, { origin: platform.baseUrl })
      assert.equal([early.status, await countOf(site)], [200, 0])
      await eventually('a person to have read it', async () => (await post(site.action, stamped)).status === 303)
      assert.is(await countOf(site), 1)
      const crossed = await post(second.action, stamped)
      assert.equal([crossed.status, await countOf(second)], [200, 0])
      const forged = await post(second.action, { ...stamped, stamp: 'AAAA' })
      assert.equal([forged.status, await countOf(second)], [200, 0])
    },
  )

  t('is one message when it is sent twice, by two at once too, and another one an hour later', async () => {
    const site = await live({ label: 'twice' })
    const fields = written()
    const all = await Promise.all([1, 2, 3, 4].map(() => send(site, fields)))
    assert.equal(
      all.map(({ status }) => status),
      [303, 303, 303, 303],
    )
    assert.is(await countOf(site), 1)
    const outbox =
      "select count(*)::int as mails from outbox where purpose = 'message' and resource in (select 'message/' || id from site_messages where site = $1)"
    assert.equal(await inDatabase(outbox, [site.id]), [{ mails: 1 }])
    await inDatabase("update site_messages set at = at - interval '61 minutes' where site = $1", [site.id])
    await send(site, fields)
    assert.is(await countOf(site), 2)
  })

  t('holds what has many links: listed and told, and mailed to nobody', async () => {
    const site = await live({ label: 'held' })
    const sent = await send(site, { message: 'https://a.test https://b.test https://c.test' })
    const { messages: listed, held } = await messages(site)
    assert.equal([sent.status, held, listed[0].held, listed[0].mail], [303, 1, true, null])
  })

  t('sends nothing while the site is not live, and says so in its language', async () => {
    const site = await formSite(platform, { meta: { company_name: 'Voss', lang: 'es' } })
    const { action } = site
    const answer = await post(action, written(), { origin: 'null' })
    assert.is(answer.status, 409)
    assert.ok(answer.text.includes(FORM_WORDS.es.closed) && answer.text.includes('lang="es"'))
    assert.is((await fetch(action)).status, 409)
    assert.is((await as(platform.owner, 'GET', `/api/website/${site.id}/messages`)).json.total, 0)
  })

  t('is dead alike for what was never given out, what was ended, and another purpose', async () => {
    const site = await live({ label: 'ended' })
    const { json } = await as(platform.owner, 'GET', `/api/website/${site.id}`)
    const preview = new URL(json.site.preview_url).pathname.split('/')[2]
    const rotated = await as(
      platform.owner,
      'POST',
      `/api/website/${site.id}/form/rotate`,
      {},
      { prefer: 'respond-async' },
    )
    assert.is(rotated.status, 202, rotated.text)
    const texts = new Set<string>()
    for (const action of [site.action, `${platform.baseUrl}/s/none`, `${platform.baseUrl}/s/${preview}`]) {
      const answer = await post(action, written(), { origin: site.origin, 'accept-language': 'es' })
      assert.is(answer.status, 404, action)
      texts.add(answer.text)
    }
    assert.is(texts.size, 1)
    assert.ok([...texts][0]?.includes(FORM_WORDS.es.dead))
    assert.is(await countOf(site), 0)
  })

  t('leads back to nothing but a page of the site', async () => {
    const site = await live({ label: 'back' })
    for (const page of ['https://evil.test/index.html', '//evil.test', '../../index.html', 'javascript:alert(1)']) {
      const sent = await send(site, { page })
      assert.is(sent.location, `${new URL(site.action).pathname}/sent?page=index.html`)
      const shown = await (await fetch(`${site.action}/sent?page=${encodeURIComponent(page)}`)).text()
      assert.match(shown, `href="${site.url}#contact"`)
      assert.not.match(shown, /evil|javascript:/)
    }
  })

  const ODD: [string, string, Record<string, string>, number][] = [
    ['a body that is too large', `message=${'a'.repeat(40_000)}`, {}, 413],
    ['JSON', JSON.stringify({ name: 'A' }), { 'content-type': 'application/json' }, 400],
    [
      'a form in parts',
      '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nA\r\n--x--',
      { 'content-type': 'multipart/form-data; boundary=x' },
      400,
    ],
    ['bytes of no encoding', 'name=%FF%FE&email=%00&message=%C3%28', {}, 400],
    ['nothing', '', {}, 400],
    ['a header in the address', 'name=A&email=a%40b.test%0D%0ABcc%3A+c%40d.test&message=M', {}, 400],
  ]
  t('refuses what is odd, and keeps nothing of it', async () => {
    const site = await live({ label: 'odd' })
    for (const [say, body, headers, status] of ODD) {
      assert.is((await post(site.action, body, { origin: site.origin, ...headers })).status, status, say)
    }
    assert.is(await countOf(site), 0)
  })

  t('takes so many of one address, over all sites, and says when to come back', async () => {
    const [site, second] = [await live({ label: 'address' }), await live({ label: 'neighbour' })]
    const from = { 'x-forwarded-for': '203.0.113.7' }
    for (let n = 0; n < ADDRESS_MESSAGES; n++) assert.is((await send(n % 2 ? site : second, {}, from)).status, 303)
    const over = await send(site, { message: 'One too many' }, from)
    assert.is(over.status, 429)
    const wait = Number(over.headers.get('retry-after'))
    assert.ok(wait > 0 && wait <= 600, String(wait))
    assert.ok(over.text.includes(words.tooMany.slice(0, 0)) && over.text.includes('One too many</textarea>'))
    assert.is((await send(site)).status, 303)
    assert.is((await countOf(site)) + (await countOf(second)), ADDRESS_MESSAGES + 1)
  })

  t('takes so many for one site on a day, and those of another account go on', async () => {
    const site = await live({ label: 'flooded' })
    const beside = await live({ label: 'beside', token: other })
    const fill = `
      insert into site_messages (id, site, account, key, sealed, held, day, at)
      select 'fill-' || n, m.site, m.account, sha256(n::text::bytea), m.sealed, true, m.day, m.at
      from site_messages m, generate_series(1, $2) n where m.site = $1`
    await send(site)
    await inDatabase(fill, [site.id, SITE_MESSAGES_PER_DAY - 2])
    assert.is((await send(site)).status, 303)
    const full = await send(site)
    assert.equal([full.status, full.text.includes(words.full)], [429, true])
    assert.ok(Number(full.headers.get('retry-after')) <= 86_400)
    assert.is((await send(beside)).status, 303)
    await inDatabase("delete from site_messages where id like 'fill-%'")
    assert.is((await send(site)).status, 303)
  })

  t('counts against what the account may be sent on a day, which the account shows', async () => {
    const used = async () => (await as(other, 'GET', '/api/account')).json.account.quotas.messages_per_day
    const [site, second] = [
      await live({ label: 'quota', token: other }),
      await live({ label: 'quota-2', token: other }),
    ]
    const before = await used()
    await send(site)
    const after = await used()
    assert.equal([after.used - before.used, after.limit], [1, 1000])
    await platform.kubectl([
      'patch',
      'acct',
      'other',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { limits: { messagesPerDay: after.used } } }),
    ])
    await eventually('the limit', async () => (await used()).limit === after.used)
    assert.is((await send(second)).status, 429)
    await platform.kubectl(['patch', 'acct', 'other', '--type=merge', '-p', JSON.stringify({ spec: { limits: null } })])
    await eventually('the limit to be gone', async () => (await used()).limit === 1000)
    assert.is((await send(second)).status, 303)
  })

  t('lets the mails of a flood leave one after another', async () => {
    const site = await live({ label: 'apart', token: other })
    await Promise.all([1, 2, 3].map(() => send(site)))
    const rows = await inDatabase(
      'select extract(epoch from mail_at) * 1000 as at from site_messages where site = $1 order by mail_at',
      [site.id],
    )
    const at = rows.map((row) => Number(row.at))
    assert.is(at.length, 3)
    for (const [index, ms] of at.entries()) {
      if (index > 0) assert.ok(ms - (at[index - 1] ?? 0) >= MAIL_APART_MS, at.join())
    }
  })

  t('shows no message to another account, deletes one with its mail, and pages', async () => {
    const site = await live({ label: 'own' })
    for (const name of ['One', 'Two', 'Three']) await send(site, { name })
    const page = await messages(site, '?limit=1&offset=1')
    assert.equal([page.total, page.limit, page.offset, page.messages.length], [3, 1, 1, 1])
    const [{ id }] = page.messages
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', `/${id}`],
    ] as const) {
      assert.is((await as(other, method, `/api/website/${site.id}/messages${path}`)).status, 404)
    }
    const mine = await live({ label: 'mine', token: other })
    assert.is((await as(other, 'DELETE', `/api/website/${mine.id}/messages/${id}`)).status, 404)
    assert.is((await as(platform.owner, 'DELETE', `/api/website/${site.id}/messages/${id}`)).status, 204)
    assert.is((await as(platform.owner, 'DELETE', `/api/website/${site.id}/messages/${id}`)).status, 404)
    assert.is(await countOf(site), 2)
    assert.equal(await inDatabase('select 1 from outbox where resource = $1', [`message/${id}`]), [])
  })

  t('forgets messages after their days, by the clock of the platform', async () => {
    const site = await live({ label: 'old' })
    await send(site)
    const admin = await addAccount(platform, 'admin', { role: 'admin' })
    const ask = (advance: string) => as(admin, 'POST', '/api/dev/clock', { advance })
    assert.is((await ask(`P${KEPT_DAYS - 1}D`)).status, 200)
    assert.is(await countOf(site), 1)
    assert.is((await ask('P2D')).status, 200)
    await eventually('the sweep', async () => (await countOf(site)) === 0)
    const left = "select count(*)::int as rows from outbox where purpose = 'message'"
    assert.equal(await inDatabase(left), [{ rows: 0 }])
  })
})
