/** "What the service does", Websites: as far as it holds of a content. */
import { query } from '../../../../hack/platform/postgres.ts'
import { assert } from '../../../support/runner/spec.ts'
import { eventually } from '../../../support/stage/invoicing.ts'
import { approve, proveDomain, publish, siteContent } from '../../../support/stage/publishing.ts'
import { type Clause, specContent } from './walk.ts'

const part = 'What the service does'

export const SERVICE: Clause[] = [
  {
    part,
    says: 'One call creates a static site from a content JSON',
    rules: ['the-site', 'over-rest', 'content', 'rendering'],
    over: 'both',
    async walk(w) {
      const { site, replayed } = await w.sure('POST', '/api/website/generate', { content: siteContent() })
      assert.equal([site.status, replayed], ['draft', false])
      const page = await w.page(site)
      assert.match(page, /^<!doctype html>/)
      assert.match(page, /Stoneware for every day/)
      assert.not.match(page, /<script(?! type="application\/ld\+json")/)

      await w.apply('doc-created', { account: w.account, content: specContent() })
      const made = await eventually('the site of kubectl', async () => {
        const reply = await w.ask('GET', '/api/website/doc-created')
        return reply.status === 200 && reply.json.site.digest !== null && reply.json.site
      })
      assert.match(await w.page(made), /Stoneware for every day/)
    },
  },
  {
    part,
    says: 'No site goes live without approval: it is submitted, a compliance operator approves on a tracked, audited link, then it can be published',
    rules: ['review', 'approval', 'publishing'],
    over: 'both',
    async walk(w) {
      const { id } = await w.make()
      await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-approved' })
      await w.refuses(409, 'NOT_APPROVED', 'POST', `/api/website/${id}/publish`, {})
      await w.patch('wsite', id, { publish: true })
      await w.stalled(id, 'NOT_APPROVED')
      await w.patch('wsite', id, { publish: false })

      const { site } = await w.sure('POST', `/api/website/${id}/submit-review`, {})
      assert.is(site.status, 'in_review')
      assert.match(site.review.url, /\/review\/.+/)
      const self = await w.ask('POST', `/api/website/${id}/decision`, { decision: 'approve' })
      assert.is(self.status, 403, 'the owner is no reviewer')
      const { site: approved } = await w.sure(
        'POST',
        `/api/website/${id}/decision`,
        { decision: 'approve' },
        w.platform.reviewer,
      )
      assert.equal([approved.status, approved.review.decision], ['approved', 'approve'])
      const audited = "select count(*) as entries from audit where entry like '%' || $1 || '%decision%'"
      const [row] = await query(w.platform.database.url, audited, [id])
      assert.ok(Number(row?.entries) > 0, 'the decision is on record')

      assert.is((await publish(w.platform, id)).status, 'live')
      await w.sure('POST', `/api/website/${id}/update`, { content: { hero: { title: 'Another word' } } })
      assert.match((await w.platform.visit(w.hostname('doc-approved'))).text, /Stoneware for every day/)
      await w.refuses(409, 'NOT_APPROVED', 'POST', `/api/website/${id}/publish`, {})
    },
  },
  {
    part,
    says: 'Publishing puts the site on a real server under its own domain with TLS',
    rules: ['publishing', 'names', 'the-life-of-a-name'],
    over: 'both',
    async walk(w) {
      const { id } = await w.make()
      await w.sure('PUT', `/api/website/${id}/domain`, { domain: 'www.doc-own.test' })
      await approve(w.platform, id)
      await w.refuses(409, 'DOMAIN_UNPROVEN', 'POST', `/api/website/${id}/publish`, {})
      await proveDomain(w.platform, id)
      const live = await publish(w.platform, id)
      assert.is(live.url, `https://www.doc-own.test:${w.platform.host.httpsPort}/`)
      const page = await w.platform.visit('www.doc-own.test')
      assert.equal([page.status, page.text], [200, await w.page(await w.site(id))])

      const name = 'doc-own-2'
      const own = 'www.doc-own-2.test'
      await w.apply(name, { account: w.account, domain: own, submit: true, content: specContent() })
      await eventually(`${name} to be in review`, async () => (await w.site(name))?.status === 'in_review')
      await w.sure('POST', `/api/website/${name}/decision`, { decision: 'approve' }, w.platform.reviewer)
      await w.patch('wsite', name, { publish: true })
      await w.stalled(name, 'DOMAIN_UNPROVEN')
      const [type, host, value] = (await w.object(name)).status.domainRecords[0].split(' ')
      assert.is(type, 'TXT')
      await w.platform.dns('set-txt', { host: `${host}.`, value })
      await eventually(`${own} to be served`, async () => (await w.site(name)).status === 'live', 90_000)
      const other = await w.platform.visit(own)
      assert.equal([other.status, other.text], [200, await w.page(await w.site(name))])
    },
  },
  {
    part,
    says: 'Aggregate visitor metrics are available',
    rules: ['visits'],
    over: 'REST',
    async walk(w) {
      const { id } = await w.make()
      await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-visited' })
      await approve(w.platform, id)
      await publish(w.platform, id)
      const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0', accept: 'text/html' }
      for (let n = 0; n < 3; n++) await w.platform.visit(w.hostname('doc-visited'), '/', browser)
      const metrics = await eventually(
        'three visits',
        async () => {
          const read = await w.sure('GET', `/api/website/${id}/metrics`)
          return read.visits >= 3 && read
        },
        90_000,
      )
      assert.equal([metrics.visits, metrics.visitors, metrics.pages[0].path], [3, 1, '/'])
      assert.not.match(JSON.stringify(metrics), /127\.0\.0\.1/)
    },
  },
  {
    part,
    says: 'Partners can set brand tokens',
    rules: ['brand-tokens', 'fonts'],
    over: 'REST',
    async walk(w) {
      const other = await w.platform.token('other')
      const { font_pairs } = await w.sure('GET', '/templates')
      const asked = { accent: '#7a1f3d', ink: '#101418', paper: '#fffdf8', font_pair: font_pairs[0] }
      const stored = await w.sure('PUT', '/api/website/brand-tokens', asked, other)
      assert.equal(stored.tokens.accent, '#7a1f3d')
      const pale = await w.sure('PUT', '/api/website/brand-tokens', { ...asked, ink: '#dddddd' }, other)
      const [clamp] = pale.clamped.filter((one: { token: string }) => one.token === 'ink')
      assert.equal([clamp.from, clamp.to === '#dddddd', clamp.ratio >= 4.5], ['#dddddd', false, true])
      await w.refuses(400, 'BAD_TOKENS', 'PUT', '/api/website/brand-tokens', { accent: 'reddish' }, other)
    },
  },
  {
    part,
    says: 'Accounts can be locked to a template, which fixes brand but not structure',
    rules: ['templates', 'layouts'],
    over: 'kubectl',
    async walk(w) {
      const { id } = await w.make({
        content: siteContent({ meta: { company_name: 'Locked', layout: 'monolith', template: 'studio' } }),
      })
      await w.patch('acct', w.account, { templateLock: 'harbor' })
      const locked = await eventually('the lock', async () => {
        const site = await w.site(id)
        return site.template === 'harbor' && site.digest !== null && site
      })
      assert.is(locked.layout, 'monolith')
      assert.ok(locked.warnings.some((one: { code: string }) => one.code === 'TEMPLATE_LOCKED'))
      await eventually('its pages', async () => /class="l-monolith t-harbor/.test(await w.page(await w.site(id))))
      await w.patch('acct', w.account, { templateLock: null })
      await eventually('the end of the lock', async () => (await w.site(id)).template === 'studio')
    },
  },
]
