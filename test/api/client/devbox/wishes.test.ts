/** What kubectl wishes of a dev instance, done by `bottega-devbox run`: it reads it over REST, asks first, and then acts. */

import type { BoxStep } from '../../../../api/client/devbox/plan/world.ts'
import { runDaemon } from '../../../../api/client/devbox/run/daemon.ts'
import { makeLog } from '../../../../controllers/base/log.ts'
import { committedMicroUsd } from '../../../../crds/devinstance/life/row.ts'
import { fallbackTypes, instanceTypeOf } from '../../../../crds/devinstance/sizing/sizes.ts'
import { type DevboxStage, startDevboxStage } from '../../../support/devbox/stage.ts'
import { stopMachine } from '../../../support/ec2/region.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

/** On a machine that does a lot besides. */
const SLOW = { timeoutMs: 600_000 }
const QUIET = ['wait', 'done', 'stuck', 'lookInside', 'label']
const wordOf = (step: BoxStep): string => (step.do === 'say' ? step.word : step.do)

spec('the provisioner and wishes', (t) => {
  let stage: DevboxStage
  t.before(async () => {
    stage = await startDevboxStage()
  })
  t.after(() => stage.end())

  /** Rounds of `run`, until it is so; and then some more, in which nothing may follow. */
  const run = async (isSo: () => boolean, more = 3): Promise<string> => {
    const end = new AbortController()
    const said: string[] = []
    const log = makeLog({ destination: { write: (line) => void said.push(line) } })
    let left = more
    let rounds = 0
    const sleep = async (ms: number) => {
      stage.passes(ms)
      rounds += 1
      if (isSo()) left -= 1
      if (left < 0 || rounds > 200) end.abort()
    }
    await runDaemon({ parts: { ...stage.parts, sleep }, log, everyMs: 5_000, signal: end.signal })
    assert.ok(isSo(), said.join(''))
    return said.join('')
  }
  const row = (id: string) => stage.registry.row(id)
  const machineOf = (id: string) => {
    const machine = stage.ec2.region.machines.get(row(id).instanceId ?? '')
    assert.ok(machine)
    return machine
  }
  const effects = (): string[] => stage.steps.map(wordOf).filter((word) => !QUIET.includes(word))
  const isUp = async (): Promise<string> => {
    for (const id of stage.registry.kept.keys()) stage.registry.kept.delete(id)
    const { machines, volumes, addresses } = stage.ec2.region
    for (const things of [machines, volumes, addresses]) things.clear()
    const id = stage.registry.reserve({ name: 'october' })
    await run(() => row(id).state === 'running', 0)
    stage.steps.length = 0
    return id
  }

  t(
    'stops, resizes and starts what is wished, and asks before it does',
    async () => {
      const id = await isUp()
      assert.equal(stage.registry.wish(id, { power: 'stopped' }), [])
      await run(() => row(id).state === 'stopped')
      assert.equal([effects(), machineOf(id).state], [['stop', 'stopped'], 'stopped'])

      stage.steps.length = 0
      assert.equal(stage.registry.wish(id, { sizeClass: 'M' }), [])
      await run(() => row(id).sizeClass === 'M' && row(id).state === 'stopped')
      assert.is(effects()[0], 'resizing')
      assert.equal([row(id).diskGb, row(id).sizeWish.open, machineOf(id).state], [80, null, 'stopped'])

      stage.steps.length = 0
      assert.equal(stage.registry.wish(id, { power: 'running' }), [])
      await run(() => row(id).state === 'running')
      assert.equal(effects(), ['starting', 'start', 'started'])

      stage.steps.length = 0
      assert.equal(stage.registry.wish(id, { diskGb: 120 }), [])
      await run(() => row(id).diskGb === 120 && row(id).state === 'running')
      assert.is(effects()[0], 'resizing')
    },
    SLOW,
  )
  t(
    'stops what was asked over REST to stop, once',
    async () => {
      const id = await isUp()
      const body = JSON.stringify({ version: row(id).version })
      const asked = await fetch(`${stage.registry.url}/api/devboxes/${id}/halting`, { method: 'POST', body })
      assert.is(asked.status, 200, await asked.text())
      await run(() => row(id).state === 'stopped')
      assert.equal([effects(), machineOf(id).state], [['stop', 'stopped'], 'stopped'])
      stage.steps.length = 0
      assert.equal(stage.registry.wish(id, { power: 'running' }), [])
      await run(() => row(id).state === 'running', 10)
      assert.equal(effects(), ['starting', 'start', 'started'])
    },
    SLOW,
  )
  t(
    'does all of it, where power and size are wished at once',
    async () => {
      const id = await isUp()
      assert.equal(stage.registry.wish(id, { power: 'stopped', sizeClass: 'M' }), [])
      await run(() => row(id).state === 'stopped' && row(id).sizeClass === 'M')
      assert.is(effects()[0], 'stop', 'what costs comes first')
      assert.is(machineOf(id).state, 'stopped')
    },
    SLOW,
  )
  t(
    'leaves a machine that has stopped itself as it is, whatever was wished before',
    async () => {
      const id = await isUp()
      stage.registry.wish(id, { power: 'running' })
      stopMachine(stage.ec2.region, machineOf(id))
      stage.passes(60_000)
      await run(() => row(id).state === 'stopped', 10)
      assert.equal([effects(), machineOf(id).state], [['stopped'], 'stopped'])
      stage.registry.wish(id, { power: 'running', wish: 1 })
      await run(() => row(id).state === 'running')
      assert.is(machineOf(id).state, 'running')
    },
    SLOW,
  )
  t(
    'never acts against a refusal, and looks again at once when something else is wished',
    async () => {
      const { registry } = stage
      const id = await isUp()
      assert.equal(registry.wish(id, { sizeClass: 'M' }), [])
      // the room goes between the wish and the request
      registry.capOf.set(id, { othersMicroUsd: 0, capMicroUsd: committedMicroUsd(row(id)) })
      const said = await run(() => effects().includes('resizing'), 12)
      assert.match(said, /CAP_EXCEEDED/)
      assert.equal([row(id).sizeClass, row(id).state, machineOf(id).state], ['S', 'running', 'running'])
      assert.equal([...new Set(effects())], ['resizing'])
      assert.equal(registry.wish(id, { sizeClass: 'L' }), ['CAP_EXCEEDED'], 'it is no wish then')
      assert.equal(registry.wish(id, { sizeClass: 'S', power: 'stopped' }), [])
      stage.steps.length = 0
      await run(() => row(id).state === 'stopped')
      assert.equal(effects(), ['stop', 'stopped'])
      registry.capOf.delete(id)
    },
    SLOW,
  )
  t(
    'tries a size once where the cloud has nothing of it',
    async () => {
      const { ec2, registry } = stage
      const id = await isUp()
      const type = machineOf(id).type
      registry.wish(id, { sizeClass: 'M' })
      const size = { sizeClass: 'M', arch: row(id).arch } as const
      for (const one of [instanceTypeOf(size), ...fallbackTypes(size)]) ec2.full.add(one)
      await run(() => row(id).sizeWish.undoneAt !== null, 12)
      assert.equal([row(id).sizeClass, row(id).state, machineOf(id).type], ['S', 'running', type])
      assert.is(effects().filter((word) => word === 'resizing').length, 1)
      ec2.full.clear()
      registry.wish(id, { wish: 1 })
      await run(() => row(id).sizeClass === 'M' && row(id).state === 'running')
    },
    SLOW,
  )
})
