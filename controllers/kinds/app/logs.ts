/** The log of an app for who reads it: fetched while somebody does, with every value of the env blackened. */

import { makeRedact } from '../../../crds/app/lifecycle/redact.ts'
import { liveOf } from '../../../crds/app/plan.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import type { AppWorld, LogRequest } from '../../../crds/app/world.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import type { AppLedger } from '../../store/app/operations.ts'
import { baseProjectOf } from './jobs.ts'
import type { Releases } from './release.ts'
import { LOGS } from './scripts.ts'

const DEADLINE_MS = 10_000

export type Logs = {
  /** Blackens the env of a release; of none, nothing is secret. */
  redactFor(app: string, release: number | null): Promise<(text: string) => string>
  fetch(object: AppResource, request: LogRequest): Promise<(world: AppWorld) => AppWorld>
}

/** `web-1  | 2026-11-22T02:15:40.123456789Z text`: the instant of a line, as the engine prints it. */
const INSTANT = /\| (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z)/

/** Lines after `since`, and where to go on. The engine gives those of `since` itself again. */
export const linesAfter = (text: string, since: string | null): { content: string; since: string | null } => {
  let last = since
  const fresh = text.split('\n').filter((line) => {
    const at = INSTANT.exec(line)?.[1]
    if (at === undefined) return since === null && line !== ''
    if (since !== null && at <= since) return false
    if (last === null || at > last) last = at
    return true
  })
  return { content: fresh.map((line) => `${line}\n`).join(''), since: last }
}

export const makeLogs = (deps: { ledger: AppLedger; releases: Releases; hosts: Hosts; now: () => Date }): Logs => {
  const { ledger, releases, hosts } = deps

  const redactFor: Logs['redactFor'] = async (app, release) => {
    if (release === null || !(await releases.hasSealed(app, release))) return (text) => text
    const { envVersion, project } = await releases.open(app, release)
    const env = await releases.envOf(app, envVersion)
    const written = project.services.flatMap(({ environment }) => Object.values(environment))
    return makeRedact([...Object.values(env), ...written])
  }

  const fetch: Logs['fetch'] = async ({ metadata, spec }, request) => {
    const at = deps.now().toISOString()
    const rows = await ledger.observe({ app: metadata.name, host: spec.hostId, slug: spec.slug, now: at })
    const live = liveOf(rows)
    const done = (world: AppWorld): AppWorld => ({ ...world, logs: world.logs.filter(({ id }) => id !== request.id) })
    if (!live) {
      await ledger.addLog({ id: request.id, content: '', since: null, ended: true, at })
      return done
    }
    const { project = null, stateful = [] } = live.record ?? {}
    const { stdout } = await hosts.link(spec.hostId).run({
      script: LOGS,
      lines: [
        project ?? '',
        stateful.length > 0 ? baseProjectOf(spec.slug) : '',
        String(request.tail),
        request.since ?? '',
      ],
      deadlineMs: DEADLINE_MS,
      lane: 'status',
    })
    const redact = await redactFor(metadata.name, live.number)
    const { content, since } = linesAfter(stdout.toString('utf8'), request.since)
    await ledger.addLog({ id: request.id, content: redact(content), since, ended: !request.follow, at })
    return done
  }

  return { redactFor, fetch }
}
