import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'

/**
 * The way of boxes to a platform that listens on the loopback of this machine: a socket in a folder that is mounted in them, called
 * as its port. So nothing listens on a network for it, theirs included, and they report to the address that everybody here has.
 * It goes with this process.
 */
export async function openLoopback(folder: string, port: number): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  for (const left of readdirSync(folder)) rmSync(join(folder, left))
  const server = createServer({ allowHalfOpen: true }, (box) => {
    const platform = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    pipeline(box, platform, box, () => {}) // whichever end breaks ends the other, and the next report is a new connection
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(join(folder, String(port)), resolve)
  })
  server.unref()
}
