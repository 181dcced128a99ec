import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { tryLock } from './lock.ts'
import { CommandRefusal } from './refusal.ts'

/** Below 32768, where the kernel draws the ports of outgoing connections: those must never take one of ours. */
const lowest = 20_000
const highest = 31_999
const draws = 50

/** Whether nobody listens on this port of 127.0.0.1 now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** Drawn by this process, for as long as it lives: some are listened on much later, and others draw meanwhile. */
const ours = new Set<number>()

async function claim(port: number): Promise<boolean> {
  if (!(await isFree(port)) || (await tryLock(`port ${port}`)) === null) return false
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
