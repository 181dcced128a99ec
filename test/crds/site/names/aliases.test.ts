import { NAME_STATES } from '../../../../crds/names/life.ts'
import { judgeAnswers, wantedProof } from '../../../../crds/names/proof.ts'
import { twinOf } from '../../../../crds/names/twin.ts'
import { aliasesOf, keptBeside, MOVED_DAYS } from '../../../../crds/site/names/aliases.ts'
import { planSite, type SitePlan } from '../../../../crds/site/plan.ts'
import { siteHandlers } from '../../../../crds/site/publishing/route.ts'
import { viewSite } from '../../../../crds/site/view.ts'
import type { SiteWorld } from '../../../../crds/site/world.ts'
import { approved, homed, NOW, release, site, siteName, switchTo } from '../../../support/builders/sites/site.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const stepsOf = ({ steps }: SitePlan): string[] => steps.map((step) => step.do)
const DAY_MS = 86_400_000
const daysOn = (days: number): string => new Date(Date.parse(NOW) + days * DAY_MS).toISOString()

spec('a domain with and without www', (t) => {
  const TWINS: [name: string | null, twin: string | null][] = [
    ['shop.example', 'www.shop.example'],
    ['www.shop.example', 'shop.example'],
    ['shop.co.uk', 'www.shop.co.uk'],
    ['www.shop.co.uk', 'shop.co.uk'],
    ['blog.shop.example', null],
    ['www.blog.shop.example', null],
    ['www.co.uk', null],
    ['co.uk', null],
    ['shop', null],
    [null, null],
  ]
  for (const [name, twin] of TWINS) {
    t(`${name} comes with ${twin ?? 'no other'}`, () => assert.is(twinOf(name), twin))
  }

  const own = site({ publish: true, domain: 'shop.example', digest: 'd1' })
  const there = { ...release(1, 'd1', 'shop.example'), name: 'shop.example' }
  const worldWith = (change: Parameters<typeof siteName>[1], more: Partial<SiteWorld> = {}) =>
    homed(own, 'd1', {
      names: [siteName('shop.example'), siteName('www.shop.example', { spare: true, ...change })],
      told: [`shop.example ${NOW}`],
      switches: [switchTo(1, there)],
      ...approved,
      ...more,
    })

  t('leads there in the states in which a name is served, and in no other', () => {
    const leading = NAME_STATES.filter((state) => aliasesOf(own.spec, worldWith({ state }), there).length > 0)
    assert.equal(leading, ['verified', 'missing'])
    assert.equal(aliasesOf(own.spec, worldWith({ settled: false }), there), [])
    assert.equal(aliasesOf(own.spec, worldWith({}), there), [
      { name: 'www.shop.example', hostname: 'www.shop.example', kind: 'www', until: null },
    ])
  })

  t('comes off the route when its proof is gone, and the site stays', () => {
    const lost = worldWith({ state: 'lapsed', routed: true })
    const plan = planSite(own, lost)
    assert.equal(plan.steps, [
      { do: 'setRoute', host: 'h1', hostname: 'shop.example', manifest: 'm-d1', hsts: true, aliases: [] },
    ])
    assert.is(plan.status.url, 'https://shop.example/')
    // Where the site's own is lost too, that comes first.
    const both = {
      ...lost,
      names: lost.names.map((one) => ({ ...one, state: 'lapsed' as const, routed: true })),
    }
    assert.equal(stepsOf(planSite(own, { ...both, told: [...both.told, `www.shop.example ${NOW}`] })), [
      'removeRoute',
      'recordSwitch',
    ])
  })

  t('is shown, told of to nobody, and kept with the domain that it belongs to', () => {
    const settled = worldWith({ state: 'asked', proof: null })
    const plan = planSite(own, settled)
    assert.equal([stepsOf(plan), plan.verdict.state], [[], 'ready'])
    const view = viewSite(own, settled, plan, new Date(NOW))
    const asked = view.domains.find(({ name }) => name === 'www.shop.example')
    assert.equal([asked?.served, asked?.code, view.redirects], [false, 'DOMAIN_UNPROVEN', []])
    const served = worldWith({})
    assert.equal(
      viewSite(own, served, planSite(own, served), new Date(NOW)).redirects.map(({ hostname, to }) => [hostname, to]),
      [['www.shop.example', 'shop.example']],
    )
    assert.equal(planSite(own, served).status.redirects, ['www.shop.example'])
    const moved = site({ publish: true, subdomain: 'shop', digest: 'd1' })
    assert.equal(keptBeside(moved.spec, { ...served, switches: [] }, ['shop']), [])
  })

  t('one that was chosen by kubectl is claimed as the site’s own', () => {
    const chosen = site({ domain: 'www.shop.example' })
    assert.equal(stepsOf(planSite(chosen, worldWith({}, { switches: [] }))).includes('claimName'), true)
  })

  t('is proven by the text of the domain itself, and not the other way round', () => {
    const wanted = wantedProof('www.shop.example', 'ab', [], { name: 'shop.example', token: 'cd' })
    const found = (texts: string[] | null, parentTexts: string[] | null) =>
      judgeAnswers(wanted, { texts, parentTexts, aliases: null }).found
    assert.is(found(null, ['bottega-verification=cd']), 'txt')
    assert.is(found(null, ['bottega-verification=ab']), null, 'each has a text of its own')
    assert.is(found(['bottega-verification=cd'], null), null)
    const bare = wantedProof('shop.example', 'cd', [])
    assert.is(judgeAnswers(bare, { texts: null, parentTexts: ['bottega-verification=cd'], aliases: null }).found, null)
  })
})

spec('a site that has moved', (t) => {
  const own = site({ publish: true, domain: 'new.shop.example', digest: 'd2' })
  const before = { ...release(1, 'd1', 'old.shop.example'), name: 'old.shop.example' }
  const after = { ...release(2, 'd2', 'new.shop.example'), name: 'new.shop.example' }
  const moved = (at: string, change: Parameters<typeof siteName>[1] = {}): SiteWorld =>
    homed(own, 'd2', {
      at,
      names: [siteName('new.shop.example'), siteName('old.shop.example', { spare: true, ...change })],
      told: ['new.shop.example', 'old.shop.example'].map((name) => `${name} ${NOW}`),
      switches: [switchTo(1, before), switchTo(2, after)],
      submissions: [{ ...approved.submissions[0], digest: 'd2', neutral: 'n-d2' }] as SiteWorld['submissions'],
      decisions: approved.decisions,
    })

  t(`is found under its former name for ${MOVED_DAYS} days, and then gives it back`, () => {
    assert.equal(aliasesOf(own.spec, moved(daysOn(0)), after), [
      { name: 'old.shop.example', hostname: 'old.shop.example', kind: 'moved', until: daysOn(MOVED_DAYS) },
    ])
    assert.equal(stepsOf(planSite(own, moved(daysOn(MOVED_DAYS - 1), { routed: true }))), [])
    const over = planSite(own, moved(daysOn(MOVED_DAYS), { routed: true }))
    assert.equal(over.steps, [
      { do: 'setRoute', host: 'h1', hostname: 'new.shop.example', manifest: 'm-d2', hsts: true, aliases: [] },
      { do: 'releaseNames', keep: ['new.shop.example'], spare: [] },
    ])
  })

  t('has its former name lead there from the switch itself, and marks it as spare', () => {
    const going = { ...moved(daysOn(0), { spare: false }), switches: [switchTo(1, before)] }
    assert.equal(
      aliasesOf(own.spec, going, after).map(({ hostname }) => hostname),
      ['old.shop.example'],
    )
    const [step] = planSite(own, moved(daysOn(1), { spare: false })).steps
    assert.equal(step?.do === 'releaseNames' && step.spare, ['old.shop.example'])
  })

  t('ends it when its owner says so, and when the name is lost', () => {
    const ended = site({
      publish: true,
      domain: 'new.shop.example',
      digest: 'd2',
      endedRedirects: ['old.shop.example'],
    })
    assert.equal(aliasesOf(ended.spec, moved(daysOn(1)), after), [])
    assert.equal(stepsOf(planSite(ended, moved(daysOn(1), { routed: true }))), ['setRoute', 'releaseNames'])
    assert.equal(aliasesOf(own.spec, moved(daysOn(1), { state: 'lapsed' }), after), [])
  })

  t('a label that it left is one of the platform, below the base domain of its host', () => {
    const label = { ...before, name: 'shop', hostname: 'shop.sites.test' }
    const world = { ...moved(daysOn(1)), switches: [switchTo(1, label), switchTo(2, after)], names: [siteName('shop')] }
    assert.equal(
      aliasesOf(own.spec, world, after).map(({ hostname }) => hostname),
      ['shop.sites.test'],
    )
  })

  t('leads on with path and query, before anything else is looked for', () => {
    const manifest = { files: [], live: { page: {}, asset: {}, missing: {} } } as never
    const text = JSON.stringify(
      siteHandlers('/srv/one', manifest, true, { aliases: ['old.example'], origin: 'https://new.example:8443' }),
    )
    assert.match(
      text,
      /"routes":\[\{"match":\[\{"host":\["old\.example"\]\}\],"handle":\[\{"handler":"static_response"/,
    )
    assert.match(text, /"308","headers":\{"Location":\["https:\/\/new\.example:8443\{http\.request\.uri\}"\]/)
    assert.not.match(JSON.stringify(siteHandlers('/srv/one', manifest, true)), /"host":/)
  })
})
