/** A made-up machine: the folders that the scripts of a dev instance look at, the programs that they ask, and the service that they tell. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { json, text } from 'node:stream/consumers'

const SLICE = '/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/agents.slice'
const DISTRIBUTION = '/usr/sbin:/usr/bin:/sbin:/bin'
/** A fake program prints what its file of answers holds, and notes how it was called. */
const FAKE = '#!/bin/sh\necho "$*" >> "$0.calls"\ncat "$0.answer" 2>/dev/null || true\n'
const FAKES = ['cloud-init', 'journalctl', 'ss', 'systemctl', 'wall']

type Ran = { code: number; stdout: string; stderr: string }
export type Machine = ReturnType<typeof madeMachine>

/** The files of a made-up root. */
const makeFiles = (root: string) => {
  const at = (path: string): string => join(root, path)
  const put = (path: string, content: string, changedAt?: number): void => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), content)
    if (changedAt !== undefined) utimesSync(at(path), changedAt, changedAt)
  }
  const read = (path: string): string | null => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : null)
  return { at, put, read }
}

/** Programs that answer what they are told to, and note how they were called. */
const makeFakes = (bin: string) => {
  mkdirSync(bin, { recursive: true })
  for (const name of FAKES) {
    writeFileSync(join(bin, name), FAKE)
    chmodSync(join(bin, name), 0o755)
  }
  const answers = (program: string, answer: string): void => writeFileSync(join(bin, `${program}.answer`), answer)
  const calls = (program: string): string[] => {
    const path = join(bin, `${program}.calls`)
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  }
  const program = (name: string, does: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${does}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return { answers, calls, program }
}

/** One that was started an hour ago, and that nobody uses. */
const furnish = ({ at, put }: ReturnType<typeof makeFiles>): void => {
  put('/proc/meminfo', 'MemTotal:       16777216 kB\nMemAvailable:   12582912 kB\n')
  put('/proc/uptime', '3600.52 7000.00\n')
  put('/proc/vmstat', 'nr_free_pages 1\noom_kill 0\n')
  put('/proc/1/status', 'Name:\tsystemd\nVmHWM:\t   12000 kB\n')
  put('/proc/1/cmdline', '/sbin/init\0')
  put('/etc/shadow', 'root:*:20000:0:99999:7:::\nsshd:!*:20000::::::\ndev:!:20000:0:99999:7:::\n')
  put('/sys/fs/cgroup/user.slice/cpu.stat', 'usage_usec 0\n')
  mkdirSync(at('/home/dev/repo'), { recursive: true })
  mkdirSync(at('/dev/pts'), { recursive: true })
}

/** @param folder that is empty and goes with the test */
export const madeMachine = (folder: string) => {
  const root = join(folder, 'root')
  const bin = join(folder, 'bin')
  const files = makeFiles(root)
  const fakes = makeFakes(bin)
  furnish(files)
  const { at, put } = files
  return {
    ...files,
    ...fakes,
    reports: (): string[] => readdirSync(at('/var/lib/bottega/reports')).sort(),
    /** An agent: what its scope has used so far, and what its connections have received. */
    agent(name: string, pid: number, used: { cpuSeconds: number; connections?: Record<string, number> }): void {
      const scope = `${SLICE}/${name}-${pid}.scope`
      put(`${scope}/cpu.stat`, `usage_usec ${Math.round(used.cpuSeconds * 1e6)}\nuser_usec 1\n`)
      put(`${scope}/cgroup.procs`, `${pid}\n${pid + 1}\n`)
      const lines = Object.entries(used.connections ?? {}).map(
        ([peer, bytes], index) =>
          `0      0      10.0.0.5:${40_000 + index}  ${peer} users:(("node",pid=${pid},fd=2${index})) cubic rto:204 bytes_sent:9 bytes_acked:10 bytes_received:${bytes} segs_out:27\n`,
      )
      fakes.answers('ss', lines.join(''))
    },
    end(name: string, pid: number): void {
      rmSync(at(`${SLICE}/${name}-${pid}.scope`), { recursive: true })
      fakes.answers('ss', '')
    },
    /** A key was pressed in a terminal. */
    typed: (seconds: number): void => put('/dev/pts/0', '', seconds),
    /** A script under the sh of the machine. @param now seconds since 1970 @param input what a unit gives the reporter when left out */
    async run(script: string, { now, args = [], input, env = {} }: RunOptions = {}): Promise<Ran> {
      const child = spawn('sh', ['-c', script, 'sh', ...args], {
        env: {
          PATH: `${bin}:${DISTRIBUTION}`,
          HOME: at('/home/dev'),
          GIT_CONFIG_NOSYSTEM: '1',
          ROOT: root,
          ...(now !== undefined && { NOW: String(now) }),
          ...env,
        },
      })
      child.stdin.on('error', () => {}) // it ended without reading
      child.stdin.end(input ?? files.read('/etc/bottega/token') ?? '')
      const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      return { code: code ?? 1, stdout, stderr }
    },
  }
}
type RunOptions = { now?: number; args?: readonly string[]; input?: string; env?: Record<string, string> }

export type Told = { path: string; token: string; body: Record<string, never> }
export type Service = Awaited<ReturnType<typeof startService>>

/** The service as a dev instance sees it: it answers what `answer` says, and keeps what it was told. */
export const startService = async () => {
  const told: Told[] = []
  const service = {
    told,
    status: 200,
    policy: { idleMinutes: 30, autoscale: 'ask' } as Record<string, unknown>,
    /** What else it answers to what it was told. */
    more: (_body: Record<string, never>): Record<string, unknown> => ({}),
    url: '',
    close: () => server.close(),
  }
  const server = createServer(async (request, response) => {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    const body = (await json(request)) as Record<string, never>
    told.push({ path: request.url ?? '', token, body })
    response.writeHead(service.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ policy: service.policy, ...service.more(body) }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return service
}
