/** "States and transitions", "Endpoints", "Authentication", "Events": the way of a site from its creation to its end. */
import { assert } from '../../../support/runner/spec.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'
import { approve, publish, siteContent } from '../../../support/stage/publishing.ts'
import { type Clause, specContent, type Walk } from './walk.ts'

const eventsOf = async (w: Walk, id: string): Promise<Json[]> => {
  const { events } = await w.sure('GET', '/api/events?limit=200')
  return events.filter((one: Json) => one.data?.site?.id === id)
}
const typesOf = async (w: Walk, id: string): Promise<string[]> => (await eventsOf(w, id)).map(({ type }) => type)
const METADATA = { deal: 'd-7', wave: 3 }

/** Each shows in what REST says of the site, whoever asked for it. */
const isStatus = (w: Walk, id: string, status: string) =>
  eventually(`${id} to be ${status}`, async () => {
    const site = await w.site(id)
    return site?.status === status && site
  })

export const STATES: Clause[] = [
  {
    part: 'States and transitions',
    says: 'create, submit-review, decision, publish, unpublish, over REST, and the state in between',
    rules: ['the-site', 'review', 'publishing'],
    over: 'REST',
    async walk(w) {
      const { id, status } = await w.make({ external_ref: 'doc-steps', metadata: METADATA })
      assert.is(status, 'draft')
      await w.sure('POST', `/api/website/${id}/submit-review`, {})
      await w.sure(
        'POST',
        `/api/website/${id}/decision`,
        { decision: 'request_changes', note: 'Larger, please.' },
        w.platform.reviewer,
      )
      assert.equal(
        [(await w.site(id)).status, (await w.site(id)).review.note],
        ['changes_requested', 'Larger, please.'],
      )
      await w.sure('POST', `/api/website/${id}/update`, { content: { hero: { title: 'Larger' } } })
      await approve(w.platform, id)
      await w.refuses(409, 'NO_DOMAIN', 'POST', `/api/website/${id}/publish`, {})
      await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-steps' })
      const { plan } = await w.sure('POST', `/api/website/${id}/publish`, { dry_run: true })
      assert.equal(
        [plan.ok, plan.counts, plan.domain, (await w.site(id)).status],
        [true, true, w.hostname('doc-steps'), 'approved'],
      )
      await publish(w.platform, id)
      const down = await w.sure('POST', `/api/website/${id}/unpublish`, {})
      assert.equal([down.site.status, down.site.releases.length], ['unpublished', 1])
      assert.is((await w.platform.visit(w.hostname('doc-steps'))).status, 410)
      const back = await w.sure('POST', `/api/website/${id}/republish`, {})
      assert.equal([back.site.status, back.site.release], ['live', 1])
      assert.is((await w.platform.visit(w.hostname('doc-steps'))).status, 200)
    },
  },
  {
    part: 'States and transitions',
    says: 'the same steps over kubectl: create, submit, domain, publish, unpublish by the spec, the decision by whoever reviews',
    rules: ['the-site', 'review', 'publishing', 'names'],
    over: 'kubectl',
    async walk(w) {
      const name = 'doc-kubectl'
      await w.apply(name, {
        account: w.account,
        externalRef: 'doc-kubectl',
        metadata: METADATA,
        content: specContent(),
      })
      await isStatus(w, name, 'draft')
      await w.patch('wsite', name, { submit: true, subdomain: 'doc-kubectl' })
      await isStatus(w, name, 'in_review')
      await w.sure('POST', `/api/website/${name}/decision`, { decision: 'approve' }, w.platform.reviewer)
      await w.patch('wsite', name, { publish: true })
      const live = await isStatus(w, name, 'live')
      assert.is(live.url, `https://${w.hostname('doc-kubectl')}:${w.platform.host.httpsPort}/`)
      assert.is((await w.platform.visit(w.hostname('doc-kubectl'))).status, 200)
      await w.platform.kubectl(['wait', '--for=condition=Ready', `wsite/${name}`, '--timeout=60s'])
      const shown = await w.platform.kubectl(['get', 'wsite', name])
      assert.match(shown, /live\s+https:\/\//)
      await w.patch('wsite', name, { publish: false })
      await isStatus(w, name, 'unpublished')
      assert.is((await w.platform.visit(w.hostname('doc-kubectl'))).status, 410)
      const types = await eventually('its events', async () => {
        const all = await typesOf(w, name)
        return all.includes('website.unpublished') && all
      })
      for (const type of ['generated', 'submitted', 'approved', 'published'])
        assert.ok(types.includes(`website.${type}`), type)
      for (const { data } of await eventsOf(w, name))
        assert.equal([data.site.external_ref, data.site.metadata], ['doc-kubectl', METADATA])
    },
  },
  {
    part: 'States and transitions',
    says: 'one server has one queue, first come first served',
    rules: ['publishing'],
    over: 'REST',
    async walk(w) {
      const ids: string[] = []
      for (const label of ['doc-q1', 'doc-q2', 'doc-q3']) {
        const { id } = await w.make()
        await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: label })
        await approve(w.platform, id)
        ids.push(id)
      }
      const { platform } = w
      const asked: string[] = []
      for (const id of ids) {
        const reply = await platform.as('POST', `/api/website/${id}/publish`, {})
        assert.ok([200, 202].includes(reply.status), reply.text)
        asked.push(id)
      }
      await Promise.all(ids.map((id) => isStatus(w, id, 'live')))
      const { events } = await w.sure('GET', '/api/events?limit=200')
      const order = events
        .filter((one: Json) => one.type === 'website.published' && ids.includes(one.data.site.id))
        .map((one: Json) => one.data.site.id)
      assert.equal(order, asked)
    },
  },
  {
    part: 'Endpoints',
    says: 'GET /templates is the catalogue, with presets and retail templates',
    rules: ['templates', 'presets'],
    over: 'REST',
    async walk(w) {
      for (const path of ['/templates', '/api/website/templates']) {
        const { presets, templates } = await w.sure('GET', path)
        const ids = presets.map(({ id }: Json) => id)
        for (const preset of ['electronics', 'jewelry', 'fashion']) assert.ok(ids.includes(preset), preset)
        const retail = templates.map(({ id }: Json) => id)
        for (const template of ['market', 'voltage', 'lumen', 'runway']) assert.ok(retail.includes(template), template)
      }
    },
  },
  {
    part: 'Endpoints',
    says: 'PUT /domain takes a subdomain or a full custom domain, over REST and kubectl',
    rules: ['names', 'the-life-of-a-name'],
    over: 'both',
    async walk(w) {
      const { id } = await w.make()
      const { site } = await w.sure('PUT', `/api/website/${id}/domain`, { subdomain: 'doc-label' })
      assert.is(site.domain, w.hostname('doc-label'))
      const moved = await w.sure('PUT', `/api/website/${id}/domain`, { domain: 'doc-shop.test' })
      assert.equal([moved.site.domain, moved.site.domains[0].records.length > 0], ['doc-shop.test', true])
      await w.refuses(400, 'BAD_DOMAIN', 'PUT', `/api/website/${id}/domain`, { domain: 'no domain' })
      await w.patch('wsite', id, { domain: null, subdomain: 'doc-label-2' })
      await eventually('the label of kubectl', async () => (await w.site(id)).domain === w.hostname('doc-label-2'))
    },
  },
  {
    part: 'Endpoints',
    says: 'GET /api/openapi-websites.json describes them for machines',
    rules: ['over-rest'],
    over: 'REST',
    async walk(w) {
      const { paths, openapi } = await w.sure('GET', '/api/openapi-websites.json')
      assert.match(openapi, /^3\./)
      const one = '/api/website/{id}'
      for (const path of ['/update', '/submit-review', '/domain', '/publish', '/metrics', '/unpublish']) {
        assert.ok(paths[`${one}${path}`], path)
      }
      for (const path of ['/api/website/generate', '/api/website/brand-tokens', '/templates'])
        assert.ok(paths[path], path)
    },
  },
  {
    part: 'Authentication',
    says: 'the bearer tokens of invoices open websites, and nothing opens without one',
    rules: ['over-rest'],
    over: 'REST',
    async walk(w) {
      const { owner } = w.platform
      assert.match(owner, /^btg_/)
      assert.equal(
        await Promise.all(['/api/invoices', '/api/website'].map(async (path) => (await w.ask('GET', path)).status)),
        [200, 200],
      )
      assert.is((await w.ask('GET', '/api/website', undefined, null)).status, 401)
      const { id } = await w.make()
      const other = await w.platform.token('other')
      assert.is((await w.ask('GET', `/api/website/${id}`, undefined, other)).status, 404)
    },
  },
  {
    part: 'Events',
    says: "each step told its event once, with the partner's external_ref and metadata",
    rules: ['events'],
    over: 'REST',
    async walk(w) {
      const { sites } = await w.sure('GET', '/api/website?external_ref=doc-steps')
      const events = await eventually('all of them', async () => {
        const all = await eventsOf(w, sites[0].id)
        return all.filter(({ type }) => type === 'website.published').length === 2 && all
      })
      const counts = Object.fromEntries(
        Map.groupBy(events, ({ type }) => type)
          .entries()
          .map(([type, all]) => [type, all.length]),
      )
      assert.equal(counts, {
        'website.generated': 1,
        'website.submitted': 2,
        'website.changes_requested': 1,
        'website.approved': 1,
        'website.published': 2,
        'website.unpublished': 1,
      })
      for (const { data } of events) assert.equal([data.site.external_ref, data.site.metadata], ['doc-steps', METADATA])
    },
  },
  {
    part: 'Versioning',
    says: 'the endpoints carry no version prefix, and the description names its own',
    rules: ['over-rest'],
    over: 'REST',
    async walk(w) {
      const { info, paths } = await w.sure('GET', '/api/openapi-websites.json')
      assert.is(info.version, '2026-09-18')
      assert.equal(
        Object.keys(paths).filter((path) => /\/v\d/.test(path)),
        [],
      )
      assert.ok((await w.make({ content: siteContent() })).id)
    },
  },
]
