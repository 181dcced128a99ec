/**
 * POST /api/devboxes/:id/report: what the dev instance says of itself, once a minute. Rows, never etcd: the resource is looked at
 * again only when a report says something new. That it stops itself, or reports although it was stopped, is a fact; no state is
 * moved by it (rules/devinstance.md#reports). The answer is the policy, who may log in, and once the environment.
 */

import { createHash } from 'node:crypto'
import { attestedNews, isNews, machineNews, type Report, usedAtOf } from '../../../crds/devinstance/bootstrap/report.ts'
import { callFact } from '../../../crds/devinstance/facts.ts'
import { DEVINSTANCE } from '../../../crds/devinstance/kind.ts'
import { canonical } from '../../../crds/values/canonical.ts'
import { append } from '../../command/report.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { nowOf } from '../call.ts'
import type { DevInstanceNeeds } from '../needs.ts'
import { environmentFor } from './environment.ts'
import { keysFor } from './keys.ts'

const KEY_DIGITS = 16

export const takeReport = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const { caller, params, body } = request
  const id = params.id ?? ''
  const stored = await nowOf(deps, id, { account: caller.account })
  if (!stored) throw new Problem('NOT_FOUND', `There is no dev instance ${id}.`)
  const told = body as Record<string, unknown>
  const report = { at: deps.now().toISOString(), body: told, usedAt: usedAtOf(told) }
  const before = await deps.devInstances.report(id, report)
  const news = machineNews(stored.box, report)
  if (news) {
    const { machineSince } = stored.box
    // the same until the machine is known to do something else: many reports are one fact
    const said = { ...news, key: `${news.trigger}:${machineSince}`, at: report.at }
    const by = { account: stored.owner, kind: 'instance', id }
    await append(deps, { kind: DEVINSTANCE, name: id, fact: callFact(id, { ...said, by }) })
  } else if (isNews(before, report)) {
    // The report is kept: that nobody could be woken for it must not have the dev instance send it again.
    await deps.wake(DEVINSTANCE, id).catch(() => undefined)
  }
  const attested = attestedNews(stored.box, report)
  if (attested) {
    const by = { account: stored.owner, kind: 'instance', id }
    // one that waited and is sent again is the same; another one of the same second, or the same after another one, is not
    const digest = createHash('sha256').update(canonical(attested)).digest('hex').slice(0, KEY_DIGITS)
    const key = `attested:${told.at}:${stored.box.attestation?.at ?? ''}:${digest}`
    const fact = { trigger: 'attested' as const, said: attested, key, at: report.at, by }
    await append(deps, { kind: DEVINSTANCE, name: id, fact: callFact(id, fact) })
  }
  const { policy } = stored
  // What stops takes nothing along.
  if ((body as Report).stopping) return { status: 200, body: { policy } }
  const keys = await keysFor(deps, stored, { before, report })
  const environment = await environmentFor(deps, stored, request)
  return { status: 200, body: { policy, ...keys, ...environment } }
}
