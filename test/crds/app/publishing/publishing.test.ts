import { isInScope, isScope } from '../../../../crds/app/lifecycle/publishing/access.ts'
import { outcomeNow, viewApplied } from '../../../../crds/app/lifecycle/publishing/applied.ts'
import { domainsRefusal, nameSteps, servedDomains } from '../../../../crds/app/lifecycle/publishing/domains.ts'
import {
  accessEtag,
  domainEtag,
  matches,
  type PublishingPlan,
} from '../../../../crds/app/lifecycle/publishing/plans.ts'
import { isWell } from '../../../../crds/app/lifecycle/publishing/probe.ts'
import { readinessOf } from '../../../../crds/app/lifecycle/readiness.ts'
import { routeOf } from '../../../../crds/app/lifecycle/route.ts'
import { planApp } from '../../../../crds/app/plan.ts'
import { viewApp } from '../../../../crds/app/view.ts'
import type { AppWorld } from '../../../../crds/app/world.ts'
import { admits, authoritiesOf, caaNames } from '../../../../crds/names/caa.ts'
import type { OwnName } from '../../../../crds/names/name.ts'
import { AT, aLook, anApp, anOwnName, aRelease, aWorld, NOW } from '../../../support/builders/app/app.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const SHOP = 'www.shop.test'
const issue = (value: string, critical = 0) => ({ critical, tag: 'issue', value })

spec('CAA records', (t) => {
  const ours = ['letsencrypt.org']
  const sets: [string, Parameters<typeof admits>[0], boolean][] = [
    ['none', [], true],
    ['nothing but a place to report to', [{ critical: 0, tag: 'iodef', value: 'mailto:a@b.test' }], true],
    ['our CA', [issue('letsencrypt.org')], true],
    ['our CA in capitals, with parameters', [issue('LetsEncrypt.org; validationmethods=http-01,dns-01')], true],
    ['our CA among others', [issue('other.test'), issue('letsencrypt.org')], true],
    ['another CA', [issue('other.test')], false],
    ['nobody', [issue(';')], false],
    ['nobody, by an empty value', [issue('')], false],
    ['our CA by a proof that a proxy cannot give', [issue('letsencrypt.org; validationmethods=dns-01')], false],
    ['wildcards alone', [{ critical: 0, tag: 'issuewild', value: 'other.test' }], true],
    [
      'a critical property that no CA knows',
      [{ critical: 128, tag: 'tbs', value: 'x' }, issue('letsencrypt.org')],
      false,
    ],
    ['the same, and not critical', [{ critical: 0, tag: 'tbs', value: 'x' }], true],
  ]
  for (const [what, records, isAdmitted] of sets) {
    t(`that name ${what} ${isAdmitted ? 'admit' : 'forbid'} the CA`, () => assert.is(admits(records, ours), isAdmitted))
  }
  t('are looked for at the name, and upwards to below the root', () => {
    assert.equal(caaNames('a.b.test'), ['a.b.test', 'b.test', 'test'])
  })
  t('have to name what the CA of the host goes by', () => {
    assert.equal(authoritiesOf('https://acme-v02.api.letsencrypt.org/directory'), ['letsencrypt.org'])
    assert.ok(authoritiesOf(null).includes('letsencrypt.org') && authoritiesOf(null).includes('sectigo.com'))
    assert.equal(authoritiesOf('https://acme.corp.example.com/dir'), ['example.com', 'acme.corp.example.com'])
  })
})

spec('the domains of an app', (t) => {
  const app = (domains: string[] = [SHOP]) => anApp({ domains })
  const world = (names: OwnName[], change: Partial<AppWorld> = {}): AppWorld => {
    const base = aWorld({ releases: [aRelease(1)], look: aLook({ address: '127.0.0.1:30001' }), ...change })
    return { ...base, naming: { ...base.naming, names } }
  }
  const astray =
    anOwnName(SHOP).checks?.map((one) => (one.type === 'A' ? { ...one, seen: ['192.0.2.9'], ok: false } : one)) ?? []
  const hostnames = (given: AppWorld, domains?: string[]): string[] => {
    const { host } = given
    if (host === null) throw new Error('there is a host')
    return routeOf(app(domains), { ...given, host }, '127.0.0.1:30001').route.hostnames
  }

  t('are routed once they are proven, and lead to the host', () => {
    assert.equal(hostnames(world([anOwnName(SHOP)])), ['shop.apps.test', SHOP])
    const never: Partial<OwnName>[] = [
      { state: 'asked', proof: null },
      { settled: false },
      { state: 'lapsed' },
      { checks: null },
      { checks: astray },
    ]
    for (const change of never) assert.equal(hostnames(world([anOwnName(SHOP, change)])), ['shop.apps.test'])
  })
  t('stay routed while they are proven, wherever they lead', () => {
    for (const change of [{ checks: astray }, { state: 'missing' as const }]) {
      assert.equal(hostnames(world([anOwnName(SHOP, { routed: true, ...change })])), ['shop.apps.test', SHOP])
    }
    assert.equal(hostnames(world([anOwnName(SHOP, { routed: true, state: 'lapsed' })])), ['shop.apps.test'])
  })
  t('stall the app with the code that REST gives, and keep nothing else from it', () => {
    const codeOf = (given: AppWorld, domains?: string[]) => domainsRefusal(app(domains), given)?.code
    assert.is(codeOf(world([anOwnName(SHOP, { state: 'asked' })])), 'DOMAIN_UNPROVEN')
    assert.is(codeOf(world([anOwnName(SHOP, { checks: astray })])), 'DOMAIN_UNVERIFIED')
    assert.is(
      codeOf(world([anOwnName(SHOP, { state: 'asked', reason: 'DOMAIN_TAKEN: another has it' })])),
      'DOMAIN_TAKEN',
    )
    assert.is(codeOf(world([]), ['x.apps.test']), 'BAD_DOMAIN')
    assert.is(codeOf(world([anOwnName(SHOP)])), undefined)
    const plan = planApp(app(), world([anOwnName(SHOP, { state: 'asked' })], { route: null }), NOW)
    assert.ok(
      plan.steps.some((step) => step.do === 'setRoute'),
      JSON.stringify(plan),
    )
  })
  t('are claimed once the spec names them, and given back once no route has them', () => {
    assert.equal(nameSteps(app(), world([])), [{ do: 'claimNames', names: [SHOP] }])
    assert.equal(nameSteps(app(), world([anOwnName(SHOP)])), [])
    assert.equal(nameSteps(app([]), world([anOwnName(SHOP, { routed: true })])), [])
    assert.equal(nameSteps(app([]), world([anOwnName(SHOP)])), [{ do: 'releaseNames', keep: [] }])
    assert.equal(nameSteps(app([]), world([anOwnName(SHOP, { settled: false })])), [], 'what a plan reserves stays')
    assert.equal(nameSteps(app(['x.apps.test']), world([])), [], 'nothing is claimed of what is refused')
    assert.equal(servedDomains({ domains: [SHOP] }, world([])), [])
  })
})

spec('an apply', (t) => {
  const plan: PublishingPlan = {
    ...{ id: 'plan-1', app: 'app-1', account: 'demo', sort: 'domain-config', etag: '"e"', body: { hostnames: [SHOP] } },
    ...{ createdAt: AT, operation: 'op-9', takenAt: AT, generation: 2, appliedAt: AT, outcome: null },
  }
  const shown = (name: Partial<OwnName>, certificate: 'valid' | 'missing' | null = 'valid') => {
    const reach = certificate && {
      at: AT,
      names: [{ hostname: SHOP, certificate, notAfter: null, status: 200, detail: null }],
    }
    const base = aWorld({ releases: [aRelease(1)], look: aLook(), reach })
    const world = { ...base, naming: { ...base.naming, names: [anOwnName(SHOP, name)] } }
    const object = anApp({ domains: [SHOP], domainPlan: 'plan-1' })
    return viewApp(object, world, planApp(object, world, NOW))
  }
  const late = new Date(NOW.getTime() + 3_600_000).toISOString()

  t('has succeeded once its names are routed under their certificates', () => {
    assert.is(outcomeNow(plan, shown({ routed: true }), AT)?.state, 'succeeded')
    assert.is(outcomeNow(plan, shown({ routed: true }, null), AT), null)
    assert.is(outcomeNow(plan, shown({ routed: false }), AT), null)
  })
  t('has failed once its proof is gone, or no certificate came for long', () => {
    assert.is(outcomeNow(plan, shown({ state: 'asked', proof: null }), AT)?.state, 'failed')
    assert.is(outcomeNow(plan, shown({ routed: true }, 'missing'), late)?.code, 'CERTIFICATE_MISSING')
  })
  t('is shown as other operations are, and unknown once another change came', () => {
    const view = viewApplied(plan, shown({ routed: true }), AT)
    assert.equal([view.id, view.kind, view.state, view.result?.code], ['op-9', 'domain-config', 'succeeded', null])
    const overtaken = { ...shown({ routed: true }), domain_plan: 'plan-2', version: 9 }
    assert.is(viewApplied(plan, overtaken, AT).state, 'unknown')
    assert.is(viewApplied({ ...plan, generation: 12 }, { ...overtaken, domain_plan: null }, AT).state, 'running')
  })
  t('has an end, too, where whoever applied it was lost on the way', () => {
    const taken = { ...plan, generation: null, appliedAt: null }
    const without = { ...shown({ routed: true }), domain_plan: null }
    assert.is(viewApplied(taken, without, AT).state, 'running')
    assert.is(viewApplied(taken, without, late).state, 'unknown')
    const written = shown({ routed: true }, null)
    assert.is(viewApplied(taken, written, AT).state, 'running')
    assert.is(viewApplied(taken, written, late).result?.code, 'CERTIFICATE_MISSING')
  })
  t('is held against an etag that each apply changes', () => {
    assert.not.equal(domainEtag({ domains: [] }), domainEtag({ domains: [], domainPlan: 'plan-1' }))
    assert.not.equal(accessEtag({ access: 'public' }), accessEtag({ access: 'private' }))
    const etag = domainEtag({ domains: [] })
    for (const sent of [etag, `W/${etag}`, `"a", ${etag}`, '*']) assert.is(matches(sent, etag), true, sent)
    for (const sent of ['"a"', etag.slice(1, -1), '']) assert.is(matches(sent, etag), false, sent)
  })
})

spec('a link with a scope', (t) => {
  const inside = ['/reports', '/reports/', '/reports/a/b?x=/../', '/reports/%61', '/reports/a;b']
  const outside = [
    '/',
    '/report',
    '/reportsx',
    '/reports/..',
    '/reports/../x',
    '/reports/%2e%2e/x',
    '/reports/%252e%252e/x',
  ]
  const odd = [
    '/reports/..;/x',
    '/reports/.',
    '/reports//x',
    '/reports\\..\\x',
    '/reports/%5c..',
    '/reports/%00',
    '/reports/%zz',
  ]
  t('opens what lies below it', () => {
    for (const path of inside) assert.is(isInScope(path, '/reports'), true, path)
    assert.is(isInScope('/reports/a', '/reports/'), true)
    assert.is(isInScope('/anything/../else', '/'), true)
  })
  t('opens nothing that some server may read as another path', () => {
    for (const path of [...outside, ...odd]) assert.is(isInScope(path, '/reports'), false, path)
    assert.equal(['/a', '/a/../b', '/a//b', '/a/.'].map(isScope), [true, false, false, false])
  })
})

spec('readiness of an API', (t) => {
  const look = (http: number) => aLook({ http })
  const checks = (http: number, readiness: object = {}) =>
    readinessOf(anApp({ readiness } as never).spec, aWorld({ releases: [aRelease(1)], look: look(http) }))
  t('goes by the path and the answers that its owner names', () => {
    assert.equal([checks(200).state, checks(404).state], ['ready', 'not_ready'])
    const api = { path: '/health', status: ['401', '200-299'] }
    assert.equal(
      [checks(401, api).state, checks(204, api).state, checks(404, api).state],
      ['ready', 'ready', 'not_ready'],
    )
    assert.match(
      checks(404, api).checks.find(({ name }) => name === 'http')?.detail ?? '',
      /GET \/health answered 404; 401, 200-299 is well/,
    )
    assert.equal([isWell({ status: ['200-399'] }, 399), isWell({ status: ['200-399'] }, 400)], [true, false])
  })
  t('names each check, and when it was looked at', () => {
    const reach = {
      at: AT,
      names: [
        { hostname: 'shop.apps.test', certificate: 'expired' as const, notAfter: AT, status: null, detail: null },
      ],
    }
    const seen = readinessOf(anApp().spec, aWorld({ releases: [aRelease(1)], look: look(200), reach }))
    assert.equal(
      seen.checks.map(({ name, ok, at }) => [name, ok, at]),
      [
        ['release', true, null],
        ['services', true, AT],
        ['http', true, AT],
        ['certificate:shop.apps.test', false, AT],
        ['policy', true, null],
      ],
    )
    assert.is(seen.state, 'not_ready')
  })
  t('says nothing of what visitors get while the first look at it goes on', () => {
    const unseen = { hostname: 'shop.apps.test', certificate: null, notAfter: null, status: null, detail: null }
    const world = aWorld({ releases: [aRelease(1)], look: look(200), reach: { at: AT, names: [unseen] } })
    const seen = readinessOf(anApp({ applicationPolicy: 'none' }).spec, world)
    assert.equal(
      seen.checks.filter(({ name }) => name.includes('shop')),
      [
        {
          name: 'certificate:shop.apps.test',
          ok: null,
          detail: 'the answer of shop.apps.test is waited for',
          at: null,
        },
      ],
    )
    assert.is(seen.state, 'unknown')
    const plan = planApp(anApp(), world, NOW)
    assert.equal(
      viewApp(anApp(), world, plan).domains.map(({ certificate }) => certificate),
      [null],
    )
  })
  t('refuses a range that ends before it begins', () => {
    const plan = planApp(anApp({ readiness: { path: '/', status: ['300-200'], timeoutSeconds: 5 } }), aWorld(), NOW)
    assert.equal(
      [plan.verdict.state, plan.verdict.message],
      ['stalled', 'INVALID_FIELD: /readiness/status/0 300-200 is a range that ends before it begins'],
    )
  })
})
