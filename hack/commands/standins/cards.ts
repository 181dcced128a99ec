import { parseArgs } from 'node:util'
import { startCardStandIn } from '../../stage/cardstandin.ts'

/** The card processor of `hack/up --with cards`: listens until it is told to stop. Its secrets come by the environment. */
const { values } = parseArgs({ options: { port: { type: 'string' }, webhook: { type: 'string' } } })
const { BOTTEGA_STRIPE_SECRET_KEY: secretKey, BOTTEGA_STRIPE_WEBHOOK_SECRET: webhookSecret } = process.env
if (!values.port || !values.webhook || !secretKey || !webhookSecret) {
  console.error('Usage: BOTTEGA_STRIPE_SECRET_KEY=… BOTTEGA_STRIPE_WEBHOOK_SECRET=… cards.ts --port N --webhook URL')
  process.exit(2)
}
const { webhook } = values
const standIn = await startCardStandIn({
  port: Number(values.port),
  secretKey,
  webhookSecret,
  webhookUrl: () => webhook,
  log: console.log,
})
const stop = async () => {
  await standIn.stop()
  process.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop())
