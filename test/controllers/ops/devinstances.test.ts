/** The figures of dev instances, as a scrape reads them, and the alerts that go by them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { devInstanceGauges } from '../../../controllers/kinds/devinstance/gauges.ts'
import { makeMetrics } from '../../../controllers/ops/metrics.ts'
import type { DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import type { DevInstanceResource } from '../../../crds/devinstance/plan.ts'
import { ready, stalled, type Verdict } from '../../../crds/kernel/plan.ts'
import { aDevInstance, after, inEachState, later, minutes, T0 } from '../../support/builders/devinstance.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const root = join(import.meta.dirname, '..', '..', '..')

const anObject = (name: string, account: string, stalledSince?: string): DevInstanceResource => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'DevInstance',
  metadata: { name, namespace: 'b', uid: name, resourceVersion: '1', generation: 1, creationTimestamp: T0 },
  spec: { account, sizeClass: 'S', arch: 'arm64', agents: [] },
  status: {
    conditions: stalledSince
      ? [
          {
            type: 'Stalled',
            status: 'True',
            reason: 'CapExceeded',
            message: '',
            observedGeneration: 1,
            lastTransitionTime: stalledSince,
          },
        ]
      : [],
  },
})

spec('the figures of dev instances', (t) => {
  let now = new Date(later(minutes(60)))
  const metrics = makeMetrics({ version: '1', process: 'test', defaults: false })
  const gauges = devInstanceGauges(metrics, () => now)
  const lines = async () => (await metrics.render(undefined)).body.split('\n')
  const told = async (line: string) => {
    const all = await lines()
    assert.ok(all.includes(line), `${line} of ${all.filter((one) => one.startsWith('bottega_devbox')).join(', ')}`)
  }
  const world = { account: { capabilities: [], capMicroUsd: 100_000_000 } }
  const seen = (name: string, instance: DevInstanceRow, more: { verdict?: Verdict; stalledSince?: string } = {}) => {
    const { verdict = ready('Ready', ''), stalledSince } = more
    gauges.seen(anObject(name, name.slice(0, 1), stalledSince), { instance, world, plan: { verdict } })
  }
  const [, provisioning, , , running, stopped] = inEachState() as DevInstanceRow[]

  t('count states, sum up what is committed by account, and say the cap', async () => {
    seen('a1', running ?? aDevInstance())
    seen('a2', stopped ?? aDevInstance())
    seen('b1', provisioning ?? aDevInstance())
    await told('bottega_devbox_instances{state="running"} 1')
    await told('bottega_devbox_instances{state="resizing"} 0')
    await told('bottega_devbox_committed_usd{account="a"} 113.412')
    await told('bottega_devbox_cap_usd{account="a"} 100')
    // it was launched a second after the reservation
    await told('bottega_devbox_lease_oldest_seconds 3599')
    await told('bottega_devbox_orphan_usd 0')
  })

  t('say what costs and serves nothing', async () => {
    const held = { eipAllocId: 'eipalloc-8', publicIp: '198.51.100.8', heldFrom: T0 }
    const one = running ?? aDevInstance()
    seen('a1', { ...one, held: [...one.held, held] })
    await told('bottega_devbox_orphan_usd 3.65')
    seen('a1', one)
  })

  t('say which wishes are not so, and for how long, as time goes by', async () => {
    const one = running ?? aDevInstance()
    seen('a1', { ...one, powerWish: { power: 'stopped', wish: 0, generation: 2, at: later(minutes(30)), open: true } })
    const verdict = stalled('CAP_EXCEEDED', 'CAP_EXCEEDED: too much')
    seen('a2', stopped ?? aDevInstance(), { verdict, stalledSince: later(minutes(50)) })
    await told('bottega_devbox_wishes{state="awaited"} 1')
    await told('bottega_devbox_wishes{state="refused"} 1')
    await told('bottega_devbox_wish_oldest_seconds{state="awaited"} 1800')
    await told('bottega_devbox_wish_oldest_seconds{state="refused"} 600')
    now = new Date(later(minutes(70)))
    await told('bottega_devbox_wish_oldest_seconds{state="awaited"} 2400')
    await told('bottega_devbox_wish_oldest_seconds{state="undone"} 0')
  })

  t('forget what is gone', async () => {
    for (const name of ['a1', 'a2']) gauges.forget(name)
    seen('b1', after(aDevInstance(), 'delete'))
    const all = (await lines()).join('\n')
    assert.not.match(all, /account="/)
    await told('bottega_devbox_wishes{state="awaited"} 0')
    await told('bottega_devbox_lease_oldest_seconds 0')
  })

  t('are all that the alerts of the chart go by', async () => {
    const text = readFileSync(join(root, 'charts', 'bottega', 'files', 'alerts.yaml'), 'utf8')
    const named = [...new Set(text.match(/bottega_devbox_\w+/g))]
    const served = (await lines()).flatMap((line) => line.match(/^# TYPE (\S+)/)?.[1] ?? [])
    assert.equal(
      named.filter((name) => !served.includes(name)),
      [],
    )
    assert.ok(named.length >= 3)
  })
})
