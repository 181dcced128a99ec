/** An app as people read it: how it stands, in place of all that is known of it (`--json` gives that). */
import type { AnswerBody } from '../net/api.ts'
import { memberLines } from './show.ts'
import { oneLine } from './terminal.ts'

const MARKS = new Map<unknown, string>([
  [true, '✓'],
  [false, '✗'],
  [null, '?'],
])

/** Whether it answers, check by check. */
export const checkLines = ({ state, checks = [] }: AnswerBody): string[] => [
  `readiness: ${oneLine(state ?? 'unknown', 40)}`,
  ...(checks as AnswerBody[]).map(
    ({ name, ok, detail }) => `  ${MARKS.get(ok) ?? '?'} ${oneLine(name ?? '', 60)}: ${oneLine(detail ?? '', 300)}`,
  ),
]

const operationLine = ({ id, kind, state, result }: AnswerBody): string =>
  oneLine(
    `operation: ${id}, ${kind}, ${state}${result?.code ? `, ${result.code}: ${result.detail ?? '-'}` : ''}`,
    1_000,
  )

const releaseLine = (release: AnswerBody): string => {
  if (!release) return 'release: none yet'
  return oneLine(`release: ${release.number} since ${release.live_at ?? release.created_at}`, 300)
}

const envLine = ({ keys = [], stored_version: stored, applied_version: applied }: AnswerBody): string =>
  oneLine(`env: ${keys.join(', ') || '-'} (stored ${stored ?? '-'}, applied ${applied ?? '-'})`, 500)

const budgetLine = ({ cpu_millis: cpu, memory_mib: memory, disk_gib: disk }: AnswerBody): string =>
  `budget: ${cpu / 1000} CPU, ${memory} MiB memory, ${disk} GiB disk`

/** One that is alone is not counted. */
const replicaLines = ({ wanted, live, ready }: AnswerBody): string[] =>
  wanted > 1 || live > 1 ? [`replicas: ${ready ?? 0} of ${wanted} answer`] : []

/** How an app stands, in a few lines. */
export const appLines = (app: AnswerBody): string[] => {
  const { release, operation, env, stalled, budget, readiness, replicas } = app
  return [
    oneLine(`${app.slug} (${app.id}) is ${app.status}, ${app.access}, on ${app.host_id}`, 300),
    `url: ${oneLine(app.url ?? '-', 300)}`,
    releaseLine(release),
    ...(operation ? [operationLine(operation)] : []),
    ...replicaLines(replicas ?? {}),
    envLine(env ?? {}),
    ...(budget ? [budgetLine(budget)] : []),
    ...checkLines(readiness ?? {}),
    ...(stalled ? [oneLine(`stalled: ${stalled.code}: ${stalled.detail}`, 1_000)] : []),
  ]
}

/** An answer with a whole app in it: what else was answered, and how the app stands. Null for any other. */
export const appAnswerLines = (body: AnswerBody): string[] | null => {
  const { app, operation: _operation, operation_id: _id, release: _release, ...more } = body ?? {}
  return typeof app?.slug === 'string' ? [...memberLines(more), ...appLines(app)] : null
}
