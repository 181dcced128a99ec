/** Logging in to a dev instance: a real sshd, the client as others run it, and an API that says what it is told to. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EXIT } from '../../../api/client/cli/net/outcome.ts'
import { ensureNode, OTHER_NODES } from '../../../hack/lib/nodes.ts'
import { freePort, isListening } from '../../../hack/lib/ports.ts'
import { CLIENT, type Cli, makeCli } from '../../support/client/cli.ts'
import { answerJson, byPlace, type StandIn, startStandIn } from '../../support/client/standin.ts'
import { type RealSshd, startSshd } from '../../support/devbox/sshd.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const ID = `dev-${'0123456789abcdef'.repeat(2)}`
const TOKEN = 'btg_0123456789abcdef_0123456789abcdef'
const OTHER = `SHA256:${'A'.repeat(43)}`

spec('a login to a dev instance', (t) => {
  let [sshd, api, folder] = [null as unknown as RealSshd, null as unknown as StandIn, '']
  let devbox: Record<string, unknown> = {}
  let cli: Cli

  const says = (more: Record<string, unknown> = {}) => {
    devbox = { id: ID, name: 'october', state: 'running', publicIp: '127.0.0.1', hostKeys: sshd.fingerprints, ...more }
  }
  const stateOf = (name: string) => join(folder, name)
  const kept = (name: string) => join(stateOf(name), 'bottega', 'devboxes', `${ID}.known_hosts`)
  const login = () => ['--ssh-port', String(sshd.port), '--user', sshd.user, '--identity', sshd.identityFile]

  t.before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bottega-login-'))
    sshd = await startSshd()
    api = await startStandIn(
      byPlace([
        ['POST /api/devboxes/', (_, response) => answerJson(response, 200, { env: { A: "it's", B: 'two words' } })],
        ['GET /api/devboxes/', (_, response) => answerJson(response, 200, { devbox })],
        ['GET /api/devboxes', (_, response) => answerJson(response, 200, { devboxes: [devbox], total: 1 })],
      ]),
    )
    // ssh looks into the home of the user that runs it, whatever HOME says; nothing of it may count
    cli = makeCli({ env: { BOTTEGA_URL: api.url, BOTTEGA_TOKEN: TOKEN, XDG_STATE_HOME: stateOf('state') } })
  })
  t.after(async () => {
    await Promise.all([sshd.end(), api.end()])
    rmSync(folder, { recursive: true, force: true })
  })
  t.before.each(() => says())

  t('runs a command there, and ends as it does', async () => {
    const done = await cli(['devbox', 'ssh', 'october', ...login(), '--', 'echo', '"$((6 * 7))"', '--json'])
    assert.equal([done.code, done.out], [0, '42 --json\n'], done.err)
    const failed = await cli(['devbox', 'ssh', ID, ...login(), '--', 'exit', '7'])
    assert.is(failed.code, 7, failed.err)
    const read = await cli(['devbox', 'ssh', 'october', ...login(), '--', 'cat'], { input: 'what comes in\n' })
    assert.is(read.out, 'what comes in\n')
  })

  for (const major of OTHER_NODES) {
    t(
      `does so on Node ${major}`,
      async () => {
        const older = makeCli({
          node: await ensureNode(major),
          env: { BOTTEGA_URL: api.url, BOTTEGA_TOKEN: TOKEN, XDG_STATE_HOME: stateOf(`node-${major}`) },
        })
        const { code, out, err } = await older(['devbox', 'ssh', 'october', ...login(), '--', 'echo', 'in'])
        assert.equal([code, out], [0, 'in\n'], err)
        const config = await older(['devbox', 'config', 'october', '--json', ...login()])
        assert.equal([config.code, config.json.host], [0, 'bottega-october'], config.err)
      },
      // the first time on a machine it is fetched
      { timeoutMs: 600_000 },
    )
  }

  t('gives scripts one document of what the command said', async () => {
    const { code, json } = await cli([
      'devbox',
      'ssh',
      'october',
      ...login(),
      '--json',
      '--',
      'echo out; echo err >&2; exit 3',
    ])
    assert.equal([code, json], [3, { exitCode: 3, stdout: 'out\n', stderr: 'err\n' }])
    assert.is((await cli(['devbox', 'ssh', 'october', ...login(), '--json'])).code, EXIT.usage)
  })

  t('takes what looks like an option behind -- for the command', async () => {
    const marker = join(folder, 'ran')
    const { code } = await cli(['devbox', 'ssh', 'october', ...login(), '--', `-oProxyCommand=touch ${marker}`])
    // the shell there was asked to run it, and knows no such command
    assert.is(code, 2)
    assert.not.ok(existsSync(marker))
  })

  t('gives the token of the API to nobody', async () => {
    const bin = join(folder, 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, 'ssh'), '#!/bin/sh\nenv\n', { mode: 0o755 })
    const { out } = await cli(['devbox', 'ssh', 'october', ...login()], { env: { PATH: `${bin}:${process.env.PATH}` } })
    assert.match(out, /PATH=/)
    assert.not.match(out, TOKEN)
  })

  t('keeps the keys that were attested in a file of that one host, for its owner alone', async () => {
    const { code, out, err } = await cli(['devbox', 'known-hosts', 'october', '--ssh-port', String(sshd.port)])
    assert.is(code, 0, err)
    const lines = sshd.hostKeys.map((key) => `${ID} ${key}`)
    assert.equal(out.trim().split('\n').sort(), lines.sort())
    assert.equal([readFileSync(kept('state'), 'utf8'), statSync(kept('state')).mode & 0o777], [out, 0o600])
    const { json } = await cli(['devbox', 'known-hosts', 'october', '--json'])
    assert.equal([json.hostKeyAlias, json.lines.length, json.knownHosts], [ID, 2, kept('state')])
  })

  t('asks nobody for a key where the registry has whole ones', async () => {
    says({ hostKeys: sshd.hostKeys, publicIp: '192.0.2.1' })
    const env = { XDG_STATE_HOME: stateOf('whole') }
    const { code, out, err } = await cli(['devbox', 'known-hosts', 'october'], { env })
    assert.equal([code, out.trim().split('\n').length], [0, 2], err)
  })

  t('refuses who has other keys than were attested, and keeps none of them', async () => {
    says({ hostKeys: [OTHER] })
    for (const words of [['ssh'], ['config'], ['known-hosts'], ['stop'], ['env', 'send']]) {
      const env = { XDG_STATE_HOME: stateOf('mismatch') }
      const asked = ['devbox', ...words, 'october', '--ssh-port', String(sshd.port), '--json']
      const { code, json } = await cli(words[0] === 'ssh' ? [...asked, '--', 'true'] : asked, { env })
      assert.equal([code, json.problem.code], [EXIT.refused, 'HOST_KEY_MISMATCH'], words.join(' '))
      assert.match(json.problem.next, /Do not log in/)
    }
    assert.not.ok(existsSync(kept('mismatch')))
  })

  t('believes no file with keys that are attested no more, whoever wrote it', async () => {
    says({ hostKeys: [OTHER] })
    const { code, json } = await cli(['devbox', 'known-hosts', 'october', '--ssh-port', String(sshd.port), '--json'])
    assert.equal([code, json.problem.code], [EXIT.refused, 'HOST_KEY_MISMATCH'])
  })

  t('lets ssh refuse a host whose attested key is not the one that answers', async () => {
    // the key is whole and known, so nobody was asked; another one answers at the address
    says({ hostKeys: [`ssh-ed25519 ${'A'.repeat(68)}`] })
    const env = { XDG_STATE_HOME: stateOf('whole-other') }
    const { code, json } = await cli(['devbox', 'ssh', 'october', ...login(), '--json', '--', 'true'], { env })
    assert.equal([code, json.problem.code], [EXIT.failed, 'SSH_FAILED'])
    assert.match(json.problem.detail, /Host key verification failed/)
  })

  t('asks for no key in vain: what has none attested, or no address, is not logged in to', async () => {
    for (const [more, code, exitCode] of [
      [{ hostKeys: [], state: 'configuring' }, 'NO_HOST_KEYS', EXIT.refused],
      [{ hostKeys: [], publicIp: null, state: 'reserved' }, 'NO_HOST_KEYS', EXIT.refused],
      [{ publicIp: null, state: 'stopped' }, 'NO_ADDRESS', EXIT.failed],
    ] as const) {
      says(more)
      const env = { XDG_STATE_HOME: stateOf('none') }
      const asked = await cli(['devbox', 'ssh', 'october', ...login(), '--json', '--', 'true'], { env })
      assert.equal([asked.code, asked.json.problem.code], [exitCode, code])
      assert.match(asked.json.problem.next, /bottega devbox/)
    }
    // what was kept of it is known without it
    const keys = await cli(['devbox', 'known-hosts', 'october', '--json'])
    assert.equal([keys.code, keys.json.lines.length], [0, 2])
    says()
    const port = String(await freePort())
    const env = { XDG_STATE_HOME: stateOf('none') }
    const { json } = await cli(['devbox', 'known-hosts', 'october', '--ssh-port', port, '--json'], { env })
    assert.is(json.problem.code, 'UNREACHABLE')
  })

  t('says where there is no OpenSSH', async () => {
    const env = { XDG_STATE_HOME: stateOf('no-ssh'), PATH: '/nonexistent' }
    const { code, json } = await cli(['devbox', 'config', 'october', '--json'], { env })
    assert.equal([code, json.problem.code], [EXIT.failed, 'NO_OPENSSH'])
  })

  t('says where the keys cannot be kept', async () => {
    const asked = ['devbox', 'known-hosts', 'october', '--ssh-port', String(sshd.port), '--json']
    const { code, json } = await cli(asked, { env: { XDG_STATE_HOME: sshd.identityFile } })
    assert.equal([code, json.problem.code], [EXIT.failed, 'NOT_WRITTEN'])
    assert.match(json.problem.next, /XDG_STATE_HOME/)
  })

  t('has a block for ssh_config that ssh takes, and logs in by', async () => {
    const { code, out, err } = await cli(['devbox', 'config', 'october', ...login()])
    assert.is(code, 0, err)
    assert.match(out, new RegExp(`^Host bottega-october ${ID}\\n  HostName 127\\.0\\.0\\.1\\n`))
    const config = join(folder, 'ssh config 100%')
    // what a careless person has behind it counts no more
    writeFileSync(
      config,
      `${out}\nHost *\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  ControlPath /tmp/%C\n`,
    )
    const asked = execFileSync('ssh', ['-F', config, '-G', 'bottega-october'], { encoding: 'utf8', stdio: 'pipe' })
    for (const line of [`userknownhostsfile ${kept('state')}`, 'stricthostkeychecking true', `hostkeyalias ${ID}`]) {
      assert.ok(asked.split('\n').includes(line), line)
    }
    assert.not.match(asked, /^controlpath \//m)
    assert.is(execFileSync('ssh', ['-F', config, ID, 'echo in'], { encoding: 'utf8', stdio: 'pipe' }), 'in\n')
  })

  t('keeps to its file where the way there has spaces and percent signs', async () => {
    const env = { XDG_STATE_HOME: stateOf('50% of a state') }
    const { code, out, err } = await cli(['devbox', 'ssh', 'october', ...login(), '--', 'echo', 'in'], { env })
    assert.equal([code, out], [0, 'in\n'], err)
    assert.ok(existsSync(kept('50% of a state')))
    const quote = await cli(['devbox', 'config', 'october', '--json'], { env: { XDG_STATE_HOME: stateOf('a"b') } })
    assert.equal([quote.code, quote.json.problem.code], [EXIT.usage, 'USAGE'])
  })

  t('forwards ports from loopback to loopback until it is interrupted', async () => {
    const [local, closed] = [await freePort(), await cli(['devbox', 'ports', 'october', '3000', '8080:80'])]
    assert.equal([closed.code, closed.out], [0, '-L 127.0.0.1:3000:127.0.0.1:3000\n-L 127.0.0.1:8080:127.0.0.1:80\n'])
    const env = { ...process.env, BOTTEGA_URL: api.url, BOTTEGA_TOKEN: TOKEN, XDG_STATE_HOME: stateOf('state') }
    const args = [CLIENT, 'devbox', 'ports', 'october', `${local}:${sshd.port}`, '--run', ...login()]
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    for (let tries = 0; tries < 200 && !(await isListening(local)); tries += 1) await sleep(50)
    const scanned = execFileSync('ssh-keyscan', ['-p', String(local), '127.0.0.1'], { encoding: 'utf8', stdio: 'pipe' })
    assert.ok(
      sshd.hostKeys.some((key) => scanned.includes(key)),
      'the port leads to sshd itself',
    )
    child.kill('SIGTERM')
    assert.is(await ended, EXIT.interrupted)
    assert.not.ok(await isListening(local))
  })

  t('says that a machine stands still, and tries all the same', async () => {
    says({ state: 'stopped' })
    const { code, out, err } = await cli(['devbox', 'ssh', 'october', ...login(), '--', 'echo', 'in'])
    assert.equal([code, out, err], [0, 'in\n', `${ID} is stopped, as far as the registry knows.\n`])
  })

  t('says why ssh did not get in', async () => {
    const asked = ['devbox', 'ssh', 'october', '--ssh-port', String(sshd.port), '--user', 'nobody-there', '--json']
    const { code, json } = await cli([...asked, '--', 'true'])
    assert.equal([code, json.problem.code], [EXIT.failed, 'SSH_FAILED'])
    assert.match(json.problem.detail, /Permission denied/)
  })

  t('hands the environment over on no disk and in no argument', async () => {
    const bin = join(folder, 'box')
    mkdirSync(bin, { recursive: true })
    // in the place of ssh: what it was called with, and what came in
    writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${bin}/args'\ncat > '${bin}/input'\n`, {
      mode: 0o755,
    })
    const { code, json } = await cli(['devbox', 'env', 'send', 'october', '--json'], {
      env: { PATH: `${bin}:${process.env.PATH}` },
    })
    assert.equal([code, json], [0, { id: ID, keys: ['A', 'B'] }])
    assert.equal(JSON.parse(readFileSync(join(bin, 'input'), 'utf8')), { env: { A: "it's", B: 'two words' } })
    const args = readFileSync(join(bin, 'args'), 'utf8').trim().split('\n')
    assert.equal(args.slice(-3), ['--', '127.0.0.1', '/opt/bottega/bin/env'])
    assert.not.match(args.join(' '), /it's/)
  })

  t('turns it off, and does not take a lost connection for that', async () => {
    const bin = join(folder, 'off')
    mkdirSync(bin, { recursive: true })
    const answering = (script: string) => writeFileSync(join(bin, 'ssh'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const stop = () => cli(['devbox', 'stop', 'october', '--json'], { env: { PATH: `${bin}:${process.env.PATH}` } })
    // the connection may end before ssh could say how the command did
    answering('echo stopping; exit 255')
    assert.equal((await stop()).json, { id: ID, stopping: true })
    answering('echo "Connection refused" >&2; exit 255')
    assert.is((await stop()).json.problem.code, 'SSH_FAILED')
    answering('echo "sudo: a password is required" >&2; exit 1')
    const refused = await stop()
    assert.equal([refused.code, refused.json.problem.code], [EXIT.failed, 'NOT_STOPPED'])
  })
})
