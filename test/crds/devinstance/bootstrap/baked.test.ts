/** A machine that is made an image: what is on it for others, and what of its own is not. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bakeScript } from '../../../../crds/devinstance/bootstrap/provision.ts'
import { type Machine, madeMachine } from '../../../support/builders/machine.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const BAKE = bakeScript()
const OWN = [
  '/etc/bottega/token',
  '/etc/bottega/url',
  '/etc/ssh/ssh_host_ed25519_key',
  '/etc/ssh/ssh_host_ed25519_key.pub',
  '/home/dev/.ssh/authorized_keys',
  '/home/dev/.bash_history',
  '/home/dev/.git-credentials',
  '/home/dev/.claude.json',
  '/home/dev/.codex/auth.json',
  '/home/dev/.config/gh/hosts.yml',
  '/home/dev/repo/.git/HEAD',
  '/var/lib/bottega/policy',
]

spec('an image that was baked', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'bottega-baked-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  let count = 0
  const installed = (program = 'one'): Machine => {
    count += 1
    const machine = madeMachine(join(folder, String(count)))
    for (const path of OWN) machine.put(path, 'of this machine\n')
    machine.put('/opt/bottega/installed', 'aa node\nbb agents/codex\n')
    machine.put('/opt/bottega/node/bin/node', program)
    machine.put('/opt/bottega/agents/codex/package.json', '{}')
    machine.put('/opt/bottega/bin/report', `of the launch ${count}`)
    return machine
  }
  const baked = async (machine: Machine): Promise<string> => {
    const { code, stderr } = await machine.run(BAKE)
    assert.equal([code, stderr], [0, ''])
    return (machine.read('/etc/bottega/baked') ?? '').trim()
  }

  t('has what was installed, nothing of the machine that it was, and turns off', async () => {
    const machine = installed()
    await baked(machine)
    assert.equal(
      OWN.filter((path) => machine.read(path) !== null),
      [],
    )
    assert.is(machine.read('/opt/bottega/node/bin/node'), 'one')
    assert.is(machine.read('/opt/bottega/installed'), 'aa node\nbb agents/codex\n')
    assert.equal([machine.calls('cloud-init'), machine.read('/etc/machine-id')], [['clean --logs'], ''])
    assert.equal(machine.calls('systemctl'), ['--no-block poweroff'])
  })
  t('is told by a digest over all of that: the same of the same, another of another', async () => {
    const digest = await baked(installed())
    assert.match(digest, /^[0-9a-f]{64}$/)
    assert.is(await baked(installed()), digest)
    assert.is.not(await baked(installed('two')), digest)
  })
  t('is not made of a machine with work on it', async () => {
    const machine = installed()
    machine.put('/home/dev/repo/main.ts', 'work')
    const { code, stderr } = await machine.run(BAKE)
    assert.is(code, 1)
    assert.match(stderr, /there is work in .*[/]home[/]dev, which would be on every machine of the image/)
    assert.ok(OWN.every((path) => machine.read(path) !== null))
    assert.equal(machine.calls('systemctl'), [])
  })
  t('is not made of one that something was pushed to either, be it nowhere in its files', async () => {
    const machine = installed()
    machine.put('/home/dev/repo/.git/refs/heads/side/track', 'a commit')
    assert.is((await machine.run(BAKE)).code, 1)
  })
  t('has a home as a new user has', async () => {
    const machine = installed()
    machine.put('/etc/skel/.profile', 'umask 022')
    await baked(machine)
    assert.equal(readdirSync(machine.at('/home/dev')), ['.profile'])
  })
})
