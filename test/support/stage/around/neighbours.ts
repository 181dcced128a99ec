import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryLock } from '../../../../hack/lib/lock.ts'
import { freePort } from '../../../../hack/lib/ports.ts'

/**
 * Machines that an app host could reach and its apps must not: the metadata services of clouds, hosts of private networks.
 * All are one name space of this machine, behind one link, where a web server answers under each address on port 80. The same
 * answer has a server of the machine itself, on all its addresses, on `hostPort`. One file has them at a time: the addresses are
 * the machine's, and so are the rules that somebody flushes while they are there.
 */
export type Neighbours = { addresses: typeof ADDRESSES; hostPort: number; answer: string; end(): void }

export const ADDRESSES = {
  metadata: '169.254.169.254',
  'metadata of Alibaba': '100.100.100.200',
  'metadata of a task': '169.254.170.2',
  'a private network of class A': '10.255.77.7',
  'a private network of class B': '172.31.77.7',
  'a private network of class C': '192.168.77.7',
  'a shared network': '100.64.77.7',
} as const

const FORWARD = '/proc/sys/net/ipv4/ip_forward'

const ip = (...args: string[]): void => {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
}

const LOCK_POLL_MS = 200

const alone = async (): Promise<{ release(): Promise<void> }> => {
  for (;;) {
    const lock = await tryLock('the neighbours of app hosts')
    if (lock !== null) return lock
    await sleep(LOCK_POLL_MS)
  }
}

const namesIn = (args: string[], pattern: RegExp): string[] =>
  [...spawnSync('ip', args, { encoding: 'utf8' }).stdout.matchAll(pattern)].map(([, name = '']) => name)

/** Whoever had some before and was killed took nothing away; nobody else has them while the lock is held. @param links and spaces, by the first letters of their names */
export const clearStale = (links: string, spaces: string): void => {
  for (const link of namesIn(['-brief', 'link'], new RegExp(`^(${links}[0-9a-f]{6})\\b`, 'gm')))
    spawnSync('ip', ['link', 'del', link])
  for (const space of namesIn(['netns', 'list'], new RegExp(`^(${spaces}[0-9a-f]{6})\\b`, 'gm')))
    spawnSync('ip', ['netns', 'del', space])
}

export const startNeighbours = async (): Promise<Neighbours> => {
  const lock = await alone()
  clearStale('cello', 'cell')
  const hostPort = await freePort()
  const id = randomBytes(3).toString('hex')
  const [space, outside, inside] = [`cell${id}`, `cello${id}`, `celli${id}`]
  const folder = mkdtempSync(join(tmpdir(), 'bottega-neighbours-'))
  const answer = `neighbour-${id}`
  const forwarded = readFileSync(FORWARD, 'utf8')
  const servers: ChildProcess[] = []
  const end = () => {
    for (const server of servers) server.kill('SIGKILL')
    spawnSync('ip', ['link', 'del', outside])
    spawnSync('ip', ['netns', 'del', space])
    writeFileSync(FORWARD, forwarded)
    rmSync(folder, { recursive: true, force: true })
    void lock.release()
  }
  try {
    writeFileSync(join(folder, 'index.html'), answer)
    writeFileSync(FORWARD, '1\n')
    ip('netns', 'add', space)
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', space)
    ip('link', 'set', outside, 'up')
    ip('-n', space, 'link', 'set', 'lo', 'up')
    ip('-n', space, 'link', 'set', inside, 'up')
    ip('-n', space, 'route', 'add', 'default', 'dev', inside)
    for (const address of Object.values(ADDRESSES)) {
      ip('-n', space, 'addr', 'add', `${address}/32`, 'dev', inside)
      ip('route', 'add', `${address}/32`, 'dev', outside)
    }
    // What comes back is asked for on the link, where the machine answers for its containers.
    writeFileSync(`/proc/sys/net/ipv4/conf/${outside}/proxy_arp`, '1\n')
    const serve = (address: string) => ['/bin/busybox', 'httpd', '-f', '-p', address, '-h', folder]
    servers.push(spawn('ip', ['netns', 'exec', space, ...serve('80')]))
    servers.push(spawn('/bin/busybox', serve(`0.0.0.0:${hostPort}`).slice(1)))
    return { addresses: ADDRESSES, hostPort, answer, end }
  } catch (error) {
    end()
    throw error
  }
}
