/** "Errors" and "Limits", Websites: every code of the table, provoked over REST, and over kubectl where a spec can say the same. */
import { assert } from '../../../support/runner/spec.ts'
import { eventually } from '../../../support/stage/invoicing.ts'
import { approve, proveDomain, siteContent } from '../../../support/stage/publishing.ts'
import { type Clause, specContent, type Walk } from './walk.ts'

/** What the table lists of a content, and the like: one request each, and what the same spec comes to. */
type Row = {
  code: string
  body: Record<string, unknown>
  /** The spec that means the same; refused by the API server with these words, or Stalled with the code where none are given. */
  spec: Record<string, unknown>
  denied?: RegExp
}

const meta = (more: object) => ({ company_name: 'V', ...more })
const specMeta = (more: object) => ({ companyName: 'V', ...more })

const ROWS: Row[] = [
  {
    code: 'BAD_EXTERNAL_REF',
    body: { external_ref: 'a b' },
    spec: { externalRef: 'a b' },
    denied: /spec\.externalRef/,
  },
  { code: 'BAD_METADATA', body: { metadata: { a: { b: 1 } } }, spec: { metadata: { a: { b: 1 } } } },
  {
    code: 'BAD_VIDEO_URL',
    body: { content: siteContent({ video: { url: 'https://videos.test/1' } }) },
    spec: { content: specContent({ video: { url: 'https://videos.test/1' } }) },
  },
  {
    code: 'BAD_SECTION_ORDER',
    body: { content: siteContent({ meta: meta({ section_order: ['products', 'products'] }) }) },
    spec: { content: specContent({ meta: specMeta({ sectionOrder: ['products', 'products'] }) }) },
  },
  {
    code: 'BAD_PAGES',
    body: { content: siteContent({ meta: meta({ pages: [{ slug: 'a', title: 'A', sections: ['hero'] }] }) }) },
    spec: { content: specContent({ meta: specMeta({ pages: [{ slug: 'a', title: 'A', sections: ['hero'] }] }) }) },
  },
  { code: 'BAD_PRESET', body: { preset: 'bakery' }, spec: { preset: 'bakery' }, denied: /spec\.preset/ },
  {
    code: 'BAD_LANG',
    body: { content: siteContent({ meta: meta({ lang: 'fr' }) }) },
    spec: { content: specContent({ meta: specMeta({ lang: 'fr' }) }) },
    denied: /spec\.content\.meta\.lang/,
  },
]

const refusedByTable: Clause[] = ROWS.map(({ code, body, spec, denied }) => ({
  part: 'Errors',
  says: `400 ${code}`,
  rules: ['refusals'],
  over: 'both',
  async walk(w) {
    const { total } = await w.sure('GET', '/api/website')
    await w.refuses(400, code, 'POST', '/api/website/generate', { content: siteContent(), ...body })
    assert.is((await w.sure('GET', '/api/website')).total, total, 'nothing was stored')
    const name = `doc-${code.toLowerCase().replaceAll('_', '-')}`
    const said = await w.denial(name, { account: w.account, content: specContent(), ...spec })
    if (denied !== undefined) assert.match(said ?? 'it was taken', denied)
    else if (said === null) await w.stalled(name, code)
    else assert.match(said, code)
  },
}))

/** What support grants an account in place of its plan, until the work is done. */
export const granted = async (
  w: Walk,
  grant: object,
  quota: string,
  limit: number,
  work: (token: string) => Promise<void>,
) => {
  const token = await w.platform.token('other')
  const now = async () => (await w.sure('GET', '/api/account', undefined, token)).account.quotas[quota]
  const before = (await now()).limit
  await w.patch('acct', 'other', grant)
  await eventually(`${quota} of ${limit}`, async () => (await now()).limit === limit)
  try {
    await work(token)
  } finally {
    await w.patch('acct', 'other', Object.fromEntries(Object.keys(grant).map((name) => [name, null])))
    await eventually(`${quota} of before`, async () => (await now()).limit === before)
  }
}

export const ERRORS: Clause[] = [
  ...refusedByTable,
  {
    part: 'Errors',
    says: '400 BAD_TOKENS: brand tokens outside their bounds',
    rules: ['brand-tokens', 'refusals'],
    over: 'REST',
    async walk(w) {
      for (const tokens of [{ accent: 'url(x)' }, { font_pair: 'comic' }, { paper: 7 }]) {
        await w.refuses(400, 'BAD_TOKENS', 'PUT', '/api/website/brand-tokens', tokens)
      }
    },
  },
  {
    part: 'Errors',
    says: '409 NOT_APPROVED: the approval gate',
    rules: ['review', 'refusals'],
    over: 'both',
    async walk(w) {
      const { id } = await w.make()
      await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-gate' })
      await w.refuses(409, 'NOT_APPROVED', 'POST', `/api/website/${id}/publish`, {})
      await w.patch('wsite', id, { publish: true })
      await w.stalled(id, 'NOT_APPROVED')
    },
  },
  {
    part: 'Errors',
    says: "409 SUBDOMAIN_TAKEN: another site's",
    rules: ['names', 'refusals'],
    over: 'both',
    async walk(w) {
      const { id } = await w.make()
      await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-taken' })
      const other = await w.platform.token('other')
      const { site } = await w.sure('POST', '/api/website/generate', { content: siteContent() }, other)
      await w.refuses(
        409,
        'SUBDOMAIN_TAKEN',
        'PUT',
        `/api/website/${site.id}/domain`,
        { subdomain: 'doc-taken' },
        other,
      )
      await w.patch('wsite', site.id, { subdomain: 'doc-taken' })
      await w.stalled(site.id, 'SUBDOMAIN_TAKEN')
    },
  },
  {
    part: 'Errors',
    says: '409 DOMAIN_TAKEN and 400 BAD_DOMAIN: a domain that another site has, and what is no domain',
    rules: ['names', 'refusals'],
    over: 'both',
    async walk(w) {
      const { id } = await w.make()
      await w.sure('PUT', `/api/website/${id}/domain`, { domain: 'www.doc-held.test' })
      await proveDomain(w.platform, id)
      const { id: second } = await w.make()
      await w.refuses(409, 'DOMAIN_TAKEN', 'PUT', `/api/website/${second}/domain`, { domain: 'www.doc-held.test' })
      for (const domain of ['localhost', '10.0.0.1', 'a b.test', '*.doc.test']) {
        await w.refuses(400, 'BAD_DOMAIN', 'PUT', `/api/website/${second}/domain`, { domain })
      }
      await w.patch('wsite', second, { domain: 'www.doc-held.test' })
      await w.stalled(second, 'DOMAIN_TAKEN')
      for (const domain of ['localhost', '10.0.0.1']) {
        await w.patch('wsite', second, { domain })
        await w.stalled(second, 'BAD_DOMAIN')
      }
      const said = await w.denial('doc-no-domain', { account: w.account, domain: 'a b.test', content: specContent() })
      assert.match(said ?? 'it was taken', /spec\.domain/)
    },
  },
  {
    part: 'Limits',
    says: 'sites per account: the plan cap, 429 SITE_QUOTA',
    rules: ['refusals'],
    over: 'both',
    async walk(w) {
      const token = await w.platform.token('other')
      const { used } = (await w.sure('GET', '/api/account', undefined, token)).account.quotas.sites
      await granted(w, { limits: { sites: used } }, 'sites', used, async (other) => {
        await w.refuses(429, 'SITE_QUOTA', 'POST', '/api/website/generate', { content: siteContent() }, other)
        await w.apply('doc-over-quota', { account: 'other', content: specContent() })
        await w.stalled('doc-over-quota', 'SITE_QUOTA')
      })
    },
  },
  {
    part: 'Limits',
    says: 'live publishes: the daily cap, 429 PUBLISH_QUOTA, and the same bytes again do not count',
    rules: ['publishing', 'refusals'],
    over: 'both',
    async walk(w) {
      await granted(w, { limits: { publishesPerDay: 0 } }, 'publishes_per_day', 0, async (other) => {
        const { site } = await w.sure('POST', '/api/website/generate', { content: siteContent() }, other)
        const { id } = site
        await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-capped' }, other)
        await w.sure('POST', `/api/website/${id}/submit-review`, {}, other)
        await w.sure('POST', `/api/website/${id}/decision`, { decision: 'approve' }, w.platform.reviewer)
        await w.refuses(429, 'PUBLISH_QUOTA', 'POST', `/api/website/${id}/publish`, {}, other)
        await w.patch('wsite', id, { publish: true })
        await w.stalled(id, 'PUBLISH_QUOTA')
      })
      const { id } = await w.make()
      await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-counted' })
      await approve(w.platform, id)
      const used = async () => (await w.sure('GET', '/api/account')).account.quotas.publishes_per_day.used
      const before = await used()
      await w.sure('POST', `/api/website/${id}/publish`, {})
      await w.sure('POST', `/api/website/${id}/publish`, {})
      assert.is((await used()) - before, 1)
    },
  },
]
