/** Links that open private apps: facts of who may come in by what, until when, and who did. */
import type { Page } from '../../pg/page.ts'
import type { Pg } from '../../pg/pg.ts'

/** Instants are ISO. `log`: the newest sessions that it opened. */
export type AccessLink = {
  id: string
  app: string
  account: string
  scope: string
  maxUses: number | null
  createdAt: string
  expiresAt: string | null
  revokedAt: string | null
  uses: number
  log: { at: string; path: string }[]
}

export type NewAccessLink = Omit<AccessLink, 'uses' | 'log' | 'revokedAt'>

/** What the gate has to know of a link. */
export type LinkStand = { id: string; scope: string; expiresAt: string | null; isRevoked: boolean; isFull: boolean }

/** `known`: the session was let in before. `full`: as many were let in as may. `over`: revoked, expired, or no such link. */
export type LinkUse = 'new' | 'known' | 'full' | 'over'

export type AccessLinks = {
  /** @returns false where the app has as many as it may, by then */
  addLink(link: NewAccessLink, most: number): Promise<boolean>
  link(id: string): Promise<AccessLink | null>
  links(app: string, page: Page): Promise<{ links: AccessLink[]; total: number }>
  /** @returns false where there is none of the app that is not revoked yet */
  revokeLink(app: string, id: string, at: string): Promise<boolean>
  /** Those that may still open something, and those that no longer do and were good a day ago. */
  linkStands(app: string): Promise<LinkStand[]>
  useLink(of: { link: string; app: string; session: string; path: string; at: string }): Promise<LinkUse>
}

const COLUMNS = `
l.id, l.app, l.account, l.scope, l.max_uses as "maxUses", iso_ms(l.created_at) as "createdAt", iso_ms(l.expires_at) as "expiresAt",
iso_ms(l.revoked_at) as "revokedAt", (select count(*) from app_access_uses u where u.link = l.id) as uses,
(
  select coalesce(json_agg(json_build_object('at', iso_ms(n.at), 'path', n.path) order by n.at desc), '[]')
  from (select u.at, u.path from app_access_uses u where u.link = l.id order by u.at desc limit 20) n
) as log`
const ADD = `
insert into app_access_links (id, app, account, scope, max_uses, created_at, expires_at)
select $1, $2, $3, $4, $5, $6, $7
where (
  select count(*) from app_access_links l
  where l.app = $2 and l.revoked_at is null and (l.expires_at is null or l.expires_at > $6::timestamptz)
) < $8
on conflict (id) do nothing returning id`
const STANDS = `
select l.id, l.scope, iso_ms(l.expires_at) as "expiresAt", l.revoked_at is not null as "isRevoked",
  l.max_uses is not null and l.max_uses <= (select count(*) from app_access_uses u where u.link = l.id) as "isFull"
from app_access_links l where l.app = $1 and l.revoked_at is null`

const makeLinkOf =
  (pg: Pg): AccessLinks['link'] =>
  async (id) => {
    const text = `select ${COLUMNS} from app_access_links l where l.id = $1`
    return (await pg.query<AccessLink>('access_link', text, [id])).rows[0] ?? null
  }

export const makeAccessLinks = ({ pg }: { pg: Pg }): AccessLinks => ({
  link: makeLinkOf(pg),
  async addLink({ id, app, account, scope, maxUses, createdAt, expiresAt }, most) {
    const values = [id, app, account, scope, maxUses, createdAt, expiresAt, most]
    const { rows } = await pg.query('add_access_link', ADD, values)
    // a repeat of the same request finds what its first try made
    return rows.length > 0 || (await makeLinkOf(pg)(id)) !== null
  },
  async links(app, { limit, offset }) {
    const text = `select ${COLUMNS} from app_access_links l where l.app = $1 order by l.created_at desc, l.id limit $2 offset $3`
    const [{ rows }, count] = await Promise.all([
      pg.query<AccessLink>('access_links', text, [app, limit, offset]),
      pg.query<{ total: number }>(
        'access_links_count',
        'select count(*) as total from app_access_links where app = $1',
        [app],
      ),
    ])
    return { links: rows, total: count.rows[0]?.total ?? 0 }
  },
  async revokeLink(app, id, at) {
    const text =
      'update app_access_links set revoked_at = $3 where app = $1 and id = $2 and revoked_at is null returning id'
    return (await pg.query('revoke_access_link', text, [app, id, at])).rows.length > 0
  },
  linkStands: async (app) => (await pg.query<LinkStand>('access_link_stands', STANDS, [app])).rows,
  async useLink({ link, app, session, path, at }) {
    const text = 'select use_access_link($1, $2, $3, $4, $5) as outcome'
    const { rows } = await pg.query<{ outcome: LinkUse }>('use_access_link', text, [link, app, session, path, at])
    return rows[0]?.outcome ?? 'over'
  },
})
