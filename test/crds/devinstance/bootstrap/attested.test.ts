/** What a machine says of itself again in its reports: after each start, and when it has changed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileCheck } from '../../../../api/http/validate.ts'
import { attestScript } from '../../../../crds/devinstance/bootstrap/attest.ts'
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
  t('that nobody takes does not have the reports after it refused too', async () => {
    attests('SHA256:a')
    service.status = 400
    await at(1)
    service.status = 200
    assert.is(await told(2), undefined)
    attests('SHA256:b')
    assert.equal(await told(3), attested(['SHA256:b']))
  })
})

spec('what a machine says that it is', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bottega-attests-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const SETTING = 'passwordauthentication'
  /** @param sshd what it does when it is asked for one visitor */
  const said = async (name: string, sshd: string) => {
    const machine = madeMachine(join(folder, name))
    machine.program('sshd', sshd)
    machine.program('ssh-keygen', 'echo "256 SHA256:key comment (ED25519)"')
    for (let n = 0; n < 30; n++) machine.put(`/etc/ssh/ssh_host_${n}_key.pub`, 'ssh-ed25519 AAAA')
    const { code, stdout } = await machine.run(attestScript([]))
    return { code, stdout }
  }
  t('is nothing where sshd does not answer for every visitor', async () => {
    const last = `case "$*" in *nobody-there*) echo "no folder" >&2; exit 255;; esac; echo "${SETTING} no"`
    for (const [n, sshd] of ['exit 255', last].entries()) {
      const { code, stdout } = await said(`silent-${n}`, sshd)
      assert.equal([code === 0, stdout], [false, ''], sshd)
    }
  })
  t('fits a report, whatever somebody wrote into its settings', async () => {
    const long = `printf '${SETTING} %s\\t"%s\\n' "$(printf '%0300d' 0)" x`
    const { code, stdout } = await said('long', long)
    assert.is(code, 0)
    const attestedAgain = JSON.parse(stdout)
    assert.equal(compileCheck(REPORT as object)({ at: '2026-11-22T10:00:00Z', attested: attestedAgain }), [])
    assert.is(attestedAgain.facts.hostKeys.length, 10)
    assert.is(attestedAgain.assertions[SETTING].length, 250)
  })
})
