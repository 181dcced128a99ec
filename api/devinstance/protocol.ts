/** The provisioner's confirmations: each is said, judged and answered alike (rules/devinstance.md#protocol; call.ts). */

import { isReport } from '../../crds/devinstance/life/table.ts'
import { FINALIZE, REPO_CHANGE, type Said, type Trigger } from '../../crds/devinstance/protocol.ts'
import { MEASUREMENTS } from '../../crds/devinstance/sizing/profile.ts'
import { toPatch } from '../../crds/kernel/rest.ts'
import { type ObjectSchema, withDefaults } from '../../crds/kernel/schema.ts'
import { newReportToken } from '../auth/tokens.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { callDevInstance } from './call.ts'
import { callCommand, measureCommand, tokenCommand } from './commands.ts'
import { changeable, reportable } from './find.ts'
import type { DevInstanceNeeds } from './needs.ts'

/** A body in the form in which it is kept: decimals as text, defaults filled in. */
const said = <T>(schema: ObjectSchema, body: unknown): T => withDefaults<T>(schema, toPatch({ spec: schema }, body))

const saying =
  <T extends Trigger>(trigger: T, of: (request: ApiRequest) => Said[T] = ({ body }) => body as Said[T]) =>
  async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
    const stored = await (isReport(trigger) ? reportable : changeable)(deps, request)
    return callDevInstance(deps, request, stored, { trigger, said: of(request), command: callCommand, kept: {} })
  }

export const provisioning = saying('provisioning')
export const finalize = saying('finalize', ({ body }) => said(FINALIZE, body))
export const starting = saying('starting')
export const started = saying('started')
export const halting = saying('halting')
export const stopped = saying('stopped')
export const resizing = saying('resizing')
export const resized = saying('resized')
export const renamed = saying('renamed')
export const eipReleased = saying('eip-released')
export const terminating = saying('terminating')
export const terminated = saying('terminated')
export const capOverride = saying('cap-override', () => ({}))

/** What a caller believes is needed does not count. */
const withoutClass = (value: unknown): Record<string, unknown> => {
  const { requiredClass: _ignored, ...rest } = value as Record<string, unknown>
  return rest
}

/** Its refusal says what the repository needs, by the profile that came with it. */
export const putRepo = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const { profile, ...rest } = withoutClass(request.body)
  const repo = said<Said['repo']>(REPO_CHANGE, { ...rest, profile: withoutClass(profile) })
  const kept = { profile: repo.profile }
  return callDevInstance(deps, request, stored, { trigger: 'repo', said: repo, command: callCommand, kept })
}

export const putMeasurements = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const stored = await reportable(deps, request)
  const measured = said<Said['measurements']>(MEASUREMENTS, request.body)
  const call = { trigger: 'measurements', said: measured, command: measureCommand, kept: {} } as const
  return callDevInstance(deps, request, stored, call)
}

/** The one report token: what was issued before it opens nothing any more. */
export const issueToken = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const { token, secret } = newReportToken(deps.keys, stored.id, request.idempotencyKey)
  const hash = deps.keys.tokenHash(secret).toString('hex')
  const call = { trigger: 'token', said: { hash }, command: tokenCommand, kept: { token } } as const
  return callDevInstance(deps, request, stored, call)
}

/** Only a team that the caller belongs to. */
export const share = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const { teamId } = request.body as Said['share']
  if (!request.caller.profile.teams.includes(teamId)) {
    throw new Problem('NOT_FOUND', `You are in no team ${teamId}.`)
  }
  const call = { trigger: 'share', said: { teamId }, command: callCommand, kept: {} } as const
  return callDevInstance(deps, request, stored, call)
}

export const unshare = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const teamId = request.params.teamId ?? ''
  if (!stored.box.teams.includes(teamId)) throw new Problem('NOT_FOUND', `It is not shared with a team ${teamId}.`)
  const call = { trigger: 'unshare', said: { teamId }, command: callCommand, kept: {} } as const
  return callDevInstance(deps, request, stored, call)
}
