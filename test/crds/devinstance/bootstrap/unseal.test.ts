/** How the environment comes to a dev instance, under sh and Node: asked for with a report, and opened by nobody but this machine. */
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sealTo } from '../../../../api/devinstance/machine/environment.ts'
import { envScript, profileScript } from '../../../../crds/devinstance/bootstrap/handed.ts'
import { launchScript } from '../../../../crds/devinstance/bootstrap/provision.ts'
import { heldOf, type Report } from '../../../../crds/devinstance/bootstrap/report.ts'
import { reporterScript } from '../../../../crds/devinstance/bootstrap/reporter.ts'
import { sealedFor, unsealScript } from '../../../../crds/devinstance/bootstrap/unseal.ts'
import { type Machine, madeMachine, startService } from '../../../support/builders/machine.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const T0 = 1_795_000_000
const ENV = { GIT_TOKEN: `it's "$(id)" \\n\n\`x\``, EMPTY: '', V: 'ü€😀' }
const VERSION = '0123456789abcdef'

spec('the environment that is brought', (t) => {
  let folder: string
  let service: Awaited<ReturnType<typeof startService>>
  let machine: Machine
  let count = 0
  t.before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-unseal-'))
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
    machine.put('/opt/bottega/bin/unseal', unsealScript())
    service.status = 200
    service.told.length = 0
    service.more = brought(ENV)
  })
  /** A service that seals to whatever key it is sent, until it is told that it was held. */
  const brought =
    (env: Record<string, string>, version = VERSION, belongs = sealedFor('dev-october', version)) =>
    (body: unknown): Record<string, unknown> => {
      const { sealTo: to } = body as Report
      if (heldOf(body as Record<string, unknown>).envVersion === version)
        return { environment: { version, state: 'held' } }
      if (to === undefined) return {}
      const sealed = sealTo(to, belongs, Buffer.from(JSON.stringify(env)))
      return { environment: { version, state: 'sealed', sealed } }
    }
  const programs = () => ({ PREFIX: machine.at('/opt/bottega'), NODE: process.execPath })
  const report = async (minute: number) => {
    const ran = await machine.run(reporterScript([]), { now: T0 + minute * 60, env: programs() })
    assert.is(ran.code, 0, ran.stderr)
    return ran
  }
  const lastTold = (): Report => service.told.at(-1)?.body as unknown as Report
  /** What a login, or an agent, has of it. */
  const seen = async (name: string, script = profileScript()): Promise<string> =>
    (await machine.run(`${script}\nprintf %s "$${name}"`)).stdout

  t('is there in a login and for agents as it was given, in memory, and nobody else may read it', async () => {
    await report(0)
    assert.match(lastTold().sealTo ?? '', /^[A-Za-z0-9_-]{43}$/)
    assert.equal([await seen('GIT_TOKEN'), await seen('EMPTY'), await seen('V')], [ENV.GIT_TOKEN, '', ENV.V])
    const launched = launchScript()
      .split('\n')
      .filter((line) => !/^(exec|name=|shift)/.test(line))
      .join('\n')
    assert.is(await seen('GIT_TOKEN', launched), ENV.GIT_TOKEN)
    for (const name of ['env', 'seal.key'])
      assert.is(statSync(machine.at(`/run/bottega/${name}`)).mode & 0o777, 0o600, name)
  })
  t('is told by its version with the next report, whose key is the same until the machine starts anew', async () => {
    await report(0)
    const { sealTo: first } = lastTold()
    await report(1)
    assert.equal([heldOf(lastTold() as never).envVersion, lastTold().sealTo], [VERSION, first])
    rmSync(machine.at('/run/bottega'), { recursive: true })
    await report(2)
    assert.is(heldOf(lastTold() as never).envVersion, undefined)
    assert.is.not(lastTold().sealTo, first)
  })
  t('is replaced as a whole when there is another one', async () => {
    await report(0)
    service.more = brought({ V: 'new' }, 'fedcba9876543210')
    await report(1)
    assert.equal([await seen('GIT_TOKEN'), await seen('V')], ['', 'new'])
    await report(2)
    assert.is(heldOf(lastTold() as never).envVersion, 'fedcba9876543210')
  })
  t('stands in no report that waits: what was asked then would go to a key that may be gone', async () => {
    service.status = 503
    await report(0)
    const [name] = machine.reports()
    assert.not.match(machine.read(`/var/lib/bottega/reports/${name}`) ?? '', /sealTo|holds/)
    service.status = 200
    service.told.length = 0
    await report(1)
    assert.equal(
      service.told.map(({ body }) => (body as unknown as Report).sealTo !== undefined),
      [false, true],
    )
  })
  for (const [what, more] of [
    ['another machine', brought(ENV, VERSION, sealedFor('dev-november', VERSION))],
    ['another environment', brought(ENV, VERSION, sealedFor('dev-october', '0000000000000000'))],
    ['a name that is none', brought({ 'A;reboot': '1' })],
  ] as const) {
    t(`is left as it was by what was sealed for ${what}`, async () => {
      service.more = brought({ V: 'before' }, '1111111111111111')
      await report(0)
      service.more = more
      const { stderr } = await report(1)
      assert.match(stderr, 'does not open')
      assert.is(await seen('V'), 'before')
    })
  }
  t('says to whoever logs in that it was brought before, and what to do', async () => {
    service.more = () => ({ environment: { version: VERSION, state: 'fetched' } })
    await report(0)
    assert.ok(existsSync(machine.at('/run/bottega/env.fetched')))
    assert.match((await machine.run(profileScript())).stderr, 'bottega devbox env send')
    service.more = brought(ENV)
    await report(1)
    assert.is((await machine.run(profileScript())).stderr, '')
  })
  t('is replaced by what its owner hands over later', async () => {
    await report(0)
    const { code, stderr } = await machine.run(envScript(), { input: JSON.stringify({ env: { V: 'by hand' } }) })
    assert.equal([code, stderr], [0, ''])
    assert.equal([await seen('V'), await seen('GIT_TOKEN')], ['by hand', ''])
  })
  t('is not asked for where Node is missing, and the report goes all the same', async () => {
    await machine.run(reporterScript([]), { now: T0, env: { PREFIX: machine.at('/opt/bottega') } })
    assert.equal([service.told.length, lastTold().sealTo], [1, undefined])
  })
  t('leaves nothing of it in what is printed', async () => {
    const printed = [await report(0), await report(1)].map(({ stdout, stderr }) => stdout + stderr).join('')
    writeFileSync(machine.at('/etc/bottega/url'), 'http://127.0.0.1:1\n')
    assert.is(printed + (await report(2)).stdout, '')
  })
})
