import { budgetOf, fullness, grantedBudget, roomFault } from '../../../crds/app/lifecycle/keeping/budget.ts'
import { planApp } from '../../../crds/app/plan.ts'
import { capacityOf } from '../../../crds/host/capacity.ts'
import { aLook, anApp, aRelease, aWorld, DEFAULT_BUDGET, NOW } from '../../support/builders/app/app.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const NOBODY = { cpuMillis: 0, memoryMib: 0, diskGib: 0 }
const host = (change: object = {}) =>
  ({ ...aWorld().host, ...change }) as NonNullable<ReturnType<typeof aWorld>['host']>
const running = aRelease(1, { record: { ...aRelease(1).record, budget: DEFAULT_BUDGET } })
const route = { digest: 'd', address: '127.0.0.1:30001' }
const stepsOf = (object: ReturnType<typeof anApp>, world: ReturnType<typeof aWorld>) =>
  planApp(object, world, NOW).steps.filter(({ do: what }) => what === 'takeRoom' || what === 'applyBudget')
const small = { cpuMillis: 500, memoryMib: 512, diskGib: 5 }

spec('the room of a host', (t) => {
  const capacity = { cpuMillis: 2_000, memoryMib: 2_048, diskGib: 100 }
  t('is what the machine has, times what its operator says', () => {
    assert.is(capacityOf({}, undefined), null)
    assert.equal(capacityOf({}, { capacity }), { cpuMillis: 32_000, memoryMib: 4_096, diskGib: 200 })
    assert.equal(capacityOf({ overcommit: { memoryPercent: 50 } }, { capacity }), {
      cpuMillis: 32_000,
      memoryMib: 1_024,
      diskGib: 200,
    })
  })
  t('is refused with figures, and what is held is kept', () => {
    const others = { cpuMillis: 1_500, memoryMib: 1_024, diskGib: 10 }
    const asking = { wanted: DEFAULT_BUDGET, held: null, others, limits: capacity }
    assert.is(
      roomFault('local', asking),
      'local is full: 1000 thousandths of a processor are asked for, 500 of 2000 are left',
    )
    assert.is(roomFault('local', { ...asking, held: DEFAULT_BUDGET }), null)
    assert.is(roomFault('local', { ...asking, limits: null }), null)
  })
  t('is taken before anything is done for an app, and one that has none waits for a person', () => {
    const empty = { held: null, others: NOBODY }
    assert.equal(stepsOf(anApp(), aWorld({ room: empty })), [{ do: 'takeRoom', budget: DEFAULT_BUDGET, limits: null }])
    const full = aWorld({ room: { held: null, others: DEFAULT_BUDGET }, host: host({ capacity: DEFAULT_BUDGET }) })
    const plan = planApp(anApp(), full, NOW)
    assert.equal([plan.steps, plan.verdict.state], [[], 'stalled'])
    assert.match(JSON.stringify(plan.verdict), /HOST_FULL.*1024 MiB of memory are asked for, 0 of 1024 are left/)
  })
  t('counts what runs whether it fits or not', () => {
    const world = aWorld({
      room: { held: null, others: DEFAULT_BUDGET },
      host: host({ capacity: DEFAULT_BUDGET }),
      releases: [running],
      route,
      look: aLook(),
    })
    assert.is(fullness(anApp(), { ...world, host: host({ capacity: DEFAULT_BUDGET }) }), null)
    assert.is(stepsOf(anApp(), world)[0]?.do, 'takeRoom')
  })
})

spec('the budget of an app', (t) => {
  const live = { releases: [running], route, look: aLook() }
  t('is what it asks for, within what its host gives one and within its room', () => {
    assert.equal(budgetOf(small, DEFAULT_BUDGET), small)
    assert.equal(budgetOf({ ...small, memoryMib: 9_999 }, DEFAULT_BUDGET), { ...small, memoryMib: 1_024 })
    assert.equal(grantedBudget({}, { host: host(), room: { held: small, others: NOBODY }, releases: [] }), small)
  })
  t('reaches what runs at once, and its room shrinks only then', () => {
    const world = aWorld(live)
    const object = anApp({ budget: small })
    assert.equal(stepsOf(object, world), [{ do: 'applyBudget', release: running, budget: small }])
    const applied = aRelease(1, { record: { ...running.record, budget: small } })
    assert.equal(stepsOf(object, { ...world, releases: [applied] }), [{ do: 'takeRoom', budget: small, limits: null }])
  })
  t('is not tried again at once where what runs could not be given it, and that is said', () => {
    const world = aWorld({ ...live, budgetRefusal: { budget: small, detail: 'web uses 600 MiB of memory' } })
    const plan = planApp(anApp({ budget: small }), world, NOW)
    assert.equal(stepsOf(anApp({ budget: small }), world), [])
    assert.match(JSON.stringify(plan.verdict), /BUDGET_REFUSED: web uses 600 MiB/)
  })
  t('that the host has no room for leaves what runs as it is, and is said', () => {
    const bigger = { cpuMillis: 1_000, memoryMib: 2_048, diskGib: 10 }
    const world = aWorld({
      ...live,
      host: host({ budget: bigger, capacity: bigger }),
      room: { held: DEFAULT_BUDGET, others: DEFAULT_BUDGET },
    })
    const plan = planApp(anApp({ budget: bigger }), world, NOW)
    assert.equal(stepsOf(anApp({ budget: bigger }), world), [])
    assert.match(JSON.stringify(plan.verdict), /HOST_FULL.*what runs keeps what it has/)
  })
})
