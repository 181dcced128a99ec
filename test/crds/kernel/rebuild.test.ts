import { type Candidate, type Occupant, planRebuild } from '../../../crds/kernel/desire/rebuild.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const kept = (kind: string, name: string, deletion: Candidate['deletion'] = null): Candidate => ({
  kind,
  name,
  account: 'demo',
  deletion,
})
const cluster = (held: Record<string, Record<string, Occupant>>) =>
  new Map(Object.entries(held).map(([kind, names]) => [kind, new Map(Object.entries(names))]))
const empty = cluster({ Account: {}, Host: {}, Invoice: {}, Site: {} })

spec('what is to be made again', (t) => {
  t('accounts come first, then hosts, then all others, whatever order they are read in', () => {
    const candidates = [
      kept('Site', 's'),
      kept('Host', 'h'),
      kept('Invoice', 'b'),
      kept('Account', 'x'),
      kept('Invoice', 'a'),
    ]
    const { stages, left } = planRebuild({ candidates, held: empty })
    assert.equal(
      stages.map((stage) => stage.map(({ kind, name }) => `${kind}/${name}`)),
      [['Account/x'], ['Host/h'], ['Invoice/a', 'Invoice/b', 'Site/s']],
    )
    assert.equal(left, [])
    assert.equal(planRebuild({ candidates: candidates.toReversed(), held: empty }).stages, stages)
  })

  t('what stands, was deleted, or cannot be made is left, and it is said why', () => {
    const held = cluster({ Invoice: { there: { uid: '1', account: 'demo' }, others: { uid: '2', account: 'other' } } })
    const candidates = [
      kept('Invoice', 'there'),
      kept('Invoice', 'others'),
      kept('Invoice', 'asked', 'asked'),
      kept('Invoice', 'seen', 'seen'),
      kept('Invoice', 'absent', 'absent'),
      kept('Site', 'undefined'),
    ]
    const { stages, left } = planRebuild({ candidates, held })
    assert.equal(stages, [])
    assert.equal(Object.fromEntries(left.map(({ name, why }) => [name, why])), {
      absent: 'absent',
      asked: 'deleted',
      others: 'taken',
      seen: 'deleted',
      there: 'there',
      undefined: 'kind unknown',
    })
  })

  t('what was taken for deleted comes back where a person names it, and what was deleted does not', () => {
    const candidates = [kept('Invoice', 'absent', 'absent'), kept('Invoice', 'seen', 'seen')]
    const wanted = new Set(['Invoice/absent', 'Invoice/seen'])
    const { stages, left } = planRebuild({ candidates, held: empty, wanted })
    assert.equal(stages, [[{ kind: 'Invoice', name: 'absent' }]])
    assert.equal(
      left.map(({ name }) => name),
      ['seen'],
    )
  })
})
