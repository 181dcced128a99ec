import { execFile, execFileSync } from 'node:child_process'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppCaller, type AppStage, busybox, type Project, startAppStage } from '../../support/stage/apps.ts'
import { type Neighbours, startNeighbours } from '../../support/stage/around/neighbours.ts'
import { docker } from '../../support/stage/host.ts'
import { eventually, type Json } from '../../support/stage/invoicing.ts'

/**
 * Two accounts on one host, and one of them is hostile: what its app tries from where it runs. Each try says how it got
 * through, or nothing; all that got through are shown at once.
 */

const timeoutMs = 600_000
const base64 = (text: string) => Buffer.from(text).toString('base64')

const SECRET = 'SECRET-OF-THE-VICTIM'

const files = () => ({
  Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\nWORKDIR /tmp\n'),
  busybox: busybox(),
})

/** A web server, and what it keeps on a volume, both of which tell the secret to whoever reaches them. */
const victimProject = (): Project => ({
  compose: `services:
  web:
    build: .
    command: ["/bin/sh", "-c", "/bin/busybox mkdir -p /tmp/www && echo ${SECRET} > /tmp/www/index.html && exec /bin/busybox httpd -f -p 8080 -h /tmp/www"]
    expose: ["8080"]
    depends_on: [store]
    stop_grace_period: 1s
  store:
    build: .
    command: ["/bin/sh", "-c", "echo ${SECRET} > /data/index.html && exec /bin/busybox httpd -f -p 9000 -h /data"]
    volumes: ["data:/data"]
    stop_grace_period: 1s
volumes: { data: }
`,
  files: files(),
})

const raiderProject = (): Project => ({
  compose: `services:
  web:
    build: .
    command: ["/bin/sh", "-c", "/bin/busybox mkdir -p /tmp/www && echo here > /tmp/www/index.html && exec /bin/busybox httpd -f -p 8080 -h /tmp/www"]
    expose: ["8080"]
    stop_grace_period: 1s
`,
  files: files(),
})

type Container = { name: string; id: string; addresses: string[]; gateways: string[] }

const containersOf = (slug: string): Container[] =>
  docker('ps', '-q', '--filter', `label=dev.bottega.app=${slug}`)
    .split('\n')
    .filter(Boolean)
    .map((id) => {
      const [{ Name, NetworkSettings }] = JSON.parse(docker('inspect', id))
      const networks = Object.values<{ IPAddress: string; Gateway: string }>(NetworkSettings.Networks)
      return {
        name: Name.slice(1),
        id,
        addresses: networks.map(({ IPAddress }) => IPAddress),
        gateways: networks.map(({ Gateway }) => Gateway),
      }
    })

const run = promisify(execFile)

/** What a command says in a container, as its own program would run it; '' where it fails. */
/** CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETUID, NET_BIND_SERVICE by their bits (linux/capability.h), within its own users. */
const OWN_RIGHTS = [0, 1, 3, 5, 6, 7, 10].reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n)

/** @param status of /proc @returns the capabilities that a container may have at any time and is not to, '' for none */
const beyond = (status: string): string =>
  ['CapEff', 'CapPrm', 'CapBnd', 'CapInh', 'CapAmb']
    .map(
      (name) => [name, BigInt(`0x${new RegExp(`^${name}:\\s+([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? 'f'}`)] as const,
    )
    .filter(([, mask]) => (mask & ~OWN_RIGHTS) !== 0n)
    .map(([name, mask]) => `${name} ${mask.toString(16)}`)
    .join(', ')

const inside = (container: string, command: string): Promise<string> =>
  run('docker', ['exec', container, '/bin/sh', '-c', command], {
    timeout: 20_000,
    env: { ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}` },
  }).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  )

/** What a command says that shows that it got through. */
const shows = async (container: string, command: string, sign: RegExp): Promise<string> =>
  sign.exec(await inside(container, command))?.[0] ?? ''

const ask = (address: string, port: number): string =>
  `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | /bin/busybox timeout 3 /bin/busybox nc -w 2 ${address} ${port} 2>/dev/null`
const opens = (address: string, port: number): string =>
  `/bin/busybox timeout 3 /bin/busybox nc -w 1 ${address} ${port} </dev/null >/dev/null 2>&1 && echo OPEN`

const MACHINE = Object.values(networkInterfaces())
  .flatMap((all) => all as NetworkInterfaceInfo[])
  .filter(({ family, internal }) => family === 'IPv4' && !internal)
  .map(({ address }) => address)

type Try = { what: string; run: () => string | Promise<string> }

const gotThrough = async (tries: readonly Try[]): Promise<string[]> => {
  const all: string[] = []
  for (const { what, run } of tries) {
    const said = await run()
    if (said !== '') all.push(`${what}: ${said.slice(0, 120)}`)
  }
  return all
}

spec('a hostile account', (t) => {
  let stage: AppStage
  let other: AppCaller
  let raider: Json
  let neighbours: Neighbours
  let victims: Container[]
  let mine: Container

  const succeeded = async (caller: AppCaller, id: string, project: Project) => {
    const { json, text } = await caller.deploy(id, project)
    assert.is(json.operation?.state, 'succeeded', text)
  }
  const neighbour = (address: string, port: number): Promise<string> =>
    shows(mine.id, ask(address, port), /neighbour-.*/)
  const containers = () => {
    victims = containersOf('vault')
    mine = containersOf('raider')[0] as Container
  }
  /** A project that differs from a harmless one is refused by the policy: gives how it was taken. */
  const judged = async (change: (project: Project) => Project): Promise<string> => {
    const { compose, files } = change(raiderProject())
    const body = {
      compose,
      files: Object.fromEntries(Object.entries(files).map(([path, content]) => [path, { base64: content }])),
    }
    const { status, text } = await other.api('POST', `/api/apps/${raider.id}/deploy?dry_run=1`, body)
    if (status === 400) return ''
    return `${status} ${text}`
  }
  /** Taken without what was asked for, of which the plan says so. */
  const rewritten = async (change: (project: Project) => Project, left: RegExp): Promise<string> => {
    const said = await judged(change)
    if (!said.startsWith('200 ')) return said
    const { plan } = JSON.parse(said.slice('200 '.length))
    return plan.changes.length > 0 && !left.test(plan.compose.runs) ? '' : said
  }
  const line = (text: string) => (project: Project) => ({
    ...project,
    compose: project.compose.replace('    build: .\n', `    build: .\n    ${text}\n`),
  })
  const end = (text: string) => (project: Project) => ({ ...project, compose: `${project.compose}${text}\n` })

  t.before(
    async () => {
      stage = await startAppStage()
      other = await stage.as('other')
      neighbours = await startNeighbours()
      const vault = await stage.app('vault', { application_policy: 'none' })
      await succeeded(stage, vault.id, victimProject())
      raider = await other.app('raider', { application_policy: 'none' })
      await succeeded(other, raider.id, raiderProject())
      containers()
      assert.is(victims.length, 2)
    },
    { timeoutMs },
  )
  t.after(async () => {
    neighbours?.end()
    await stage.end()
  })

  t('is reached by its own visitors, and reaches itself', async () => {
    assert.match((await stage.visit('raider')).text, /here/)
    assert.match(await inside(mine.id, ask('127.0.0.1', 8080)), /here/)
    assert.match(await inside(mine.id, ask('web', 8080)), /here/)
  })

  t(
    'does not reach the containers of another account',
    async () => {
      const tries = victims.flatMap(({ name, addresses }): Try[] => [
        ...addresses.flatMap((address) =>
          [8080, 9000].map((port) => ({
            what: `${name} at ${address}:${port}`,
            run: () => shows(mine.id, ask(address, port), /SECRET.*/),
          })),
        ),
        { what: `${name} by its name`, run: () => shows(mine.id, ask(name, 8080), /SECRET.*/) },
        {
          what: `${name} by a ping`,
          run: () => shows(mine.id, `/bin/busybox ping -c 1 -W 1 ${addresses[0]}`, /1 packets received/),
        },
      ])
      assert.equal(
        await gotThrough([...tries, { what: 'the service store', run: () => inside(mine.id, ask('store', 9000)) }]),
        [],
      )
    },
    { timeoutMs },
  )

  t(
    'does not reach the host',
    async () => {
      const addresses = [...mine.gateways, ...(victims[0]?.gateways ?? []), ...MACHINE]
      const ports = { sshd: stage.host.sshPort, http: stage.host.httpPort, https: stage.host.httpsPort }
      const tries = [...new Set(addresses)].flatMap((address): Try[] => [
        { what: `a server of the host at ${address}`, run: () => neighbour(address, neighbours.hostPort) },
        ...Object.entries(ports).map(([what, one]) => ({
          what: `${what} at ${address}`,
          run: () => inside(mine.id, opens(address, one)),
        })),
      ])
      assert.equal(await gotThrough(tries), [])
    },
    { timeoutMs },
  )

  t(
    'reaches no metadata service, and no private network',
    async () => {
      const tries = Object.entries(neighbours.addresses).map(([what, address]) => ({
        what: `${what}, ${address}`,
        run: () => neighbour(address, 80),
      }))
      assert.equal(await gotThrough(tries), [])
    },
    { timeoutMs },
  )

  t(
    'holds no rights on the host',
    async () => {
      const pid = docker('inspect', '-f', '{{.State.Pid}}', mine.id)
      const status = execFileSync('cat', [`/proc/${pid}/status`], { encoding: 'utf8' })
      const tries: Try[] = [
        { what: 'runs as root of the host', run: () => (/^Uid:\s+0\s/m.test(status) ? 'uid 0' : '') },
        { what: 'has rights beyond those over its own', run: () => beyond(status) },
        { what: 'gains privileges', run: () => (/^NoNewPrivs:\s+1$/m.test(status) ? '' : 'NoNewPrivs') },
        {
          what: 'makes any number of processes',
          run: () => (Number(docker('inspect', '-f', '{{.HostConfig.PidsLimit}}', mine.id)) > 0 ? '' : 'unlimited'),
        },
        {
          what: 'takes all memory',
          run: () => (Number(docker('inspect', '-f', '{{.HostConfig.Memory}}', mine.id)) > 0 ? '' : 'unlimited'),
        },
        {
          what: 'mounts',
          run: () =>
            inside(mine.id, '/bin/busybox mkdir -p /tmp/m; /bin/busybox mount -t tmpfs none /tmp/m && echo mounted'),
        },
        { what: 'makes a device', run: () => inside(mine.id, '/bin/busybox mknod /tmp/disk b 254 0 && echo made') },
        {
          what: 'writes settings of the kernel',
          run: () => inside(mine.id, 'echo 1 > /proc/sys/net/ipv4/ip_forward && echo written'),
        },
        {
          what: 'sees the socket of Docker',
          run: () => inside(mine.id, '/bin/busybox ls /var/run/docker.sock /run/docker.sock'),
        },
      ]
      assert.equal(await gotThrough(tries), [])
    },
    { timeoutMs },
  )

  t(
    'takes nothing that bears the name of another app',
    async () => {
      const image = docker('inspect', '-f', '{{.Config.Image}}', victims[0]?.id ?? '')
      const create = async (slug: string): Promise<string> => {
        const { status, text } = await other.api('POST', '/api/apps', {
          slug,
          host_id: 'local',
          application_policy: 'none',
        })
        return status >= 400 ? '' : `${status} ${text.slice(0, 60)}`
      }
      const tries: Try[] = [
        { what: 'its volume, by name', run: () => judged(end('volumes: { data: { name: vault-base_data } }')) },
        { what: 'its volume, as external', run: () => judged(end('volumes: { vault-base_data: { external: true } }')) },
        { what: 'its network, by name', run: () => judged(end('networks: { default: { name: vault-base_default } }')) },
        {
          what: 'its network, as external',
          run: () => judged(end('networks: { vault-base_default: { external: true } }')),
        },
        {
          what: 'the network of its container',
          run: () => judged(line(`network_mode: "container:${victims[0]?.name}"`)),
        },
        { what: 'the processes of its container', run: () => judged(line(`pid: "container:${victims[0]?.name}"`)) },
        {
          what: 'the volumes of its container',
          run: () => judged(line(`volumes_from: ["container:${victims[0]?.name}"]`)),
        },
        {
          what: 'its container name',
          run: () => rewritten(line(`container_name: ${victims[0]?.name}`), /container_name/),
        },
        { what: 'its label', run: () => judged(line('labels: { dev.bottega.app: vault }')) },
        {
          what: 'the label of its project',
          run: () => judged(line('labels: { com.docker.compose.project: vault-base }')),
        },
        {
          what: 'its image, by id',
          run: () => judged((one) => ({ ...one, compose: one.compose.replace('build: .', `image: "${image}"`) })),
        },
        {
          what: 'its image, by a name of ours',
          run: () =>
            judged((one) => ({ ...one, compose: one.compose.replace('build: .', 'image: bottega.local/vault/web:1') })),
        },
        { what: 'its files', run: () => judged(line('volumes: ["../../vault/r1/source:/mine"]')) },
        {
          what: 'its project, by a variable',
          run: () =>
            judged((one) => ({
              ...one,
              compose: `name: vault-base\nnetworks: { default: { name: "\${COMPOSE_PROJECT_NAME}_default" } }\n${one.compose}`,
            })),
        },
        { what: 'its name', run: () => create('vault') },
        { what: 'the name of what it keeps', run: () => create('vault-base') },
        { what: 'the name of its release', run: () => create('vault-r1') },
        { what: 'the name of its build', run: () => create('vault-build') },
      ]
      assert.equal(await gotThrough(tries), [])
    },
    { timeoutMs },
  )

  t(
    'is kept where it is by rules that are put back when somebody flushes them',
    async () => {
      const rules = () => execFileSync('iptables', ['-t', 'mangle', '-S'], { encoding: 'utf8' })
      const ours = () => (rules().match(/^-.*BOTTEGA-.*$/gm) ?? []).join('\n')
      const whole = ours()
      const put = () => ours() === whole
      const address = neighbours.addresses.metadata
      assert.match(whole, /-A FORWARD -i bt-\+ -j BOTTEGA-FROM/)
      assert.match(whole, /-A BOTTEGA-HOST -j DROP/)
      for (const chain of ['FORWARD', 'BOTTEGA-FROM']) execFileSync('iptables', ['-t', 'mangle', '-F', chain])
      await eventually('the rules to be back', async () => put(), 15_000)
      assert.is(await neighbour(address, 80), '')
      docker('rm', '-f', 'bottega-guard')
      execFileSync('iptables', ['-t', 'mangle', '-F', 'FORWARD'])
      assert.match(await neighbour(address, 80), /neighbour-/, 'without a guard nothing holds')
      await succeeded(other, raider.id, raiderProject())
      assert.ok(put(), 'a release waits until it is back')
      containers()
      assert.is(await neighbour(address, 80), '')
    },
    { timeoutMs },
  )
})
