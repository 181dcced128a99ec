/** What is handed to a dev instance, under sh: its report token, and the environment of its owner. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ENV_FILE, envScript, profileScript, tokenScript } from '../../../../crds/devinstance/bootstrap/handed.ts'
import { type Machine, madeMachine } from '../../../support/builders/machine.ts'
import { assert, type Suite, spec } from '../../../support/runner/spec.ts'

const TOKEN = 'dbr_dev-october_secret_with_checksum'

const onMachine = (t: Suite) => {
  const on = {} as { folder: string; machine: Machine }
  let count = 0
  t.before(() => {
    on.folder = mkdtempSync(join(tmpdir(), 'bottega-handed-'))
  })
  t.after(() => rmSync(on.folder, { recursive: true, force: true }))
  t.before.each(() => {
    count += 1
    on.machine = madeMachine(join(on.folder, String(count)))
  })
  return on
}

spec('the report token that is handed over', (t) => {
  const on = onMachine(t)
  const take = (url: string, input = `${TOKEN}\n`) => on.machine.run(tokenScript(), { args: [url], input })
  const modeOf = (path: string) => statSync(on.machine.at(path)).mode & 0o777

  t('is kept for root alone, beside the address, and taken up at once', async () => {
    const { code, stderr } = await take('https://bottega.example/')
    assert.equal([code, stderr], [0, ''])
    assert.is(on.machine.read('/etc/bottega/token'), `${TOKEN}\n`)
    assert.is(on.machine.read('/etc/bottega/url'), 'https://bottega.example\n')
    assert.equal([modeOf('/etc/bottega/token'), modeOf('/etc/bottega/url')], [0o600, 0o644])
    assert.equal(on.machine.calls('systemctl'), [
      'start bottega-stopping.service',
      'start --no-block bottega-attest.service bottega-report.service',
    ])
  })
  t('takes the place of the one before', async () => {
    await take('https://bottega.example')
    await take('https://bottega.example', 'dbr_dev-october_another\n')
    assert.is(on.machine.read('/etc/bottega/token'), 'dbr_dev-october_another\n')
  })
  for (const [what, url, input] of [
    ['another token', 'https://bottega.example', 'btg_1_secret\n'],
    ['none', 'https://bottega.example', '\n'],
    ['an address without TLS', 'http://bottega.example', `${TOKEN}\n`],
    ['no address', '', `${TOKEN}\n`],
  ] as const) {
    t(`is refused where it is ${what}, and the one before stays`, async () => {
      on.machine.put('/etc/bottega/token', 'dbr_dev-october_before\n')
      assert.is((await take(url, input)).code, 2)
      assert.is(on.machine.read('/etc/bottega/token'), 'dbr_dev-october_before\n')
      assert.equal(on.machine.calls('systemctl'), [])
    })
  }
})

spec('the environment that its owner hands over', (t) => {
  const on = onMachine(t)
  const take = async (body: unknown) => {
    on.machine.put('/run/user/1000/.keep', '')
    const env = { XDG_RUNTIME_DIR: on.machine.at('/run/user/1000') }
    return on.machine.run(envScript(), { input: typeof body === 'string' ? body : JSON.stringify(body), env })
  }
  /** What a login has of it. */
  const seen = (name: string): string =>
    spawnSync('sh', ['-c', `${profileScript()}printf %s "$${name}"`], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, XDG_RUNTIME_DIR: on.machine.at('/run/user/1000') },
    }).stdout

  t('is there in a login as it was given, and nobody else may read it', async () => {
    const env = { GIT_TOKEN: `it's "$(id)" \\n\n\`x\``, EMPTY: '', ÜNICODE_NOT: undefined, V: 'ü€😀' }
    const { code, stderr } = await take({ env })
    assert.equal([code, stderr], [0, ''])
    assert.equal([seen('GIT_TOKEN'), seen('EMPTY'), seen('V')], [env.GIT_TOKEN, '', env.V])
    assert.is(statSync(on.machine.at(`/run/user/1000/${ENV_FILE}`)).mode & 0o777, 0o600)
  })
  t('is replaced as a whole', async () => {
    await take({ env: { A: '1', B: '2' } })
    await take({ env: { B: '3' } })
    assert.equal([seen('A'), seen('B')], ['', '3'])
  })
  for (const bad of ['{"env":{"A;reboot":"1"}}', '{"env":{"A":1}}', '{"A":"1"}', 'A=1', '']) {
    t(`is left as it was by ${JSON.stringify(bad)}`, async () => {
      await take({ env: { A: 'before' } })
      assert.is.not((await take(bad)).code, 0)
      assert.is(seen('A'), 'before')
    })
  }
  t('is nothing where nothing was handed over', () => assert.is(seen('A'), ''))
})
