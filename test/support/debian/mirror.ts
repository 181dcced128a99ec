import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { cacheOf } from '../../../hack/lib/files.ts'

/**
 * What a machine without a network asks for packages: a proxy on a socket that keeps what never changes under its name, and
 * serves a folder of our own under any other name.
 */
export type Mirror = { socket: string; close(): Promise<void> }

/** Named by what is in it: packages of one version, and lists under their sums. */
const NEVER_CHANGES = /\.u?deb$|\/by-hash\//

const send = (response: ServerResponse, status: number, body: Buffer | string = ''): void => {
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

/** The machine's own name for us, whatever the port. */
const OWN = 'http://127.0.0.1'

const ownFile = (folder: string, pathname: string): Buffer | null => {
  const path = join(folder, pathname)
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path) : null
}

/** What the archive of Debian has under an address; from the cache where it can be. Null: nothing. */
const fetched = async (url: string): Promise<Buffer | null> => {
  const place = join(cacheOf('debian'), 'fetched', createHash('sha256').update(url).digest('hex'))
  if (NEVER_CHANGES.test(url) && existsSync(place)) return readFileSync(place)
  const answer = await fetch(url).catch(() => null)
  if (answer === null) return existsSync(place) ? readFileSync(place) : null
  if (!answer.ok) return null
  const bytes = Buffer.from(await answer.arrayBuffer())
  mkdirSync(dirname(place), { recursive: true })
  const partial = `${place}.${process.pid}`
  writeFileSync(partial, bytes)
  renameSync(partial, place)
  return bytes
}

/** @param own a folder  @param socket where it listens */
export const startMirror = async ({ own, socket }: { own: string; socket: string }): Promise<Mirror> => {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', OWN)
    try {
      const bytes = url.origin.startsWith(OWN) ? ownFile(own, url.pathname) : await fetched(url.href)
      send(response, bytes === null ? 404 : 200, bytes ?? '')
    } catch (error) {
      send(response, 500, String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return {
    socket,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
