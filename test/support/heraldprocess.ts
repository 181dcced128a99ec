/**
 * The herald in a process of its own, so that a test can kill it. Leads under the next epoch, goes by a clock whose offset it
 * is told of, resolves names by the test's server and trusts the test's authority. Argument: a HeraldOrder as JSON.
 */
import { pino } from 'pino'
import { startHerald } from '../../controllers/herald.ts'
import { makeDeliveries } from '../../controllers/runtime/deliveries.ts'
import { makeEgress } from '../../controllers/runtime/egress.ts'
import { takeEpoch } from '../../controllers/runtime/fence.ts'
import { makePg } from '../../controllers/runtime/pg.ts'
import { resolveBy } from './egress.ts'
import { noticeOf, webhookSealer } from './heralds.ts'

export type HeraldOrder = {
  databaseUrl: string
  names: string
  ca: string
  offsetMs: number
  /** Shorter than the herald's own, at one host that hangs now and then. */
  limit: { host: string; limitMs: number }
}

if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? '') as HeraldOrder
  let { offsetMs } = order
  const now = () => new Date(Date.now() + offsetMs)
  const pg = makePg({ url: order.databaseUrl })
  const egress = makeEgress({ allowLoopback: true, resolve: resolveBy(order.names), ca: order.ca })
  const epoch = await takeEpoch(pg, `chaos-${process.pid}`)
  const herald = startHerald({
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
    herald.wake()
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.('leads')
}
