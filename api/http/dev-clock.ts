/**
 * `/api/dev/clock`: moves the platform's clock forward on a development installation, so that reminders, leases and
 * expiries can be seen without waiting for them. Any other installation does not know the path (rules/platform.md#clock).
 */
import type { DevClock } from '../../controllers/store/clock.ts'
import { object, text } from '../openapi/schemas.ts'
import type { Route } from '../wiring/route.ts'
import { Problem } from './problem.ts'

/** What falls due is looked at within this, or the answer says that it was not. */
const SETTLE_MS = 30_000
const ADVANCE_MAX_DAYS = 3_660
const DAY_MS = 86_400_000

/** An ISO 8601 duration in milliseconds, days of 24 hours. @throws Problem INVALID_FIELD */
const msOf = (advance: string): number => {
  const refuse = (detail: string): never => {
    throw new Problem('INVALID_FIELD', detail, { faults: [{ code: 'INVALID_FIELD', pointer: '/advance', detail }] })
  }
  try {
    const relativeTo = Temporal.PlainDate.from('2026-01-01')
    const ms = Temporal.Duration.from(advance).total({ unit: 'milliseconds', relativeTo })
    if (ms > 0 && ms <= ADVANCE_MAX_DAYS * DAY_MS) return Math.round(ms)
  } catch {
    return refuse(`${JSON.stringify(advance)} is no duration of ISO 8601, as P3D or PT30M.`)
  }
  return refuse(`The clock moves forward only, and by at most ${ADVANCE_MAX_DAYS} days.`)
}

/** The routes of one installation's clock. */
export const devClockRoutes = (clock: DevClock): Route<unknown>[] => {
  const answer = () => ({ status: 200, body: { now: clock.now().toISOString() } })
  const common = { path: '/api/dev/clock', scope: { kind: 'full' }, role: 'admin', hidden: true } as const
  return [
    { ...common, method: 'GET', summary: "Read the platform's clock", handle: async () => answer() },
    {
      ...common,
      method: 'POST',
      summary: "Move the platform's clock forward",
      body: {
        ...object('How far.', { advance: text('An ISO 8601 duration, as P3D.') }),
        required: ['advance'],
        additionalProperties: false,
      },
      handle: async (_deps, { body }) => {
        const { advance } = body as { advance: string }
        if (await clock.advance(msOf(advance), SETTLE_MS)) return answer()
        throw new Problem('UNAVAILABLE', 'The clock was moved, but the controllers have not looked at what fell due.')
      },
    },
  ]
}
