/**
 * The webhook sender in a process of its own, so that a test can kill it. Leads under the next epoch, goes by a clock whose offset it
 * is told of, resolves names by the test's server and trusts the test's authority. Argument: a WebhookSenderOrder as JSON.
 */
import { pino } from 'pino'
import { makeEgress } from '../../../controllers/net/egress.ts'
import { takeEpoch } from '../../../controllers/store/pg/fence.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { makeDeliveries } from '../../../controllers/store/webhook/deliveries.ts'
import { startWebhookSender } from '../../../controllers/workers/webhook-sender.ts'
import { resolveBy } from '../doubles/egress.ts'
import { noticeOf, webhookSealer } from '../stage/webhook-senders.ts'

export type WebhookSenderOrder = {
  databaseUrl: string
  names: string
  ca: string
  offsetMs: number
  /** Shorter than the webhook sender's own, at one host that hangs now and then. */
  limit: { host: string; limitMs: number }
}

if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? '') as WebhookSenderOrder
  let { offsetMs } = order
  const now = () => new Date(Date.now() + offsetMs)
  const pg = makePg({ url: order.databaseUrl })
  const egress = makeEgress({ allowLoopback: true, resolve: resolveBy(order.names), ca: order.ca })
  const epoch = await takeEpoch(pg, `chaos-${process.pid}`)
  const webhookSender = startWebhookSender({
    deliveries: makeDeliveries({ pg, sealer: webhookSealer, epoch: () => epoch, now }),
    egress: {
      ...egress,
      exchange: (request) => {
        const isLimited = new URL(request.url).hostname === order.limit.host
        return egress.exchange(isLimited ? { ...request, limitMs: order.limit.limitMs } : request)
      },
    },
    now,
    noticeOf,
    log: pino({ level: 'silent' }),
  })
  process.on('message', (moved: number) => {
    offsetMs = moved
    webhookSender.wake()
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.('leads')
}
