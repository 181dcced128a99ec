import { rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'

/**
 * Joins a network that has no link with ours, over sockets of the file system: as a program it runs inside it. Arguments:
 * FROM=TO…, each a port of 127.0.0.1 or a path.
 */

/** What one says the other hears, until either ends. */
export const joined = (one: Socket, other: Socket): void => {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}

const placeOf = (place: string) =>
  place.startsWith('/') ? { path: place } : { port: Number(place), host: '127.0.0.1' }

if (import.meta.main) {
  for (const pair of process.argv.slice(2)) {
    const [from = '', to = ''] = pair.split('=')
    if (from.startsWith('/')) rmSync(from, { force: true })
    createServer((socket) => joined(socket, connect(placeOf(to)))).listen(placeOf(from))
  }
}
