import { planAccount } from '../../crds/account/plan.ts'
import { type AccountSpec, spec as accountSpec } from '../../crds/account/schema.ts'
import { viewAccount } from '../../crds/account/view.ts'
import { GROUP, type Resource, VERSION } from '../../crds/object.ts'
import { withDefaults } from '../../crds/schema.ts'
import { frozen, NOW } from '../support/invoice.ts'
import { assert, spec } from '../support/spec.ts'

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
