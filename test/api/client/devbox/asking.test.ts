/** What may be refused is asked before the cloud is: a start, and the end. */

import type { BoxGoal, BoxStep } from '../../../../api/client/devbox/plan/world.ts'
import { committedMicroUsd } from '../../../../crds/devinstance/life/row.ts'
import { type DevboxStage, startDevboxStage } from '../../../support/devbox/stage.ts'
import { endMachine, stopMachine } from '../../../support/ec2/region.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const UP: BoxGoal = { kind: 'running' }
const DOWN: BoxGoal = { kind: 'stopped' }
const AS_IS: BoxGoal = { kind: 'asIs' }
const RELEASED: BoxGoal = { kind: 'released', allocationId: null }
const END: BoxGoal = { kind: 'terminated', acknowledgeWorkAtRisk: false }

/** On a machine that does a lot besides. */
const SLOW = { timeoutMs: 600_000 }

const wordOf = (step: BoxStep): string => (step.do === 'say' ? step.word : step.do)

spec('the provisioner asks first', (t) => {
  let stage: DevboxStage
  t.before(async () => {
    stage = await startDevboxStage()
  })
  t.after(() => stage.end())

  const brought = async (...goals: BoxGoal[]): Promise<string> => {
    const { machines, volumes, addresses } = stage.ec2.region
    for (const things of [machines, volumes, addresses]) things.clear()
    const id = stage.registry.reserve({ name: `ask-${stage.registry.kept.size}` })
    for (const goal of goals) assert.is((await stage.go(id, goal)).state, 'done')
    stage.steps.length = 0
    return id
  }
  /** Each effect once, in its order. */
  const effects = (): string[] =>
    stage.steps.map(wordOf).filter((word) => !['wait', 'done', 'stuck', 'lookInside', 'label'].includes(word))
  const machineOf = (id: string) => {
    const machine = stage.ec2.region.machines.get(stage.registry.row(id).instanceId ?? '')
    assert.ok(machine)
    return machine
  }
  const codeOf = async (id: string, goal: BoxGoal): Promise<string> => {
    const ended = await stage.go(id, goal)
    return ended.state === 'stuck' ? ended.code : ended.state
  }

  t(
    'before it starts a machine that stands still',
    async () => {
      const id = await brought(UP, DOWN)
      assert.is(await codeOf(id, UP), 'done')
      assert.equal(effects(), ['starting', 'start', 'started'])
      assert.is(stage.registry.row(id).starting, null)
    },
    SLOW,
  )
  t(
    'before it allocates an address, and says that it will',
    async () => {
      const id = await brought(UP, DOWN, RELEASED)
      assert.is(await codeOf(id, UP), 'done')
      assert.equal(effects(), ['starting', 'allocate', 'associate', 'start', 'started'])
      const [asked] = stage.steps.filter((step) => wordOf(step) === 'starting')
      assert.is(asked?.do === 'say' && asked.word === 'starting' && asked.body.newAddress, true)
    },
    SLOW,
  )
  t(
    'and leaves the cloud alone where the cap has no room for a further address',
    async () => {
      const { registry, ec2 } = stage
      const id = await brought(UP, DOWN)
      // released by hand: the row holds it still, so another is one more
      ec2.region.addresses.clear()
      stage.passes(10 * 60_000)
      registry.capOf.set(id, { othersMicroUsd: 0, capMicroUsd: committedMicroUsd(registry.row(id)) })
      assert.is(await codeOf(id, UP), 'CAP_EXCEEDED')
      assert.equal([machineOf(id).state, ec2.region.addresses.size, effects()], ['stopped', 0, ['starting']])
      registry.capOf.delete(id)
      assert.is(await codeOf(id, UP), 'done')
    },
    SLOW,
  )
  t(
    'and nothing where the machine runs already',
    async () => {
      const id = await brought()
      assert.is(await codeOf(id, UP), 'done')
      assert.not.ok(effects().includes('starting'))
    },
    SLOW,
  )
  t(
    'before the end, and not again after a crash',
    async () => {
      const id = await brought(UP)
      const dies = async (effect: { do: string }, run: () => Promise<object>) => {
        if (effect.do === 'terminate') throw new Error('crash')
        return run()
      }
      await stage.go(id, END, { around: dies }).catch((error) => assert.is((error as Error).message, 'crash'))
      assert.equal([effects(), machineOf(id).state], [['terminating', 'terminate'], 'running'])
      stage.steps.length = 0
      assert.is(await codeOf(id, END), 'done')
      assert.not.ok(effects().includes('terminating'))
      assert.is(stage.registry.row(id).state, 'terminated')
    },
    SLOW,
  )
  t(
    'before the end, with what was acknowledged',
    async () => {
      const id = await brought(UP)
      stage.registry.report(id, { git: { dirty: 1, untracked: 0, unpushed: 0 } })
      assert.is(await codeOf(id, END), 'WORK_AT_RISK')
      assert.is(stage.registry.row(id).terminating, null)
      assert.is(await codeOf(id, { ...END, acknowledgeWorkAtRisk: true }), 'done')
      const [asked] = stage.steps.filter((step) => wordOf(step) === 'terminating')
      assert.is(asked?.do === 'say' && asked.word === 'terminating' && asked.body.acknowledgeWorkAtRisk, true)
    },
    SLOW,
  )
  t(
    'and no more once the machine is gone by itself',
    async () => {
      const id = await brought(UP)
      endMachine(stage.ec2.region, machineOf(id))
      stage.passes(10 * 60_000)
      assert.is(await codeOf(id, END), 'done')
      assert.not.ok(effects().includes('terminating'))
    },
    SLOW,
  )
  t(
    'and does what somebody else has asked: a start that the registry holds is brought to its end',
    async () => {
      const { registry, ec2 } = stage
      const id = await brought(UP, DOWN)
      assert.is(await codeOf(id, AS_IS), 'done')
      assert.is(machineOf(id).state, 'stopped')
      const { version } = registry.row(id)
      const answer = await fetch(`${registry.url}/api/devboxes/${id}/starting`, {
        method: 'POST',
        body: JSON.stringify({ version }),
      })
      assert.is(answer.status, 200)
      assert.is(await codeOf(id, AS_IS), 'done')
      assert.equal([machineOf(id).state, registry.row(id).state], ['running', 'running'])
      stopMachine(ec2.region, machineOf(id))
      stage.passes(60_000)
      assert.is(await codeOf(id, AS_IS), 'done')
      assert.is(machineOf(id).state, 'stopped')
    },
    SLOW,
  )
})
