/** What a machine says of itself again in its reports: after each start, and when it has changed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileCheck } from '../../../../api/http/validate.ts'
import { REPORT } from '../../../../crds/devinstance/bootstrap/report.ts'
import { reporterScript } from '../../../../crds/devinstance/bootstrap/reporter.ts'
import { type Machine, madeMachine, type Service, startService } from '../../../support/builders/machine.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const T0 = 1_795_000_000
const SCRIPT = reporterScript([])

spec('what a dev instance attests again', (t) => {
  let folder = ''
  let machine: Machine
  let service: Service
  let count = 0
  t.before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-attested-'))
    service = await startService()
  })
  t.after(() => {
    service.close()
    rmSync(folder, { recursive: true, force: true })
  })
  t.before.each(() => {
    count += 1
    machine = madeMachine(join(folder, String(count)))
    machine.put('/etc/bottega/token', 'dbr_dev-october_secretsecret\n')
    machine.put('/etc/bottega/url', `${service.url}\n`)
    service.told.length = 0
    service.status = 200
  })
  const at = (minute: number) => machine.run(SCRIPT, { now: T0 + minute * 60 })
  const look = async (minute: number): Promise<Record<string, unknown>> => {
    const { code, stderr } = await at(minute)
    assert.equal([code, stderr], [0, ''])
    const body = service.told.at(-1)?.body ?? {}
    assert.equal(compileCheck(REPORT as object)(body), [])
    return body
  }
  const SAID = '/run/bottega-attest/said'
  const attested = (keys: readonly string[]) => ({
    facts: { hostKeys: keys, units: [] },
    assertions: { usepam: 'yes' },
  })
  const attests = (...keys: string[]) => machine.put(SAID, `${JSON.stringify(attested(keys))}\n`)
  const told = async (minute: number) => (await look(minute)).attested

  t('is told whenever it has attested, the same too, and after each start', async () => {
    assert.is(await told(0), undefined, 'it has not attested yet')
    attests('SHA256:a')
    assert.equal(await told(1), attested(['SHA256:a']))
    assert.is(await told(2), undefined)
    attests('SHA256:a')
    assert.equal(await told(3), attested(['SHA256:a']), 'the same an hour later: that it attests still')
    assert.is(await told(4), undefined)
    attests('SHA256:b')
    assert.equal(await told(5), attested(['SHA256:b']))
    assert.is(await told(6), undefined)
    // a start forgets what lies in memory
    rmSync(machine.at('/run/bottega'), { recursive: true })
    assert.equal(await told(7), attested(['SHA256:b']))
  })
  t('waits until it was heard, and goes with the present report alone', async () => {
    attests('SHA256:a')
    service.status = 503
    await at(1)
    await at(2)
    service.status = 200
    service.told.length = 0
    await at(3)
    assert.equal(
      service.told.map(({ body }) => (body as { attested?: unknown }).attested),
      [undefined, undefined, attested(['SHA256:a'])],
    )
    assert.is(await told(4), undefined)
  })
})
