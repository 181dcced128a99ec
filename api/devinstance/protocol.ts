/** The provisioner's confirmations: each is said, judged and answered alike (rules/devinstance.md#protocol; call.ts). */

import { FINALIZE, REPO_CHANGE, type Said, type Trigger } from '../../crds/devinstance/protocol.ts'
import { centsOf } from '../../crds/devinstance/sizing/prices.ts'
import { MEASUREMENTS } from '../../crds/devinstance/sizing/profile.ts'
import { sizingOf } from '../../crds/devinstance/sizing/repo.ts'
import { toPatch } from '../../crds/kernel/rest.ts'
import { type ObjectSchema, withDefaults } from '../../crds/kernel/schema.ts'
import { newReportToken } from '../auth/tokens.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { Deps } from '../wiring/deps.ts'
import { answerOf, callDevInstance, pending } from './call.ts'
import { budgetOf, changeable, detailOf } from './find.ts'

/** A body in the form in which it is kept: decimals as text, defaults filled in. */
const said = <T>(schema: ObjectSchema, body: unknown): T => withDefaults<T>(schema, toPatch({ spec: schema }, body))

const saying =
  <T extends Trigger>(trigger: T, of: (request: ApiRequest) => Said[T] = ({ body }) => body as Said[T]) =>
  async (deps: Deps, request: ApiRequest): Promise<Answer> => {
    const stored = await changeable(deps, request)
    return answerOf(deps, stored.id, await callDevInstance(deps, request, stored, { trigger, said: of(request) }))
  }

export const provisioning = saying('provisioning')
export const finalize = saying('finalize', ({ body }) => said(FINALIZE, body))
export const started = saying('started')
export const stopped = saying('stopped')
export const resizing = saying('resizing')
export const resized = saying('resized')
export const renamed = saying('renamed')
export const eipReleased = saying('eip-released')
export const terminated = saying('terminated')
export const capOverride = saying('cap-override', () => ({}))

/** What a caller believes is needed does not count. */
const withoutClass = (value: unknown): Record<string, unknown> => {
  const { requiredClass: _ignored, ...rest } = value as Record<string, unknown>
  return rest
}

export const putRepo = saying('repo', ({ body }) => {
  const { profile, ...rest } = withoutClass(body)
  return said(REPO_CHANGE, { ...rest, profile: withoutClass(profile) })
})

/** Answers with the sizing that follows from what was measured. */
export const putMeasurements = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const measurements = said<Said['measurements']>(MEASUREMENTS, request.body)
  const called = await callDevInstance(deps, request, stored, { trigger: 'measurements', said: measurements })
  if (called.stored === null) return pending(stored.id)
  const { committedMicroUsd, capMicroUsd } = await budgetOf(deps, stored.owner)
  const left = Math.max(0, centsOf(capMicroUsd) - centsOf(committedMicroUsd))
  return { status: 200, body: sizingOf(called.stored.box, left) }
}

/** The one report token: what was issued before it opens nothing any more. */
export const issueToken = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const { token, secret } = newReportToken(deps.hash, stored.id, request.idempotencyKey)
  const hash = deps.hash(secret).toString('hex')
  const called = await callDevInstance(deps, request, stored, { trigger: 'token', said: { hash } })
  if (called.stored === null) return pending(stored.id)
  return { status: 201, body: { token, devbox: await detailOf(deps, called.stored) } }
}

/** Only a team that the caller belongs to. */
export const share = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const { teamId } = request.body as Said['share']
  if (!request.caller.profile.teams.includes(teamId)) {
    throw new Problem('NOT_FOUND', `You are in no team ${teamId}.`)
  }
  return answerOf(deps, stored.id, await callDevInstance(deps, request, stored, { trigger: 'share', said: { teamId } }))
}

export const unshare = async (deps: Deps, request: ApiRequest): Promise<Answer> => {
  const stored = await changeable(deps, request)
  const teamId = request.params.teamId ?? ''
  if (!stored.box.teams.includes(teamId)) throw new Problem('NOT_FOUND', `It is not shared with a team ${teamId}.`)
  return answerOf(
    deps,
    stored.id,
    await callDevInstance(deps, request, stored, { trigger: 'unshare', said: { teamId } }),
  )
}
