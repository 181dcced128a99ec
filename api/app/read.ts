/** GET routes of apps, and what the others share: the caller's app and its operations. */
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import { APP } from '../../crds/app/kind.ts'
import { viewBackupOperation } from '../../crds/app/lifecycle/keeping/backups/view.ts'
import { outcomeSeen, viewApplied } from '../../crds/app/lifecycle/publishing/applied.ts'
import { viewRun } from '../../crds/app/runs/view.ts'
import { KEPT_RELEASES, keptImages } from '../../crds/app/sources/kept.ts'
import { type AppView, type OperationView, viewOperation, viewRelease } from '../../crds/app/view.ts'
import type { Operation } from '../../crds/app/world.ts'
import { isOwn, sameOwner } from '../command/own.ts'
import { makeOwnResources } from '../command/resource.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { pagedAnswer, pageOf } from '../openapi/paging.ts'
import { ownBackup } from './keeping/own.ts'
import type { AppNeeds } from './needs.ts'
import { ownRun } from './running/read.ts'

export const pathOf = (id: string): string => `/api/apps/${id}`

export const operationPath = (id: string): string => `/api/apps/operations/${id}`

export const apps = makeOwnResources({ kind: APP, noun: 'app', one: 'app', pathOf })

/** Rises with every edit of the app. */
export const appEtag = ({ version }: AppView): string => `"${version}"`

export const getApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { view } = await apps.find(deps, request)
  return { status: 200, headers: { etag: appEtag(view) }, body: { app: view } }
}

/** Ids of the images of an app that stay on its host. */
export const keptOf = async (deps: AppNeeds, { name, view }: MirrorRow<AppView>): Promise<ReadonlySet<string>> => {
  const { releases } = await deps.apps.releases(name, { limit: KEPT_RELEASES, offset: 0 })
  const live = (view.release?.images ?? []).map(({ id }) => id)
  return new Set([...keptImages(releases), ...live])
}

export const listReleases = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const page = pageOf(request)
  const [{ releases, total }, kept] = await Promise.all([deps.apps.releases(row.name, page), keptOf(deps, row)])
  return pagedAnswer('releases', { items: releases.map((release) => viewRelease(release, kept)), total }, page)
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

/** An apply of domains or of access is an operation too, which stands with its plan. */
const appliedOperation = async (deps: AppNeeds, request: ApiRequest): Promise<OperationView | null> => {
  const plan = await deps.publishing.planOf(request.params.operationId ?? '')
  if (!plan || !isOwn(plan, request.caller)) return null
  const row = await deps.mirror.get(APP, plan.app, sameOwner(plan))
  const at = deps.now().toISOString()
  const outcome = row ? outcomeSeen(plan, row.view, at) : null
  // what somebody was told stays so, whatever becomes of its names later
  if (outcome !== null) await deps.publishing.planEnded(plan.id, outcome)
  return viewApplied({ ...plan, outcome: plan.outcome ?? outcome }, row?.view ?? null, at)
}

/** One that has ended is told once its app shows it, too: whoever goes on from there finds what it did. */
const shownOperation = async (deps: AppNeeds, request: ApiRequest): Promise<OperationView> => {
  const operation = await ownOperation(deps, request)
  if (operation.endedAt === null) return viewOperation(operation)
  const row = await deps.mirror.get(APP, operation.app, sameOwner(operation))
  const shown = row?.view.operation
  return shown?.id === operation.id && shown.ended_at === null ? shown : viewOperation(operation)
}

export const getOperation = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const run = await ownRun(deps, request)
  if (run) return { status: 200, body: { operation: viewRun(run) } }
  const backup = await ownBackup(deps, request)
  if (backup) return { status: 200, body: { operation: viewBackupOperation(backup) } }
  const operation = (await appliedOperation(deps, request)) ?? (await shownOperation(deps, request))
  return { status: 200, body: { operation } }
}
