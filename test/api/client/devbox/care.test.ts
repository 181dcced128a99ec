/** What the provisioner does not do, and what it does about what happened without it. */

import { consoleKeys } from '../../../../api/client/devbox/box/inside.ts'
import { goalFor, readDevboxCommand } from '../../../../api/client/devbox/commands.ts'
import { inventoryReport } from '../../../../api/client/devbox/plan/orphans.ts'
import { worldOf } from '../../../../api/client/devbox/plan/seen.ts'
import { upkeep } from '../../../../api/client/devbox/plan/upkeep.ts'
import { type BoxGoal, NOTHING_LEARNED } from '../../../../api/client/devbox/plan/world.ts'
import { converge } from '../../../../api/client/devbox/run/converge.ts'
import { runDaemon } from '../../../../api/client/devbox/run/daemon.ts'
import { makeLog } from '../../../../controllers/base/log.ts'
import { type DevboxStage, INSTALLATION, startDevboxStage } from '../../../support/devbox/stage.ts'
import { endMachine, stopMachine } from '../../../support/ec2/region.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const UP: BoxGoal = { kind: 'running' }
const END: BoxGoal = { kind: 'terminated', acknowledgeWorkAtRisk: false }
const KNOWN_BY_TAG = { machineIds: [], allocationIds: [] }

/** On a machine that does a lot besides. */
const SLOW = { timeoutMs: 600_000 }

spec('the provisioner takes care', (t) => {
  let stage: DevboxStage
  t.before(async () => {
    stage = await startDevboxStage()
  })
  t.after(() => stage.end())

  const isUp = async (): Promise<string> => {
    const id = stage.registry.reserve({ name: `care-${stage.registry.kept.size}` })
    assert.is((await stage.go(id, UP)).state, 'done')
    return id
  }
  const machineOf = (id: string) => {
    const machine = stage.ec2.region.machines.get(stage.registry.row(id).instanceId ?? '')
    assert.ok(machine)
    return machine
  }
  const codeOf = async (id: string, goal: BoxGoal): Promise<string> => {
    const ended = await stage.go(id, goal)
    return ended.state === 'stuck' ? ended.code : ended.state
  }
  const ended = async (id: string) => {
    assert.is(await codeOf(id, { ...END, acknowledgeWorkAtRisk: true } as BoxGoal), 'done')
  }

  t(
    'takes nothing down that bears the tag of another installation',
    async () => {
      const id = await isUp()
      const machine = machineOf(id)
      machine.tags.set('bottega:installation', 'another')
      assert.is(await codeOf(id, END), 'NOT_OURS')
      assert.is(machine.state, 'running')
      machine.tags.set('bottega:installation', INSTALLATION)
      await ended(id)
    },
    SLOW,
  )
  t(
    'asks about work before the machine is gone, and not after',
    async () => {
      const id = await isUp()
      stage.registry.report(id, { git: { dirty: 1, untracked: 0, unpushed: 2 } })
      assert.is(await codeOf(id, END), 'WORK_AT_RISK')
      assert.is(machineOf(id).state, 'running')
      await ended(id)
      assert.is(stage.registry.row(id).state, 'terminated')
    },
    SLOW,
  )
  t(
    'tells of a machine that has stopped itself, and gives it another address where its own was released',
    async () => {
      const id = await isUp()
      stopMachine(stage.ec2.region, machineOf(id))
      stage.passes(60_000)
      assert.is(await codeOf(id, { kind: 'asIs' }), 'done')
      assert.is(stage.registry.row(id).state, 'stopped')
      stage.ec2.region.addresses.delete(stage.registry.row(id).eipAllocId ?? '')
      stage.passes(10 * 60_000)
      assert.is(await codeOf(id, UP), 'done')
      const { held, eipAllocId, state } = stage.registry.row(id)
      assert.is(state, 'running')
      assert.ok(stage.ec2.region.addresses.has(eipAllocId ?? ''))
      stage.passes(10 * 60_000)
      assert.is(await codeOf(id, { kind: 'asIs' }), 'done')
      assert.equal(
        stage.registry.row(id).held.map((one) => one.eipAllocId),
        [eipAllocId],
        `of ${held.length}`,
      )
      await ended(id)
    },
    SLOW,
  )
  t(
    'says again what was decided and whose answer was lost, and it is done once',
    async () => {
      const id = stage.registry.reserve({ name: 'care-lost' })
      for (const word of ['provisioning', 'token', 'finalize', 'started']) stage.registry.loseNext.add(word)
      assert.is(await codeOf(id, UP), 'done')
      assert.equal(
        stage.registry.said.filter((line) => line.startsWith(id)).map((line) => line.split(' ')[1]),
        ['provisioning', 'token', 'finalize', 'started'],
      )
      assert.is(stage.registry.tokens.get(id), stage.machines.tokens.get(machineOf(id).id))
      await ended(id)
    },
    SLOW,
  )
  t(
    'gives one that is silent a report token that is good, when it is told to repair it',
    async () => {
      const id = await isUp()
      const machine = machineOf(id)
      const { registry, machines } = stage
      const isGood = () => machines.tokens.get(machine.id) === registry.tokens.get(id)
      machines.says.isRefused = () => !isGood()
      // its owner had a new one issued, and gave it to nobody
      registry.tokens.set(id, 'dbr_rotated')
      stage.passes(10 * 60_000)
      assert.is(await codeOf(id, { kind: 'asIs' }), 'done')
      assert.is(isGood(), false, 'run leaves it alone')
      assert.is(await codeOf(id, goalFor({ command: 'repair', words: [id], flags: {} }, 'S')), 'done')
      assert.ok(isGood())
      const steps = stage.steps.length
      assert.is(await codeOf(id, { kind: 'asIs', mendsReports: true }), 'done')
      assert.equal(
        stage.steps.slice(steps).map(({ do: step }) => step),
        ['lookInside', 'done'],
        'and no other one, where it is good',
      )
      delete machines.says.isRefused
      await ended(id)
    },
    SLOW,
  )
  t(
    'says that one is stopped which is silent for that, and asks nothing inside it, when it is told to repair it',
    async () => {
      const id = await isUp()
      stage.passes(10 * 60_000)
      stopMachine(stage.ec2.region, machineOf(id))
      const steps = stage.steps.length
      assert.is(await codeOf(id, { kind: 'asIs', mendsReports: true }), 'done')
      assert.is((await stage.registry.row(id)).state, 'stopped')
      assert.ok(stage.steps.slice(steps).every(({ do: step }) => step !== 'lookInside'))
      await ended(id)
    },
    SLOW,
  )
  t(
    'believes no host that answers with other keys than the console has told',
    async () => {
      const id = stage.registry.reserve({ name: 'care-keys' })
      stage.machines.says.hostKeys = ['ssh-ed25519 AAAA']
      assert.is(await codeOf(id, UP), 'HOST_KEY_MISMATCH')
      delete stage.machines.says.hostKeys
      assert.is(await codeOf(id, UP), 'done')
      await ended(id)
    },
    SLOW,
  )
  t(
    'says what does not hold, where sshd is not as it must be',
    async () => {
      const id = stage.registry.reserve({ name: 'care-sshd' })
      stage.machines.says.passwords = 'yes'
      assert.is(await codeOf(id, UP), 'ASSERTION_FAILED')
      delete stage.machines.says.passwords
      assert.is(await codeOf(id, UP), 'done')
      await ended(id)
    },
    SLOW,
  )
  t(
    'undoes a resize for which there is no capacity',
    async () => {
      const id = await isUp()
      for (const type of ['m7g.xlarge', 't4g.xlarge']) stage.ec2.full.add(type)
      const larger = { kind: 'resized', sizeClass: 'M', acknowledgeWorkAtRisk: false } as const
      assert.is(await codeOf(id, larger), 'NO_CAPACITY')
      stage.ec2.full.clear()
      const { state, sizeClass } = stage.registry.row(id)
      assert.equal([state, sizeClass, machineOf(id).type], ['running', 'S', 't4g.large'])
      await ended(id)
    },
    SLOW,
  )
  t(
    'tells what an orphan costs a month, and removes it when it is told to',
    async () => {
      const { registry, parts } = stage
      const id = await isUp()
      registry.kept.delete(id)
      const report = async () =>
        inventoryReport(await parts.driver.inventory(KNOWN_BY_TAG), await parts.registry.list(), INSTALLATION)
      // t4g.large 49.06, 50 GB 4.00, an address 3.65
      assert.is((await report()).orphanMonthlyUsd, 56.71)
      assert.is((await report()).lines[0]?.command, `bottega-devbox terminate ${id} --orphan`)
      assert.is(await codeOf(id, END), 'NOT_FOUND')
      const gone = await converge(parts, { id, goal: END, endMs: parts.nowMs() + 3_600_000, takesOrphans: true })
      assert.is(gone.state, 'done')
      assert.is((await report()).monthlyUsd, 0)
    },
    SLOW,
  )
  t(
    'says when the machine is gone for good',
    async () => {
      const id = await isUp()
      endMachine(stage.ec2.region, machineOf(id))
      stage.passes(10 * 60_000)
      assert.is(await codeOf(id, { kind: 'asIs' }), 'INSTANCE_GONE')
      await ended(id)
      assert.is(stage.ec2.region.addresses.size, 0)
    },
    SLOW,
  )
  t(
    'asks no name for a volume whose machine is gone, where volumes are called as their machines are',
    async () => {
      const id = await isUp()
      const { parts } = stage
      const { installation, row } = { installation: INSTALLATION, row: await parts.registry.read(id) }
      assert.ok(row)
      const volume = { volumeId: 'left', sizeGb: 50, attachedTo: null, isGrowing: false }
      const inventory = {
        machines: [],
        volumes: [{ ...volume, installation, box: id, label: 'before/it.was' }],
        addresses: [],
      }
      const seen = { row, inventory, installation, learned: NOTHING_LEARNED, settleMs: 0, nowMs: parts.nowMs() }
      const stepOf = (namesMachinesOnly: boolean) => upkeep(worldOf({ ...seen, namesMachinesOnly }))
      assert.equal(stepOf(false), { do: 'label', ids: ['left'], label: row.targetLabel })
      assert.is(stepOf(true), null)
      await ended(id)
    },
    SLOW,
  )
  t(
    'reconciles all of them, round after round, until it is ended',
    async () => {
      const ids = [stage.registry.reserve({ name: 'care-one' }), stage.registry.reserve({ name: 'care-two' })]
      const end = new AbortController()
      let rounds = 0
      const said: string[] = []
      const log = makeLog({ destination: { write: (line) => void said.push(line) } })
      const sleep = async (ms: number) => {
        stage.passes(ms)
        rounds += 1
        const areUp = ids.every((id) => stage.registry.row(id).state === 'running')
        if (areUp || rounds > 60) end.abort()
      }
      await runDaemon({ parts: { ...stage.parts, sleep }, log, everyMs: 5_000, signal: end.signal })
      assert.equal(
        ids.map((id) => stage.registry.row(id).state),
        ['running', 'running'],
        said.join(''),
      )
      for (const id of ids) await ended(id)
    },
    SLOW,
  )
})

spec('what is typed at the provisioner', (t) => {
  const goal = (...argv: string[]) => {
    const typed = readDevboxCommand(argv)
    return typed && goalFor(typed, 'S')
  }
  t('is a goal', () => {
    assert.equal(goal('resize', 'october', '--size-class', 'M', '--disk-gb', '80'), {
      kind: 'resized',
      sizeClass: 'M',
      diskGb: 80,
      acknowledgeWorkAtRisk: false,
    })
    assert.equal(goal('resize', 'october', '--disk-gb', '80')?.kind, 'resized')
    assert.equal(goal('release-eip', 'october'), { kind: 'released', allocationId: null })
    assert.equal(goal('repair', 'october'), { kind: 'asIs', mendsReports: true })
    assert.is(goal('help'), null)
  })
  t('is refused with what was meant', () => {
    assert.throws(() => goal('strat', 'october'), /Did you mean start/)
    assert.throws(() => goal('stop'), /bottega-devbox stop BOX/)
    assert.throws(() => goal('stop', 'october', '--orphan'), /stop takes no --orphan/)
    assert.throws(() => goal('resize', 'october', '--size-class', 'XXL'), /takes XS, S, M, L, XL/)
  })
  t('does not take for a host key what stands outside of the marks', () => {
    const marks = '-----BEGIN SSH HOST KEY KEYS-----\r\nssh-ed25519 AAAA root@a\r\n-----END SSH HOST KEY KEYS-----\r\n'
    assert.equal(consoleKeys(`ssh-rsa BBBB liar\n${marks}ssh-rsa CCCC liar`), ['ssh-ed25519 AAAA'])
    assert.equal(consoleKeys('ssh-rsa BBBB liar'), [])
  })
})
