/**
 * The provisioner dies before and after each of its effects, and the cloud fails at each of its calls. Whoever comes next
 * brings the same thing to the same end: one machine, no orphan, no lost address, and a registry that is billed as the cloud bills.
 */

import { inventoryReport } from '../../../../api/client/devbox/plan/orphans.ts'
import type { BoxEffect, BoxGoal, Learned } from '../../../../api/client/devbox/plan/world.ts'
import { committedMicroUsd } from '../../../../crds/devinstance/life/row.ts'
import { type DevboxStage, INSTALLATION, startDevboxStage } from '../../../support/devbox/stage.ts'
import { allocateAddress, launchMachine } from '../../../support/ec2/region.ts'
import type { Ec2Fault } from '../../../support/ec2/standin.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const calm = { acknowledgeWorkAtRisk: false }
const UP: BoxGoal = { kind: 'running' }
const DOWN: BoxGoal = { kind: 'stopped' }

/** What comes before, and what is swept. */
type Story = { before: BoxGoal[]; goal: BoxGoal; full?: string[]; ends: string }

const STORIES: Record<string, Story> = {
  'the first start': { before: [], goal: UP, ends: 'running S 1' },
  'the first start, without capacity for its type': { before: [], goal: UP, full: ['m7g.xlarge'], ends: 'running M 1' },
  'a stop': { before: [UP], goal: DOWN, ends: 'stopped S 1' },
  'a start with the address that was kept': { before: [UP, DOWN], goal: UP, ends: 'running S 1' },
  'the release of the address': {
    before: [UP, DOWN],
    goal: { kind: 'released', allocationId: null },
    ends: 'stopped S 0',
  },
  'a start with a new address': {
    before: [UP, DOWN, { kind: 'released', allocationId: null }],
    goal: UP,
    ends: 'running S 1',
  },
  'a resize while it runs': { before: [UP], goal: { kind: 'resized', sizeClass: 'M', ...calm }, ends: 'running M 1' },
  'a resize while it stands still': {
    before: [UP, DOWN],
    goal: { kind: 'resized', sizeClass: 'M', ...calm },
    ends: 'stopped M 1',
  },
  'a larger disk': {
    before: [UP],
    goal: { kind: 'resized', sizeClass: 'S', diskGb: 60, ...calm },
    ends: 'running S 1',
  },
  'a new name': { before: [UP], goal: { kind: 'renamed', name: 'november' }, ends: 'running S 1' },
  'the end': { before: [UP], goal: { kind: 'terminated', ...calm }, ends: 'terminated S 0' },
}

class Crash extends Error {}

/** Dies after the nth effect, which is before the one that follows: what was learned is lost, what was done is not. */
const dying = (nth: number) => {
  let count = 0
  return async (_: BoxEffect, run: () => Promise<Partial<Learned>>): Promise<Partial<Learned>> => {
    const dies = count === nth
    count += 1
    const learned = await run()
    if (dies) throw new Crash()
    return learned
  }
}

const begun = async (stage: DevboxStage, { before, full = [] }: Story): Promise<string> => {
  const { registry, ec2, go } = stage
  ec2.full.clear()
  for (const map of [ec2.region.machines, ec2.region.volumes, ec2.region.addresses]) map.clear()
  plantForeign(stage)
  const id = registry.reserve({ name: `box-${registry.kept.size}`, sizeClass: full.length > 0 ? 'M' : 'S' })
  for (const goal of before) assert.is((await go(id, goal)).state, 'done')
  for (const type of full) ec2.full.add(type)
  stage.steps.length = 0
  ec2.asked.length = 0
  return id
}

const OTHERS = () =>
  new Map([
    ['bottega:installation', 'another'],
    ['bottega:devbox', 'dev-of-another'],
    ['Name', 'theirs'],
  ])

/** What another installation has in the same account. */
const plantForeign = ({ ec2: { region } }: DevboxStage): void => {
  const disk = { device: '/dev/xvda', sizeGb: 8, type: 'gp3', encrypted: true, deleteOnTermination: true }
  const rest = {
    imageId: 'ami-0aaaaaaaaaaaaaaa1',
    userData: Buffer.alloc(0),
    shutdownBehavior: 'stop',
    httpTokens: 'required',
    hopLimit: 1,
  }
  launchMachine(region, {
    ...rest,
    type: 't4g.medium',
    creditMode: 'standard',
    disk,
    tags: OTHERS(),
    volumeTags: OTHERS(),
  })
  allocateAddress(region, OTHERS())
}

const isOurs = ({ tags }: { tags: ReadonlyMap<string, string> }): boolean =>
  tags.get('bottega:installation') === INSTALLATION
const count = (things: Iterable<{ tags: ReadonlyMap<string, string> }>): number => [...things].filter(isOurs).length

/** What has to hold at the end of every story, however it went. */
const judged = async (stage: DevboxStage, id: string, { ends, full = [] }: Story): Promise<void> => {
  const { registry, ec2, parts } = stage
  const { machines, volumes, addresses } = ec2.region
  ec2.unseen.clear()
  const row = registry.row(id)
  assert.is(`${row.state} ${row.sizeClass} ${row.held.length}`, ends)
  const alive = [...machines.values()].filter((one) => isOurs(one) && one.state !== 'terminated')
  const isGone = row.state === 'terminated'
  assert.equal(
    alive.map((one) => one.id),
    isGone ? [] : [row.instanceId],
    'one machine',
  )
  assert.is(count(volumes.values()), isGone ? 0 : 1, 'one volume')
  const held = row.held.map(({ eipAllocId }) => eipAllocId).sort()
  assert.equal(
    [...addresses.values()]
      .filter(isOurs)
      .map((one) => one.id)
      .sort(),
    held,
    'no lost address',
  )
  const report = inventoryReport(
    await parts.driver.inventory({ machineIds: [], allocationIds: [] }),
    await parts.registry.list(),
    INSTALLATION,
  )
  assert.is(report.orphanMonthlyUsd, 0, 'no orphan')
  const shown = await parts.registry.read(id)
  const billed = shown?.currentMonthlyUsd ?? 0
  assert.is(billed, report.monthlyUsd, 'the registry bills what the cloud bills')
  // what was promised is kept free for it, though what was launched in its place costs less
  if (full.length > 0) assert.ok(committedMicroUsd(row) / 1_000_000 > billed)
  assert.is(
    [...machines.values()].filter((one) => one.tags.get('Name') === 'theirs' && one.state === 'running').length,
    1,
  )
  assert.is([...addresses.values()].filter((one) => one.tags.get('Name') === 'theirs').length, 1)
  if (row.state === 'running')
    assert.is(
      stage.machines.tokens.get(row.instanceId ?? ''),
      registry.tokens.get(id),
      'the machine has the good token',
    )
}

const MADE = ['RunInstances', 'AllocateAddress']

const faultsOf = (action: string): Ec2Fault[] => {
  if (/^(Describe|Get)/.test(action)) return [{ action, does: 'refused', code: 'RequestLimitExceeded' }]
  const lost = [
    { action, does: 'lostBefore' },
    { action, does: 'lostAfter' },
  ] as const
  if (!MADE.includes(action)) return [...lost]
  return [...lost, { action, does: 'duplicate' }, { action, does: 'unseen', looks: 8 }]
}

spec('the provisioner, whatever fails', (t) => {
  let stage: DevboxStage
  t.before(async () => {
    stage = await startDevboxStage()
  })
  t.after(() => stage.end())

  for (const [name, story] of Object.entries(STORIES)) {
    t(
      `brings ${name} to its end when it dies before or after each effect`,
      async () => {
        const clean = await begun(stage, story)
        assert.is((await stage.go(clean, story.goal)).state, 'done')
        await judged(stage, clean, story)
        const effects = stage.steps.filter(({ do: what }) => !['wait', 'done', 'stuck'].includes(what)).length
        assert.ok(effects > 0)
        for (let nth = 0; nth < effects; nth += 1) {
          const id = await begun(stage, story)
          await stage.go(id, story.goal, { around: dying(nth) }).catch((error) => {
            if (!(error instanceof Crash)) throw error
          })
          assert.is((await stage.go(id, story.goal)).state, 'done', `after effect ${nth}`)
          await judged(stage, id, story)
        }
      },
      { timeoutMs: 600_000 },
    )

    t(
      `brings ${name} to its end whatever call of the cloud fails`,
      async () => {
        const clean = await begun(stage, story)
        await stage.go(clean, story.goal)
        for (const action of new Set(stage.ec2.asked)) {
          for (const fault of faultsOf(action)) {
            const id = await begun(stage, story)
            stage.ec2.faults.push(fault)
            const ended = await stage.go(id, story.goal)
            assert.is(ended.state, 'done', `${JSON.stringify(fault)}: ${JSON.stringify(ended)}`)
            assert.equal(stage.ec2.faults, [], 'the fault was met')
            await judged(stage, id, story)
          }
        }
      },
      { timeoutMs: 600_000 },
    )
  }
})
