/** GET routes of apps, and what the others share: the caller's app, its host, and the wait for an operation. */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { APP } from '../../crds/app/kind.ts'
import { type AppView, viewOperation, viewRelease } from '../../crds/app/view.ts'
import type { Operation } from '../../crds/app/world.ts'
import { sameOwner } from '../command/own.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { AppNeeds } from './needs.ts'

const LIMIT_DEFAULT = 50

/** The caller's app. Another account's is not there at all (rules/platform.md#ownership). */
export const ownRow = async (deps: AppNeeds, request: ApiRequest): Promise<MirrorRow<AppView>> => {
  const id = request.params.id ?? ''
  const row = await deps.mirror.get(APP, id, { account: request.caller.account })
  if (!row) throw new Problem('NOT_FOUND', `There is no app ${id}.`)
  return row
}

export const pathOf = (id: string): string => `/api/apps/${id}`

/** What every command on an app says of it. */
export const commandOn = (row: MirrorRow<AppView>) => ({
  name: row.name,
  whose: sameOwner(row),
  resource: pathOf(row.name),
  pending: { app: row.view },
})

const pageOf = ({ query }: ApiRequest) => ({
  limit: Number(query.limit ?? LIMIT_DEFAULT),
  offset: Number(query.offset ?? 0),
})

export const getApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { app: (await ownRow(deps, request)).view },
})

export const listApps = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const page = pageOf(request)
  const { rows, total } = await deps.mirror.list({ kind: APP, account: request.caller.account }, {}, page)
  return { status: 200, body: { apps: rows.map(({ view }) => view), total, ...page } }
}

export const listReleases = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await ownRow(deps, request)
  const page = pageOf(request)
  const { releases, total } = await deps.apps.releases(row.name, page)
  return { status: 200, body: { releases: releases.map(viewRelease), total, ...page } }
}

export const getReadiness = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { readiness: (await ownRow(deps, request)).view.readiness },
})

/** An operation of one of the caller's apps, as it stands in the ledger now. */
export const ownOperation = async (deps: AppNeeds, request: ApiRequest): Promise<Operation> => {
  const id = request.params.operationId ?? ''
  const operation = await deps.apps.operation(id)
  if (operation?.account !== request.caller.account) throw new Problem('NOT_FOUND', `There is no operation ${id}.`)
  return operation
}

export const getOperation = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { operation: viewOperation(await ownOperation(deps, request)) },
})
