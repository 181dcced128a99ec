/** The figures of hosts, as a scrape reads them. */
import { hostGauges } from '../../../controllers/kinds/host/gauges.ts'
import { makeMetrics } from '../../../controllers/ops/metrics.ts'
import type { HostPlan, HostWorld } from '../../../crds/host/plan.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const findings = { disk: { totalGib: 100, freeGib: 25 }, users: 'remapped' }
const reached = { inspection: { reach: 'ok', findings }, guard: { state: 'stands' } } as unknown as HostWorld
const silent = { inspection: { reach: 'unreachable', detail: '' }, guard: { state: 'missing' } } as unknown as HostWorld
const at = (phase: string) => ({ status: { phase } }) as unknown as Pick<HostPlan, 'status'>
const now = new Date('2026-11-26T00:00:00Z')

spec('the figures of a host', (t) => {
  const metrics = makeMetrics({ version: '1', process: 'test', defaults: false })
  const gauges = hostGauges(metrics)
  const lines = async () =>
    (await metrics.render(undefined)).body.split('\n').filter((line) => /^bottega_host_\w+\{host="h1"/.test(line))

  t('say what was seen', async () => {
    gauges.seen('h1', { approved: true, world: reached, plan: at('approved'), now })
    const told = await lines()
    for (const line of [
      'bottega_host_reachable{host="h1"} 1',
      'bottega_host_approved{host="h1"} 1',
      'bottega_host_isolated{host="h1"} 1',
      `bottega_host_disk_free_bytes{host="h1"} ${25 * 1024 ** 3}`,
      `bottega_host_disk_total_bytes{host="h1"} ${100 * 1024 ** 3}`,
      `bottega_host_seen_timestamp_seconds{host="h1"} ${now.getTime() / 1000}`,
      'bottega_host_state{host="h1",state="approved"} 1',
      'bottega_host_state{host="h1",state="unreachable"} 0',
    ])
      assert.ok(told.includes(line), `${line} of ${told.join(', ')}`)
  })

  t('tell of a host that is not reached since when, and nothing old of its disk', async () => {
    gauges.seen('h1', { approved: true, world: silent, plan: at('unreachable'), now: new Date(now.getTime() + 60_000) })
    const told = (await lines()).join('\n')
    assert.match(told, /reachable\{host="h1"\} 0/)
    assert.match(told, /state="unreachable"\} 1/)
    assert.match(told, new RegExp(`seen_timestamp_seconds\\{host="h1"\\} ${now.getTime() / 1000}`))
    assert.not.match(told, /disk|isolated/)
  })

  t('are gone with the host', async () => {
    gauges.forget('h1')
    assert.equal(await lines(), [])
  })
})
