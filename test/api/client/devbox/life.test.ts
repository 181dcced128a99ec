/** The life of a dev instance by the provisioner: EC2 as the stand-in speaks it, the registry as its table decides. */

import type { BoxEffect, Learned } from '../../../../api/client/devbox/plan/world.ts'
import { converge } from '../../../../api/client/devbox/run/converge.ts'
import { type DevboxStage, startDevboxStage } from '../../../support/devbox/stage.ts'
import { endMachine, TAKES_MS } from '../../../support/ec2/region.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const asked = { acknowledgeWorkAtRisk: false }

spec('a dev instance, by the provisioner', (t) => {
  let stage: DevboxStage
  t.before(async () => {
    stage = await startDevboxStage()
  })
  t.after(() => stage.end())

  t(
    'goes from the reservation to the tombstone',
    async () => {
      const { registry, ec2, machines, go } = stage
      const id = registry.reserve({ name: 'october' })
      assert.is((await go(id, { kind: 'running' })).state, 'done')
      const up = registry.row(id)
      assert.equal([up.state, up.held.length, ec2.region.machines.size], ['running', 1, 1])
      assert.is(machines.tokens.get(up.instanceId ?? ''), registry.tokens.get(id))

      assert.is((await go(id, { kind: 'stopped' })).state, 'done')
      assert.is(registry.row(id).state, 'stopped')
      assert.is((await go(id, { kind: 'resized', sizeClass: 'M', ...asked })).state, 'done')
      const larger = registry.row(id)
      assert.equal([larger.state, larger.sizeClass, larger.diskGb], ['stopped', 'M', 80])
      assert.is((await go(id, { kind: 'renamed', name: 'november' })).state, 'done')
      assert.is([...ec2.region.machines.values()][0]?.tags.get('Name'), 'demo/november')
      assert.is((await go(id, { kind: 'released', allocationId: null })).state, 'done')
      assert.equal([registry.row(id).held, ec2.region.addresses.size], [[], 0])
      assert.is((await go(id, { kind: 'running' })).state, 'done')
      assert.equal([registry.row(id).state, registry.row(id).held.length], ['running', 1])
      assert.is((await go(id, { kind: 'terminated', ...asked })).state, 'done')
      assert.is(registry.row(id).state, 'terminated')
      assert.equal([ec2.region.addresses.size, ec2.region.volumes.size], [0, 0])
    },
    { timeoutMs: 600_000 },
  )

  t('is told of under words of its own, though another one stands just like it', async () => {
    const { registry, parts } = stage
    const ids = [registry.reserve({ name: 'like-one' }), registry.reserve({ name: 'like-two' })]
    for (const id of ids) {
      const ended = await converge(parts, { id, goal: { kind: 'running' }, endMs: parts.nowMs() + 5 * 60_000 })
      assert.is(ended.state, 'done', JSON.stringify(ended))
    }
    assert.is(registry.row(ids[0] ?? '').version, registry.row(ids[1] ?? '').version)
  })

  /** AWS knows launches that end at once: no room for the disk, a key that may not be used, a fault of the host. */
  const dyingAtLaunch = (times: number) => {
    let left = times
    return {
      around: async (effect: BoxEffect, run: () => Promise<Partial<Learned>>) => {
        const learned = await run()
        const { region } = stage.ec2
        const newest = [...region.machines.values()].at(-1)
        if (effect.do === 'launch' && newest && left > 0) {
          left -= 1
          endMachine(region, newest)
        }
        return learned
      },
    }
  }
  t('gets another machine where the cloud ended the one that it had launched', async () => {
    const { registry, go, steps } = stage
    const id = registry.reserve({ name: 'twice' })
    const before = steps.length
    assert.is((await go(id, { kind: 'running' }, dyingAtLaunch(2))).state, 'done')
    assert.is(registry.row(id).state, 'running')
    assert.is(steps.slice(before).filter((step) => step.do === 'launch').length, 3)
  })
  t('gets another machine under another token where the cloud has forgotten the one that died', async () => {
    const { registry, ec2, go } = stage
    const id = registry.reserve({ name: 'late' })
    const interrupted = { sleep: () => Promise.reject(new Error('interrupted')) }
    await go(id, { kind: 'running' }, { ...dyingAtLaunch(1), ...interrupted }).catch(() => {})
    assert.is(registry.row(id).state, 'reserved')
    const [dead] = [...ec2.region.machines.values()].filter(({ tags }) => tags.get('bottega:devbox') === id)
    stage.passes(2 * TAKES_MS.forget)
    assert.is((await go(id, { kind: 'running' })).state, 'done')
    assert.is.not(registry.row(id).instanceId, dead?.id)
  })
})
