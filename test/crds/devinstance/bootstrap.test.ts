/** The bootstrap of a dev instance, before the real cloud-init, sh, tar and git. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'yaml'
import {
  AGENT_IDS,
  AGENTS,
  type AgentId,
  agentsAnswer,
  NODE_ARCHIVES,
} from '../../../crds/devinstance/bootstrap/agents.ts'
import {
  type Bootstrap,
  type BootstrapInput,
  bootstrapOf,
  served,
} from '../../../crds/devinstance/bootstrap/bootstrap.ts'
import { installScript, remoteScript } from '../../../crds/devinstance/bootstrap/provision.ts'
import { SSHD_DROP_IN, sshdDropIn } from '../../../crds/devinstance/bootstrap/sshd.ts'
import { ENABLED, UNITS } from '../../../crds/devinstance/bootstrap/units.ts'
import { REPO } from '../../../crds/devinstance/schema.ts'
import { ARCHES } from '../../../crds/devinstance/sizing/sizes.ts'
import { checkUserData, knownUserDataKeys } from '../../support/judges/cloudinit.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const KIB = 1024
const subsets = [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => AGENT_IDS.filter((_, index) => bits & (1 << index)))
const cases: BootstrapInput[] = ARCHES.flatMap((arch) =>
  subsets.map((agents, index) => ({
    name: `Box_${index}.${arch}`,
    arch,
    agents,
    repo: index % 2 === 0 ? undefined : { url: 'ssh://git@git.example.com:2222/acme/shop.git', ref: 'release/2' },
  })),
)
const nameOf = ({ arch, agents }: BootstrapInput) => `${agents.join(', ') || 'no agent'} on ${arch}`

type Good = Extract<Bootstrap, { ok: true }>
const good = (bootstrap: Bootstrap): Good => {
  assert.ok(bootstrap.ok)
  return bootstrap as Good
}
/** The user data as cloud-init unpacks it. */
const textOf = (input: BootstrapInput): string => {
  const { bytes, contentType } = good(bootstrapOf(input))
  return (contentType === 'application/gzip' ? gunzipSync(bytes) : bytes).toString('utf8')
}

type UserData = {
  hostname: string
  write_files: { path: string; owner: string; permissions: string; content: string }[]
  runcmd: string[][]
}
const parsed = (input: BootstrapInput): UserData => parse(textOf(input))
const contentOf = (data: UserData, path: string): string => {
  const file = data.write_files.find((each) => each.path === path)
  assert.ok(file, `${path} is written`)
  return file?.content ?? ''
}

let folder = ''
const inFolder = (t: Parameters<Parameters<typeof spec>[1]>[0]): void => {
  t.before(() => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-bootstrap-'))
  })
  t.after(() => rmSync(folder, { recursive: true, force: true }))
}
const fresh = (name: string): string => {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

spec('the bootstrap as cloud-init sees it', (t) => {
  inFolder(t)
  const check = (text: string, name: string) => {
    const path = join(folder, `${name}.yaml`)
    writeFileSync(path, text)
    return checkUserData(path)
  }
  for (const [index, input] of cases.entries()) {
    t(`is good user data for ${nameOf(input)}`, async () => {
      const { ok, output } = await check(textOf(input), String(index))
      assert.ok(ok, output)
      assert.not.match(output, /deprecat/i)
    })
  }
  t('would be refused with a wrong type', async () => {
    const { ok, output } = await check(
      textOf(cases[0] as BootstrapInput).replace(/^packages: .*$/m, 'packages: 7'),
      'bad',
    )
    assert.not(ok)
    assert.match(output, 'packages')
  })
  t('has only top-level keys that cloud-init knows, and a misspelt one would be seen', () => {
    const known = knownUserDataKeys()
    assert.ok(known.size > 80)
    const unknown = (text: string) => Object.keys(parse(text)).filter((key) => !known.has(key))
    for (const input of cases) assert.equal(unknown(textOf(input)), [])
    assert.equal(unknown(textOf(cases[0] as BootstrapInput).replace('\npackages:', '\npackges:')), ['packges'])
  })
})

/** What tokens, keys and passwords look like. */
const SECRETS = [
  /\b(btg|dbr|whsec|ghp|gho|github_pat|glpat|xox[bp])_?[A-Za-z0-9]/,
  /\bsk-[A-Za-z0-9]/,
  /\bA(K|S)IA[A-Z0-9]{12}/,
  /\beyJ[A-Za-z0-9_-]{8}/,
  /-----BEGIN/,
  /\bssh-(ed25519|rsa) AAAA/,
  /(token|secret|passwd|password|api_?key)\w*["']?\s*[:=]\s*["']?(?!true|false|no|yes)\S/i,
]

/** Words about secrets: where one is read from, never what it is. */
const HARMLESS = /lock_passwd: true|NOPASSWD:ALL|^ *token=\$\(cat\)$|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh/gm

spec('what a bootstrap says', (t) => {
  t('nothing in it looks like a secret, and each long hex word is a pinned digest', () => {
    const looksSecret = (text: string) => SECRETS.filter((pattern) => pattern.test(text.replace(HARMLESS, '')))
    const digests = new Set(
      ARCHES.flatMap((arch) => [...NODE_ARCHIVES[arch], ...AGENT_IDS.flatMap((id) => AGENTS[id].archives[arch])]).map(
        ({ sha512 }) => sha512,
      ),
    )
    for (const input of cases) {
      const text = textOf(input)
      assert.equal(looksSecret(text), [])
      const words = text.match(/[0-9A-Fa-f]{24,}|[A-Za-z0-9+/]{60,}={0,2}/g) ?? []
      assert.equal(
        words.filter((word) => !digests.has(word)),
        [],
      )
    }
    for (const secret of ['dbr_1_x', 'sk-ant-1', 'AKIAIOSFODNN7EXAMPLE', 'GEMINI_API_KEY=x', '"token": "x"']) {
      assert.ok(looksSecret(secret).length > 0, `${secret} would be seen`)
    }
  })
  t('an address with a secret in it is never written', () => {
    for (const url of ['https://user:pw@git.example.com/a', 'https://pw@git.example.com/a', 'ssh://u:pw@h/a']) {
      assert.throws(() => bootstrapOf({ name: 'x', arch: 'arm64', agents: [], repo: { url } }), /holds no secret/)
    }
    assert.match(
      textOf({ name: 'x', arch: 'arm64', agents: [], repo: { url: 'git@h.example:a/b.git' } }),
      "'git@h.example:a/b.git'",
    )
  })
  t('begins as cloud-init wants it, and its digest is of its bytes', () => {
    for (const input of cases) {
      const { bytes, sha256 } = good(bootstrapOf(input))
      assert.is(textOf(input).split('\n')[0], '#cloud-config')
      assert.is(sha256, createHash('sha256').update(bytes).digest('hex'))
    }
  })
  t(
    'the largest one leaves an eighth of the 16 KB, with an address as long and as little to be packed as may be',
    () => {
      const path = createHash('shake256', { outputLength: 2 * KIB })
        .update('')
        .digest('base64')
        .replaceAll('+', '-')
      for (const arch of ARCHES) {
        const url = `https://git.example.com/${path}`.slice(0, REPO.properties.url.maxLength)
        assert.match(url, new RegExp(REPO.properties.url.pattern))
        const repo = { url, ref: 'b'.repeat(REPO.properties.ref.maxLength) }
        const { bytes } = good(bootstrapOf({ name: 'n'.repeat(63), arch, agents: [...AGENT_IDS], repo }))
        assert.ok(bytes.length <= 14 * KIB, `${bytes.length} bytes for ${arch}`)
      }
    },
  )
  t('is the same for the same box, however the agents are listed', () => {
    const input = { name: 'box', arch: 'arm64' } as const
    const [one, other] = [[...AGENT_IDS], [...AGENT_IDS].reverse().concat('codex')].map((agents) =>
      good(bootstrapOf({ ...input, agents })),
    )
    assert.is(one?.sha256, other?.sha256)
    assert.is.not(one?.sha256, good(bootstrapOf({ ...input, arch: 'x86_64', agents: [...AGENT_IDS] })).sha256)
  })
  t('installs the chosen agents of the right architecture, each archive by its digest, and no other', () => {
    for (const input of cases) {
      const data = parsed(input)
      const expected = [
        ...NODE_ARCHIVES[input.arch],
        ...[...input.agents].sort().flatMap((id) => AGENTS[id].archives[input.arch]),
      ]
      const lines = contentOf(data, '/opt/bottega/bin/install').match(/^take .*$/gm) ?? []
      assert.equal(
        lines,
        expected.map(({ sha512, path, folder: into }) => `take ${sha512} ${path} ${into}`),
      )
      const other = input.arch === 'arm64' ? /linux-x64/ : /linux-arm64/
      assert.not.match(textOf(input), other)
      const commands = data.write_files.filter(({ path }) => path.startsWith('/usr/local/bin/')).map(({ path }) => path)
      assert.equal(commands.sort(), input.agents.map((id) => `/usr/local/bin/${AGENTS[id].command}`).sort())
    }
  })
  t('runs every agent in the capped slice, with its updater off', () => {
    const data = parsed({ name: 'x', arch: 'x86_64', agents: [...AGENT_IDS] })
    for (const id of AGENT_IDS) {
      const [program] = AGENTS[id].program.x86_64
      assert.match(
        contentOf(data, `/usr/local/bin/${AGENTS[id].command}`),
        `exec /opt/bottega/bin/launch ${id} /opt/bottega/${program}`,
      )
    }
    const launch = contentOf(data, '/opt/bottega/bin/launch')
    assert.match(launch, 'export DISABLE_AUTOUPDATER=1')
    assert.match(launch, '--scope --quiet --collect --slice=agents.slice')
    assert.match(contentOf(data, '/etc/systemd/user/agents.slice'), 'MemoryMax=75%')
    assert.is(JSON.parse(contentOf(data, '/etc/gemini-cli/settings.json')).general.enableAutoUpdate, false)
  })
  t('every program an agent needs lies in an archive that is installed', () => {
    for (const arch of ARCHES) {
      for (const id of AGENT_IDS) {
        const folders = [...NODE_ARCHIVES[arch], ...AGENTS[id].archives[arch]].map((archive) => archive.folder)
        for (const part of AGENTS[id].program[arch])
          assert.ok(
            folders.some((each) => part.startsWith(`${each}/`)),
            part,
          )
      }
    }
  })
  t('writes the drop-in of sshd whole, and every file as root that nobody else may write', () => {
    for (const input of cases) {
      const data = parsed(input)
      assert.is(contentOf(data, SSHD_DROP_IN), sshdDropIn())
      for (const { owner, permissions } of data.write_files) {
        assert.is(owner, 'root:root')
        assert.match(permissions, /^0(644|755)$/)
      }
      assert.equal(data.runcmd, [['/opt/bottega/bin/provision']])
    }
  })
  t('sorts its drop-in of sshd before the one that cloud-init writes', () => {
    const names = ['/etc/ssh/sshd_config.d/50-cloud-init.conf', SSHD_DROP_IN]
    assert.equal([...names].sort()[0], SSHD_DROP_IN)
    assert.match(SSHD_DROP_IN, /^\/etc\/ssh\/sshd_config\.d\/[^/]+\.conf$/)
  })
  t('names every script that it calls', () => {
    const data = parsed({ name: 'x', arch: 'arm64', agents: [...AGENT_IDS] })
    const called = data.write_files.flatMap(({ content }) => content.match(/\/opt\/bottega\/bin\/[a-z-]+/g) ?? [])
    for (const path of [...called, ...data.runcmd.flat()]) contentOf(data, path)
  })
  t('has the report name each agent that was chosen, as its package says its version', () => {
    for (const input of cases) {
      const lines = contentOf(parsed(input), '/opt/bottega/bin/report').match(/^version .*$/gm) ?? []
      const expected = [...input.agents]
        .sort()
        .map((id) => `version ${id} ${AGENTS[id].archives[input.arch][0]?.folder}`)
      assert.equal(lines, expected)
    }
  })
  t('writes each unit that it enables, each with what begins it', () => {
    const data = parsed({ name: 'x', arch: 'arm64', agents: [] })
    for (const name of ENABLED) assert.match(contentOf(data, `/etc/systemd/system/${name}`), /^\[Install\]\nWantedBy=/m)
    assert.match(contentOf(data, '/opt/bottega/bin/provision'), `systemctl enable --now ${ENABLED.join(' ')}\n`)
    for (const [name, content] of Object.entries(UNITS))
      assert.is(contentOf(data, `/etc/systemd/system/${name}`), content)
  })
  t('makes a host name of any name', () => {
    const hostNames = ['My_Box.1', 'a'.repeat(80), '---', 'ü'].map(
      (name) => parsed({ name, arch: 'arm64', agents: [] }).hostname,
    )
    assert.equal(hostNames, ['my-box-1', 'a'.repeat(63), 'dev', 'dev'])
  })
  t('a branch is checked out, a tag or a commit is not a branch', () => {
    const branch = (ref?: string) => {
      const repo = ref === undefined ? { url: 'https://h.example/a' } : { url: 'https://h.example/a', ref }
      return /--initial-branch='([^']*)'/.exec(textOf({ name: 'x', arch: 'arm64', agents: [], repo }))?.[1]
    }
    const refs = ['release/2', undefined, 'a'.repeat(40), 'refs/tags/v1', '--upload-pack=x', 'a..b']
    assert.equal(refs.map(branch), ['release/2', 'main', 'main', 'main', 'main', 'main'])
  })
})

spec('the 16 KB of user data', (t) => {
  const text = (bytes: number) => `#cloud-config\n${'x'.repeat(bytes - 14)}`
  t('16,384 bytes are plain, one more is packed', () => {
    assert.is(good(served(text(16_384))).contentType, 'text/plain; charset=utf-8')
    assert.is(good(served(text(16_385))).contentType, 'application/gzip')
  })
  t('the gzip holds the text, names no time and no system, and comes out the same again', () => {
    const { bytes, sha256 } = good(served(text(100_000)))
    assert.is(gunzipSync(bytes).toString('utf8'), text(100_000))
    assert.equal([...bytes.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255])
    assert.ok(bytes.equals(good(served(text(100_000))).bytes))
    assert.is(sha256, createHash('sha256').update(bytes).digest('hex'))
  })
  t('what is too large even then is refused with both sizes', () => {
    const bootstrap = served(randomBytes(20_000).toString('hex'))
    assert.not(bootstrap.ok)
    if (bootstrap.ok) return
    assert.is(bootstrap.code, 'BOOTSTRAP_TOO_LARGE')
    assert.match(bootstrap.detail, /40000 bytes and \d{5} packed; user data may have 16384/)
  })
})

spec('the scripts of the bootstrap', (t) => {
  inFolder(t)
  const sh = (script: string, env: Record<string, string>) =>
    spawnSync('sh', ['-c', script], { encoding: 'utf8', env: { ...process.env, ...env } })

  t('are all good sh', () => {
    for (const { path, content } of parsed({ name: 'x', arch: 'arm64', agents: [...AGENT_IDS] }).write_files) {
      if (!content.startsWith('#!/bin/sh\n')) continue
      const { status, stderr } = spawnSync('sh', ['-n'], { input: content, encoding: 'utf8' })
      assert.is(status, 0, `${path}: ${stderr}`)
    }
  })

  const packageIn = (registry: string, name: string, text: string) => {
    const source = join(registry, name)
    mkdirSync(join(source, 'package'), { recursive: true })
    writeFileSync(join(source, 'package', 'program'), text)
    chmodSync(join(source, 'package', 'program'), 0o777)
    execFileSync('tar', ['-czf', join(registry, `${name}.tgz`), '-C', source, 'package'])
    const sha512 = createHash('sha512')
      .update(readFileSync(join(registry, `${name}.tgz`)))
      .digest('hex')
    return { path: `${name}.tgz`, sha512, folder: `agents/${name}` }
  }

  t('install what is pinned, where it belongs, writable by its owner alone, and the same again', () => {
    const registry = fresh('registry')
    const archives = [packageIn(registry, 'one', 'first'), packageIn(registry, 'two', 'second')]
    const prefix = join(folder, 'prefix')
    for (const _ of ['first', 'again']) {
      const { status, stderr } = sh(installScript(archives), { PREFIX: prefix, PACKAGES_URL: `file://${registry}` })
      assert.is(status, 0, stderr)
      assert.is(readFileSync(join(prefix, 'agents/two/program'), 'utf8'), 'second')
      assert.is(statSync(join(prefix, 'agents/one/program')).mode & 0o777, 0o755)
      assert.equal(readdirSync(prefix), ['agents', 'installed'])
    }
  })
  t('install nothing again that the image has by the same digest, and anew what is another', () => {
    const registry = fresh('baked')
    const archives = [packageIn(registry, 'one', 'first'), packageIn(registry, 'two', 'second')]
    const prefix = join(folder, 'of-an-image')
    const install = (all: typeof archives) =>
      sh(installScript(all).replace('--retry 5 ', ''), { PREFIX: prefix, PACKAGES_URL: `file://${registry}` })
    assert.is(install(archives).status, 0)
    // nobody is asked for what is there
    rmSync(join(registry, 'two.tgz'))
    const another = packageIn(registry, 'one', 'newer')
    assert.is(install([another, archives[1] as (typeof archives)[0]]).status, 0)
    const contents = () => ['one', 'two'].map((name) => readFileSync(join(prefix, 'agents', name, 'program'), 'utf8'))
    assert.equal(contents(), ['newer', 'second'])
    assert.is(readFileSync(join(prefix, 'installed'), 'utf8').trim().split('\n').length, 2)
    // what is told and is not there is none
    rmSync(join(prefix, 'agents/two'), { recursive: true })
    assert.is.not(install([another, archives[1] as (typeof archives)[0]]).status, 0)
  })
  t('install nothing of an archive that is not the one that was pinned, nor of those after it', () => {
    const registry = fresh('tampered')
    const archives = [packageIn(registry, 'one', 'first'), packageIn(registry, 'two', 'second')]
    packageIn(registry, 'one', 'another')
    const prefix = join(folder, 'untouched')
    const { status, stderr } = sh(installScript(archives), { PREFIX: prefix, PACKAGES_URL: `file://${registry}` })
    assert.is.not(status, 0)
    assert.match(stderr, /did NOT match/)
    assert.equal(readdirSync(prefix), [])
  })
  t('stop at an archive that is not there', () => {
    const registry = fresh('empty')
    const archives = [{ path: 'gone.tgz', sha512: '0'.repeat(128), folder: 'gone' }]
    const script = installScript(archives).replace('--retry 5 ', '')
    assert.is.not(sh(script, { PREFIX: join(folder, 'none'), PACKAGES_URL: `file://${registry}` }).status, 0)
  })
  t('make a remote whose files follow a push, which knows what was pushed, and leave it alone the second time', () => {
    const home = fresh('home')
    const script = remoteScript({ url: "https://git.example.com/it's", branch: 'release/2' })
    const env = { HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
    assert.is(sh(script, env).status, 0)
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com']
    const git = (cwd: string, ...args: string[]) =>
      execFileSync('git', [...identity, ...args], {
        cwd,
        encoding: 'utf8',
        stdio: 'pipe',
        env: { ...process.env, ...env },
      })
    const repo = join(home, 'repo')
    assert.is(git(repo, 'remote', 'get-url', 'origin').trim(), "https://git.example.com/it's")
    const mine = fresh('mine')
    git(mine, 'init', '-q', '-b', 'release/2')
    for (const text of ['one', 'two']) {
      writeFileSync(join(mine, 'file'), text)
      git(mine, 'add', 'file')
      git(mine, 'commit', '-q', '-m', text)
      git(mine, 'push', '-q', repo, 'release/2')
      assert.is(readFileSync(join(repo, 'file'), 'utf8'), text)
      assert.is(sh(script, env).status, 0)
      assert.is(git(repo, 'rev-list', '--count', '--all', '--not', '--remotes').trim(), '0')
    }
    git(repo, 'commit', '-q', '--allow-empty', '-m', 'made there')
    assert.is(git(repo, 'rev-list', '--count', '--all', '--not', '--remotes').trim(), '1')
    assert.is(sh(remoteScript(undefined), { ...env, HOME: fresh('bare') }).status, 0)
    assert.ok(existsSync(join(folder, 'bare', 'repo', '.git')))
  })
})

spec('the agents', (t) => {
  t('are answered with package, version and how to log in', () => {
    const { agents } = agentsAnswer()
    const lines = agents.map(({ id, package: name, version, command }) => [id, name, version, command])
    assert.equal(lines, [
      ['claude-code', '@anthropic-ai/claude-code', '2.1.330', 'claude'],
      ['codex', '@openai/codex', '0.169.0', 'codex'],
      ['gemini-cli', '@google/gemini-cli', '0.61.0', 'gemini'],
    ])
    const hints: Record<AgentId, string> = {
      'claude-code': 'claude setup-token',
      codex: 'codex login --device-auth',
      'gemini-cli': 'GEMINI_API_KEY',
    }
    for (const { id, loginHint } of agents) assert.match(loginHint, hints[id])
    assert.equal(
      agents.map(({ arches }) => typeof arches.arm64.note),
      ['object', 'object', 'string'],
    )
  })
  t('are pinned by whole digests, at the version that is answered', () => {
    for (const arch of ARCHES) {
      for (const { sha512, path } of NODE_ARCHIVES[arch])
        assert.match(`${sha512} ${path}`, /^[0-9a-f]{128} .*-\d+\.\d+\.\d+\.tgz$/)
      for (const id of AGENT_IDS) {
        const { archives, version } = AGENTS[id]
        assert.ok(archives[arch].every(({ sha512 }) => /^[0-9a-f]{128}$/.test(sha512)))
        assert.ok(archives[arch].some(({ path }) => path.includes(`-${version}`)))
      }
    }
  })
})
