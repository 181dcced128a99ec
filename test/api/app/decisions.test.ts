import { FRESH_MS, type GateState, makeGateDecisions } from '../../../api/app/publishing/gate/decisions.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** What the gate of private apps goes by (rules/app.md#decisions-of-the-gate). */

const stateOf = (access: 'private' | 'public'): GateState => ({
  app: { id: 'app-1', slug: 'shop', url: null, access, password_version: 1 },
  links: new Map(),
})

spec('what the gate goes by', (t) => {
  let nowMs = 0
  let asked = 0
  const load = (state: GateState | null) => async () => {
    asked += 1
    return state
  }
  t.before.each(() => {
    asked = 0
  })

  t('is read once for all who ask within a second', async () => {
    const decisions = makeGateDecisions(() => nowMs)
    const both = await Promise.all([
      decisions.state('app-1', load(stateOf('private'))),
      decisions.state('app-1', load(stateOf('private'))),
    ])
    nowMs += FRESH_MS - 1
    await decisions.state('app-1', load(null))
    assert.equal([both.map((state) => state?.app.access), asked], [['private', 'private'], 1])
    nowMs += 1
    assert.is(await decisions.state('app-1', load(null)), null)
    assert.is(asked, 2)
  })
  t('is not kept where it lets everybody in: who asks for an app has it private in a moment', async () => {
    const decisions = makeGateDecisions(() => nowMs)
    await decisions.state('app-1', load(stateOf('public')))
    const after = await decisions.state('app-1', load(stateOf('private')))
    assert.equal([after?.app.access, asked], ['private', 2])
  })
  t('is nothing old where it cannot be read', async () => {
    const decisions = makeGateDecisions(() => nowMs)
    await decisions.state('app-1', load(stateOf('private')))
    nowMs += FRESH_MS
    await assert.rejects(() => decisions.state('app-1', () => Promise.reject(new Error('away'))), /away/)
    assert.is((await decisions.state('app-1', load(stateOf('private'))))?.app.access, 'private')
  })
})
