import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

/** What one address may try to hold of the process: bodies that swell, bodies that never come, answers that nobody reads. */

/** Of the crowd; whoever else asks comes from another. */
const FROM = '127.0.0.2'

export type CrowdTarget = { port: number; token: string }

const open = async (port: number): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress: FROM })
  socket.on('error', () => {}) // refused, or ended by whoever is tired of it
  await Promise.race([once(socket, 'connect'), once(socket, 'close')])
  return socket
}

const head = (line: string, token: string, more: readonly string[] = []): string =>
  [`${line} HTTP/1.1`, 'host: here.test', `authorization: Bearer ${token}`, ...more, '', ''].join('\r\n')

const opened = (count: number, each: () => Promise<Socket>): Promise<Socket[]> =>
  Promise.all(Array.from({ length: count }, each))

/** Each of 15 MB, packed a thousandfold. */
export const packedBodies = (count: number, { port, token }: CrowdTarget): Promise<Socket[]> => {
  const body = gzipSync(Buffer.from(JSON.stringify({ a: ' '.repeat(14_900_000) })))
  const headers = ['content-type: application/json', 'content-encoding: gzip', `content-length: ${body.length}`]
  return opened(count, async () => {
    const socket = await open(port)
    socket.resume()
    socket.write(head('POST /api/website/generate', token, headers))
    socket.write(body)
    return socket
  })
}

/** Each of a thousand bytes, of which one comes. */
export const begunBodies = (count: number, { port, token }: CrowdTarget): Promise<Socket[]> =>
  opened(count, async () => {
    const socket = await open(port)
    socket.resume()
    socket.write(`${head('POST /api/collect/stripe/webhook', token, ['content-length: 1000'])}x`)
    return socket
  })

/** Who ask for the largest answer again and again, and read nothing. */
export const slowReaders = (count: number, { port, token }: CrowdTarget): Promise<Socket[]> =>
  opened(count, async () => {
    const socket = await open(port)
    socket.pause()
    socket.write(head('GET /api/openapi-invoices.json', token).repeat(20))
    return socket
  })
