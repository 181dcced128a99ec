/**
 * What is only looked at: the catalogue, the user data of an instance, its open proposal; an instance, their list and their history, of those
 * that were deleted too
 * (rules/devinstance.md#over-rest).
 */
import { agentsAnswer } from '../../../crds/devinstance/bootstrap/agents.ts'
import { proposalSince, resizeProposal } from '../../../crds/devinstance/bootstrap/report.ts'
import { centsOf } from '../../../crds/devinstance/sizing/prices.ts'
import { isNotPriced } from '../../../crds/devinstance/sizing/pricing/launched.ts'
import { DEFAULT_REGION } from '../../../crds/devinstance/sizing/pricing/reviewed.ts'
import type { Measurements, ScannerProfile } from '../../../crds/devinstance/sizing/profile.ts'
import { regionSizes } from '../../../crds/devinstance/sizing/sizes.ts'
import { sizeFor } from '../../../crds/devinstance/sizing/sizing.ts'
import { devInstanceItem, type ShownDevInstance, tombstoneOf } from '../../../crds/devinstance/view.ts'
import { toPatch } from '../../../crds/kernel/rest.ts'
import { withDefaults } from '../../../crds/kernel/schema.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { pagedAnswer, pageOf } from '../../openapi/paging.ts'
import { budgetOf, changeable, deletedOf, detailOf, devInstances } from '../find.ts'
import type { DevInstanceNeeds } from '../needs.ts'
import { SIZE_REQUEST, type SizeRequest } from '../shapes.ts'

/** At the prices of the region that is asked for: of one that nobody has reviewed there is no price to show. */
export const getSizes = async (_deps: unknown, { query }: ApiRequest): Promise<Answer> => {
  const answer = regionSizes(query.region ?? DEFAULT_REGION)
  if (!isNotPriced(answer)) return { status: 200, body: answer }
  const { code, detail } = answer
  throw new Problem(code, `${detail}.`, { faults: [{ code, pointer: '/region', detail }] })
}

export const getAgents = async (): Promise<Answer> => ({ status: 200, body: agentsAnswer() })

/** The sizing function, asked about a repository that need not be on any instance. */
export const sizeRepository = async (deps: DevInstanceNeeds, { caller, body }: ApiRequest): Promise<Answer> => {
  const asked = withDefaults<SizeRequest>(SIZE_REQUEST, toPatch({ spec: SIZE_REQUEST }, body))
  const { committedMicroUsd, capMicroUsd } = await budgetOf(deps, caller.account, caller.profile)
  const { profile, measurements, concurrency, overrides, agents } = asked
  const sizing = sizeFor({
    profile: profile as ScannerProfile,
    concurrency,
    ...(agents && { agents }),
    ...(measurements && { measurements: measurements as Measurements }),
    ...(overrides && { overrides }),
    capLeftCents: Math.max(0, centsOf(capMicroUsd) - centsOf(committedMicroUsd)),
  })
  return { status: 200, body: sizing }
}

/** The first bytes of a gzip (RFC 1952). */
const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** The very bytes that were reserved: finalize demands their digest. */
export const getBootstrap = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const { id, box: instance } = await changeable(deps, request)
  const bytes = await deps.blobs.get(instance.bootstrapSha256)
  if (!bytes) throw new Problem('INTERNAL', `The user data of ${id} is recorded but its bytes are not there.`)
  const headers = {
    'content-type': isGzip(bytes) ? 'application/gzip' : 'text/plain; charset=utf-8',
    'cache-control': 'private, no-cache',
    etag: `"${instance.bootstrapSha256}"`,
  }
  return { status: 200, bytes, headers }
}

export const getProposal = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const { id, owner, box: instance, policy } = await devInstances.find(deps, request)
  const now = deps.now()
  const [reports, budget] = await Promise.all([
    deps.devInstances.reports(id, proposalSince(now)),
    budgetOf(deps, owner),
  ])
  return { status: 200, body: { proposal: resizeProposal({ id, box: instance, policy }, { reports, ...budget, now }) } }
}

const isOfDeleted = ({ query }: ApiRequest): boolean => query.deleted === '1'

const deletedOne = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<ShownDevInstance> => {
  const kept = await deletedOf(deps, request)
  if (!kept) throw new Problem('NOT_FOUND', `No dev instance ${request.params.id} was deleted.`)
  return kept
}

export const getDevInstance = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  if (!isOfDeleted(request)) return devInstances.get(deps, request)
  return { status: 200, body: { devbox: await detailOf(deps, await deletedOne(deps, request)) } }
}

export const listDevInstances = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  if (!isOfDeleted(request)) return devInstances.list(deps, request)
  const { account, profile } = request.caller
  const page = pageOf(request)
  const { rows, total } = await deps.devInstances.tombstones({ account, isAdmin: profile.role === 'admin' }, page)
  const at = deps.now().toISOString()
  return pagedAnswer('devboxes', { items: rows.map((row) => devInstanceItem(tombstoneOf(row), at)), total }, page)
}

export const getHistory = async (deps: DevInstanceNeeds, request: ApiRequest): Promise<Answer> => {
  const { id } = isOfDeleted(request) ? await deletedOne(deps, request) : await devInstances.find(deps, request)
  const page = pageOf(request)
  const { rows, total } = await deps.devInstances.historyPage(id, page)
  return pagedAnswer('events', { items: rows, total }, page)
}
