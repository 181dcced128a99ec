/**
 * Sessions that a link opened. They are signed and not stored: a row is written at the first page that one asks for, so that a
 * mail scanner which only follows the link counts for nothing (rules/app.md#access-links).
 */
import { randomBytes } from 'node:crypto'
import type { LinkStand } from '../../../../controllers/store/app/publishing/links.ts'
import { isInScope } from '../../../../crds/app/lifecycle/publishing/access.ts'
import type { AppNeeds } from '../../needs.ts'
import type { GateState } from './decisions.ts'

export type GateNeeds = Pick<AppNeeds, 'keys' | 'mirror' | 'now'> & {
  publishing: Pick<AppNeeds['publishing'], 'linkStands' | 'useLink' | 'decisions'>
}

export const LINK_COOKIE = '__Host-bottega_link'
const SESSION_BYTES = 12

/** What the session's seal is about: one link of one app. */
const aboutOf = (app: string, link: string, session: string): string => `${app}\nlink\n${link}\n${session}`

const isGood = (link: LinkStand | undefined, nowMs: number): link is LinkStand =>
  link !== undefined && !link.isRevoked && (link.expiresAt === null || Date.parse(link.expiresAt) > nowMs)

/** @returns the cookie and the path that it opens; null where the link opens nothing */
export const openByLink = async (
  deps: GateNeeds,
  { app, links }: GateState,
  token: string,
  longestMs: number,
): Promise<{ cookie: string; scope: string } | null> => {
  const id = deps.keys.nameOfCapability('access', token)?.name
  const link = id === undefined ? undefined : links.get(id)
  const nowMs = deps.now().getTime()
  if (!isGood(link, nowMs) || link.isFull) return null
  const untilMs = Math.min(
    nowMs + longestMs,
    link.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(link.expiresAt),
  )
  const session = randomBytes(SESSION_BYTES).toString('base64url')
  const sealed = deps.keys.accessSession(aboutOf(app.id, link.id, session), 0, untilMs)
  const age = Math.max(1, Math.floor((untilMs - nowMs) / 1000))
  const cookie = `${LINK_COOKIE}=${link.id}~${session}~${sealed}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Lax; Secure`
  return { cookie, scope: link.scope }
}

/** Whether a session of a link may see the path; its first page counts it. */
export const isByLink = async (
  deps: GateNeeds,
  { app, links }: GateState,
  { cookie, uri }: { cookie: string; uri: string },
): Promise<boolean> => {
  const [id = '', session = '', sealed = ''] = cookie.split('~', 3)
  const link = links.get(id)
  const nowMs = deps.now().getTime()
  if (!isGood(link, nowMs) || !isInScope(uri, link.scope)) return false
  if (!deps.keys.accessSessionOpens(sealed, aboutOf(app.id, id, session), 0, nowMs)) return false
  const key = `${id}~${session}`
  if (deps.publishing.decisions.isCounted(key)) return true
  const at = new Date(nowMs).toISOString()
  const path = uri.split(/[?#]/, 1)[0] ?? '/'
  const outcome = await deps.publishing.useLink({ link: id, app: app.id, session, path, at })
  if (outcome !== 'new' && outcome !== 'known') return false
  deps.publishing.decisions.noteCounted(key)
  return true
}
