import { planApp } from '../../../../crds/app/plan.ts'
import { manifestOwner } from '../../../../crds/app/sources/owners.ts'
import type { AppIntent, AppWorld } from '../../../../crds/app/world.ts'
import { anApp, anOperation, aRelease, aWorld, NOW } from '../../../support/builders/app/app.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const OLD = 'a'.repeat(64)
const NEW = 'b'.repeat(64)
const deployOf = (digest: string): AppIntent => ({ kind: 'deploy', digest, envVersion: null, volumes: [] })
const at = (hour: number) => `2026-11-22T${String(hour).padStart(2, '0')}:00:00.000Z`

/** An operation that has ended well. */
const ended = (n: number, intent: AppIntent, byController: boolean, hour = 5) =>
  anOperation({ n, intent, byController, state: 'succeeded', createdAt: at(hour), endedAt: at(hour), release: n })

const worldOf = (operations: AppWorld['operations'], uploadedAt: string | null = null): AppWorld =>
  aWorld({ operations, uploadedAt, releases: [aRelease(operations.length, { retiredAt: null })] })

/** What becomes of the manifest: taken up, refused with its code, or nothing that is new. */
const outcome = (spec: Parameters<typeof anApp>[0], world: AppWorld): string => {
  const { steps, verdict } = planApp(anApp({ asked: 9, ...spec }), world, NOW)
  if (steps.some((step) => step.do === 'ask')) return 'taken up'
  return verdict.state === 'stalled' ? verdict.code : 'nothing new'
}

spec('a manifest that names an upload', (t) => {
  const names = (digest: string) => ({ source: { digest } })

  t('deploys it where nothing was deployed, or only by a manifest', () => {
    assert.is(outcome(names(OLD), worldOf([])), 'taken up')
    // a revert in git is a change of the manifest by the one who writes it
    const before = [ended(1, deployOf(OLD), true), ended(2, deployOf(NEW), true)]
    assert.is(outcome(names(OLD), worldOf(before, at(1))), 'taken up')
    assert.is(outcome(names(NEW), worldOf(before, at(1))), 'nothing new')
  })

  t('that was sent before the last deploy over REST is behind, and deploys nothing', () => {
    const before = [ended(1, deployOf(OLD), false), ended(2, deployOf(NEW), false, 6)]
    assert.is(outcome(names(OLD), worldOf(before, at(4))), 'MANIFEST_BEHIND')
    // also where it was the manifest's own once
    assert.is(
      outcome(names(OLD), worldOf([ended(1, deployOf(OLD), true), ended(2, deployOf(NEW), false, 6)], at(4))),
      'MANIFEST_BEHIND',
    )
    const { verdict } = planApp(anApp({ asked: 9, ...names(OLD) }), worldOf(before, at(4)), NOW)
    assert.match(verdict.state === 'stalled' ? verdict.message : '', /^MANIFEST_BEHIND: \/source .*send it again/)
  })

  t('that was sent since is deployed, and what runs already is not deployed again', () => {
    const before = [ended(1, deployOf(OLD), false), ended(2, deployOf(NEW), false, 6)]
    assert.is(outcome(names(OLD), worldOf(before, at(7))), 'taken up')
    assert.is(outcome(names(NEW), worldOf(before, at(4))), 'nothing new')
  })

  t('that nobody sent is asked for, and refused by its operation', () => {
    assert.is(outcome(names(OLD), worldOf([ended(1, deployOf(NEW), false)], null)), 'taken up')
  })

  t('is behind a rollback over REST, too', () => {
    const rollback: AppIntent = { kind: 'rollback', release: 1, env: 'release' }
    const before = [ended(1, deployOf(OLD), false), ended(2, deployOf(NEW), true), ended(3, rollback, false, 6)]
    assert.is(outcome(names(NEW), worldOf(before, at(5))), 'MANIFEST_BEHIND')
  })

  t('stops nothing else: a change of the env is made all the same', () => {
    const before = [ended(1, deployOf(OLD), false), ended(2, deployOf(NEW), false, 6)]
    const env = anOperation({ n: 3, intent: { kind: 'env', envVersion: 2 } })
    const { steps } = planApp(anApp({ asked: 9, ...names(OLD), envVersion: 2 }), worldOf([...before, env], at(4)), NOW)
    assert.is(steps[0]?.do, 'begin')
  })
})

spec('a manifest that restores a release', (t) => {
  const restore = { release: 1, env: 'release' as const }
  const intent: AppIntent = { kind: 'rollback', ...restore }

  t('restores it once, and not again after another was deployed over REST', () => {
    assert.is(
      outcome({ restore }, worldOf([ended(1, deployOf(OLD), false), ended(2, deployOf(NEW), false)])),
      'taken up',
    )
    const since = [ended(1, deployOf(OLD), false), ended(2, intent, true), ended(3, deployOf(NEW), false)]
    assert.is(outcome({ restore }, worldOf(since)), 'MANIFEST_BEHIND')
  })
})

spec('who writes a field of a spec', (t) => {
  const entry = (manager: string, fields: object, more = {}) => ({ manager, fieldsV1: { 'f:spec': fields }, ...more })
  const cases: [string, unknown, string | null][] = [
    ['nobody', [], null],
    ['what is no list', undefined, null],
    ['the platform', [entry('bottega-api', { 'f:source': {} })], null],
    ['kubectl', [entry('kubectl-client-side-apply', { 'f:source': { 'f:digest': {} } })], 'kubectl-client-side-apply'],
    [
      'one of two',
      [entry('bottega-api', { 'f:asked': {} }), entry('argocd-controller', { 'f:source': {} })],
      'argocd-controller',
    ],
    ['another field', [entry('kubectl', { 'f:slug': {} })], null],
    ['a status', [entry('kubectl', { 'f:source': {} }, { subresource: 'status' })], null],
    ['no spec', [{ manager: 'kubectl', fieldsV1: { 'f:metadata': {} } }], null],
  ]
  for (const [who, managedFields, manager] of cases) {
    t(`is told: ${who}`, () => assert.is(manifestOwner(managedFields, ['source', 'restore'])?.manager ?? null, manager))
  }
})
