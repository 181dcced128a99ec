/** The card processor for tests: its own mock, which knows what is well formed, behind a stand-in that has a state. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../hack/lib/ports.ts'
import { createService, waitFor } from '../../../hack/lib/processes.ts'
import { createProgress } from '../../../hack/lib/progress.ts'
import { ensureTools } from '../../../hack/lib/tools.ts'
import { type CardStandIn, startCardStandIn } from '../../../hack/stage/cardstandin.ts'
import { scratchFolder } from '../stage/stage.ts'

export const SECRET_KEY = 'sk_test_standin'
export const WEBHOOK_SECRET = 'whsec_standin'

/** The processor's own mock (stripe-mock), which refuses what is not well formed and remembers nothing. */
export const startCardMock = async (): Promise<{ url: string; end(): Promise<void> }> => {
  const tools = await ensureTools(['stripe-mock'], { progress: createProgress() })
  const folder = scratchFolder('cards')
  const [port, tlsPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const logFile = join(folder, 'stripe-mock.log')
  const answers = async () => (await fetch(url).catch(() => null)) !== null
  const service = createService({
    name: 'stripe-mock',
    logFile,
    launch: () => ({
      name: 'stripe-mock',
      owner: process.env.BOTTEGA_OWNER ?? `test-${process.pid}`,
      logFile,
      command: tools.path('stripe-mock'),
      args: ['-http-addr', `127.0.0.1:${port}`, '-https-addr', `127.0.0.1:${tlsPort}`],
    }),
    ready: (signal) => waitFor('stripe-mock', answers, { timeoutMs: 30_000, signal }),
  })
  await service.start()
  const end = async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { url, end }
}

export type Cards = CardStandIn & { env: Record<string, string>; end(): Promise<void> }

/** A stand-in that shows every request to the mock first. @param baseUrl of the API that is to hear of it */
export const startCards = async (baseUrl: () => string): Promise<Cards> => {
  const mock = await startCardMock()
  const standIn = await startCardStandIn({
    secretKey: SECRET_KEY,
    webhookSecret: WEBHOOK_SECRET,
    webhookUrl: () => `${baseUrl()}/api/collect/stripe/webhook`,
    validator: mock.url,
  })
  const env = {
    BOTTEGA_STRIPE_SECRET_KEY: SECRET_KEY,
    BOTTEGA_STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    BOTTEGA_STRIPE_API_BASE: standIn.apiBase,
  }
  const end = async () => {
    await standIn.stop()
    await mock.end()
  }
  return Object.assign(standIn, { env, end })
}
