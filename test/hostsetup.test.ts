import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { OLDEST } from '../crds/host/inspect.ts'
import { readHostSetup } from '../hack/hostsetup/arguments.ts'
import { hostSetupScript, PARTS } from '../hack/hostsetup/script.ts'
import { CommandRefusal } from '../hack/lib/refusal.ts'
import { ensureShellcheck, shellFaultsOf } from './support/judges/shellcheck.ts'
import { assert, spec } from './support/runner/spec.ts'
import { scratchFolder } from './support/stage/stage.ts'

/** What hack/host-setup reads and sends; on a machine: test/hosts/host/setup.test.ts. */

const PUBLIC = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJGBKPLVDkvmhYVTzxG8FyAQA7PvB1VyjeSGkW9dyz2v'

/** The functions of the script without what begins. */
const functions = (): string => hostSetupScript().replace(/\nmain "\$@" <\/dev\/null\n$/, '\n')

const inShell = (text: string, args: readonly string[] = []) => {
  const { status, stdout, stderr } = spawnSync('sh', ['-s', '--', ...args], {
    input: `${functions()}\n${text}`,
    encoding: 'utf8',
  })
  return { code: status, stdout, stderr }
}

const refusalOf = (args: readonly string[], read: (path: string) => string = () => PUBLIC): CommandRefusal => {
  try {
    readHostSetup(args, read)
  } catch (error) {
    if (error instanceof CommandRefusal) return error
    throw error
  }
  throw new Error(`${args.join(' ')} was taken`)
}

/** The words that the machine's shell makes of a command. */
const wordsOf = (command: string): string[] => {
  const text = `show() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command.replace(/^sh -s --/, 'show')}`
  return spawnSync('sh', ['-c', text], { encoding: 'utf8' }).stdout.split('\0').slice(0, -1)
}

spec('hack/host-setup', (t) => {
  t('sends the script over ssh, with each value as one word', () => {
    const asked = readHostSetup(
      ['root@green.example.net', '--key', 'x.pub', '--class', "it's; reboot", '--dry-run', '--ssh-port', '2222'],
      (path) => `${PUBLIC} of ${path}\n`,
    )
    assert.ok(asked.do === 'send')
    const [command = ''] = asked.ssh.slice(-1)
    assert.equal(asked.ssh.slice(0, -1), ['-p', '2222', '--', 'root@green.example.net'])
    assert.equal(wordsOf(command), [
      ...['--key', `${PUBLIC} of x.pub`, '--address', 'green.example.net', '--port', '2222'],
      ...['--class', "it's; reboot", '--dry-run'],
    ])
  })

  t('prints the script where that is asked for', () => {
    assert.equal(
      readHostSetup(['--print'], () => ''),
      { do: 'print' },
    )
  })

  const typedWrong: [string, string[], RegExp, string?][] = [
    ['no machine', [], /One machine is needed/],
    ['two machines', ['a', 'b'], /One machine is needed/],
    ['a machine to print for', ['--print', 'a'], /One machine is needed/],
    ['an option of ssh for a machine', ['--', '-oProxyCommand=reboot'], /is no machine/],
    ['an unknown option', ['a', '--force'], /--force/],
    ['a port that is none', ['a', '--ssh-port', '22x'], /is no number/],
    ['a private key', ['a', '--key', 'x'], /is a private key/, '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n'],
    ['no key', ['a', '--key', 'x'], /no line of a public key/, 'hello\n'],
    ['two keys', ['a', '--key', 'x'], /no line of a public key/, `${PUBLIC}\n${PUBLIC}\n`],
  ]
  for (const [what, args, sentence, text = PUBLIC] of typedWrong) {
    t(`refuses ${what}`, () => {
      const { message, exitCode } = refusalOf(args, () => text)
      assert.match(message, sentence)
      assert.is(exitCode, 2)
    })
  }
})

spec('the script of host-setup', (t) => {
  let folder = ''
  t.before(
    () => {
      ensureShellcheck()
      folder = scratchFolder('hostsetup')
    },
    { timeoutMs: 300_000 },
  )
  t.after(() => rmSync(folder, { recursive: true, force: true }))

  t('has no fault that shellcheck finds, and says of each part what it is', () => {
    assert.equal(shellFaultsOf(hostSetupScript(), []), [])
    for (const part of PARTS) {
      const text = readFileSync(join(import.meta.dirname, '..', 'hack', 'hostsetup', `${part}.sh`), 'utf8')
      assert.match(text, /^(#!\/bin\/sh\n)?# /, part)
      assert.ok(text.split('\n').length <= 300, `${part} does not fit in a view`)
    }
  })

  t('runs nothing of a line that was cut', () => {
    const whole = hostSetupScript()
    assert.ok(whole.endsWith('\nmain "$@" </dev/null\n'))
    const { status, stdout } = spawnSync('sh', ['-s'], { input: whole.slice(0, -25), encoding: 'utf8' })
    assert.equal([status, stdout], [0, ''])
  })

  t('asks for what inspection asks for', () => {
    const { stdout } = inShell('echo "$docker_oldest $compose_oldest $caddy_oldest"')
    assert.is(stdout, `${OLDEST.docker} ${OLDEST.compose} ${OLDEST.caddy}\n`)
  })

  const typedWrong: [string, string[]][] = [
    ['an unknown option', ['--force', 'x']],
    ['an option without its value', ['--key']],
    ['a class that is none', ['--class', 'public']],
    ['a login that is no name', ['--login', 'Ann Other']],
    ['two lines of keys', ['--key', `${PUBLIC}\n${PUBLIC}`]],
    ['a key with options before it', ['--key', `command="reboot" ${PUBLIC}`]],
    ['a name that would break what is printed', ['--name', 'x", "class": "platform']],
    ['a repository without a fingerprint', ['--caddy-from', 'http://a http://b']],
  ]
  for (const [what, args] of typedWrong) {
    t(`refuses ${what}, before it looks at anything`, () => {
      const { code, stdout, stderr } = inShell('arguments "$@"; echo taken', args)
      assert.equal([code, stdout], [2, ''], stderr)
      assert.match(stderr, /^✗ [\s\S]*\nUsage: /)
    })
  }

  /** The members of an object as the script reads them. */
  const membersOf = (text: string): Record<string, unknown> | null => {
    const file = join(folder, 'members.json')
    writeFileSync(file, text)
    const { code, stdout } = inShell('members "$1"', [file])
    if (code !== 0) return null
    const lines = stdout.split('\n').filter((line) => line !== '')
    return Object.fromEntries(
      lines.map((line) => [line.split('\t')[0], JSON.parse(line.slice(line.indexOf('\t') + 1))]),
    )
  }

  const objects = [
    '{}',
    ' {\n} \n',
    '{"a": 1, "b": [1, {"c": "}"}], "d": {"e": [], "f": "a:b,c"}}',
    '{\r\n\t"dns": ["192.0.2.53"],\r\n\t"x": "a \\"quoted\\" } { , : \\\\"\r\n}',
    '{"log-opts": {"max-size": "10m", "labels": "a,b"}, "debug": false, "n": null, "mtu": -1.5e3}',
  ]
  for (const text of objects) {
    t(`reads ${JSON.stringify(text)} as it is`, () => assert.equal(membersOf(text), JSON.parse(text)))
  }
  for (const text of [
    '',
    '[]',
    '"a"',
    '{',
    '{"a": 1',
    '{"a": "}',
    '{"a": 1} {"b": 2}',
    '{"a"}',
    '{"a": 1,,"b": 2}',
    '{"a":}',
  ]) {
    t(`takes ${JSON.stringify(text)} for no object`, () => assert.is(membersOf(text), null))
  }

  /** What becomes of a configuration of Docker: the lines that are said, and the file. */
  const configured = (text: string | null) => {
    const file = join(folder, 'daemon.json')
    for (const path of [file, `${file}.before-bottega`]) rmSync(path, { force: true })
    if (text !== null) writeFileSync(file, text)
    const steps = 'look_at_docker; if [ "$faults" -eq 0 ]; then put_daemon_file; fi'
    const begin = "daemon=$1 scratch=$2 faults=0 changes=0 dry=''; docker() { return 1; }; find() { :; }"
    const { stdout, stderr } = inShell(`${begin}; ${steps}`, [file, folder])
    assert.is(stderr, '')
    return { stdout, file: existsSync(file) ? readFileSync(file, 'utf8') : null }
  }
  const OURS = {
    'userns-remap': 'default',
    'live-restore': true,
    icc: false,
    'log-driver': 'json-file',
    'log-opts': { 'max-size': '10m', 'max-file': '3' },
    'default-address-pools': [{ base: '172.16.0.0/12', size: 24 }],
  }

  t('configures Docker where nobody did', () => {
    const { stdout, file } = configured(null)
    assert.match(stdout, /^✓ \S+daemon.json: got userns-remap, live-restore, /)
    assert.equal(JSON.parse(file ?? ''), OURS)
  })

  t('keeps what stands in the configuration of Docker, also where that does the same in another way', () => {
    const theirs = {
      dns: ['192.0.2.53'],
      'registry-mirrors': ['https://mirror.example/{"}'],
      'userns-remap': 'apps',
      'log-driver': 'local',
      'log-opts': { 'max-size': '1g' },
      'default-address-pools': [{ base: '10.9.0.0/16', size: 26 }],
    }
    const text = JSON.stringify(theirs, null, '\t')
    const { stdout, file } = configured(text)
    assert.equal(JSON.parse(file ?? ''), { 'live-restore': true, icc: false, ...theirs })
    assert.match(stdout, /kept: dns, registry-mirrors, userns-remap, log-driver, log-opts, default-address-pools\n$/)
    assert.is(readFileSync(join(folder, 'daemon.json.before-bottega'), 'utf8'), text)
    assert.ok(file?.trimEnd().endsWith(text.slice(2)), 'what they wrote stands as they wrote it')
  })

  t('finds nothing to do in a configuration of its own', () => {
    const { file } = configured(null)
    const again = configured(file)
    assert.match(again.stdout, /^✓ \S+daemon.json: nothing to do\n$/)
    assert.is(again.file, file)
  })

  const conflicts: [string, unknown][] = [
    ['userns-remap', ''],
    ['live-restore', false],
    ['icc', true],
    ['log-driver', 'none'],
    ['log-opts', { labels: 'a' }],
    ['iptables', false],
  ]
  for (const [key, value] of conflicts) {
    t(`refuses a configuration of Docker whose ${key} is ${JSON.stringify(value)}, and leaves it`, () => {
      const text = JSON.stringify({ dns: [], [key]: value })
      const { stdout, file } = configured(text)
      assert.match(
        stdout,
        new RegExp(`^✗ DOCKER_CONFLICT: \\S+daemon.json says "${key}": .*: change or remove that line`),
      )
      assert.is(file, text)
    })
  }

  const KEEPS = 'whoever has a WebSocket or a stream open at an app keeps it'
  const ENDS = 'kernel: ends connections, so that what is open at an app ends'
  const LACKS = `kernel: ends no connections (built without CONFIG_INET_DIAG_DESTROY): ${KEEPS}`
  const kernels: [string, string | null, string | null, string][] = [
    ['can', 'CONFIG_INET=y\nCONFIG_INET_DIAG_DESTROY=y\n', null, ENDS],
    ['cannot', 'CONFIG_INET=y\n# CONFIG_INET_DIAG_DESTROY is not set\n', null, LACKS],
    ['has no word of it', 'CONFIG_INET=y\n# CONFIG_INET_DIAG is not set\n', null, LACKS],
    ['can, as stands beside it', null, 'CONFIG_INET=y\nCONFIG_INET_DIAG_DESTROY=y\n', ENDS],
    ['cannot, whatever another says', 'CONFIG_INET=y\n', 'CONFIG_INET_DIAG_DESTROY=y\n', LACKS],
    ['is not told', null, null, 'kernel: unknown whether it ends connections'],
    ['is not told, by a file that is none', 'what', null, 'kernel: unknown whether it ends connections'],
  ]
  for (const [what, packed, plain, line] of kernels) {
    t(`says of a kernel that ${what} what becomes of what is open`, () => {
      const files = [join(folder, 'config.gz'), join(folder, 'config')] as const
      for (const path of files) rmSync(path, { force: true })
      if (packed !== null) writeFileSync(files[0], packed === 'what' ? packed : gzipSync(packed))
      if (plain !== null) writeFileSync(files[1], plain)
      const { code, stdout, stderr } = inShell('say_kernel "$@"', files)
      assert.equal([code, stderr], [0, ''])
      assert.ok(stdout.startsWith(`· ${line}`), stdout)
      assert.equal([stdout.split('\n').length, stdout.includes(KEEPS)], [2, line !== ENDS])
    })
  }

  t('says so of the kernel that runs, once, in a dry run too', () => {
    const others = [...hostSetupScript().matchAll(/^ {2}((?:look_at|put|start|look_as|say)_\w+)$/gm)].map(
      ([, name]) => name,
    )
    assert.ok(others.includes('put_kernel') && !others.includes('say_kernel'), others.join())
    const silent = others.map((name) => `${name}() { :; }`).join('\n')
    const { code, stdout } = inShell(`${silent}\nmain "$@"`, ['--dry-run'])
    assert.is(code, 0)
    assert.match(stdout, /^· kernel: .+\n$/)
  })

  t('names all that is in the way at once', () => {
    const { stdout } = configured('{"live-restore": false, "icc": true}')
    assert.equal(
      [...stdout.matchAll(/DOCKER_CONFLICT: \S+ says "([a-z-]+)"/g)].map(([, key]) => key),
      ['live-restore', 'icc'],
    )
  })
})
