/** Looking at a host: a connection of its own each time, so that the key it shows now is the one that is judged. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Findings, Inspection } from '../../../crds/host/inspect.ts'
import { callAdmin } from './caddy.ts'
import { execute } from './remote.ts'
import { textOf } from './scripts.ts'
import { type Connection, SshRefused } from './ssh.ts'

const OUTPUT_BYTES_MAX = 64 * 1024
const LIMIT_MS = 30_000

/** Reads the sites' folder (or an empty line) and says what it finds, one `name=value` on a line. Changes nothing. */
const INSPECT = { name: 'inspect', text: `${textOf('guarded')}${textOf('inspect')}` }

const KIB_PER_GIB = 1024 ** 2

const findingsOf = (text: string, { siteRoot, proxyFault }: { siteRoot: string; proxyFault: string }): Findings => {
  const lines = text.split('\n')
  const said = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1))
  const one = (name: string) => (said(name)[0] ?? '').replace(/^v/, '').slice(0, 64)
  // File system, 1024-blocks, used, available
  const disk = lines.flatMap((line) => /^\S+\s+(\d+)\s+\d+\s+(\d+)\s/.exec(line)?.slice(1) ?? [])
  const gib = (kib: string | undefined) => Math.floor(Number(kib ?? 0) / KIB_PER_GIB)
  return {
    arch: one('arch'),
    versions: { kernel: one('kernel'), docker: one('docker'), compose: one('compose'), caddy: one('caddy') },
    disk: { totalGib: gib(disk[0]), freeGib: gib(disk[1]) },
    processors: Number(one('processors')) || 0,
    memoryMib: Math.floor((Number(one('memory')) || 0) / 1024),
    missing: said('missing'),
    siteRootOk: siteRoot === '' || one('sites') === 'ok',
    proxyFault,
    guard: { says: (said('guard')[0] ?? 'absent').slice(0, 200), digest: one('guarddigest') },
    users: one('users') === 'remapped' ? 'remapped' : 'plain',
    restart: { livesOn: one('lives') === 'true', hasLinks: one('links') === 'ok' },
  }
}

/** The endpoint restarts at each change of a route: a reset says nothing of its health. */
const ADMIN_TRIES = 5
const ADMIN_PAUSE_MS = 200

const proxyFaultOf = async (connection: Connection, admin: string): Promise<string> => {
  for (let left = ADMIN_TRIES; ; left--) {
    try {
      const call = { method: 'GET', path: '/config/apps/http/http_port' } as const
      const { status } = await callAdmin(await connection.forward(admin), call)
      // 400: there is no such part of the configuration yet
      return status < 500 ? '' : `status ${status}`
    } catch (error) {
      if (left <= 1 || !connection.isOpen()) return error instanceof Error ? error.message : 'no answer'
      await sleep(ADMIN_PAUSE_MS)
    }
  }
}

export type HostInspection = { admin: string; siteRoot: string }

/** Why a host could not be looked at. */
const refusedAs = ({ fault, message, shown }: SshRefused): Inspection => {
  switch (fault) {
    case 'unreachable':
      return { reach: 'unreachable', detail: message }
    case 'key':
      return { reach: 'key', shown }
    case 'login':
      return { reach: 'login' }
    default:
      return fault satisfies never
  }
}

/** Never throws for what a host does; @throws the signal's reason */
export const inspect = async (
  connect: () => Promise<Connection>,
  { admin, siteRoot }: HostInspection,
  signal: AbortSignal,
): Promise<Inspection> => {
  let connection: Connection
  try {
    connection = await connect()
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof SshRefused)) throw error
    return refusedAs(error)
  }
  try {
    const proxyFault = await proxyFaultOf(connection, admin)
    const execution = {
      script: INSPECT,
      fence: null,
      lines: [siteRoot],
      maxOutputBytes: OUTPUT_BYTES_MAX,
      limitMs: LIMIT_MS,
    }
    const { stdout } = await execute(connection, execution, signal)
    return { reach: 'ok', findings: findingsOf(stdout.toString(), { siteRoot, proxyFault }) }
  } catch (error) {
    signal.throwIfAborted()
    return { reach: 'unreachable', detail: error instanceof Error ? error.message : 'the connection was lost' }
  } finally {
    connection.end()
  }
}
