import { query } from '../../hack/lib/postgres.ts'
import { addAccount } from '../support/callers.ts'
import { approve, makeSite, publish, type SitePlatform, siteContent, startSitePlatform } from '../support/publishing.ts'
import { assert, spec } from '../support/spec.ts'

/** A site from its content to a visitor, on a real host under real TLS. */

spec('a site on a real host', (t) => {
  let platform: SitePlatform
  t.before(async () => {
    platform = await startSitePlatform()
  })
  t.after(() => platform.end())

  t(
    'goes live under the base domain once it is approved, and every visitor gets the approved bytes',
    async () => {
      const { id } = await makeSite(platform, { external_ref: 'first', metadata: { deal: 7 } })
      const put = await platform.api('PUT', `/api/website/${id}/domain`, { subdomain: 'first' })
      assert.is(put.status, 200, put.text)
      assert.is(put.json.site.domain, `first.${platform.host.baseDomain}`)
      await approve(platform, id)
      const live = await publish(platform, id)
      assert.is(live.status, 'live')
      assert.is(live.release, 1)
      const hostname = `first.${platform.host.baseDomain}`
      assert.is(live.url, `https://${hostname}:${platform.host.httpsPort}/`)
      const page = await platform.visit(hostname)
      assert.is(page.status, 200)
      assert.match(page.text, /Stoneware for every day/)
      const preview = await fetch(live.preview_url)
      assert.is(await preview.text(), page.text, 'the preview shows what is live, byte for byte')
      const events = await query(platform.database.url, "select payload from outbox where channel = 'event' and resource = $1 order by id", [id])
      assert.equal(
        events.map(({ payload }) => (payload as { type: string }).type),
        ['website.generated', 'website.submitted', 'website.approved', 'website.published'],
      )
    },
    { timeoutMs: 90_000 },
  )
})
void addAccount
void siteContent
