import { randomInt } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { tryLock } from './lock.ts'
import { CommandRefusal } from './refusal.ts'

/** Below 32768, where the kernel draws the ports of outgoing connections: those must never take one of ours. */
const lowest = 20_000
const highest = 31_999
const draws = 50

/**
 * Whether nobody listens on this port of 127.0.0.1 now. It takes the port for a moment to learn it: a process that is to
 * listen there must not be starting meanwhile (`isListening` asks without taking).
 */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Whether somebody accepts connections on this port of 127.0.0.1 now. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

/** Drawn by this process, for as long as it lives: some are listened on much later, and others draw meanwhile. */
const ours = new Set<number>()

/** The lock comes first: a look at a port of somebody else would take it in the moment in which they listen. */
async function claim(port: number): Promise<boolean> {
  const lock = await tryLock(`port ${port}`)
  if (lock === null) return false
  if (!(await isFree(port))) {
    await lock.release()
    return false
  }
  ours.add(port)
  return true
}

/** A free port: `preferred` if it still is, so that addresses survive a restart, else one drawn at random. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred && (ours.has(preferred) ? await isFree(preferred) : await claim(preferred))) return preferred
  for (let draw = 0; draw < draws; draw += 1) {
    const port = randomInt(lowest, highest + 1)
    if (await claim(port)) return port
  }
  throw new CommandRefusal(
    `No free port between ${lowest} and ${highest} in ${draws} draws: something on this machine holds them.`,
  )
}
