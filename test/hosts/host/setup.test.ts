import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { callAdmin } from '../../../controllers/io/hosts/caddy.ts'
import { inspect } from '../../../controllers/io/hosts/inspect.ts'
import { execute } from '../../../controllers/io/hosts/remote.ts'
import { type Connection, connectSsh } from '../../../controllers/io/hosts/ssh.ts'
import { DIAL, USAGE } from '../../../controllers/kinds/app/scripts.ts'
import { GUARD, GUARD_DIGEST } from '../../../controllers/kinds/host/guard.ts'
import { problemsOf } from '../../../crds/host/inspect.ts'
import { CLOSED_RANGES, guardOf } from '../../../crds/host/isolation.ts'
import { fingerprintOf, hostKeyBytes } from '../../../crds/host/key.ts'
import { engineRestart } from '../../../crds/host/restart.ts'
import { readHostSetup } from '../../../hack/hostsetup/arguments.ts'
import { hostSetupScript } from '../../../hack/hostsetup/script.ts'
import { createProgress } from '../../../hack/lib/progress.ts'
import { ensureTools } from '../../../hack/lib/tools.ts'
import { type Debian, PROXY_PORT, type Ran, ranBy, startDebian } from '../../support/debian/machine.ts'
import { makeRepository, type Repository } from '../../support/debian/repository.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/**
 * hack/host-setup on a Debian that nobody touched before, with its systemd, its packages, its Docker: refused, tried, done, done
 * again. What the platform asks of a host is then asked by the platform, over SSH.
 */

const URL = `http://127.0.0.1:${PROXY_PORT}/caddy`
const ADMIN = '/run/caddy/admin.sock'
const SITES = '/srv/bottega/sites'
const DAEMON = '/etc/docker/daemon.json'
const INSTALL_MS = 600_000
const nothing = new AbortController().signal
const TICKS = 20
/** Says something each second. */
const TICKING = `use IO::Socket; $SIG{CHLD} = "IGNORE"; my $all = IO::Socket::INET->new(LocalPort => 8080, Listen => 9, ReuseAddr => 1);
while (my $one = $all->accept) { next if fork; $one->autoflush(1); print $one "HTTP/1.0 200 OK\\r\\n\\r\\n"; for (1..${TICKS}) { print $one "tick\\n"; sleep 1 } exit }`

let folder: string
let machine: Debian
let repository: Repository
let publicKey: string
/** How the host is to be registered, as the script said. */
let registration: {
  address: string
  port: number
  user: string
  host_key: string
  site_root: string
  proxy: { admin: string }
}

const setUp = (...args: string[]): Promise<Ran> => machine.run(['sh', '-s', '--', ...args], hostSetupScript())
const from = (fingerprint: string) => ['--caddy-from', `${URL} ${URL}/gpg.key ${fingerprint}`]
const whole = () => setUp('--key', publicKey, '--address', 'green.example.net', ...from(repository.fingerprint))
const overSsh = (args: readonly string[], input = ''): Promise<Ran> => {
  const trusting = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'BatchMode=yes']
  return ranBy('ssh', ['-F', 'none', '-i', join(folder, 'key'), ...trusting, ...args], input)
}
const ask = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await machine.run(args)
  assert.is(code, 0, `${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

const connectHost = (): Promise<Connection> => {
  const { user, host_key: line } = registration
  const privateKey = readFileSync(join(folder, 'key'), 'utf8')
  const hostKey = hostKeyBytes(line) ?? Buffer.alloc(0)
  return connectSsh({ address: '127.0.0.1', port: machine.sshPort, user, hostKey, privateKey })
}
const withHost = async <T>(use: (connection: Connection) => Promise<T>): Promise<T> => {
  const connection = await connectHost()
  return use(connection).finally(() => connection.end())
}
const findings = async () => {
  const { proxy, site_root: siteRoot } = registration
  const inspection = await inspect(connectHost, { admin: proxy.admin, siteRoot }, nothing)
  assert.ok(inspection.reach === 'ok', JSON.stringify(inspection))
  return inspection.findings
}

/** Nothing is to be done, or was: no file is another than before. */
const leavesAll = async (work: () => Promise<unknown>): Promise<void> => {
  const before = machine.changes()
  await work()
  const after = machine.changes()
  const other = [...after].filter(([path, entry]) => before.get(path) !== entry).map(([path]) => path)
  assert.equal([...other, ...[...before.keys()].filter((path) => !after.has(path))], [])
}

spec('a fresh Debian that is made a host', (t) => {
  t.before(
    async () => {
      folder = scratchFolder('setup')
      const own = join(folder, 'own')
      mkdirSync(own)
      const tools = await ensureTools(['caddy'], { progress: createProgress() })
      repository = makeRepository(join(own, 'caddy'), { work: join(folder, 'work'), caddy: tools.path('caddy') })
      spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(folder, 'key')])
      publicKey = readFileSync(join(folder, 'key.pub'), 'utf8').trim()
      machine = await startDebian(folder, { own })
      await machine.write('/root/.ssh/authorized_keys', `${publicKey}\n`)
    },
    { timeoutMs: 30 * 60_000 },
  )
  t.after(async () => {
    await machine?.end()
    rmSync(folder, { recursive: true, force: true })
  })

  const systems: [string, string, string][] = [
    ['another system', 'ID=fedora\nVERSION_ID=43\nPRETTY_NAME="Fedora Linux 43"\n', 'this is Fedora Linux 43'],
    ['an older Debian', 'ID=debian\nVERSION_ID="11"\nPRETTY_NAME="Debian 11"\n', 'this is Debian 11'],
    ['a Debian that is no release', 'ID=debian\nPRETTY_NAME="Debian forky/sid"\n', 'this is Debian forky/sid'],
  ]
  for (const [what, release, sentence] of systems) {
    t(`refuses ${what}, and changes nothing`, async () => {
      await machine.write('/run/os-release', release)
      await ask('mount', '--bind', '/run/os-release', '/usr/lib/os-release')
      try {
        await leavesAll(async () => {
          const { code, stdout } = await whole()
          assert.is(code, 3)
          assert.ok(stdout.includes(`✗ UNSUPPORTED_SYSTEM: ${sentence}; Debian from 12 or Ubuntu from 22.04`), stdout)
          assert.match(stdout, /\nNothing was changed\.\n$/)
        })
      } finally {
        await ask('umount', '/usr/lib/os-release')
      }
    })
  }

  t('takes Docker from Docker where the distribution has none that is new enough', async () => {
    await machine.write(
      '/run/os-release',
      'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\nPRETTY_NAME="Debian 12"\n',
    )
    await ask('mount', '--bind', '/run/os-release', '/usr/lib/os-release')
    const { code, stdout } = await setUp('--dry-run').finally(() => ask('umount', '/usr/lib/os-release'))
    assert.is(code, 0)
    assert.match(
      stdout,
      /docker-ce docker-ce-cli containerd.io docker-compose-plugin: would be installed from https:\/\/download\.docker\.com\/linux\/debian\n/,
    )
  })

  t('says what it would do, and changes no file', () =>
    leavesAll(async () => {
      const { code, stdout } = await setUp('--dry-run', '--key', publicKey)
      assert.is(code, 0)
      assert.match(stdout, /^· Debian GNU\/Linux 13 .*\n· \S+daemon\.json: would get userns-remap, /)
      assert.match(stdout, /· docker\.io docker-cli docker-compose: would be installed from the distribution\n/)
      assert.match(stdout, /\n13 things would be done; nothing was changed\.\n$/)
      assert.ok(!stdout.includes('✓'), stdout)
    }),
  )

  t('refuses a configuration of Docker that contradicts, by its key, and changes nothing', async () => {
    await machine.write(DAEMON, '{"dns": ["192.0.2.53"], "live-restore": false}')
    await leavesAll(async () => {
      const { code, stdout } = await whole()
      assert.is(code, 3)
      assert.match(
        stdout,
        /✗ DOCKER_CONFLICT: \/etc\/docker\/daemon\.json says "live-restore": false, a host needs true/,
      )
    })
  })

  t(
    'trusts no repository whose key is another, and says so',
    async () => {
      await machine.write(DAEMON, '{"dns": ["192.0.2.53"], "labels": ["site=green"]}')
      const { code, stdout } = await setUp('--key', publicKey, ...from('0'.repeat(40)))
      assert.is(code, 1)
      assert.ok(
        stdout.includes(`✗ WRONG_KEY: ${URL}/gpg.key holds ${repository.fingerprint}, not ${'0'.repeat(40)}`),
        stdout,
      )
      assert.is(
        await ask('sh', '-c', 'ls /etc/apt/sources.list.d /etc/apt/keyrings'),
        '/etc/apt/keyrings:\n\n/etc/apt/sources.list.d:',
      )
    },
    { timeoutMs: INSTALL_MS },
  )

  t(
    'makes it a host, from where that ended, and keeps what stood in the configuration of Docker',
    async () => {
      const lets = await ask('/usr/sbin/sshd', '-T')
      const { code, stdout } = await whole()
      assert.is(code, 0, stdout)
      assert.match(
        stdout,
        /✓ Docker 26\.[\s\S]*✓ Caddy 2\.\d+\.\d+: installed[\s\S]*✓ looked as bottega: Docker remaps users and cuts nothing /,
      )
      const { dns, labels, ...ours } = JSON.parse(await ask('cat', DAEMON))
      assert.equal([dns, labels, ours['userns-remap']], [['192.0.2.53'], ['site=green'], 'default'])
      assert.is(await ask('docker', 'info', '--format', '{{.LiveRestoreEnabled}} {{.Labels}}'), 'true [site=green]')
      assert.is(await ask('/usr/sbin/sshd', '-T'), lets, 'whoever else logs in does so as before')
      assert.is(await ask('cat', '/proc/sys/net/ipv4/tcp_migrate_req'), '1', 'visitors are handed on by a new proxy')
      registration = JSON.parse(/^\{.*\}$/m.exec(stdout)?.[0] ?? '')
      const { address, user, host_key: line, site_root: root, proxy } = registration
      assert.equal([address, user, root, proxy], ['green.example.net', 'bottega', SITES, { admin: ADMIN }])
      assert.ok(stdout.includes(`· host key ${fingerprintOf(line)} (ED25519)\n`), stdout)
    },
    { timeoutMs: INSTALL_MS },
  )

  t('finds nothing to do at the second time, as hack/host-setup sends it, and changes no file', () =>
    leavesAll(async () => {
      const words = ['root@127.0.0.1', '--ssh-port', String(machine.sshPort), '--key', join(folder, 'key.pub')]
      const asked = readHostSetup(words, (path) => readFileSync(path, 'utf8'))
      assert.ok(asked.do === 'send')
      const { code, stdout, stderr } = await overSsh(asked.ssh, hostSetupScript())
      assert.is(code, 0, stderr)
      const lines = stdout
        .split('\n')
        .filter((line) => line.startsWith('✓') && !/: nothing to do$|looked as/.test(line))
      assert.equal(lines, [])
      assert.match(stdout, /\nNothing was to be done\.\n/)
      assert.ok(stdout.includes(`"address": "127.0.0.1", "port": ${machine.sshPort}, `), stdout)
    }),
  )

  t('leaves inspection nothing to complain of, over SSH, under the key that was printed', async () => {
    const found = await findings()
    assert.equal(problemsOf(found), [])
    assert.equal([found.users, found.missing, found.proxyFault, found.siteRootOk], ['remapped', [], '', true])
    assert.is(engineRestart(found.restart, { hasFiles: true, isGuarded: true }).does, 'whole')
  })

  t('lets the guard of apps and the meter of their disk stand', async () => {
    const lines = [GUARD_DIGEST, CLOSED_RANGES.join(' ')]
    const put = { script: GUARD, fence: null, lines, maxOutputBytes: 65_536, limitMs: 90_000 }
    const { code, stderr } = await withHost((connection) => execute(connection, put, nothing))
    assert.is(code, 0, stderr)
    const { guard } = await findings()
    assert.equal(guardOf(guard, GUARD_DIGEST), { state: 'stands' })
  })

  t('keeps what is open at a container over a restart of Docker, where its port on loopback is cut', async () => {
    const bridge = 'com.docker.network.bridge.name=bt-kept'
    await ask('docker', 'network', 'create', '-o', bridge, 'kept')
    const folders = ['/usr', '/lib', '/lib64'].flatMap((path) => ['-v', `${path}:${path}:ro`])
    const options = ['--name', 'kept', '--label', 'dev.bottega.app=kept', '--network', 'kept', '-p', '127.0.0.1::8080']
    const command = ['bottega.local/empty:1', '/usr/bin/perl', '-e', TICKING]
    await ask('docker', 'run', '-d', ...options, '--cap-drop', 'ALL', ...folders, ...command)
    const ip = await ask('docker', 'inspect', '-f', '{{.NetworkSettings.Networks.kept.IPAddress}}', 'kept')
    const file = `${SITES}/dial/app-kept`
    const dial = {
      script: DIAL,
      fence: null,
      lines: ['kept', file, `${ip}:8080`],
      maxOutputBytes: 1_000,
      limitMs: 60_000,
    }
    const { code, stderr } = await withHost((connection) => execute(connection, dial, nothing))
    assert.is(code, 0, stderr)
    assert.is(await ask('runuser', '-u', 'caddy', '--', 'cat', file), `${ip}:8080`)
    const ticksAt = async (address: string) => {
      const { stdout } = await machine.run(['curl', '-sN', '--max-time', '120', `http://${address}/`])
      return stdout.split('\n').filter((line) => line === 'tick').length
    }
    const open = Promise.all([ticksAt(`${ip}:8080`), ticksAt(await ask('docker', 'port', 'kept', '8080/tcp'))])
    await sleep(3_000)
    await ask('systemctl', 'restart', 'docker')
    const [kept, cut] = await open
    assert.is(kept, TICKS)
    assert.ok(cut > 0 && cut < TICKS, `${cut} ticks came by the port on loopback`)
    await ask('docker', 'rm', '-f', 'kept')
    assert.is.not((await machine.run(['cat', file])).code, 0, 'the address went with the container')
    await ask('docker', 'network', 'rm', 'kept')
  })

  t('serves after a restart of Caddy what the platform told it before', async () => {
    const routes = [{ handle: [{ handler: 'static_response', body: 'served' }] }]
    const body = { http: { metrics: { per_host: true }, servers: { bottega: { listen: [':80'], routes } } } }
    const { status } = await withHost(async (connection) =>
      callAdmin(await connection.forward(ADMIN), { method: 'PUT', path: '/config/apps', body }),
    )
    assert.is(status, 200)
    await ask('systemctl', 'restart', 'caddy')
    assert.is(await ask('curl', '-sS', '--retry', '5', '--retry-connrefused', 'http://127.0.0.1/'), 'served')
    assert.equal(problemsOf(await findings()), [])
  })

  t('lets the platform count the requests of apps', async () => {
    const count = {
      script: USAGE,
      fence: null,
      lines: [registration.proxy.admin],
      maxOutputBytes: 1_000_000,
      limitMs: 30_000,
    }
    const { stdout } = await withHost((connection) => execute(connection, count, nothing))
    assert.match(stdout.toString(), /^caddy_http_request_duration_seconds_bucket\{.*server="bottega".*\} [1-9]/m)
  })

  t('gives the login no terminal', async () => {
    const login = ['-p', String(machine.sshPort), 'bottega@127.0.0.1', 'tty']
    assert.match((await overSsh(['-tt', ...login])).stderr, /PTY allocation request failed/)
    assert.match((await overSsh(login)).stdout, /not a tty/)
  })

  t('changes how Docker is run without ending what it runs', async () => {
    const stood = await ask('cat', DAEMON)
    await machine.write(DAEMON, stood.replace('"live-restore": true,', ''))
    // as often as systemd allows it within a minute
    await ask('systemctl', 'reset-failed', 'docker')
    for (const _ of [1, 2, 3]) await ask('systemctl', 'restart', 'docker')
    assert.is(await ask('docker', 'info', '--format', '{{.LiveRestoreEnabled}}'), 'false')
    assert.is((await findings()).restart.livesOn, false)
    const began = () => ask('docker', 'inspect', '--format', '{{.State.Running}} {{.State.StartedAt}}', 'bottega-guard')
    const before = await began()
    const { code, stdout } = await whole()
    assert.is(code, 0, stdout)
    assert.match(stdout, /got live-restore; kept: [\s\S]*✓ service docker: restarted/)
    assert.is(await ask('docker', 'info', '--format', '{{.LiveRestoreEnabled}}'), 'true')
    assert.is(await began(), before)
    assert.match(before, /^true /)
  })

  t('refuses to remap the users of a Docker that holds something', async () => {
    const stood = await ask('cat', DAEMON)
    await machine.write(DAEMON, stood.replace('"userns-remap": "default",', ''))
    await leavesAll(async () => {
      const { code, stdout } = await whole()
      assert.is(code, 3)
      assert.match(stdout, /✗ DOCKER_IN_USE: Docker here has \d+ containers and volumes/)
    })
    await machine.write(DAEMON, stood)
  })

  t('refuses a machine whose Caddy serves for somebody else', async () => {
    await machine.write('/etc/caddy/Caddyfile', 'shop.example {\n  respond "open"\n}\n')
    await ask('mv', '/etc/systemd/system/caddy.service.d', '/run/caddy.service.d')
    const { code, stdout } = await whole()
    assert.is(code, 3)
    assert.match(stdout, /✗ CADDY_IN_USE: /)
  })
})
