import { planSite, type SitePlan } from '../../../crds/site/plan.ts'
import { renderRequest } from '../../../crds/site/publishing/rendering.ts'
import type { Warning } from '../../../crds/site/render/input.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import { viewSite } from '../../../crds/site/view.ts'
import type { ReviewRequest, SiteWorld, StoredPicture } from '../../../crds/site/world.ts'
import {
  approved,
  homed,
  NOW,
  release,
  rendering,
  site,
  switchTo,
  turn,
  world,
} from '../../support/builders/sites/site.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)]
const content = {
  meta: { companyName: 'Voss' },
  hero: { title: 'Bowls', image: 'asset:a' },
  gallery: [{ image: 'asset:b', alt: 'A bowl' }],
}
const pictured = (more: Record<string, unknown> = {}): SiteResource =>
  site({ content, assets: { a: A, b: B }, ...more })

const none = (asked: boolean): StoredPicture => ({ state: 'none', asked })
const quick = (asked = true): StoredPicture => ({ state: 'quick', asked })
const ready: StoredPicture = { state: 'ready' }
const bad: StoredPicture = { state: 'bad', detail: 'moves; send a single picture' }

const seen = (a: StoredPicture, b: StoredPicture, more: Partial<SiteWorld> = {}): SiteWorld =>
  world({ home: 'h1', pictures: { [A]: a, [B]: b }, ...more })
/** With its first rendering. */
const shown = (object: SiteResource, of: SiteWorld): SiteWorld => ({ ...of, firsts: [rendering(object, of, 'f1')] })

const wordsOf = ({ steps, verdict }: SitePlan): string =>
  [
    ...steps.map((step) => (step.do === 'render' ? `render ${step.isFirst ? 'first' : 'whole'}` : step.do)),
    `${verdict.state} ${verdict.state === 'stalled' ? verdict.code : verdict.reason}`,
  ].join(', ')

spec('the plan of a site with pictures', (t) => {
  const object = pictured()
  const CASES: [sentence: string, of: SiteWorld, words: string][] = [
    ['asks for what nobody works on', seen(none(false), none(true)), 'askPictures, waiting Rendering'],
    ['waits while they are fetched and decoded', seen(none(true), quick()), 'waiting Pictures'],
    ['is shown once each has its quick width', seen(quick(), quick()), 'render first, waiting Rendering'],
    ['is shown also where one is whole already', seen(quick(), ready), 'render first, waiting Rendering'],
    ['waits for the other widths', shown(object, seen(quick(), quick())), 'waiting Pictures'],
    [
      'asks again where the process died that worked on them',
      shown(object, seen(quick(false), ready)),
      'askPictures, waiting Rendering',
    ],
    ['is rendered for good when all are there', shown(object, seen(ready, ready)), 'render whole, waiting Rendering'],
    ['is rendered once where they were there before', seen(ready, ready), 'render whole, waiting Rendering'],
    ['is not shown with a picture that cannot be', seen(quick(), bad), 'stalled INVALID_FIELD'],
    [
      'tells that it was generated once there is something to look at',
      shown(object, seen(quick(), quick(), { generated: false })),
      'recordGenerated, waiting Rendering',
    ],
  ]
  for (const [sentence, of, words] of CASES) t(sentence, () => assert.is(wordsOf(planSite(object, of)), words))

  t('asks for all that is missing, and for nothing else', () => {
    const [step] = planSite(object, seen(none(false), quick())).steps
    assert.equal(step?.do === 'askPictures' && step.sources, [A, B])
    const [later] = planSite(object, shown(object, seen(ready, quick(false)))).steps
    assert.equal(later?.do === 'askPictures' && later.sources, [B])
  })

  t('says how many of them are there, by kubectl and over REST, and names no digest before all are', () => {
    const of = shown(object, seen(ready, quick()))
    const plan = planSite(object, of)
    assert.is(plan.status.pictures, '1/2')
    assert.is(plan.status.digest, undefined)
    assert.match(plan.verdict.state === 'waiting' ? plan.verdict.message : '', /^1 of 2 pictures/)
    const view = viewSite(object, of, plan, new Date(NOW))
    assert.equal([view.digest, view.preview_digest, view.review_state, view.status], [null, 'f1', 'draft', 'draft'])
    assert.equal(view.pictures, { ready: 1, total: 2, submit_waits: false })
    const whole = homed(object)
    const after = viewSite(object, whole, planSite(object, whole), new Date(NOW))
    assert.equal([after.digest, after.preview_digest, after.pictures.ready], ['d1', 'd1', 2])
    const plain = homed(site())
    assert.is(planSite(site(), plain).status.pictures, undefined)
    assert.equal(viewSite(site(), plain, planSite(site(), plain), new Date(NOW)).pictures.total, 0)
  })

  t('keeps what is live, and takes it down, whatever its next pictures do', () => {
    const old = { switches: [switchTo(1, release(1))], ...approved }
    const named = { subdomain: 'shop', publish: true, digest: 'd1' }
    const of = (one: SiteResource) => {
      const base = { ...homed(site(named), 'd1'), ...old, pictures: { [A]: quick(), [B]: quick() } }
      return shown(one, base)
    }
    const pinned = pictured(named)
    assert.is(wordsOf(planSite(pinned, of(pinned))), 'waiting Pictures')
    const { digest: _digest, ...unpinned } = named
    const loose = pictured(unpinned)
    assert.is(wordsOf(planSite(loose, { ...of(loose), turn: turn() })), 'leaveQueue, waiting Publishing')
    assert.is(wordsOf(planSite(loose, of(loose))), 'waiting Pictures')
    const down = pictured({ subdomain: 'shop' })
    assert.is(wordsOf(planSite(down, of(down))), 'takeDown, recordSwitch, leaveQueue, waiting Publishing')
  })
})

spec('a submission while pictures are under way', (t) => {
  const object = pictured()
  const ahead = { ask: 'submitAhead', seq: 5, at: NOW, digest: 'f1', by: 'partner' } as const satisfies ReviewRequest
  const first = shown(object, seen(quick(), quick(), { asks: [ahead] }))
  const whole = (change: Partial<SiteWorld> = {}): SiteWorld => ({
    ...first,
    pictures: {},
    renderings: [rendering(object, first, 'd1')],
    ...change,
  })

  t('waits, says so, and holds up no decision', () => {
    const plan = planSite(object, first)
    assert.is(wordsOf(plan), 'waiting Pictures')
    assert.match(plan.verdict.state === 'waiting' ? plan.verdict.message : '', /it is submitted with the last of them/)
    assert.ok(viewSite(object, first, plan, new Date(NOW)).pictures.submit_waits)
    const decide = {
      ask: 'decide',
      seq: 6,
      at: NOW,
      submission: 1,
      digest: 'd0',
      decision: 'approve',
      note: '',
      by: 'r',
    }
    const both = { ...first, asks: [ahead, decide as ReviewRequest] }
    const [step] = planSite(object, both).steps
    assert.ok(step?.do === 'decide' && step.verdict.seq === 6)
  })

  t('takes effect with what is whole, in the name of who asked, once', () => {
    const [submit, decide] = planSite(object, whole()).steps
    assert.ok(submit?.do === 'submit' && decide?.do === 'decide')
    assert.equal(submit?.do === 'submit' && [submit.digest, submit.by], ['d1', 'partner'])
    assert.equal(decide?.do === 'decide' && decide.verdict, { seq: 5, accept: true, event: null })
    const submitted = whole({ submissions: [{ seq: 6, at: NOW, digest: 'd1', neutral: 'n-d1', by: 'partner' }] })
    assert.equal(
      planSite(object, submitted).steps.map((step) => step.do),
      ['decide'],
      'a process that died between the two submits nothing twice',
    )
  })

  t('holds under a hostname that was chosen meanwhile, and for no other content', () => {
    const named = pictured({ subdomain: 'shop' })
    const renamed = renderRequest(named.spec, first)
    assert.is.not(renamed?.input, renderRequest(object.spec, first)?.input)
    const names = homed(named).names
    const same = { ...rendering(named, first, 'f2'), neutral: 'n-f1' }
    const of = { ...first, names, firsts: [...first.firsts, same] }
    assert.is(wordsOf(planSite(named, of)), 'waiting Pictures')
    const all: SiteWorld = { ...first, names, pictures: { [A]: ready, [B]: ready } }
    assert.is(
      wordsOf(planSite(named, { ...all, firsts: of.firsts })),
      'render whole, waiting Rendering',
      'what is compared is there',
    )
    const edited = pictured({ content: { ...content, hero: { title: 'Plates', image: 'asset:a' } } })
    const [step] = planSite(edited, first).steps
    assert.equal(step?.do === 'decide' && !step.verdict.accept && step.verdict.code, 'CHANGED_SINCE')
  })

  t('is refused with a picture that cannot be shown', () => {
    const [step] = planSite(object, { ...first, pictures: { [A]: ready, [B]: bad } }).steps
    assert.equal(step?.do === 'decide' && !step.verdict.accept && step.verdict.code, 'INVALID_FIELD')
  })

  t('by kubectl is the same: it waits, and is submitted when it is whole', () => {
    const wanted = pictured({ submit: true, publish: true, subdomain: 'shop' })
    const base = seen(quick(), quick(), { names: homed(wanted).names })
    const plan = planSite(wanted, shown(wanted, base))
    assert.is(wordsOf(plan), 'waiting Pictures')
    assert.match(plan.verdict.state === 'waiting' ? plan.verdict.message : '', /it is submitted/)
    assert.is(wordsOf(planSite(wanted, homed(wanted))), 'submit, waiting Submitting')
    const submissions = [{ seq: 1, at: NOW, digest: 'd1', neutral: 'n-d1', by: null }]
    assert.is(wordsOf(planSite(wanted, { ...homed(wanted), submissions })), 'waiting InReview')
  })
})

spec('a site that is far too heavy', (t) => {
  const heavy: Warning = {
    code: 'FAR_OVER_BUDGET',
    pointer: 'index.html',
    detail: 'the elements of the page: 7077 elements, the budget is 1500',
  }
  const live = { publish: true, subdomain: 'shop' }
  const weighing = (object: SiteResource, digest: string, change: Partial<SiteWorld> = {}): SiteWorld => {
    const of = homed(object, digest, change)
    return { ...of, renderings: of.renderings.map((one) => ({ ...one, warnings: [heavy] })) }
  }

  t('is not published, approved or not, and the refusal names page, weight and budget', () => {
    const object = site(live)
    for (const review of [{}, approved]) {
      const { verdict, steps } = planSite(object, { ...weighing(object, 'd1'), ...review })
      assert.equal(steps, [])
      assert.ok(verdict.state === 'stalled' && verdict.code === 'FAR_OVER_BUDGET')
      assert.match(
        verdict.state === 'stalled' ? verdict.message : '',
        /index\.html: .*7077 elements, the budget is 1500/,
      )
    }
  })

  t('leaves what is live, and what was let through once may be put back', () => {
    const object = site(live)
    const { verdict, steps, status } = planSite(object, {
      ...weighing(object, 'd2'),
      ...approved,
      switches: [switchTo(1, release(1))],
    })
    assert.equal([steps.length, verdict.state, status.liveDigest], [0, 'stalled', 'd1'])
    const before = { ...weighing(object, 'd1'), ...approved, switches: [switchTo(1, release(1)), switchTo(2, null)] }
    assert.is(planSite(object, before).steps[1]?.do, 'enterQueue')
  })

  t('over its budget alone it is', () => {
    const object = site(live)
    const of = { ...weighing(object, 'd1'), ...approved, reservedDigests: ['d1'] }
    const light = of.renderings.map((one) => ({ ...one, warnings: [{ ...heavy, code: 'OVER_BUDGET' as const }] }))
    assert.is(planSite(object, { ...of, renderings: light }).steps[1]?.do, 'enterQueue')
  })
})
