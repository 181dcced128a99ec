/** GET routes of apps, and what the others share: the caller's app and its operations. */
import { APP } from '../../crds/app/kind.ts'
import { viewOperation, viewRelease } from '../../crds/app/view.ts'
import type { Operation } from '../../crds/app/world.ts'
import { isOwn } from '../command/own.ts'
import { makeOwnResources } from '../command/resource.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { pagedAnswer, pageOf } from '../openapi/paging.ts'
import type { AppNeeds } from './needs.ts'

export const pathOf = (id: string): string => `/api/apps/${id}`

export const apps = makeOwnResources({ kind: APP, noun: 'app', one: 'app', pathOf })

export const listReleases = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name } = await apps.find(deps, request)
  const page = pageOf(request)
  const { releases, total } = await deps.apps.releases(name, page)
  return pagedAnswer('releases', { items: releases.map(viewRelease), total }, page)
}

export const getReadiness = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { readiness: (await apps.find(deps, request)).view.readiness },
})

/** An operation of one of the caller's apps, as it stands in the ledger now. */
export const ownOperation = async (deps: AppNeeds, request: ApiRequest): Promise<Operation> => {
  const id = request.params.operationId ?? ''
  const operation = await deps.apps.operation(id)
  if (!operation || !isOwn(operation, request.caller)) throw new Problem('NOT_FOUND', `There is no operation ${id}.`)
  return operation
}

export const getOperation = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { operation: viewOperation(await ownOperation(deps, request)) },
})
