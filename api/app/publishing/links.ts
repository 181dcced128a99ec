/** Links that open a private app for whoever holds them, until they expire or are revoked (rules/app.md#access-links). */
import type { AccessLink } from '../../../controllers/store/app/publishing/links.ts'
import { APP } from '../../../crds/app/kind.ts'
import { isScope, LINKS_MAX, SCOPE_ALL } from '../../../crds/app/lifecycle/publishing/access.ts'
import { ACCESS_PATH } from '../../../crds/app/lifecycle/route.ts'
import { FIRST_LINK } from '../../../crds/values/links.ts'
import { nameFor } from '../../command/name.ts'
import { wakeStored } from '../../command/report.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { pagedAnswer, pageOf } from '../../openapi/paging.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

type Sent = { expires_at?: string; max_uses?: number; scope?: string }

const stateOf = ({ revokedAt, expiresAt, maxUses, uses }: AccessLink, now: Date): string => {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && Date.parse(expiresAt) <= now.getTime()) return 'expired'
  return maxUses !== null && uses >= maxUses ? 'used' : 'good'
}

const view = (deps: AppNeeds, link: AccessLink, url: string | null) => {
  const token = deps.keys.capability('access', link.id, FIRST_LINK)
  const path = `${ACCESS_PATH}?link=${token}`
  return {
    id: link.id,
    url: url === null ? null : `${url}${path}`,
    path,
    scope: link.scope,
    state: stateOf(link, deps.now()),
    expires_at: link.expiresAt,
    max_uses: link.maxUses,
    uses: link.uses,
    log: link.log,
    created_at: link.createdAt,
    revoked_at: link.revokedAt,
  }
}

const checked = (
  deps: AppNeeds,
  { expires_at, scope = SCOPE_ALL }: Sent,
): { scope: string; expiresAt: string | null } => {
  const untilMs = expires_at === undefined ? null : Date.parse(expires_at)
  const isPast = untilMs !== null && !(untilMs > deps.now().getTime())
  refuseFaults([
    ...(isPast ? [{ code: 'INVALID_FIELD' as const, pointer: '/expires_at', detail: 'is not in the future' }] : []),
    ...(isScope(scope) ? [] : [{ code: 'INVALID_FIELD' as const, pointer: '/scope', detail: 'is no plain path' }]),
  ])
  return { scope, expiresAt: untilMs === null ? null : new Date(untilMs).toISOString() }
}

export const addLink = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const sent = request.body as Sent
  const { scope, expiresAt } = checked(deps, sent)
  const id = nameFor('lnk', request)
  const { name: app, account } = row
  const made = {
    id,
    app,
    account,
    scope,
    maxUses: sent.max_uses ?? null,
    createdAt: deps.now().toISOString(),
    expiresAt,
  }
  if (!(await deps.publishing.addLink(made, LINKS_MAX))) {
    throw new Problem('LINK_LIMIT', `${app} has ${LINKS_MAX} access links that are good.`)
  }
  deps.publishing.decisions.forget(app)
  const link = await deps.publishing.link(id)
  if (link === null) throw new Problem('NOT_FOUND', 'The app was deleted meanwhile.')
  return { status: 201, body: { access_link: view(deps, link, row.view.url) } }
}

export const listLinks = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const page = pageOf(request)
  const { links, total } = await deps.publishing.links(row.name, page)
  return pagedAnswer('access_links', { items: links.map((one) => view(deps, one, row.view.url)), total }, page)
}

/** Pages that it opened ask no more within a second, and its WebSockets are cut by the app's pass. What is revoked already is so. */
export const revokeLink = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const id = request.params.linkId ?? ''
  const link = await deps.publishing.link(id)
  if (link === null || link.app !== row.name) throw new Problem('NOT_FOUND', `There is no access link ${id}.`)
  await deps.publishing.revokeLink(row.name, id, deps.now().toISOString())
  deps.publishing.decisions.forget(row.name)
  await wakeStored(deps, APP, row.name)
  return { status: 204 }
}
