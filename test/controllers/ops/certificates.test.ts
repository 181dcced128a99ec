import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { makeMetrics } from '../../../controllers/ops/metrics.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const root = join(import.meta.dirname, '..', '..', '..')

spec('metrics of certificates', (t) => {
  const now = new Date('2026-11-25T12:00:00Z')
  const page = async (metrics: ReturnType<typeof makeMetrics>) => (await metrics.render(undefined)).body
  const line = (text: string, name: string): string[] => text.split('\n').filter((one) => one.startsWith(`${name}{`))

  t('tell by host and by whose the name is how many there are, and when the first runs out', async () => {
    const metrics = makeMetrics({ version: '1', process: 'test', defaults: false })
    metrics.certificates(
      'h1',
      [
        { names: 'platform', state: 'valid', notAfter: '2027-01-01T00:00:00Z' },
        { names: 'platform', state: 'expiring', notAfter: '2026-11-25T12:00:10Z' },
        { names: 'own', state: 'missing' },
      ],
      now,
    )
    const text = await page(metrics)
    assert.ok(text.includes('bottega_certificates{host="h1",names="platform",state="valid"} 1'))
    assert.ok(text.includes('bottega_certificates{host="h1",names="own",state="missing"} 1'))
    assert.equal(line(text, 'bottega_certificate_left_seconds'), [
      'bottega_certificate_left_seconds{host="h1",names="platform"} 10',
    ])
    metrics.certificates('h1', [], now)
    assert.equal(line(await page(metrics), 'bottega_certificates'), [], 'nothing of a host that is not looked at')
    assert.equal(line(await page(metrics), 'bottega_certificate_left_seconds'), [])
  })

  t('are alerted by with labels and states that there are', async () => {
    const text = readFileSync(join(root, 'charts', 'bottega', 'files', 'alerts.yaml'), 'utf8')
    const rules = parse(text) as { alert: string; expr: string }[]
    const ours = rules.filter(({ expr }) => expr.includes('bottega_certificate'))
    assert.equal(ours.map(({ alert }) => alert).sort(), ['BottegaCertificatesMissing', 'BottegaCertificatesRunOut'])
    const metrics = makeMetrics({ version: '1', process: 'test', defaults: false })
    metrics.certificates('h1', [{ names: 'own', state: 'valid', notAfter: '2027-01-01T00:00:00Z' }], now)
    const served = await page(metrics)
    for (const { expr } of ours) {
      const [, name = '', selector = ''] = /(bottega_[a-z_]+)\{([^}]*)\}/.exec(expr) ?? []
      assert.ok(line(served, name).length > 0, name)
      const states = /state=~"([^"]+)"/.exec(selector)?.[1]?.split('|') ?? []
      for (const state of states) assert.ok(served.includes(`state="${state}"`), state)
      for (const label of /by \(([^)]+)\)/.exec(expr)?.[1]?.split(', ') ?? [])
        assert.ok(served.includes(`${label}="`), label)
    }
  })
})
