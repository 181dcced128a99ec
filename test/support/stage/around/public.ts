import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { ensurePackages } from '../../../../hack/lib/apt.ts'
import { clearStale, type Neighbours, startNeighbours } from './neighbours.ts'
import type { PublicOrder, PublicPlace, Seen } from './publicserver.ts'

/**
 * A piece of the public internet that containers of this machine reach, in a name space of its own behind one link: servers at public
 * addresses that belong to nobody, and the answers of a server of names. Containers behind the bridges of apps ask the machine's own
 * resolver, as ever; what they ask is led here while it stands, and nobody else's questions are. With it come the neighbours (neighbours.ts).
 */
export type PublicNet = {
  neighbours: Neighbours
  /** What came in, since it was last asked. */
  seen(): Seen[]
  /** Of a server, as PEM. */
  certificateOf(server: string): string
  end(): void
}

/** `names`: that lead there. */
export type PublicServer = { address: string; names: string[]; files?: PublicPlace['files'] }

const MARK = '0xb0'
const TABLE = '176'

const run = (command: string, ...args: string[]): void => {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
}

const resolvers = (): string[] =>
  readFileSync('/etc/resolv.conf', 'utf8')
    .split('\n')
    .flatMap((line) => /^nameserver\s+([0-9.]+)\s*$/.exec(line)?.[1] ?? [])

const selfSigned = (folder: string, names: readonly string[]): { key: string; cert: string } => {
  ensurePackages([{ name: 'openssl', files: ['/usr/bin/openssl'] }], { what: 'A server that speaks TLS' })
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const alternative = `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-keyout', key, '-out', cert, '-subj', `/CN=${names[0]}`, '-addext', alternative],
    ],
    { stdio: 'ignore' },
  )
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

const rulesOf = (server: string): string[][] =>
  ['udp', 'tcp'].map((protocol) => [
    ...['-i', 'bt-+', '-d', server, '-p', protocol, '--dport', '53'],
    ...['-j', 'MARK', '--set-mark', MARK],
  ])

/** What is asked of these by containers goes over the link. */
const leadNames = (servers: readonly string[], outside: string): void => {
  run('ip', 'route', 'replace', 'default', 'dev', outside, 'table', TABLE)
  run('ip', 'rule', 'add', 'fwmark', MARK, 'lookup', TABLE)
  for (const rule of servers.flatMap(rulesOf)) run('iptables', '-w', '5', '-t', 'mangle', '-I', 'PREROUTING', ...rule)
}

const leaveNames = (servers: readonly string[]): void => {
  for (const rule of servers.flatMap(rulesOf))
    spawnSync('iptables', ['-w', '5', '-t', 'mangle', '-D', 'PREROUTING', ...rule])
  spawnSync('ip', ['rule', 'del', 'fwmark', MARK, 'lookup', TABLE])
  spawnSync('ip', ['route', 'flush', 'table', TABLE])
}

/** Until it serves, and what comes in from then on. */
const listen = (child: ChildProcessByStdio<null, Readable, null>, tell: (seen: Seen) => void): Promise<void> =>
  new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the public servers ended with ${code}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve()
      else tell(JSON.parse(line))
    })
  })

type Space = { space: string; outside: string; inside: string }

const openSpace = ({ space, outside, inside }: Space): void => {
  run('ip', 'netns', 'add', space)
  run('ip', 'link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', space)
  run('ip', 'link', 'set', outside, 'up')
  run('ip', '-n', space, 'link', 'set', 'lo', 'up')
  run('ip', '-n', space, 'link', 'set', inside, 'up')
  run('ip', '-n', space, 'route', 'add', 'default', 'dev', inside)
  for (const setting of ['proxy_arp 1', 'rp_filter 0']) {
    const [name, value] = setting.split(' ')
    writeFileSync(`/proc/sys/net/ipv4/conf/${outside}/${name}`, `${value}\n`)
  }
}

/** @param more names that lead to addresses where nobody of these serves */
export const startPublic = async (
  servers: readonly PublicServer[],
  more: Record<string, string[]> = {},
): Promise<PublicNet> => {
  const neighbours = await startNeighbours()
  const id = randomBytes(3).toString('hex')
  const [space, outside, inside] = [`pub${id}`, `pubo${id}`, `pubi${id}`]
  const folder = mkdtempSync(join(tmpdir(), 'bottega-public-'))
  const names = resolvers()
  leaveNames(names)
  clearStale('pubo', 'pub')
  const children: ChildProcess[] = []
  let seen: Seen[] = []
  const end = () => {
    for (const child of children) child.kill('SIGKILL')
    leaveNames(names)
    spawnSync('ip', ['link', 'del', outside])
    spawnSync('ip', ['netns', 'del', space])
    rmSync(folder, { recursive: true, force: true })
    neighbours.end()
  }
  try {
    const [asked] = names
    if (asked === undefined) throw new Error('/etc/resolv.conf names no server by an IPv4 address')
    openSpace({ space, outside, inside })
    const places = servers.map(({ address, names: called, files }) => {
      run('ip', '-n', space, 'addr', 'add', `${address}/32`, 'dev', inside)
      run('ip', 'route', 'add', `${address}/32`, 'dev', outside)
      return { address, server: called[0] ?? '', ...selfSigned(folder, called), ...(files && { files }) }
    })
    for (const server of names) run('ip', '-n', space, 'addr', 'add', `${server}/32`, 'dev', inside)
    leadNames(names, outside)
    const zone = {
      ...more,
      ...Object.fromEntries(servers.flatMap((one) => one.names.map((name) => [name, [one.address]]))),
    }
    const order: PublicOrder = { names: asked, zone, places }
    const [script, orders] = [new URL('publicserver.ts', import.meta.url).pathname, join(folder, 'order.json')]
    writeFileSync(orders, JSON.stringify(order))
    const child = spawn('ip', ['netns', 'exec', space, process.execPath, script, orders], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    await listen(child, (one) => seen.push(one))
    return {
      neighbours,
      seen: () => {
        const all = seen
        seen = []
        return all
      },
      certificateOf: (server) => places.find((one) => one.server === server)?.cert ?? '',
      end,
    }
  } catch (error) {
    end()
    throw error
  }
}
