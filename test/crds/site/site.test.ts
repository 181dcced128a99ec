import { siteAnswer } from '../../../crds/site/answer.ts'
import { contentOf } from '../../../crds/site/content/expand.ts'
import { readFacts } from '../../../crds/site/facts.ts'
import { siteFaults } from '../../../crds/site/faults.ts'
import { domainFaults } from '../../../crds/site/names/domain.ts'
import { planSite, type SitePlan } from '../../../crds/site/plan.ts'
import { changedSections, diffFiles } from '../../../crds/site/publishing/manifest.ts'
import { renderRequest } from '../../../crds/site/publishing/rendering.ts'
import { siteHandlers } from '../../../crds/site/publishing/route.ts'
import { isApproved, reviewOf } from '../../../crds/site/reviewing/review.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import { viewSite } from '../../../crds/site/view.ts'
import type { SiteWorld } from '../../../crds/site/world.ts'
import {
  approved,
  decision,
  homed,
  NOW,
  release,
  rendering,
  site,
  siteName,
  submission,
  switchTo,
  turn,
  world,
} from '../../support/builders/sites/site.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const stepsOf = ({ steps }: SitePlan): string[] => steps.map((step) => step.do)
const live = { publish: true, subdomain: 'shop' }
const placed = { reservedDigests: ['d1'] }

spec('the plan of a site', (t) => {
  const draft = site()
  const named = site(live)

  const CASES: [sentence: string, object: SiteResource, of: SiteWorld, steps: string[], verdict: string][] = [
    ['takes a place and is rendered', draft, world({ hasQuota: false }), ['reserveSite'], 'waiting'],
    ['is rendered once it has its place', draft, world(), ['render'], 'waiting'],
    ['tells that it was generated, once', draft, { ...homed(draft), generated: false }, ['recordGenerated'], 'waiting'],
    ['is a draft when it is rendered', draft, homed(draft), [], 'ready Draft'],
    ['claims its name and a host', named, world(), ['claimName', 'settleHome'], 'waiting'],
    [
      'waits for a host that takes sites',
      named,
      { ...homed(named, 'd1', { hosts: [], home: null }), ...approved },
      [],
      'waiting NoHost',
    ],
    ['is not published without an approval', named, homed(named), [], 'stalled NOT_APPROVED'],
    [
      'is not published without a name',
      site({ publish: true }),
      { ...homed(site({ publish: true })), ...approved },
      [],
      'stalled NO_DOMAIN',
    ],
    ['takes a place under the cap first', named, { ...homed(named), ...approved }, ['reservePublish'], 'waiting'],
    [
      'then one in the queue',
      named,
      { ...homed(named), ...approved, ...placed },
      ['orderCertificates', 'enterQueue'],
      'waiting',
    ],
    [
      'waits for its turn',
      named,
      { ...homed(named), ...approved, ...placed, turn: turn({ place: 3 }) },
      [],
      'waiting Queued',
    ],
    [
      'leaves the queue when nothing can be done about it but by a person',
      named,
      { ...homed(named), ...approved, ...placed, account: { name: 'demo', templateLock: 'none' }, turn: turn() },
      ['leaveQueue'],
      'stalled INVALID_FIELD',
    ],
    [
      'brings its files, its route, a look from outside and the record, in this order',
      named,
      { ...homed(named), ...approved, ...placed, turn: turn() },
      ['upload', 'switchFiles', 'setRoute', 'markSwitched', 'verify', 'recordSwitch', 'leaveQueue'],
      'waiting',
    ],
    [
      'only looks again once its files and route stand',
      named,
      { ...homed(named), ...approved, ...placed, turn: turn({ stage: 'switched' }) },
      ['verify', 'recordSwitch', 'leaveQueue'],
      'waiting',
    ],
    [
      'leaves the queue when it is live by the record',
      named,
      { ...homed(named), ...approved, switches: [switchTo(1, release(1))], turn: turn() },
      ['leaveQueue'],
      'waiting',
    ],
    [
      'does nothing when it is live',
      named,
      { ...homed(named), ...approved, switches: [switchTo(1, release(1))] },
      [],
      'ready Live',
    ],
    [
      'stays live when an edit is not approved, and says so',
      named,
      { ...homed(named, 'd2'), ...approved, switches: [switchTo(1, release(1))] },
      [],
      'stalled NOT_APPROVED',
    ],
    [
      'is taken down when it is not wanted live',
      site({ subdomain: 'shop' }),
      { ...homed(site({ subdomain: 'shop' })), switches: [switchTo(1, release(1))] },
      ['takeDown', 'recordSwitch', 'leaveQueue'],
      'waiting',
    ],
    [
      'gives names back that it neither asks for nor is live under',
      draft,
      { ...homed(draft), names: [siteName('old')] },
      ['releaseNames'],
      'waiting',
    ],
    [
      'leaves a name that a request has just reserved',
      draft,
      { ...homed(draft), names: [siteName('soon', { settled: false })] },
      [],
      'ready Draft',
    ],
    ['waits for its account', draft, world({ account: null }), [], 'waiting AccountMissing'],
    [
      'is not rendered in a template that there is not',
      draft,
      world({ account: { name: 'demo', templateLock: 'jungle' } }),
      [],
      'stalled INVALID_FIELD',
    ],
  ]
  for (const [sentence, object, of, steps, verdict] of CASES) {
    t(sentence, () => {
      const plan = planSite(object, of)
      assert.equal(stepsOf(plan), steps)
      const { state } = plan.verdict
      const word = plan.verdict.state === 'stalled' ? plan.verdict.code : plan.verdict.reason
      assert.ok([state, `${state} ${word}`].includes(verdict), `${state} ${word}`)
    })
  }

  t('a pinned digest stays live whatever is edited, and a refusal names what is missing', () => {
    const object = site({ ...live, digest: 'd1' })
    const of: SiteWorld = { ...homed(object, 'd2'), ...approved, ...placed }
    const old = rendering(site({ ...live, content: { meta: { companyName: 'Old' } } }), of, 'd1')
    const pinned = { ...of, renderings: [...of.renderings, old] }
    assert.equal(stepsOf(planSite(object, { ...pinned, turn: turn() }))[0], 'upload')
    const unknown = planSite(site({ ...live, digest: 'd9' }), pinned)
    assert.ok(unknown.verdict.state === 'stalled' && /no bytes of this site/.test(unknown.verdict.message))
    const elsewhere = planSite(object, { ...pinned, names: [siteName('other')] })
    assert.ok(elsewhere.verdict.state !== 'ready')
  })

  t('what was pinned before there was a host goes live under the name that the host gives', () => {
    const object = site({ ...live, digest: 'd0' })
    const of = { ...homed(object, 'd1'), ...approved, reservedDigests: ['d1'], turn: turn() }
    const nameless = rendering(object, world({ hosts: [] }), 'd0', { neutral: 'n-d1' })
    const plan = planSite(object, { ...of, renderings: [nameless, ...of.renderings] })
    assert.is(stepsOf(plan)[0], 'upload')
    const another = { ...nameless, neutral: 'n-d0' }
    assert.equal(stepsOf(planSite(object, { ...of, renderings: [another, ...of.renderings] })), ['leaveQueue'])
  })

  t('a deleted site goes down, then its files go, then its finalizer', () => {
    const object = site(live, { deletionTimestamp: NOW })
    const of = { ...homed(object), switches: [switchTo(1, release(1))] }
    assert.equal(stepsOf(planSite(object, of)), ['takeDown', 'recordSwitch', 'leaveQueue', 'removeFiles'])
    const down = { ...of, switches: [switchTo(1, release(1)), switchTo(2, null)] }
    assert.equal(stepsOf(planSite(object, down)), ['removeFiles'])
    assert.equal(stepsOf(planSite(object, down)), ['removeFiles'], 'planning is no work')
    const gone = planSite(object, { ...down, removed: true })
    assert.equal([gone.steps.length, gone.verdict.state], [0, 'ready'])
    assert.is(planSite(site({}, { deletionTimestamp: NOW }), world()).verdict.state, 'ready')
  })

  t('a submission by the spec happens once for the same bytes, and again after a change', () => {
    const object = site({ submit: true })
    const first = planSite(object, homed(object))
    assert.equal(stepsOf(first), ['submit'])
    assert.equal(stepsOf(planSite(object, { ...homed(object), submissions: [submission(1)] })), [])
    const refusedOnce = { submissions: [submission(1)], decisions: [decision(2, 1, 'request_changes')] }
    assert.equal(stepsOf(planSite(object, { ...homed(object), ...refusedOnce })), [])
    assert.equal(stepsOf(planSite(object, { ...homed(object, 'd2'), ...refusedOnce })), ['submit'])
  })
})

spec('what others ask of a site', (t) => {
  const object = site()
  const submitted = { ...homed(object), submissions: [submission(1)] }
  const ask = { ask: 'decide', seq: 2, at: NOW, submission: 1, digest: 'd1', decision: 'approve', note: '' } as const
  const verdictOf = (of: SiteWorld) => {
    const step = planSite(object, of).steps[0]
    return step?.do === 'decide' ? step.verdict : null
  }

  t('is accepted when it is about what stands, and told as it happened', () => {
    const verdict = verdictOf({ ...submitted, asks: [{ ...ask, by: 'reviewer' }] })
    assert.ok(verdict?.accept && verdict.event)
    assert.equal([verdict.event.type, verdict.event.data.site.status], ['website.approved', 'approved'])
    const changes = verdictOf({ ...submitted, asks: [{ ...ask, decision: 'request_changes', by: 'reviewer' }] })
    assert.ok(changes?.accept && changes.event?.type === 'website.changes_requested')
  })

  t('is refused from the owner, about other bytes, and when nothing was submitted', () => {
    const codeOf = (of: SiteWorld) => {
      const verdict = verdictOf(of)
      return verdict && !verdict.accept ? verdict.code : null
    }
    assert.is(codeOf({ ...submitted, asks: [{ ...ask, by: 'demo' }] }), 'SELF_APPROVAL')
    assert.is(codeOf({ ...submitted, asks: [{ ...ask, submission: 9, by: 'reviewer' }] }), 'CHANGED_SINCE')
    assert.is(codeOf({ ...homed(object), asks: [{ ...ask, by: 'reviewer' }] }), 'NOT_SUBMITTED')
    const stale = { ask: 'submit', seq: 5, at: NOW, digest: 'd0', by: 'demo' } as const
    assert.is(codeOf({ ...homed(object), asks: [stale] }), 'CHANGED_SINCE')
  })
})

spec('an approval', (t) => {
  const bytes = { digest: 'd1', neutral: 'n1' }
  const reviewed = { submissions: [submission(1, 'd1', 'n1')], decisions: [decision(2, 1)] }
  t('holds for the same site under another name, and for nothing else', () => {
    assert.ok(isApproved(reviewed, bytes))
    assert.ok(isApproved(reviewed, { digest: 'other host', neutral: 'n1' }))
    assert.not.ok(isApproved(reviewed, { digest: 'd2', neutral: 'n2' }))
    assert.is(reviewOf(reviewed, { digest: 'd2', neutral: 'n2' }), 'draft')
  })
  t('ends with a later word on the same bytes', () => {
    const later = {
      submissions: [submission(1, 'd1', 'n1'), submission(3, 'd1', 'n1')],
      decisions: [decision(2, 1), decision(4, 3, 'request_changes')],
    }
    assert.not.ok(isApproved(later, bytes))
    assert.is(reviewOf(later, bytes), 'changes_requested')
  })
  t('of a site that was deleted is not that of the next one of the same name', () => {
    const body = { digest: 'd1', by: 'demo' }
    const fact = { seq: 1, key: 'uid-old/submit:0:d1', kind: 'submit', body, state: 'accepted', at: NOW } as const
    assert.is(readFacts('uid-new', [fact], () => null).submissions.length, 0)
    assert.is(readFacts('uid-old', [fact], () => null).submissions.length, 1)
  })
})

spec('the name of a site', (t) => {
  const rules = { baseDomains: ['sites.test'], testDomains: false }
  const BAD: [string, object][] = [
    ['a label with a capital', { subdomain: 'Shop' }],
    ['a label that is reserved', { subdomain: 'www' }],
    ['a label that hides other letters', { subdomain: 'xn--80ak6aa92e' }],
    ['a label that ends in a dash', { subdomain: 'shop-' }],
    ['two at once', { subdomain: 'shop', domain: 'shop.example.com' }],
    ['a domain below a base domain', { domain: 'shop.sites.test' }],
    ['the base domain itself', { domain: 'sites.test' }],
    ['an address', { domain: '192.0.2.1' }],
    ['a public suffix', { domain: 'co.uk' }],
    ['a suffix that there is not', { domain: 'shop.nosuchsuffix' }],
    ['a name that is in no DNS', { domain: 'shop.test' }],
    ['an empty label', { domain: 'shop..com' }],
  ]
  for (const [say, asked] of BAD) {
    t(`is refused as ${say}`, () =>
      assert.equal(
        domainFaults(asked, rules).map(({ code }) => code),
        ['BAD_DOMAIN'],
      ),
    )
  }
  t('is taken as a plain label, a registered domain, and a test name where those are allowed', () => {
    assert.equal(domainFaults({ subdomain: 'shop-2' }, rules), [])
    assert.equal(domainFaults({ domain: 'www.shop.co.uk' }, rules), [])
    assert.equal(domainFaults({ domain: 'shop.test' }, { ...rules, testDomains: true }), [])
    assert.equal(domainFaults({}, rules), [])
  })
})

spec('what a site shows and serves', (t) => {
  t('tells of an edit beside what is live', () => {
    const object = site({ ...live, digest: 'd1' })
    const of = { ...homed(object, 'd2'), ...approved, switches: [switchTo(1, release(1))] }
    const view = viewSite(object, of, planSite(object, of), new Date(NOW))
    assert.equal(
      [view.status, view.pending_status, view.release, view.url],
      ['live', 'draft', 1, 'https://shop.sites.test/'],
    )
    assert.equal([view.review_state, view.review?.decision, view.review?.decided_by], ['draft', 'approve', 'reviewer'])
  })
  t('shows exactly what its description promises', () => {
    const object = site(live)
    const of = { ...homed(object), ...approved, switches: [switchTo(1, release(1))] }
    const view = viewSite(object, of, planSite(object, of), new Date(NOW))
    assert.equal(Object.keys(view).sort(), Object.keys(siteAnswer.properties as object).sort())
    const { review, releases } = siteAnswer.properties as Record<
      string,
      { properties?: object; items?: { properties: object } }
    >
    assert.equal(Object.keys(view.review ?? {}).sort(), Object.keys(review?.properties ?? {}).sort())
    assert.equal(Object.keys(view.releases[0] ?? {}).sort(), Object.keys(releases?.items?.properties ?? {}).sort())
  })
  t('says that the countdown of its announcement is past', () => {
    const announcement = { text: 'Sale', countdown: '2026-11-22T09:59:59Z' }
    const object = site({ content: { meta: { companyName: 'V' }, announcement } })
    const of = homed(object)
    const told = (now: string) =>
      viewSite(object, of, planSite(object, of), new Date(now)).warnings.map(({ code }) => code)
    assert.ok(told(NOW).includes('COUNTDOWN_PAST'))
    assert.not.ok(told('2026-11-22T09:00:00Z').includes('COUNTDOWN_PAST'))
  })
  t('says that an account is locked to another template', () => {
    const of = homed(site(), 'd1', { account: { name: 'demo', templateLock: 'lumen' } })
    const view = viewSite(site(), of, planSite(site(), of), new Date(NOW))
    assert.equal([view.template, view.warnings[0]?.code], ['lumen', 'TEMPLATE_LOCKED'])
  })
  t('a lock holds the brand, too: tokens change nothing, and are named', () => {
    const account = { name: 'demo', templateLock: 'studio' }
    const brand = { accent: '#00aa55', fontPair: 'plex' } as const
    const input = (change: Partial<SiteWorld>) => renderRequest(site().spec, world(change))?.input
    assert.is(input({ account, brand }), input({ account }))
    assert.is.not(input({ brand }), input({}))
    const of = homed(site(), 'd1', { account, brand: { accent: '#00aa55' } })
    const { warnings } = viewSite(site(), of, planSite(site(), of), new Date(NOW))
    assert.equal(warnings, [
      {
        code: 'TEMPLATE_LOCKED',
        pointer: '/brand_tokens',
        detail:
          'this account is locked to studio; its brand holds, and these tokens of the account are not used: accent',
      },
    ])
  })
  t('refuses a picture that was not sent, and more words than a resource may hold', () => {
    const picture = site({ content: { meta: { companyName: 'V' }, products: [{ name: 'B', image: 'asset:p1' }] } }).spec
    assert.equal(
      siteFaults(picture).map(({ pointer }) => pointer),
      ['/content/products/0/image'],
    )
    assert.equal(siteFaults({ ...picture, assets: { p1: 'a'.repeat(64) } }), [])
    const text = 'x'.repeat(2000)
    const products = Array.from({ length: 200 }, () => ({ name: 'B', specs: [text] }))
    assert.equal(siteFaults(site({ content: { meta: { companyName: 'V' }, products } }).spec)[0]?.pointer, '/content')
  })
  t('compares two sets of files and two contents', () => {
    const file = (path: string, sha256: string) => ({ path, sha256, bytes: 1, contentType: 'text/html' })
    const before = [file('a', '1'), file('b', '2'), file('c', '3')]
    const after = [file('a', '1'), file('b', '9'), file('d', '4')]
    assert.equal(diffFiles(before, after), { added: ['d'], changed: ['b'], removed: ['c'], unchanged: 1 })
    const meta = { companyName: 'V', lang: 'en', layout: 'classic', template: 'studio' } as const
    assert.equal(changedSections({ meta, hero: { title: 'A' } }, { hero: { title: 'B' }, meta }), ['hero'])
  })
  t('serves assets of releases before from where they stay, and everything else from what is current', () => {
    const manifest = {
      content: contentOf(site().spec),
      files: [],
      live: { page: {}, asset: {}, missing: {} },
      preview: { page: {}, asset: {}, missing: {} },
    }
    const text = JSON.stringify(siteHandlers('/srv/sites/one', manifest))
    assert.match(text, /"path":\["\/assets\/\*"\]/)
    assert.match(text, /"root":"\/srv\/sites\/one\/kept"/)
    assert.match(text, /"root":"\/srv\/sites\/one\/current"/)
  })
})
