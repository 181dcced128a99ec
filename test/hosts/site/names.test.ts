import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json } from '../../support/stage/invoicing.ts'
import {
  approve,
  proveDomain,
  type SitePlatform,
  siteContent,
  startSitePlatform,
} from '../../support/stage/publishing.ts'

/** Two accounts and one domain, on a real host, under real TLS, with a real DNS: nobody is served who has not proven it. */

const LONG = { timeoutMs: 180_000 }
const DOMAIN = 'www.contested-shop.test'

spec('two accounts and one domain', (t) => {
  let platform: SitePlatform
  let other: string
  let mine: string
  let theirs: string
  const get = async (id: string, token?: string) =>
    (await platform.as('GET', `/api/website/${id}`, undefined, token)).json.site
  const nameOf = (site: Json) => site.domains.find((one: Json) => one.name === DOMAIN)
  const make = async (title: string, token: string): Promise<string> => {
    const content = siteContent({ hero: { title, lede: 'Two want the name.' } })
    const made = await platform.as('POST', '/api/website/generate', { content }, token)
    assert.is(made.status, 201, made.text)
    return made.json.site.id
  }
  const act = (id: string, action: string, token: string, body: object = {}) =>
    platform.as('POST', `/api/website/${id}/${action}`, body, token)
  const approveOf = async (id: string, token: string) => {
    assert.is((await act(id, 'submit-review', token)).status, 200)
    const decided = await platform.as(
      'POST',
      `/api/website/${id}/decision`,
      { decision: 'approve', note: 'fine' },
      platform.reviewer,
    )
    assert.is(decided.status, 200, decided.text)
  }
  const setDomain = (id: string, token: string) =>
    platform.as('PUT', `/api/website/${id}/domain`, { domain: DOMAIN }, token)
  const inCluster = async (id: string) => JSON.parse(await platform.kubectl(['get', 'wsite', id, '-o', 'json']))
  const advance = async (by: string) => {
    const moved = await call(platform.baseUrl, platform.admin, 'POST', '/api/dev/clock', { advance: by })
    assert.is(moved.status, 200, moved.text)
  }
  /** What a visitor gets: words, or that there is nothing under the name. */
  const seen = async (): Promise<string> => {
    const page = await platform.visit(DOMAIN).catch(() => null)
    if (page === null || page.status !== 200) return 'nothing'
    return /Owner of the name/.test(page.text) ? 'mine' : 'theirs'
  }
  const stateOf = (id: string, state: string, token?: string) =>
    eventually(
      `${id} to be ${state}`,
      async () => {
        const site = await get(id, token)
        return nameOf(site)?.state === state && site
      },
      60_000,
    )
  const toldOf = async (id: string): Promise<string[]> => {
    const text =
      "select payload ->> 'type' as type from outbox where channel = 'event' and resource = $1 and payload ->> 'type' like '%domain%' order by id"
    return (await query(platform.database.url, text, [id])).map(({ type }) => String(type))
  }

  t.before(async () => {
    platform = await startSitePlatform({ BOTTEGA_DEV_CLOCK: 'on' })
    other = await platform.token('other')
    mine = await make('Owner of the name', platform.owner)
    theirs = await make('Somebody else', other)
    await approve(platform, mine)
    await approveOf(theirs, other)
  })
  t.after(() => platform.end())

  t(
    'both claim it, and neither is served before a proof',
    async () => {
      // Who comes first has nothing by it.
      for (const [id, token] of [
        [theirs, other],
        [mine, platform.owner],
      ] as const) {
        const put = await setDomain(id, token)
        assert.equal([put.status, put.json.site.domain], [200, DOMAIN], put.text)
        const refused = await act(id, 'publish', token)
        assert.equal([refused.status, refused.json.code], [409, 'DOMAIN_UNPROVEN'])
      }
      const shown = nameOf(await stateOf(mine, 'asked'))
      assert.equal(
        shown.records.map(({ type, name }: Json) => [type, name]),
        [
          ['TXT', `_bottega-challenge.${DOMAIN}`],
          ['CNAME', DOMAIN],
        ],
      )
      const elsewhere = nameOf(await get(theirs, other))
      assert.is.not(elsewhere.records[0].value, shown.records[0].value)
      // By kubectl neither: desire is no proof.
      await platform.kubectl(['patch', 'wsite', theirs, '--type=merge', '-p', '{"spec":{"publish":true}}'])
      const stalled = await eventually('the refusal', async () => {
        const { status } = await inCluster(theirs)
        return status.conditions.find((one: Json) => one.type === 'Stalled' && one.status === 'True') && status
      })
      const conditions = Object.fromEntries(stalled.conditions.map((one: Json) => [one.type, one]))
      assert.match(conditions.Stalled.message, /^DOMAIN_UNPROVEN: .*TXT _bottega-challenge/)
      assert.equal(
        [conditions.DomainVerified.status, conditions.DomainVerified.reason, stalled.domainState],
        ['False', 'ProofAsked', 'asked'],
      )
      assert.is(stalled.domainRecords.length, 2)
      assert.is(await seen(), 'nothing')
      const routes = await query(platform.database.url, 'select from host_names where hostname = $1', [DOMAIN])
      assert.is(routes.length, 0, 'no route, so no certificate')
    },
    LONG,
  )

  t(
    'who proves it has it and is served; the other is told why not',
    async () => {
      await proveDomain(platform, mine)
      const live = await act(mine, 'publish', platform.owner)
      assert.ok([200, 202].includes(live.status), live.text)
      await eventually('the site', async () => (await seen()) === 'mine', 60_000)
      assert.equal(await toldOf(mine), ['website.domain_verified'])
      // The other shows a proof too: the name is not theirs for that.
      const { name, value } = nameOf(await get(theirs, other)).records[0]
      await platform.dns('set-txt', { host: `${name}.`, value })
      await setDomain(theirs, other)
      const refused = await eventually(
        'the reason',
        async () => {
          const shown = nameOf(await get(theirs, other))
          return /another account/.test(shown.reason ?? '') && shown
        },
        60_000,
      )
      assert.equal([refused.state, refused.served, refused.code], ['asked', false, 'DOMAIN_TAKEN'])
      assert.is(await seen(), 'mine')
    },
    LONG,
  )

  t(
    'a proof that is gone is told of, served for three days, and then the name is served no longer',
    async () => {
      const { name } = nameOf(await get(mine)).records[0]
      await platform.dns('clear-txt', { host: `${name}.` })
      await advance('P1DT1H')
      await stateOf(mine, 'missing')
      assert.is(await seen(), 'mine')
      await eventually('the events', async () => (await toldOf(mine)).at(-1) === 'website.domain_missing')
      await advance('P3D')
      await stateOf(mine, 'lapsed')
      await eventually('the end', async () => (await seen()) === 'nothing', 60_000)
      const site = await eventually('the record of it', async () => {
        const now = await get(mine)
        return now.live_digest === null && now
      })
      assert.is(site.stalled?.code, 'DOMAIN_LAPSED')
      assert.equal(await toldOf(mine), ['website.domain_verified', 'website.domain_missing', 'website.domain_lapsed'])
      const mails = await query(
        platform.database.url,
        "select payload ->> 'mail' as mail from outbox where channel = 'mail' and resource = $1 and payload ->> 'mail' like 'domain-%' order by id",
        [mine],
      )
      assert.equal(
        mails.map(({ mail }) => mail),
        ['domain-missing', 'domain-lapsed'],
      )
    },
    LONG,
  )

  t(
    'the next has it a week later, proven, and the former is not served again by asking',
    async () => {
      const { name, value } = nameOf(await get(theirs, other)).records[0]
      await platform.dns('set-txt', { host: `${name}.`, value })
      await setDomain(theirs, other)
      await advance('P1D')
      assert.is(nameOf(await get(theirs, other)).state, 'asked', 'kept for the former')
      await advance('P7D')
      await stateOf(theirs, 'verified', other)
      // Its spec has asked to be live all the time.
      await eventually('the other site', async () => (await seen()) === 'theirs', 90_000)
      await setDomain(mine, platform.owner)
      assert.is((await act(mine, 'publish', platform.owner)).json.code, 'DOMAIN_UNPROVEN')
      assert.is(await seen(), 'theirs')
    },
    LONG,
  )
})
