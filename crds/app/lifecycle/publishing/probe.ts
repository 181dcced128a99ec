/** What says that an app is ready: which path is asked, and which answers are well (rules/app.md#readiness). */
import type { Fault } from '../../../kernel/problem.ts'
import type { AppSpec } from '../../schema.ts'

export const STATUS_DEFAULT: readonly string[] = ['200-399']
const PATH_DEFAULT = '/'
const TIMEOUT_SECONDS = 5

export type ReadinessProbe = { path: string; status: readonly string[]; timeoutSeconds: number }

export const probeOf = ({ readiness }: Pick<AppSpec, 'readiness'>): ReadinessProbe => ({
  path: readiness?.path ?? PATH_DEFAULT,
  status: readiness?.status ?? STATUS_DEFAULT,
  timeoutSeconds: readiness?.timeoutSeconds ?? TIMEOUT_SECONDS,
})

/** @param rule as `204`, or `200-399` */
const rangeOf = (rule: string): [number, number] => {
  const [from = '', to = from] = rule.split('-')
  return [Number(from), Number(to)]
}

export const isWell = ({ status }: Pick<ReadinessProbe, 'status'>, answered: number): boolean =>
  status.some((rule) => {
    const [from, to] = rangeOf(rule)
    return from <= answered && answered <= to
  })

export const probeFaults = ({ readiness }: Pick<AppSpec, 'readiness'>): Fault[] =>
  (readiness?.status ?? []).flatMap((rule, place): Fault[] => {
    const [from, to] = rangeOf(rule)
    if (from <= to) return []
    const detail = `${rule} is a range that ends before it begins`
    return [{ code: 'INVALID_FIELD', pointer: `/readiness/status/${place}`, detail }]
  })

export const probeView = (spec: Pick<AppSpec, 'readiness'>) => {
  const { path, status, timeoutSeconds } = probeOf(spec)
  return { path, status: [...status], timeout_seconds: timeoutSeconds }
}
