import { randomUUID } from 'node:crypto'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppCaller, type AppStage, project, startAppStage } from '../../../support/stage/apps.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** Domains of an app: planned, verified by a real DNS, applied, and served under a certificate of a real CA, by nobody but their owner. */

const timeoutMs = 180_000
const DOMAIN = 'www.shop-of-apps.test'
const SECOND = 'second.shop-of-apps.test'

spec('the domains of an app', (t) => {
  let stage: AppStage
  let other: AppCaller
  let app: Json
  const path = (id = app.id) => `/api/apps/${id}/domain-config`
  const put = (body: object, headers: Record<string, string> = {}, id = app.id, by: AppCaller = stage) =>
    by.api('PUT', path(id), body, headers)
  const plan = async (hostnames: string[]): Promise<Json> => {
    const reply = await put({ step: 'plan', hostnames })
    assert.is(reply.status, 200, reply.text)
    return reply.json
  }
  const etag = async (): Promise<string> => (await stage.api('GET', path())).json.domain_config.etag
  const apply = async (planId: string | undefined, more: Record<string, string> = {}, hostnames?: string[]) =>
    put(
      { step: 'apply', ...(planId !== undefined && { plan_id: planId }), ...(hostnames && { hostnames }) },
      { 'if-match': await etag(), 'idempotency-key': randomUUID(), ...more },
    )
  const refused = (reply: Reply, status: number, code: string) =>
    assert.equal([reply.status, reply.json.code], [status, code], reply.text)
  const setProof = async (planned: Json, hostname: string) => {
    const of = planned.hostnames.find((one: Json) => one.hostname === hostname)
    const txt = of.records.find(({ type }: Json) => type === 'TXT')
    await stage.dns('set-txt', { host: `${txt.name}.`, value: txt.value })
  }
  const containers = async (): Promise<unknown> =>
    (await stage.api('GET', `/api/apps/${app.id}/releases`)).json.releases

  t.before(async () => {
    stage = await startAppStage({ env: { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true' } })
    other = await stage.as('other')
    app = await stage.app('named', { application_policy: 'none' })
    const { json, text } = await stage.deploy(app.id, project('v1'))
    assert.is(json.operation.state, 'succeeded', text)
  })
  t.after(() => stage?.end())

  t('begins with the name below the host alone, which has its certificate', async () => {
    const { json, headers } = await eventually('its certificate to be seen', async () => {
      const reply = await stage.api('GET', path())
      return reply.json.domain_config.domains[0].certificate !== null && reply
    })
    const { hostnames, managed, domains } = json.domain_config
    assert.equal([hostnames, managed], [[], `named.${stage.host.baseDomain}`])
    assert.equal([domains[0].kind, domains[0].certificate.state], ['managed', 'valid'])
    assert.is(headers.get('etag'), json.domain_config.etag)
  })

  t('tells in a plan which records are to be set, and changes nothing', async () => {
    const planned = await plan([` HTTPS://${DOMAIN.toUpperCase()}./x `])
    const [one] = planned.hostnames
    assert.equal([one.hostname, one.change, one.verified], [DOMAIN, 'add', false])
    assert.equal(
      one.records.map(({ type, name }: Json) => [type, name]),
      [
        ['TXT', `_bottega-challenge.${DOMAIN}`],
        ['CNAME', DOMAIN],
        ['A', DOMAIN],
      ],
    )
    assert.is(one.records[2].value, '127.0.0.1')
    assert.equal((await stage.api('GET', `/api/apps/${app.id}`)).json.app.domains.length, 1)
  })

  t('refuses names that nobody may have, each with its place', async () => {
    for (const [hostname, what] of [
      ['com', /no full name/],
      ['localhost', /no full name/],
      ['co.uk', /public suffix/],
      [`x.${'apps'}.${'invalid-tld-of-nobody'}`, /no suffix/],
      [`other.${stage.host.baseDomain}`, /belongs to/],
      ['раураӏ.com', /look/],
    ] as const) {
      const reply = await put({ step: 'plan', hostnames: [DOMAIN, hostname] })
      refused(reply, 400, 'BAD_DOMAIN')
      assert.is(reply.json.errors[0].pointer, '/hostnames/1')
      assert.match(reply.json.errors[0].detail, what)
    }
    const twice = await put({ step: 'plan', hostnames: [DOMAIN, DOMAIN] })
    refused(twice, 400, 'BAD_DOMAIN')
  })

  t('asks for its preconditions in their order, before it looks at the plan', async () => {
    const { plan_id } = await plan([DOMAIN])
    const bare = await put({ step: 'apply', plan_id })
    refused(bare, 428, 'PRECONDITION_REQUIRED')
    refused(await put({ step: 'apply', plan_id }, { 'if-match': '"stale"' }), 412, 'PRECONDITION_FAILED')
    refused(await put({ step: 'apply', plan_id }, { 'if-match': await etag() }), 400, 'IDEMPOTENCY_KEY_REQUIRED')
    refused(await apply('plan-of-nobody'), 404, 'UNKNOWN_PLAN')
    refused(await apply(undefined), 404, 'UNKNOWN_PLAN')
    refused(await apply(plan_id, {}, [SECOND]), 409, 'PLAN_STALE')
    refused(await apply(plan_id), 409, 'DOMAIN_UNPROVEN')
  })

  t(
    'verifies what the DNS says: the proof, where the name leads, and whom it lets issue',
    async () => {
      const planned = await plan([DOMAIN])
      const verify = async (): Promise<Json> => {
        const reply = await put({ step: 'verify', hostnames: [DOMAIN] })
        assert.is(reply.status, 200, reply.text)
        return reply.json
      }
      const checksOf = (json: Json) => json.hostnames[0].checks.map(({ type, ok }: Json) => [type, ok])
      assert.equal(checksOf(await verify()), [
        ['TXT', false],
        ['A', true],
        ['CAA', true],
      ])

      await setProof(planned, DOMAIN)
      await stage.dns('add-a', { host: `${DOMAIN}.`, addresses: ['192.0.2.7'] })
      await stage.dns('add-caa', { host: 'shop-of-apps.test.', policies: [{ tag: 'issue', value: 'other-ca.test' }] })
      const astray = await verify()
      assert.equal(
        [astray.verified, checksOf(astray)],
        [
          false,
          [
            ['TXT', true],
            ['A', false],
            ['CAA', false],
          ],
        ],
      )
      const { checks } = astray.hostnames[0]
      assert.equal(
        [checks[1].seen, checks[2].name, checks[2].seen],
        [['192.0.2.7'], 'shop-of-apps.test', ['0 issue "other-ca.test"']],
      )
      const reply = await apply(planned.plan_id)
      refused(reply, 409, 'DOMAIN_UNVERIFIED')
      assert.match(reply.json.detail, /leads to 192\.0\.2\.7 and not to 127\.0\.0\.1; the CAA records/)

      await stage.dns('clear-a', { host: `${DOMAIN}.` })
      await stage.dns('clear-caa', { host: 'shop-of-apps.test.' })
      const good = await verify()
      assert.equal(
        [good.verified, checksOf(good)],
        [
          true,
          [
            ['TXT', true],
            ['A', true],
            ['CAA', true],
          ],
        ],
      )
    },
    { timeoutMs },
  )

  t(
    'serves it once the plan is applied, with a certificate, and builds and restarts nothing',
    async () => {
      const before = await containers()
      const planned = await plan([DOMAIN])
      const key = randomUUID()
      const ifMatch = await etag()
      const send = () =>
        put({ step: 'apply', plan_id: planned.plan_id }, { 'if-match': ifMatch, 'idempotency-key': key })
      const reply = await send()
      assert.ok(reply.status === 200 || reply.status === 202, reply.text)
      const operation = await eventually(
        'the end of the apply',
        async () => {
          const { json } = await stage.api('GET', `/api/apps/operations/${reply.json.operation_id}`)
          return json.operation.ended_at !== null && json.operation
        },
        60_000,
      )
      assert.equal([operation.kind, operation.state], ['domain-config', 'succeeded'], JSON.stringify(operation))
      assert.equal(
        operation.steps.map(({ name, state }: Json) => [name, state]),
        [
          ['route', 'succeeded'],
          ['certificate', 'succeeded'],
          ['readiness', 'succeeded'],
        ],
      )
      const page = await stage.visit(DOMAIN)
      assert.equal([page.status, page.text.trim()], [200, 'v1'])
      assert.is((await stage.visit('named')).status, 200)
      const shown = (await stage.api('GET', `/api/apps/${app.id}`)).json.app
      assert.equal(
        shown.domains.map(({ kind, state, served, certificate }: Json) => [kind, state, served, certificate.state]),
        [
          ['managed', 'verified', true, 'valid'],
          ['own', 'verified', true, 'valid'],
        ],
      )
      assert.equal(shown.readiness.state, 'ready', JSON.stringify(shown.readiness))
      assert.equal(
        shown.readiness.checks.map(({ name }: Json) => name).filter((name: string) => name.includes(':')),
        [
          `certificate:named.${stage.host.baseDomain}`,
          `public:named.${stage.host.baseDomain}`,
          `certificate:${DOMAIN}`,
          `public:${DOMAIN}`,
        ],
      )
      assert.equal(await containers(), before)
      const again = await send()
      assert.is(again.json.operation_id, reply.json.operation_id)
    },
    { timeoutMs },
  )

  t('is not applied twice, and not on what another apply has changed', async () => {
    const [first, second] = [await plan([DOMAIN]), await plan([DOMAIN])]
    const stale = await etag()
    assert.ok((await apply(first.plan_id)).status < 300)
    refused(await apply(first.plan_id), 409, 'PLAN_STALE')
    refused(await apply(second.plan_id), 409, 'PLAN_STALE')
    refused(await apply(second.plan_id, { 'if-match': stale }), 412, 'PRECONDITION_FAILED')
  })

  t('has a name that no other app, site or account gets', async () => {
    const neighbour = await stage.app('neighbour')
    refused(await put({ step: 'plan', hostnames: [DOMAIN] }, {}, neighbour.id), 409, 'DOMAIN_TAKEN')
    const content = {
      meta: { company_name: 'A', lang: 'en' },
      hero: { title: 'A', lede: 'B' },
      contact: { email: 'a@b.test' },
    }
    const site = (await stage.api('POST', '/api/website/generate', { content })).json.site
    refused(await stage.api('PUT', `/api/website/${site.id}/domain`, { domain: DOMAIN }), 409, 'DOMAIN_TAKEN')
    const theirs = await other.app('theirs')
    refused(await put({ step: 'plan', hostnames: [DOMAIN] }, {}, theirs.id, other), 409, 'DOMAIN_TAKEN')
    const beside = await put({ step: 'verify', hostnames: [DOMAIN] }, {}, theirs.id, other)
    assert.equal([beside.status, beside.json.verified], [200, false], beside.text)
    assert.is((await other.api('GET', path())).status, 404)
  })

  t(
    'stalls by kubectl with the same code until it is proven, and then is served',
    async () => {
      const set = (domains: string[]) =>
        stage.platform.kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', JSON.stringify({ spec: { domains } })])
      const stalled = async () => {
        const object = JSON.parse(await stage.platform.kubectl(['get', 'bapp', app.id, '-o', 'json']))
        const found = object.status.conditions.find(({ type, status }: Json) => type === 'Stalled' && status === 'True')
        return { message: found?.message as string | undefined, domains: object.status.domains as Json[] }
      }
      await set([DOMAIN, SECOND])
      const { domains } = await eventually('it to be stalled', async () => {
        const now = await stalled()
        return now.message?.startsWith('DOMAIN_UNPROVEN') === true && now
      })
      assert.is((await stage.visit(DOMAIN)).status, 200)
      const [, name, value] = String(domains.find((one) => one.name === SECOND)?.records[0]).split(' ')
      await stage.dns('set-txt', { host: `${name}.`, value })
      await eventually(
        'the second domain to be served',
        async () => (await stage.visit(SECOND).catch(() => null))?.status === 200,
        90_000,
      )
      await eventually('it to go on', async () => (await stalled()).message === undefined)
      await set([])
      await eventually('both to be gone', async () => {
        const gone = await Promise.all([DOMAIN, SECOND].map((one) => stage.visit(one).catch(() => null)))
        return gone.every((page) => page === null || page.status === 404)
      })
      const bad = await set(['No Name']).catch((error: Error) => error.message)
      assert.match(String(bad), /domains/)
      assert.is((await stage.visit('named')).status, 200)
    },
    { timeoutMs },
  )

  t('is free again for another app of the account', async () => {
    const { json } = await stage.api('GET', '/api/apps')
    const neighbour = json.apps.find(({ slug }: Json) => slug === 'neighbour')
    await eventually('the name to be given back', async () => {
      return (await put({ step: 'plan', hostnames: [DOMAIN] }, {}, neighbour.id)).status === 200
    })
  })
})
