/** The log of an app for who reads it: fetched once for all who do, with every value of the env blackened. */

import { FOLD_START } from '../../../../crds/app/lifecycle/logs/fold.ts'
import {
  askedSince,
  cursorIn,
  linesFor,
  runLinesIn,
  shownRunLine,
} from '../../../../crds/app/lifecycle/logs/runlines.ts'
import { makeRedact } from '../../../../crds/app/lifecycle/redact.ts'
import { liveOf } from '../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppWorld, LogRequest, Release } from '../../../../crds/app/world.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import type { KeptLogs } from '../../../store/app/logs.ts'
import type { AppLedger } from '../../../store/app/operations.ts'
import { baseProjectOf } from '../jobs.ts'
import type { Releases } from '../release.ts'
import { LOGS } from '../scripts.ts'

const DEADLINE_MS = 10_000
/** Of one answer of the host, as logs.sh cuts it: the first line of one that is as long may be half of one. */
const OUTPUT_BYTES = 900_000
/** As take-down.sh cuts it. */
const LAST_BYTES = 48_000

type Redact = (text: string) => string

export type Logs = {
  /** Blackens the env of a release; of none, nothing is secret. */
  redactFor(app: string, release: number | null): Promise<Redact>
  fetch(object: AppResource, requests: readonly LogRequest[]): Promise<(world: AppWorld) => AppWorld>
  /** Keeps the last lines of a release that was taken down; again changes nothing. */
  keepLast(app: string, release: Release, log: string): Promise<void>
}

type LogsDeps = { ledger: AppLedger; releases: Releases; kept: KeptLogs; hosts: Hosts; now: () => Date }

/** Those who want the last lines, and those who go on from where they were. */
const groupsOf = (requests: readonly LogRequest[]): { requests: LogRequest[]; tail: number; since: string }[] => {
  const fresh = requests.filter(({ since }) => since === null)
  const going = requests.filter(({ since }) => since !== null)
  const cursors = going.flatMap(({ since }) => cursorIn(since) ?? [])
  return [
    ...(fresh.length > 0 ? [{ requests: fresh, tail: Math.max(...fresh.map(({ tail }) => tail)), since: '' }] : []),
    ...(going.length > 0 ? [{ requests: going, tail: 0, since: askedSince(cursors) }] : []),
  ]
}

export const makeLogs = (deps: LogsDeps): Logs => {
  const { ledger, releases, kept, hosts } = deps

  const redactFor: Logs['redactFor'] = async (app, release) => {
    if (release === null || !(await releases.hasSealed(app, release))) return (text) => text
    const { envVersion, project } = await releases.open(app, release)
    const env = await releases.envOf(app, envVersion)
    const written = project.services.flatMap(({ environment }) => Object.values(environment))
    return makeRedact([...Object.values(env), ...written])
  }

  type Group = ReturnType<typeof groupsOf>[number]
  const fetchGroup = async ({ spec }: AppResource, live: Release, group: Group, redact: Redact): Promise<void> => {
    const { project = null, stateful = [] } = live.record ?? {}
    const base = stateful.length > 0 ? baseProjectOf(spec.slug) : ''
    const lines = [project ?? '', base, String(group.tail), group.since]
    const run = { script: LOGS, lines, deadlineMs: DEADLINE_MS, lane: 'status' as const }
    const { stdout } = await hosts.link(spec.hostId).run(run)
    const said = runLinesIn(redact(stdout.toString('utf8')), stdout.length >= OUTPUT_BYTES)
    const at = deps.now().toISOString()
    for (const request of group.requests) {
      const { lines: fresh, since } = linesFor(request, said, at)
      const content = fresh.map((line) => `${line}\n`).join('')
      await ledger.addLog({ id: request.id, content: redact(content), since, ended: !request.follow, at })
    }
  }

  const fetch: Logs['fetch'] = async (object, requests) => {
    const { metadata, spec } = object
    const at = deps.now().toISOString()
    const rows = await ledger.observe({ app: metadata.name, host: spec.hostId, slug: spec.slug, now: at })
    const live = liveOf(rows)
    const asked = new Set(requests.map(({ id }) => id))
    const done = (world: AppWorld): AppWorld => ({ ...world, logs: world.logs.filter(({ id }) => !asked.has(id)) })
    if (!live) {
      for (const { id } of requests) await ledger.addLog({ id, content: '', since: null, ended: true, at })
      return done
    }
    const redact = await redactFor(metadata.name, live.number)
    for (const group of groupsOf(requests)) await fetchGroup(object, live, group, redact)
    return done
  }

  const keepLast: Logs['keepLast'] = async (app, { number, operation }, log) => {
    const redact = await redactFor(app, number)
    const isCut = Buffer.byteLength(log) >= LAST_BYTES
    const lines = runLinesIn(redact(log), isCut).map(shownRunLine).map(redact)
    const whole = { from: 0, to: 1, fold: FOLD_START, lines, note: null, at: deps.now().toISOString() }
    await kept.append({ app, release: number, step: 'run', operation, ...whole })
  }

  return { redactFor, fetch, keepLast }
}
