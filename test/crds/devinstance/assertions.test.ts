/** What finalize demands, held against the real sshd with the drop-in of the bootstrap. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AGENTS } from '../../../crds/devinstance/bootstrap/agents.ts'
import {
  checkAgain,
  checkFinalize,
  type FoundSetting,
  type ReservedInstance,
} from '../../../crds/devinstance/bootstrap/assertions.ts'
import { attestScript, VISITORS } from '../../../crds/devinstance/bootstrap/attest.ts'
import { DEV_USER } from '../../../crds/devinstance/bootstrap/places.ts'
import { SSHD_SETTINGS, sshdDropIn } from '../../../crds/devinstance/bootstrap/sshd.ts'
import { ENABLED } from '../../../crds/devinstance/bootstrap/units.ts'
import { PRICING_VERSION } from '../../../crds/devinstance/sizing/prices.ts'
import { PROGRAMS_VERSION } from '../../../crds/devinstance/standing/launch.ts'
import { type Machine, madeMachine } from '../../support/builders/machine.ts'
import { askSshd, makeHostKey } from '../../support/judges/cloudinit.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const reserved: ReservedInstance = {
  sizeClass: 'S',
  arch: 'arm64',
  diskGb: 50,
  agents: ['claude-code', 'codex'],
  bootstrapSha256: 'a'.repeat(64),
  pricingVersion: PRICING_VERSION,
  programs: PROGRAMS_VERSION,
}
const facts: FoundSetting['facts'] = {
  instanceType: 't4g.large',
  arch: 'arm64',
  diskGb: 50,
  volumeType: 'gp3',
  volumeEncrypted: true,
  httpTokens: 'required',
  hopLimit: 1,
  creditMode: 'standard',
  shutdownBehavior: 'stop',
  userDataSha256: 'a'.repeat(64),
  cloudInitStatus: 0,
  hostKeys: [`SHA256:${'a'.repeat(43)}`],
  listeners: [22],
  units: [...ENABLED],
  openAccounts: [],
  agents: {
    'claude-code': `${AGENTS['claude-code'].version} (Claude Code)`,
    codex: `codex-cli ${AGENTS.codex.version}`,
  },
}
const assertions = Object.fromEntries(SSHD_SETTINGS.map(({ keyword, value }) => [keyword.toLowerCase(), value]))
const pointersOf = (found: Partial<FoundSetting>, instance: Partial<ReservedInstance> = {}) =>
  checkFinalize({ ...reserved, ...instance }, { facts, assertions, ...found }).map(({ pointer }) => pointer)

spec('finalize, by its facts', (t) => {
  t('a box that is as it was reserved has nothing against it', () => assert.equal(pointersOf({}), []))

  for (const [name, ...values] of [
    ['instanceType', 't4g.xlarge', 't3.large'],
    ['arch', 'x86_64'],
    ['diskGb', 49, 51],
    ['volumeType', 'gp2'],
    ['volumeEncrypted', false],
    ['httpTokens', 'optional'],
    ['hopLimit', 2, 0],
    ['creditMode', 'unlimited'],
    ['shutdownBehavior', 'terminate'],
    ['userDataSha256', 'b'.repeat(64)],
    ['cloudInitStatus', 1, 2],
    ['hostKeys', [], ['nonsense'], [`SHA256:${'a'.repeat(43)}`, 'SHA256:short']],
    ['units', [], ENABLED.slice(1)],
    ['openAccounts', ['dev']],
    ['listeners', [22, 80], [2222], []],
  ] as [keyof FoundSetting['facts'], ...unknown[]][]) {
    for (const value of [...values, undefined]) {
      t(`${name} ${JSON.stringify(value) ?? 'not told'} is refused by name`, () => {
        const pointers = pointersOf({ facts: { ...facts, [name]: value } })
        const alsoBurst =
          name === 'instanceType' ? pointers.filter((pointer) => pointer !== '/facts/creditMode') : pointers
        assert.equal(alsoBurst, [`/facts/${name}`])
      })
    }
  }
  t('a refusal says what was expected and what was got', () => {
    const [first] = checkFinalize(reserved, { facts: { ...facts, hopLimit: 2 }, assertions })
    assert.equal(first, {
      code: 'ASSERTION_FAILED',
      pointer: '/facts/hopLimit',
      detail: 'facts.hopLimit must be 1, and was 2',
      expected: '1',
      got: '2',
    })
    const { listeners: _, ...unsaid } = facts
    const [missing] = checkFinalize(reserved, { facts: unsaid, assertions })
    assert.is(missing?.detail, 'facts.listeners must be [22], and was nothing')
  })
  t('a type of equal shape will do when it costs no more', () => {
    const on = (instanceType: string) =>
      pointersOf({ facts: { ...facts, instanceType, diskGb: 80 } }, { sizeClass: 'M', diskGb: 80 })
    assert.equal(['m7g.xlarge', 't4g.xlarge', 'm8g.xlarge', 'm7i.xlarge'].map(on), [
      [],
      [],
      ['/facts/instanceType'],
      ['/facts/instanceType'],
    ])
  })
  t('a type that does not burst has no credit mode', () => {
    const { creditMode: _, ...others } = facts
    assert.equal(
      pointersOf({ facts: { ...others, instanceType: 'm7g.xlarge', diskGb: 80 } }, { sizeClass: 'M', diskGb: 80 }),
      [],
    )
  })
  t('each agent that was chosen is there at its version, and no other is asked for', () => {
    const versions = (agents: Record<string, string>) => pointersOf({ facts: { ...facts, agents } })
    const claude = AGENTS['claude-code'].version
    assert.equal(versions({ 'claude-code': claude, codex: '0.169.1' }), ['/facts/agents/codex'])
    assert.equal(versions({ 'claude-code': claude }), ['/facts/agents/codex'])
    assert.equal(versions({ 'claude-code': `${claude}-beta.1`, codex: AGENTS.codex.version }), [
      '/facts/agents/claude-code',
    ])
    assert.equal(pointersOf({ facts: { ...facts, agents: {} } }, { agents: [] }), [])
  })
  t('an assertion that is not told is refused', () => {
    assert.equal(
      pointersOf({ assertions: {} }),
      SSHD_SETTINGS.map(({ keyword }) => `/assertions/${keyword.toLowerCase()}`),
    )
  })
})

spec('what is attested again', (t) => {
  const before = { hostKeys: facts.hostKeys ?? [], agents: facts.agents ?? {} }
  const again = (change: Partial<FoundSetting['facts']> = {}, said = assertions) =>
    checkAgain(before, { facts: { ...facts, ...change }, assertions: said }).map(({ pointer }) => pointer)

  t('has nothing against it as long as it is the same, whatever people run that listens', () => {
    assert.equal(again({ listeners: [22, 3000, 8080] }), [])
    assert.equal(again({ agents: { ...before.agents, 'gemini-cli': '1.2.3' } }), [])
  })
  t('names each thing that is another, or is not told any more', () => {
    assert.equal(again({ hostKeys: [`SHA256:${'b'.repeat(43)}`] }), ['/facts/hostKeys'])
    assert.equal(again({ hostKeys: [...before.hostKeys, `SHA256:${'b'.repeat(43)}`] }), ['/facts/hostKeys'])
    assert.equal(again({ units: ENABLED.slice(1), openAccounts: ['dev'] }), ['/facts/units', '/facts/openAccounts'])
    assert.equal(again({ agents: { ...before.agents, codex: 'codex-cli 9.9.9' } }), ['/facts/agents/codex'])
    assert.equal(again({}, { ...assertions, passwordauthentication: 'no | yes' }), [
      '/assertions/passwordauthentication',
    ])
    const none = checkAgain(before, { facts: {}, assertions: {} }).length
    assert.is(none, 1 + 2 + Object.keys(before.agents).length + SSHD_SETTINGS.length)
  })
  t('is not asked of programs that came before it', () => {
    const { units: _, openAccounts: __, ...old } = facts
    assert.equal(pointersOf({ facts: old }, { programs: 2 }), [])
    const { programs: ___, ...unversioned } = reserved
    assert.equal(checkFinalize(unversioned, { facts: old, assertions }), [])
  })
})

/** A value that opens what the drop-in closes. sshd itself refuses keys switched off with no other method left. */
const OPENED: Record<string, string[]> = {
  PasswordAuthentication: ['yes'],
  KbdInteractiveAuthentication: ['yes'],
  PermitRootLogin: ['yes', 'prohibit-password'],
  PermitEmptyPasswords: ['yes'],
  PubkeyAuthentication: ['no\nAuthenticationMethods any'],
  AuthenticationMethods: ['any', 'publickey,publickey'],
  HostbasedAuthentication: ['yes'],
  GSSAPIAuthentication: ['yes'],
  PermitUserEnvironment: ['yes'],
  X11Forwarding: ['yes'],
  AllowAgentForwarding: ['yes'],
  AllowTcpForwarding: ['yes', 'no', 'remote'],
  MaxAuthTries: ['5', '100'],
  LoginGraceTime: ['31', '0', '2m'],
  AllowUsers: ['ubuntu', `${DEV_USER} ubuntu`],
}
/** Other values that keep it closed. */
const STRICTER: Record<string, string> = { MaxAuthTries: '3', LoginGraceTime: '20' }

spec('finalize, by what the real sshd says', (t) => {
  let folder = ''
  let count = 0
  t.before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-sshd-'))
    makeHostKey(folder)
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  /** A configuration as an image has it: ours is included first, then cloud-init's, then the distribution's own lines. */
  const settingsWith = (before = '', after = '', user = DEV_USER) => {
    count += 1
    const path = (name: string) => join(folder, `${count}-${name}.conf`)
    writeFileSync(path('00-before'), before)
    writeFileSync(path('01-bottega'), sshdDropIn())
    writeFileSync(path('50-cloud-init'), 'PasswordAuthentication yes\n')
    const includes = ['00-before', '01-bottega', '50-cloud-init'].map((name) => `Include ${path(name)}\n`).join('')
    const rest = `KbdInteractiveAuthentication yes\nUsePAM yes\nX11Forwarding yes\nPermitRootLogin yes\n${after}\n`
    writeFileSync(path('main'), `${includes}HostKey ${join(folder, 'host_key')}\n${rest}`)
    const { test, settings } = askSshd(path('main'), user)
    assert.is(test, '')
    return settings
  }
  const failedOf = (said: Record<string, string>) => pointersOf({ assertions: said })

  t('the drop-in makes every assertion true, whatever cloud-init and the image write after it', () => {
    assert.equal(failedOf(settingsWith()), [])
  })
  t('also for root and for an account that is not known', () => {
    for (const user of ['root', 'nobody-there']) assert.equal(failedOf(settingsWith('', '', user)), [])
  })
  t('every setting has a test that opens it', () => {
    assert.equal(Object.keys(OPENED).sort(), SSHD_SETTINGS.map(({ keyword }) => keyword).sort())
  })
  for (const [keyword, values] of Object.entries(OPENED)) {
    for (const value of values) {
      t(`${keyword} ${value.replace('\n', ' with ')} is seen`, () => {
        const lines = `${keyword} ${value}`.split('\n')
        const opened = lines.map((line) => `/assertions/${line.split(' ')[0]?.toLowerCase()}`)
        assert.equal(failedOf(settingsWith(`${lines.join('\n')}\n`)), opened)
      })
    }
  }
  for (const [keyword, value] of Object.entries(STRICTER)) {
    t(`${keyword} ${value} is as good`, () => assert.equal(failedOf(settingsWith(`${keyword} ${value}\n`)), []))
  }
  t('a Match block that lets the user in by password again is seen', () => {
    const match = `Match User ${DEV_USER}\n  PasswordAuthentication yes\n  AllowTcpForwarding yes\n`
    assert.equal(failedOf(settingsWith('', match)), [
      '/assertions/passwordauthentication',
      '/assertions/allowtcpforwarding',
    ])
  })
})

spec('what a dev instance says of itself for finalize', (t) => {
  let folder = ''
  let machine: Machine
  t.before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-attest-'))
    machine = madeMachine(folder)
    machine.put('/etc/ssh/sshd_config', '')
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', machine.at('/etc/ssh/ssh_host_ed25519_key')])
    machine.put(
      '/opt/bottega/agents/codex/package.json',
      `{ "version": "x" }\n`.replace('{ ', '{\n').replace('x', AGENTS.codex.version),
    )
    machine.answers(
      'ss',
      'LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\nLISTEN 0 128 [::]:22 [::]:*\nLISTEN 0 9 127.0.0.53%lo:53 0.0.0.0:*\nLISTEN 0 9 [::1]:631 [::]:*\n',
    )
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  /** With a drop-in of somebody's, before or after ours. */
  const attested = async (hostile = '', before = false, around = ''): Promise<FoundSetting> => {
    const [first, second] = before ? [hostile, sshdDropIn()] : [sshdDropIn(), hostile]
    machine.put('/etc/ssh/01.conf', first)
    machine.put('/etc/ssh/02.conf', second)
    const includes = ['01', '02'].map((name) => `Include ${machine.at(`/etc/ssh/${name}.conf`)}\n`).join('')
    machine.put(
      '/etc/ssh/sshd_config',
      `${includes}HostKey ${machine.at('/etc/ssh/ssh_host_ed25519_key')}\nUsePAM yes\n`,
    )
    const { code, stdout, stderr } = await machine.run(
      around + attestScript([{ id: 'codex', folder: 'agents/codex' }]),
      {
        env: { PREFIX: machine.at('/opt/bottega') },
      },
    )
    assert.is(code, 0, stderr)
    return JSON.parse(stdout)
  }

  t('is what finalize asks for, of all that only the machine knows', async () => {
    const { facts: own, assertions: said } = await attested()
    assert.equal(pointersOf({ assertions: said }), [])
    assert.equal(own.listeners, [22])
    assert.equal(own.agents, { codex: AGENTS.codex.version })
    assert.match(own.hostKeys?.join() ?? '', /^SHA256:[A-Za-z0-9+/]{43}$/)
    assert.type(own.cloudInitStatus, 'number')
    assert.equal([own.units, own.openAccounts], [ENABLED, []])
  })
  t('names the units that are enabled, and each account that a password opens', async () => {
    const shadow = machine.read('/etc/shadow') ?? ''
    machine.put(
      '/etc/shadow',
      `${shadow}eve:$y$j9T$abc:1::::::\nfree::1::::::\nstopped:!$y$j9T$abc:1::::::\nq"\\:x:1::::::\n`,
    )
    const off = 'systemctl() { case "$*" in *bottega-idle.timer) return 1 ;; esac }\n'
    const { facts: own } = await attested('', false, off)
    machine.put('/etc/shadow', shadow)
    assert.equal(own.openAccounts, ['eve', 'free', 'q??'])
    assert.equal(
      own.units,
      ENABLED.filter((unit) => unit !== 'bottega-idle.timer'),
    )
  })
  for (const user of [...VISITORS, '*,!dev']) {
    t(`shows a block that lets ${user} in by password, wherever it stands`, async () => {
      for (const before of [true, false]) {
        const { assertions: said } = await attested(
          `Match User ${user}\n  PasswordAuthentication yes\n  PermitRootLogin yes\n`,
          before,
        )
        assert.equal(pointersOf({ assertions: said }), [
          '/assertions/passwordauthentication',
          '/assertions/permitrootlogin',
        ])
        assert.match(said.passwordauthentication ?? '', /^(yes \| no|no \| yes)$/)
      }
    })
  }
})
