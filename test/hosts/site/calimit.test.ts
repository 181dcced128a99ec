/** Sites below one domain, on a host whose CA gives it so many new certificates a week: who is too many is told before the CA is asked. */
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json } from '../../support/stage/invoicing.ts'
import { approve, makeSite, publish, type SitePlatform, startSitePlatform } from '../../support/stage/publishing.ts'

const LONG = { timeoutMs: 180_000 }

spec('the limit of a CA', (t) => {
  let platform: SitePlatform
  const act = (id: string, action: string, body: object = {}) =>
    platform.as('POST', `/api/website/${id}/${action}`, body)
  const limit = (perWeek: number) =>
    platform.kubectl([
      ...['patch', 'bhost', 'local', '--type=merge', '-p'],
      JSON.stringify({ spec: { proxy: { certificatesPerWeek: perWeek } } }),
    ])
  const approved = async (subdomain: string): Promise<string> => {
    const { id } = await makeSite(platform)
    await platform.as('PUT', `/api/website/${id}/domain`, { subdomain })
    await approve(platform, id)
    return id
  }
  const known = () =>
    eventually('the limit to be known', async () => {
      const [row] = await query(
        platform.database.url,
        "select view -> 'proxy' ->> 'certificates_per_week' as n from mirror where kind = 'Host' and name = 'local'",
      )
      return row?.n === '1'
    })

  t.before(async () => {
    platform = await startSitePlatform({ BOTTEGA_DEV_CLOCK: 'on' })
  })
  t.after(() => platform?.end())

  t(
    'refuses the second site over REST and kubectl with the day, keeps nobody else waiting, and lets it go live then',
    async () => {
      await limit(1)
      await known()
      const first = await approved('first')
      const root = platform.host.baseDomain.split('.').slice(-2).join('.')
      const planned = (await act(first, 'publish', { dry_run: true })).json.plan
      assert.equal(
        [planned.ok, planned.certificates],
        [true, [{ registered_domain: root, new_names: 1, used: 0, limit: 1, free_at: null }]],
      )
      await publish(platform, first)

      const second = await approved('second')
      const told = (await act(second, 'publish', { dry_run: true })).json.plan
      const [{ free_at: freeAt, used }] = told.certificates
      assert.equal([told.ok, told.problems.map(({ code }: Json) => code), used], [false, ['CA_LIMIT'], 1])
      const refused = await act(second, 'publish')
      assert.equal([refused.status, refused.json.code], [429, 'CA_LIMIT'], refused.text)
      assert.match(refused.json.detail, `names below ${root} were given 1 of 1 new certificates within seven days`)
      assert.match(refused.json.detail, `there is room from ${freeAt}`)
      const waits = Number(refused.headers.get('retry-after'))
      assert.ok(waits > 6 * 86_400 && waits <= 7 * 86_400, `${waits} s`)

      await platform.kubectl(['patch', 'wsite', second, '--type=merge', '-p', '{"spec":{"publish":true}}'])
      const message = await eventually('the refusal', async () => {
        const { status } = JSON.parse(await platform.kubectl(['get', 'wsite', second, '-o', 'json']))
        return status.conditions.find(({ type, status: is }: Json) => type === 'Stalled' && is === 'True')?.message
      })
      assert.match(message, /^CA_LIMIT: names below/)
      const [{ n } = {}] = await query(platform.database.url, 'select count(*)::int as n from site_queue')
      assert.is(n, 0, 'nobody waits behind it')
      const routed = await query(platform.database.url, "select from host_names where hostname like 'second.%'")
      assert.is(routed.length, 0, 'no route, so no certificate is asked for')

      // What has its certificate goes on as before.
      assert.is((await act(first, 'unpublish')).status, 200)
      const again = await act(first, 'republish')
      assert.is(again.status, 200, again.text)

      const moved = await call(platform.baseUrl, platform.admin, 'POST', '/api/dev/clock', { advance: 'P7DT1M' })
      assert.is(moved.status, 200, moved.text)
      const live = await eventually(
        'it to go live by itself',
        async () => {
          const { site } = (await platform.as('GET', `/api/website/${second}`)).json
          return site.status === 'live' && site
        },
        60_000,
      )
      assert.is((await platform.visit(`second.${platform.host.baseDomain}`)).status, 200)
      assert.is(live.stalled, null)
    },
    LONG,
  )
})
