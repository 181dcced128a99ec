import { applyDecision } from '../../../controllers/kinds/app/apply.ts'
import { routeOf } from '../../../crds/app/lifecycle/route.ts'
import { decide } from '../../../crds/app/lifecycle/transitions.ts'
import { planApp } from '../../../crds/app/plan.ts'
import { aLook, anApp, anOperation, aRelease, aWorld } from '../../support/builders/app/app.ts'
import { contextIn } from '../../support/builders/app/happened.ts'
import { assert, spec } from '../../support/runner/spec.ts'

spec('what a step of an app teaches', (t) => {
  t('after the switch visitors stay on the new release, wherever the one before was seen', () => {
    const app = anApp({ asked: 1 })
    const operation = anOperation({ state: 'running', release: 2, switchAt: '2026-11-01T00:00:00Z' })
    const [before, next] = [aRelease(1), aRelease(2, { state: 'starting', address: '127.0.0.1:30002' })]
    const look = aLook({ at: '2026-11-01T00:00:00Z' })
    const world = aWorld({ operations: [operation], releases: [next, before], look })
    const { host } = world
    assert.ok(host)
    const { digest } = routeOf(app, { ...world, host }, '127.0.0.1:30002')
    const switched = { ...world, route: { digest, address: '127.0.0.1:30002' } }
    const decision = decide({ on: 'switched' }, contextIn(switched, operation), '2026-11-01T00:00:00Z')
    const live = applyDecision(decision, { look: null })?.(switched)
    assert.ok(live)
    const steps = planApp(app, live, new Date('2026-11-01T00:00:00Z')).steps.map((step) => step.do)
    assert.equal(steps, [], 'no route is set again')
  })
})
