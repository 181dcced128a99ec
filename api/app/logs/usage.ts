/** GET …/metrics: what an app was asked and what it used (rules/app.md#usage). */
import { MINUTE_MS, pointOf, pointsOf, widthOf } from '../../../crds/app/lifecycle/usage/points.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

const DAY_MS = 86_400_000
/** So long minutes are kept. */
export const KEPT_DAYS = 7
const SPAN_DEFAULT_MS = DAY_MS
export const INSTANT_PATTERN = '^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,3})?)?Z)?$'

const msOf = (name: string, text: string): number => {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) throw new Problem('INVALID_FIELD', `${name} is no instant: give it as 2026-11-22T10:00:00Z.`)
  return ms
}

export const getUsage = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name } = await apps.find(deps, request)
  const { from, to } = request.query
  const nowMs = deps.now().getTime()
  const toMs = to === undefined ? nowMs : Math.min(nowMs, msOf('to', to))
  const asked = from === undefined ? toMs - SPAN_DEFAULT_MS : msOf('from', from)
  if (asked > toMs) throw new Problem('INVALID_FIELD', 'from comes after to.')
  const fromMs = Math.max(asked, nowMs - KEPT_DAYS * DAY_MS)
  const width = widthOf(fromMs, toMs)
  const span = { from: new Date(fromMs).toISOString(), to: new Date(Math.max(fromMs, toMs)).toISOString() }
  const minutes = await deps.usage.minutes(name, span)
  const { at: _at, ...total } = pointOf(span.from, minutes)
  const metrics = { ...span, step_seconds: (width * MINUTE_MS) / 1_000, total, points: pointsOf(minutes, width) }
  return { status: 200, body: { metrics } }
}
