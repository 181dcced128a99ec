/**
 * The courier in a thread of its own: an exchange with a mail server is a dozen short turns, each of which would wait
 * behind the passes on the main thread. Imported by main.ts for `startCourierThread`; run as the thread's own entry.
 */
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Courier, type CourierHooks, startCourier } from './courier.ts'
import { makeMailer } from './io/mail.ts'
import { StaleEpoch } from './runtime/fence.ts'
import { makeKeys } from './runtime/keys.ts'
import { type Log, makeLog } from './runtime/log.ts'
import { makeOutbox } from './runtime/outbox.ts'
import { makePg } from './runtime/pg.ts'

/** Plain values: a thread is handed copies. */
export type CourierSettings = {
  databaseUrl: string
  smtpUrl: string
  mailFrom: string
  secretKey: Uint8Array
  publicUrl: string
  lanes: number
  logLevel: string
}

type Order = 'wake' | 'stop'
type News =
  | { delivered: string[] }
  | { attempt: Parameters<NonNullable<CourierHooks['onAttempt']>>[0] }
  | { stale: true }
  | { stopped: true }

/** @param hooks.onStale somebody else leads: nothing that this process still does may count */
export const startCourierThread = (
  settings: CourierSettings,
  epoch: number,
  hooks: CourierHooks & { onStale(): void; onFailed(error: unknown): void },
): Courier => {
  const thread = new Worker(new URL(import.meta.url), { workerData: { settings, epoch } })
  const stopped = Promise.withResolvers<void>()
  thread.on('message', (news: News) => {
    if ('delivered' in news) for (const resource of news.delivered) hooks.onDelivered(resource)
    else if ('attempt' in news) hooks.onAttempt?.(news.attempt)
    else if ('stale' in news) hooks.onStale()
    else stopped.resolve()
  })
  thread.on('error', hooks.onFailed)
  thread.on('exit', () => stopped.resolve())
  const order = (what: Order) => thread.postMessage(what)
  return {
    wake: () => order('wake'),
    stop: async () => {
      order('stop')
      await stopped.promise
      await thread.terminate()
    },
  }
}

const run = (log: Log, { settings, epoch }: { settings: CourierSettings; epoch: number }) => {
  const tell = (news: News) => parentPort?.postMessage(news)
  const pg = makePg({
    url: settings.databaseUrl,
    max: settings.lanes,
    applicationName: 'bottega-courier',
    around: (_call, statement) =>
      statement().catch((error) => {
        if (error instanceof StaleEpoch) tell({ stale: true })
        throw error
      }),
    onConnectionError: (err) => log.warn({ err }, 'database connection lost'),
  })
  const mailer = makeMailer({ url: settings.smtpUrl, from: settings.mailFrom, pool: settings.lanes })
  const now = () => new Date()
  const courier = startCourier({
    outbox: makeOutbox({ pg, epoch: () => epoch, now }),
    mailer,
    keys: makeKeys(Buffer.from(settings.secretKey)),
    publicUrl: settings.publicUrl,
    lanes: settings.lanes,
    now,
    log,
    onDelivered: (resource) => tell({ delivered: [resource] }),
    onAttempt: (attempt) => tell({ attempt }),
  })
  parentPort?.on('message', async (order: Order) => {
    if (order === 'wake') return courier.wake()
    await courier.stop()
    mailer.close()
    await pg.close()
    tell({ stopped: true })
  })
}

if (!isMainThread && workerData?.settings) {
  run(makeLog({ level: workerData.settings.logLevel, base: { process: 'controllers', thread: 'courier' } }), workerData)
}
