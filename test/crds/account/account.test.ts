import { type AccountLife, CONTINUES } from '../../../crds/account/life.ts'
import { planAccount } from '../../../crds/account/plan.ts'
import { type AccountSpec, spec as accountSpec } from '../../../crds/account/schema.ts'
import { viewAccount } from '../../../crds/account/view.ts'
import { GROUP, type Resource, VERSION } from '../../../crds/kernel/object.ts'
import { withDefaults } from '../../../crds/kernel/schema.ts'
import { frozen, NOW } from '../../support/builders/invoice.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const account = (changes: Partial<AccountSpec> = {}): Resource<AccountSpec> =>
  frozen({
    apiVersion: `${GROUP}/${VERSION}`,
    kind: 'Account',
    metadata: {
      name: 'demo',
      namespace: 'default',
      uid: 'uid-1',
      resourceVersion: '1',
      generation: 3,
      creationTimestamp: NOW.toISOString(),
    },
    spec: withDefaults<AccountSpec>(accountSpec, { email: 'owner@demo.test', ...changes }),
  })

spec('an account', (t) => {
  t('starts on the free plan as a member without capabilities', () => {
    const { plan, role, capabilities, teams } = account().spec
    assert.equal([plan, role, capabilities, teams], ['free', 'member', [], []])
  })

  t('is ready at once, with plan and capabilities in its status', () => {
    const planned = planAccount(account({ plan: 'team', capabilities: ['app.deploy'] }), { factSeq: 2, logos: [] })
    assert.equal(planned, {
      steps: [],
      status: { factSeq: 2, phase: 'active', plan: 'team', capabilities: ['app.deploy'] },
      verdict: { state: 'ready', reason: 'Active', message: 'team plan, member' },
    })
  })

  t('looks into the logos that were sent, in the order of their coming, before it is ready', () => {
    const logos = [
      { seq: 3, source: 'aa' },
      { seq: 5, source: 'bb' },
    ]
    const planned = planAccount(account(), { factSeq: 2, logos })
    assert.equal(planned.steps, [
      { do: 'takeLogo', seq: 3, source: 'aa' },
      { do: 'takeLogo', seq: 5, source: 'bb' },
    ])
    assert.is(planned.verdict.state, 'waiting')
  })

  const life = { key: 'demo', email: 'owner@demo.test', asked: null, isEnded: false, before: null, former: null }
  const lived = (of: Partial<AccountLife> | null, annotations: Record<string, string> = {}) => {
    const { metadata, ...rest } = account()
    const world = { factSeq: 0, logos: [{ seq: 1, source: 'aa' }], life: of && { ...life, ...of } }
    return planAccount({ ...rest, metadata: { ...metadata, annotations } }, world)
  }

  t('is bound to its rows before anything else is done for it, and again when it says something else', () => {
    const begin = [{ do: 'begin' }]
    assert.equal(lived(null).steps, begin)
    assert.equal(lived({ email: 'before@demo.test' }).steps, begin)
    assert.equal(lived({ isEnded: true }).steps, begin)
    assert.equal(lived({}, { [CONTINUES]: 'uid-0' }).steps, begin)
    assert.equal(lived({ asked: 'uid-0' }, { [CONTINUES]: 'uid-0' }).steps, [{ do: 'takeLogo', seq: 1, source: 'aa' }])
  })

  t('says nothing of its key where it is the first of its name', () => {
    const { status, conditions } = lived({})
    assert.equal([status.key, conditions], [undefined, undefined])
  })

  t('says what its resources are to say where another account had its name, and which', () => {
    const { status, conditions } = lived({ key: 'demo..2', former: 'uid-0' })
    assert.is(status.key, 'demo..2')
    assert.equal(
      conditions?.map(({ type, reason }) => [type, reason]),
      [['Remade', 'FormerAccountKept']],
    )
    assert.match(conditions?.[0]?.message ?? '', /uid-0.*account: demo\.\.2$/)
  })

  t('says whom it goes on as, and whom it cannot go on as', () => {
    const reasonOf = (of: Partial<AccountLife>) => lived(of).conditions?.[0]?.reason
    assert.is(reasonOf({ before: 'uid-0' }), 'Continued')
    assert.is(reasonOf({ asked: 'uid-x' }), 'NotContinued')
    assert.is(reasonOf({ asked: 'uid-1' }), undefined)
  })

  t('shows over REST what it holds, and null for what it does not', () => {
    assert.equal(viewAccount(account({ costCapUsd: 200 })), {
      id: 'demo',
      email: 'owner@demo.test',
      name: '',
      plan: 'free',
      role: 'member',
      capabilities: [],
      teams: [],
      cost_cap_usd: 200,
      template_lock: null,
      rails: [],
      ai_per_day: null,
      limits: {},
      created_at: NOW.toISOString(),
      version: 3,
    })
  })
})
