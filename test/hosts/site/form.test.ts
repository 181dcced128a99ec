/** The contact form of a site that is live on a real host: what its pages may post to, and what becomes of it there. */
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually, type Json, mailsIn } from '../../support/stage/invoicing.ts'
import {
  approve,
  makeSite,
  publish,
  type SitePlatform,
  siteContent,
  startSitePlatform,
} from '../../support/stage/publishing.ts'

const LONG = { timeoutMs: 180_000 }
const ACTION = /<form class="write" method="post" action="([^"]+)"/

spec('the contact form of a live site', (t) => {
  let platform: SitePlatform
  const hostname = () => `written.${platform.host.baseDomain}`
  const read = async (id: string): Promise<Json> => (await platform.as('GET', `/api/website/${id}`)).json.site
  const act = (id: string, action: string) => platform.as('POST', `/api/website/${id}/${action}`, {})
  const write = (action: string, message: string, origin: string) =>
    fetch(action, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin },
      body: new URLSearchParams({ name: 'Ana', email: 'ana@visitor.test', message, page: 'index.html', website: '' }),
    })
  const actionNow = async () => ACTION.exec((await platform.visit(hostname())).text)?.[1] ?? ''

  t.before(async () => {
    platform = await startSitePlatform()
  })
  t.after(() => platform?.end())

  t(
    'posts where the policy lets it, reaches the owner, and is ended and given anew without another review',
    async () => {
      const { id } = await makeSite(platform, { content: siteContent({ contact: { form: true } }) })
      await platform.as('PUT', `/api/website/${id}/domain`, { subdomain: 'written' })
      await approve(platform, id)
      const live = await publish(platform, id)
      const { origin } = new URL(live.url)
      const { headers } = await platform.visit(hostname())
      const action = await actionNow()
      assert.ok(action.startsWith(`${platform.baseUrl}/s/`), action)
      assert.match(String(headers['content-security-policy']), `form-action ${platform.baseUrl}/s/;`)

      assert.is((await write(action, 'First', origin)).status, 303)
      const mail = await eventually('the mail', async () =>
        (await mailsIn(platform.mailDir)).find(({ text }) => text?.includes('First')),
      )
      assert.equal([mail.to?.[0]?.address, mail.replyTo?.[0]?.address], ['owner@demo.test', 'ana@visitor.test'])

      const rotated = await act(id, 'form/rotate')
      assert.equal([rotated.status, rotated.json.version, rotated.json.url], [200, 2, null])
      assert.is((await write(action, 'Second', origin)).status, 404)
      assert.is(await actionNow(), action, 'what is live stays as it was approved')
      const site = await eventually('the new bytes', async () => {
        const now = await read(id)
        return now.digest !== live.live_digest && now
      })
      assert.equal([site.status, site.review_state], ['live', 'approved'])
      await publish(platform, id)
      const fresh = await actionNow()
      assert.is.not(fresh, action)
      assert.is((await write(fresh, 'Third', origin)).status, 303)

      await act(id, 'unpublish')
      assert.is((await write(fresh, 'Fourth', origin)).status, 409)
      const { messages } = (await platform.as('GET', `/api/website/${id}/messages`)).json
      assert.equal(
        messages.map(({ message }: Json) => message),
        ['Third', 'First'],
      )
      assert.is((await platform.as('DELETE', `/api/website/${id}`)).status, 204)
    },
    LONG,
  )
})
