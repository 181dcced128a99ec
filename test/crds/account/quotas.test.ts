import { accountFaults } from '../../../crds/account/faults.ts'
import { limitOf, nextTurn, type QUOTAS, quotaDay, quotasOf } from '../../../crds/account/quotas.ts'
import { ALLOWANCE_MAX, spec as accountSpec, PLANS } from '../../../crds/account/schema.ts'
import { restSchema } from '../../../crds/kernel/rest.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const NIGHT = new Date('2026-12-31T23:59:59.999Z')
const onEveryPlan = (name: keyof typeof QUOTAS) => PLANS.map((plan) => limitOf(name, { plan }))

spec('quotas', (t) => {
  t('are those of the documents, for the plans free, pro and team', () => {
    assert.equal(onEveryPlan('sends_per_day'), [20, 200, 1000])
    assert.equal(onEveryPlan('webhook_endpoints'), [3, 3, 3])
    assert.equal(onEveryPlan('sites'), [3, 20, 100])
    assert.equal(onEveryPlan('publishes_per_day'), [5, 50, 500])
    assert.equal(onEveryPlan('messages_per_day'), [40, 200, 1000])
    assert.equal(onEveryPlan('app_storage_mib'), [2_048, 20_480, 204_800])
    assert.equal(onEveryPlan('invoice_ai_per_day'), [20, 200, 1000])
    assert.equal(onEveryPlan('website_ai_per_day'), [20, 200, 1000])
    assert.equal(onEveryPlan('devbox_cost_cap_usd'), [100, 100, 100])
  })

  t('are raised, lowered or closed by what the account says, field by field', () => {
    const account = { plan: 'free' as const, limits: { sends_per_day: 500, sites: 0 }, ai_per_day: 7, cost_cap_usd: 0 }
    const limits = Object.entries(quotasOf(account, {}, NIGHT)).map(([name, { limit }]) => [name, limit])
    assert.equal(Object.fromEntries(limits), {
      sends_per_day: 500,
      webhook_endpoints: 3,
      sites: 0,
      publishes_per_day: 5,
      messages_per_day: 40,
      app_storage_mib: 2_048,
      invoice_ai_per_day: 7,
      website_ai_per_day: 7,
      devbox_cost_cap_usd: 0,
    })
  })

  t('of a view that an older version mirrored are those of its plan', () => {
    assert.is(limitOf('sends_per_day', { plan: 'pro', ai_per_day: null, cost_cap_usd: null }), 200)
  })

  t('turn over at midnight UTC, and what is given back does not turn over', () => {
    assert.is(nextTurn(NIGHT), '2027-01-01T00:00:00.000Z')
    assert.is(nextTurn(new Date('2027-01-01T00:00:00.000Z')), '2027-01-02T00:00:00.000Z')
    assert.equal([quotaDay(NIGHT), quotaDay(new Date(NIGHT.getTime() + 1))], ['2026-12-31', '2027-01-01'])
    const { sends_per_day, sites } = quotasOf({ plan: 'free' }, { sends_per_day: 3, sites: 1 }, NIGHT)
    assert.equal(sends_per_day, { limit: 20, used: 3, resets_at: '2027-01-01T00:00:00.000Z' })
    assert.equal(sites, { limit: 3, used: 1, resets_at: null })
  })

  t('can be granted by REST in its own names, within bounds', () => {
    const { properties } = restSchema(accountSpec) as { properties: Record<string, { properties?: object }> }
    assert.equal(Object.keys(properties.limits?.properties ?? {}), [
      'sends_per_day',
      'webhook_endpoints',
      'sites',
      'publishes_per_day',
      'messages_per_day',
      'app_storage_mib',
    ])
    assert.is(accountSpec.properties.limits.properties.sendsPerDay.maximum, ALLOWANCE_MAX)
  })
})

spec('accounts', (t) => {
  t('hold no capability and no team twice', () => {
    assert.equal(accountFaults({ capabilities: ['app.deploy'], teams: ['a', 'b'] }), [])
    assert.equal(accountFaults({}), [])
    assert.equal(
      accountFaults({ teams: ['a', 'b', 'a'] }).map(({ code, pointer }) => [code, pointer]),
      [['INVALID_FIELD', '/teams/2']],
    )
  })
})
