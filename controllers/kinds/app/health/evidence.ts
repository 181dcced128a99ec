/** What a container said last, and how its engine saw it end, with the values of the env blackened. */
import type { Finding, HealthCode } from '../../../../crds/app/lifecycle/health/seen.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { MARK, markedLines } from '../../../../crds/app/start.ts'
import type { Release } from '../../../../crds/app/world.ts'
import type { ActContext } from '../acts/context.ts'
import { baseProjectOf } from '../jobs.ts'
import { EVIDENCE } from '../scripts.ts'

export type Evidence = { log: string | null; exitCode: number | null; isOutOfMemory: boolean }

const DEADLINE_MS = 15_000
const LINES = 40
/** How far back the engine is asked for ends. */
const PAST_SECONDS = 90
/** What its engine noted of an end says something of these alone; of others it may be an earlier one. */
const BY_AN_END: readonly HealthCode[] = ['SERVICE_RESTARTED', 'CRASH_LOOP', 'SERVICE_MISSING']
const LOG_KEPT = 8_000

/** Without the lines at the end that are ours. */
const unmarked = (text: string): string => {
  const lines = text.trimEnd().split('\n')
  return lines.slice(0, lines.findLastIndex((line) => !line.startsWith(`${MARK} `)) + 1).join('\n')
}

/** Of the container of a finding, or of whoever takes the visitors. */
const subjectOf = ({ spec }: AppResource, { record }: Release, { container }: Finding) => {
  if (container) return container
  const { project = null, route, listener = '', stateful = [] } = record ?? {}
  const routed = route && stateful.includes(route.service) ? baseProjectOf(spec.slug) : project
  return { project: routed ?? '', name: listener }
}

/** What is there to be read; nothing where the host does not tell: what was found counts all the same. */
export const evidenceOf = async (
  { hosts, logs }: ActContext,
  object: AppResource,
  release: Release,
  finding: Finding,
): Promise<Evidence> => {
  const { project, name } = subjectOf(object, release, finding)
  if (project === '') return { log: null, exitCode: finding.exitCode, isOutOfMemory: false }
  const lines = [project, name, String(LINES), String(PAST_SECONDS)]
  const run = { script: EVIDENCE, lines, deadlineMs: DEADLINE_MS, lane: 'status' as const }
  const { stdout } = await hosts.link(object.spec.hostId).run(run)
  const text = stdout.toString('utf8')
  const marked = markedLines(text)
  const isEnd = BY_AN_END.includes(finding.code)
  const died = marked.filter(([word]) => word === 'die').at(-1)
  const redact = await logs.redactFor(object.metadata.name, release.number)
  const log = redact(unmarked(text).trimEnd()).slice(-LOG_KEPT)
  return {
    log: log === '' ? null : log,
    exitCode: died === undefined || !isEnd ? finding.exitCode : Number(died[1]),
    isOutOfMemory: isEnd && marked.some(([word]) => word === 'oom'),
  }
}

/** The finding in words, with how it ended. */
export const sayWith = ({ detail, exitCode: found }: Finding, { exitCode, isOutOfMemory }: Evidence): string => {
  const ended = exitCode !== null && exitCode !== found ? `, exit code ${exitCode}` : ''
  return `${detail}${ended}${isOutOfMemory && !detail.includes('memory') ? ', it ran out of memory' : ''}`
}
