import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf } from './refusal.ts'

const pollMs = 200

/**
 * Takes a lock of this machine and user, or gives null when another process holds it. It is an abstract unix socket: the
 * kernel frees it when the holder ends, however it ends, and no file is left behind.
 */
export async function tryLock(key: string): Promise<{ release(): Promise<void> } | null> {
  const server = createServer((socket) => socket.destroy())
  const digest = createHash('sha256').update(key).digest('hex').slice(0, 32)
  const taken = await listen(server, `\0bottega-${process.getuid?.() ?? 0}-${digest}`)
  if (!taken) return null
  server.unref() // holding a lock is no reason to stay alive
  return { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** Runs `work` while holding the lock of `key`; `onWait` is called once when somebody else has it. */
export async function withLock<T>(key: string, work: () => Promise<T>, onWait?: () => void): Promise<T> {
  let lock = await tryLock(key)
  if (lock === null) onWait?.()
  while (lock === null) {
    await sleep(pollMs)
    lock = await tryLock(key)
  }
  try {
    return await work()
  } finally {
    await lock.release()
  }
}

function listen(server: Server, path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? resolve(false) : reject(error)))
    server.listen({ path }, () => resolve(true))
  })
}
