import { camelCase, mergeDiff, nextStatus, type PassOutcome } from '../../../controllers/runtime/status.ts'
import type { CommonStatus, Condition } from '../../../crds/kernel/object.ts'
import { ready, stalled, waiting } from '../../../crds/kernel/plan.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const T0 = new Date('2026-11-21T10:00:00.999Z')
const T1 = new Date('2026-11-21T11:00:00Z')

const judge = (outcome: PassOutcome, previous?: CommonStatus, generation = 1, now = T0): CommonStatus =>
  nextStatus({ previous, generation, outcome, now })

const short = ({ conditions = [] }: CommonStatus) =>
  conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)
const find = ({ conditions = [] }: CommonStatus, type: string): Condition | undefined =>
  conditions.find((c) => c.type === type)

/** kstatus in ten lines: what `kubectl wait`, Flux and Argo CD make of it (sigs.k8s.io/cli-utils). */
const kstatus = (status: CommonStatus, generation: number): string => {
  const holds = (type: string) => find(status, type)?.status === 'True'
  if (status.observedGeneration !== generation) return 'InProgress'
  if (holds('Reconciling')) return 'InProgress'
  if (holds('Stalled')) return 'Failed'
  return find(status, 'Ready')?.status === 'False' ? 'InProgress' : 'Current'
}

const fault: PassOutcome = {
  state: 'fault',
  reason: 'ClaimNumberFailed',
  message: 'claimNumber failed',
  ready: 'False',
}

spec('status', (t) => {
  const cases: [string, PassOutcome, string[], string][] = [
    ['ready', ready('Sent', 'sent'), ['Ready=True Sent'], 'Current'],
    [
      'waiting',
      waiting('AccountMissing', 'no account'),
      ['Ready=False AccountMissing', 'Reconciling=True AccountMissing'],
      'InProgress',
    ],
    [
      'stalled',
      stalled('REF_PAYLOAD_MISMATCH', 'other total'),
      ['Ready=False RefPayloadMismatch', 'Stalled=True RefPayloadMismatch'],
      'Failed',
    ],
    ['a fault', fault, ['Ready=False ClaimNumberFailed', 'Reconciling=True ClaimNumberFailed'], 'InProgress'],
    [
      'long work',
      { state: 'working', reason: 'Freeze', message: 'm' },
      ['Ready=Unknown Freeze', 'Reconciling=True Freeze'],
      'InProgress',
    ],
    ['paused', { state: 'paused' }, ['Ready=Unknown Paused', 'Reconciling=True Paused'], 'InProgress'],
  ]
  for (const [name, outcome, conditions, computed] of cases) {
    t(`${name} is ${computed} to kstatus`, () => {
      const status = judge(outcome)
      assert.equal(short(status), conditions)
      assert.is(kstatus(status, 1), computed)
    })
  }

  t('each verdict takes back what the one before it said', () => {
    let status = judge(stalled('NO_ITEMS', 'none'))
    for (const [name, outcome, conditions] of cases.slice(0, 5)) {
      status = judge(outcome, status)
      assert.equal(short(status), conditions, name)
    }
    assert.equal(short(judge(ready('Sent', 'sent'), status)), ['Ready=True Sent'])
  })

  t('the time of a transition moves with the status of a condition, not with its reason', () => {
    const first = judge(ready('Draft', 'draft'))
    assert.is(find(first, 'Ready')?.lastTransitionTime, '2026-11-21T10:00:00Z')
    const same = judge(ready('Sent', 'sent'), first, 2, T1)
    assert.is(find(same, 'Ready')?.lastTransitionTime, '2026-11-21T10:00:00Z')
    assert.is(find(same, 'Ready')?.observedGeneration, 2)
    const other = judge(fault, same, 2, T1)
    assert.is(find(other, 'Ready')?.lastTransitionTime, '2026-11-21T11:00:00Z')
  })

  t('a paused object keeps what was said of it, for the generation it was said of', () => {
    const before = judge(ready('Sent', 'sent'), undefined, 1)
    const paused = judge({ state: 'paused' }, before, 2, T1)
    assert.equal(find(paused, 'Ready'), find(before, 'Ready'))
    assert.is(paused.observedGeneration, 1)
  })

  t("a stalled message begins with REST's code, once", () => {
    assert.is(find(judge(stalled('NO_ITEMS', 'add one')), 'Stalled')?.message, 'NO_ITEMS: add one')
    assert.is(find(judge(stalled('NO_ITEMS', 'NO_ITEMS: add one')), 'Stalled')?.message, 'NO_ITEMS: add one')
  })

  t('a message longer than the schema allows is cut', () => {
    assert.is(find(judge(ready('Sent', 'x'.repeat(5000))), 'Ready')?.message.length, 1024)
  })

  t("a kind's own facts come from the plan, and stay when there was none", () => {
    const planned = nextStatus({
      previous: undefined,
      generation: 1,
      outcome: ready('Sent', 's'),
      facts: { factSeq: 3 },
      now: T0,
    })
    assert.is(planned.factSeq, 3)
    assert.is(judge(fault, planned).factSeq, 3)
    assert.is(nextStatus({ previous: planned, generation: 1, outcome: fault, facts: {}, now: T0 }).factSeq, undefined)
  })

  t("another's conditions stay", () => {
    const foreign = {
      type: 'Audited',
      status: 'True',
      reason: 'R',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const
    assert.equal(find(judge(ready('Sent', 's'), { conditions: [foreign] }), 'Audited'), foreign)
  })

  t('the same status again is no patch', () => {
    const once = judge(ready('Sent', 'sent'))
    assert.is(mergeDiff(once, judge(ready('Sent', 'sent'), structuredClone(once), 1, T1)), undefined)
  })

  t('a patch holds what differs, null for what goes, and whole lists', () => {
    assert.equal(mergeDiff({ a: 1, b: 2, c: { d: 1, e: 2 }, l: [1] }, { a: 1, c: { d: 1, e: 3 }, l: [1, 2] }), {
      b: null,
      c: { e: 3 },
      l: [1, 2],
    })
    assert.is(mergeDiff({ a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] }), undefined)
    assert.is(mergeDiff({}, { a: undefined, b: null }), undefined, 'the API server keeps neither')
  })

  t('words become CamelCase', () => {
    assert.equal(['REF_PAYLOAD_MISMATCH', 'claimNumber', 'observe'].map(camelCase), [
      'RefPayloadMismatch',
      'ClaimNumber',
      'Observe',
    ])
  })
})
