/** A preview as it is shown: what the ledger says of it, and the app that it is (rules/app.md#previews). */
import type { MirrorRow } from '../../../../controllers/store/mirror.ts'
import { APP } from '../../../../crds/app/kind.ts'
import type { PreviewRow } from '../../../../crds/app/lifecycle/publishing/previewed.ts'
import type { AppView } from '../../../../crds/app/view.ts'
import { sameOwner } from '../../../command/own.ts'
import { Problem } from '../../../http/problem.ts'
import type { Answer, ApiRequest } from '../../../http/route.ts'
import { pagedAnswer, pageOf } from '../../../openapi/paging.ts'
import type { AppNeeds } from '../../needs.ts'
import { apps } from '../../read.ts'

export const PREVIEW_STATES = ['deploying', 'ready', 'failed', 'stalled', 'ending', 'ended'] as const
type PreviewState = (typeof PREVIEW_STATES)[number]

export const previewPath = (app: string, preview: string): string => `/api/apps/${app}/previews/${preview}`

const stateOf = ({ endedAt, expiresAt }: PreviewRow, view: AppView | null, now: Date): PreviewState => {
  if (endedAt !== null) return 'ended'
  if (Date.parse(expiresAt) <= now.getTime()) return 'ending'
  if (view === null || view.status === 'deploying') return 'deploying'
  if (view.status === 'live') return 'ready'
  if (view.status === 'failed') return 'failed'
  return view.stalled === null ? 'deploying' : 'stalled'
}

export const viewPreview = (preview: PreviewRow, view: AppView | null, now: Date) => ({
  id: preview.app,
  app: preview.parent,
  ref: preview.ref,
  state: stateOf(preview, view, now),
  hostname: view?.domains.find(({ kind }) => kind === 'managed')?.hostname ?? null,
  url: view?.url ?? null,
  access: view?.access ?? null,
  release: view?.release?.number ?? null,
  operation_id: view?.operation?.id ?? null,
  created_at: preview.createdAt,
  expires_at: preview.expiresAt,
  ended_at: preview.endedAt,
  reason: preview.reason,
})

const shownOf = async (deps: AppNeeds, { row, preview }: { row: MirrorRow<AppView>; preview: PreviewRow }) => {
  const found = preview.endedAt === null ? await deps.mirror.get(APP, preview.app, sameOwner(row)) : undefined
  return viewPreview(preview, found?.view ?? null, deps.now())
}

/** The one that the path names, of the caller's app. @throws Problem NOT_FOUND */
export const previewOf = async (deps: AppNeeds, request: ApiRequest) => {
  const row = await apps.find(deps, request)
  const id = request.params.preview ?? ''
  const preview = await deps.previews.one(row.name, id)
  if (!preview) throw new Problem('NOT_FOUND', `There is no preview ${id} of this app.`)
  return { row, preview }
}

export const listPreviews = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const page = pageOf(request)
  const { previews, total } = await deps.previews.list(row.name, page)
  const items = await Promise.all(previews.map((preview) => shownOf(deps, { row, preview })))
  return pagedAnswer('previews', { items, total }, page)
}

export const getPreview = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: { preview: await shownOf(deps, await previewOf(deps, request)) },
})
