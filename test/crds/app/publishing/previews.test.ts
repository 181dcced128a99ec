import { faultsOf } from '../../../../crds/app/faults.ts'
import { previewSlug, ttlMs } from '../../../../crds/app/lifecycle/publishing/preview.ts'
import { NO_PREVIEWS } from '../../../../crds/app/lifecycle/publishing/previewed.ts'
import { routeOf } from '../../../../crds/app/lifecycle/route.ts'
import { planApp } from '../../../../crds/app/plan.ts'
import type { AppWorld, TargetHost } from '../../../../crds/app/world.ts'
import { AT, anApp, aPreview, aWorld, NAME, NOW } from '../../../support/builders/app/app.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** What is decided of previews: their names, their end, and what goes with them. */

const EXPIRES = aPreview().expiresAt
const previewOf = { app: 'app-live', ref: 'feature/basket', expiresAt: EXPIRES }
const AFTER = new Date(Date.parse(EXPIRES))
const gone = { deletionTimestamp: AT }
const open = (...apps: string[]) => ({ own: null, open: apps.map((app) => aPreview({ app, parent: NAME })) })
const own = (change = {}) => ({ own: aPreview(change), open: [] })
const deeds = (world: Partial<AppWorld>, at = NOW, meta = {}, more = {}) =>
  planApp(anApp({ previewOf, ...more }, meta), aWorld(world), at).steps.map((step) => step.do)

spec('the name of a preview', (t) => {
  const names: [string, string, string][] = [
    ['feature/basket', 'shop', 'feature-basket--shop'],
    ['main', 'shop', 'main--shop'],
    ['Fix_#12 ', 'shop', 'fix-12--shop'],
    ['2-fix', 'shop', 'b-2-fix--shop'],
    ['ab', 'shop', 'b-ab--shop'],
    ['ä', 'shop', 'ref--shop'],
    ['x'.repeat(200), 'shop', `${'x'.repeat(34)}--shop`],
    ['feature/basket', 's'.repeat(40), `feature-baske--${'s'.repeat(25)}`],
  ]
  for (const [ref, app, slug] of names) {
    t(`is one label that no rule of apps refuses: ${ref.slice(0, 20)} of ${app.slice(0, 8)}`, () => {
      assert.is(previewSlug(app, ref, ''), slug)
      assert.equal(faultsOf(anApp({ slug }).spec), [])
    })
  }

  t('is a label whatever a branch and an app are called, with and without its mark', () => {
    const refs = [
      'a',
      '-',
      'a-b',
      '9',
      'A/B/C',
      'wip/--x',
      'é',
      'r1',
      'x/base',
      'build',
      'renovate/all-minor-patch-of-it',
    ]
    for (const app of [
      'a',
      'shop',
      'a-very-long-name-of-an-app-that-sells-it',
      'ab-cd-ef-gh-ij-kl-mn-op-qr-st-uv-wx-yz-1',
    ]) {
      for (const ref of refs) {
        for (const mark of ['', '3f2a']) {
          const slug = previewSlug(app, ref, mark)
          assert.match(slug, /^[a-z][a-z0-9-]{0,38}[a-z0-9]$/)
          assert.equal(faultsOf(anApp({ slug }).spec), [], slug)
          assert.is.not(previewSlug(app, ref, ''), previewSlug(app, ref, '3f2a'))
        }
      }
    }
  })

  t('lasts for what is said in minutes, hours or days', () => {
    assert.equal(['90m', '12h', '3d'].map(ttlMs), [5_400_000, 43_200_000, 259_200_000])
  })
})

spec('a preview', (t) => {
  t('is on record before anything of it is made, and again with another end', () => {
    assert.equal(deeds({}), ['takePreview'])
    assert.equal(deeds({ previews: own({ expiresAt: '2026-11-23T10:00:00.000Z' }) }), ['takePreview'])
    assert.not.ok(deeds({ previews: own() }).includes('takePreview'))
    assert.equal(deeds({}, NOW, {}, { previewOf: undefined }).includes('takePreview'), false)
  })

  t('is looked at for its end by a row, beside those of its schedules', () => {
    const plan = planApp(anApp({ previewOf }), aWorld({ previews: own() }), NOW)
    assert.equal(
      plan.steps.filter((step) => step.do === 'wakeAt'),
      [{ do: 'wakeAt', dueAt: EXPIRES }],
    )
  })

  t('goes when its end has come, whatever else is wrong with it, and not a moment before', () => {
    const world = { previews: own() }
    const before = new Date(AFTER.getTime() - 1)
    assert.not.ok(deeds(world, before).includes('deletePreview'))
    assert.equal(deeds(world, AFTER), ['deletePreview'])
    assert.equal(deeds({ ...world, account: null }, AFTER), ['deletePreview'])
    assert.equal(deeds({ ...world, host: null }, AFTER), ['deletePreview'])
  })

  t('does not go by a clock that nobody believes', () => {
    const runs = { ...aWorld().runs, isClockTrusted: false }
    assert.not.ok(deeds({ previews: own(), runs }, AFTER).includes('deletePreview'))
  })

  t('goes when it has ended before: it came back with a cluster that was put back', () => {
    assert.equal(deeds({ previews: own({ endedAt: AT, reason: 'deleted' }) }), ['deletePreview'])
  })

  t('that waits for a person is looked at for its end all the same', () => {
    const refused = planApp(anApp({ previewOf }), aWorld({ previews: own(), host: null }), NOW)
    assert.is(refused.verdict.state, 'stalled')
    assert.is(refused.wakeAt, '2026-11-22T11:00:00.000Z')
    const soon = new Date(AFTER.getTime() - 1_000)
    assert.is(planApp(anApp({ previewOf }), aWorld({ previews: own(), host: null }), soon).wakeAt, EXPIRES)
  })

  t('is noted as ended last, before it is forgotten, and why', () => {
    const left = { releases: [], route: null, slugHolder: NAME }
    const last = (previews: AppWorld['previews'], at: Date) =>
      planApp(anApp({ previewOf }, gone), aWorld({ ...left, previews }), at).steps
    assert.equal(last(own(), AFTER), [{ do: 'endPreview', reason: 'expired' }])
    assert.equal(last(own(), NOW), [{ do: 'endPreview', reason: 'deleted' }])
    assert.equal(last(own({ endedAt: AT, reason: 'deleted' }), NOW), [{ do: 'forget' }])
    const never = planApp(anApp({ previewOf }, gone), aWorld({ slugHolder: null, previews: own() }), NOW)
    assert.equal(never.steps, [{ do: 'endPreview', reason: 'deleted' }])
    assert.is.not(never.verdict.state, 'ready')
  })

  t('is told to search engines to be left out, private or not; an app is not', () => {
    const world = aWorld()
    const handle = (spec: object) => {
      const { route } = routeOf(anApp(spec), { ...world, host: world.host as TargetHost }, '127.0.0.1:30001')
      return JSON.stringify(route.handle)
    }
    assert.match(handle({ previewOf }), /"X-Robots-Tag":\["noindex, nofollow"\]/)
    assert.match(handle({ previewOf, access: 'private', passwordVersion: 1 }), /X-Robots-Tag/)
    assert.not.match(handle({}), /X-Robots-Tag/)
  })
})

spec('an app that is deleted', (t) => {
  t('deletes its previews, and goes once none is left', () => {
    const leaves = (previews: AppWorld['previews']) =>
      planApp(anApp({}, gone), aWorld({ releases: [], route: null, slugHolder: NAME, previews }), NOW)
    const first = leaves(open('app-a', 'app-b'))
    assert.equal(first.steps, [
      { do: 'deletePreview', app: 'app-a' },
      { do: 'deletePreview', app: 'app-b' },
    ])
    assert.is(first.verdict.state, 'waiting')
    assert.equal(leaves(NO_PREVIEWS).steps, [{ do: 'forget' }])
  })

  t('leaves previews alone while it is there', () => {
    assert.not.ok(deeds({ previews: open('app-a') }, NOW, {}, { previewOf: undefined }).includes('deletePreview'))
  })
})
