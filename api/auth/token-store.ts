/**
 * Tokens in PostgreSQL: made, listed, rotated, revoked. The table's trigger notifies the processes that remember a token
 * (controllers/store/sql/functions/tell_token.sql).
 */
import type { Page } from '../../controllers/store/pg/page.ts'
import type { Pg } from '../../controllers/store/pg/pg.ts'
import type { Preset, Scope } from './scopes.ts'
import { newToken, type TokenKeys, tokenOfIntent } from './tokens.ts'

/** Most tokens of one account that are neither expired nor revoked. */
export const TOKENS_MAX = 1000

/** What is shown of a token. Instants are ISO, in UTC. `scopes` is null for full access. */
export type TokenView = {
  id: string
  name: string
  scopes: Scope[] | null
  preset: Preset | null
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  rotated_at: string | null
  /** Until when the secret before the last rotation still opens. */
  previous_until: string | null
}

export type NewToken = {
  account: string
  name: string
  scopes: readonly Scope[]
  preset: Preset | null
  expiresAt: string | null
}

export type Minted = { token: TokenView; secret: string }

export type TokenStore = {
  /**
   * Null when the account has TOKENS_MAX already.
   * @param intent names the request: the same again gives the token that it gave before
   */
  mint(token: NewToken, intent?: string): Promise<Minted | null>
  /** One page of those that were not revoked, newest first, and how many there are. */
  list(account: string, page: Page): Promise<{ tokens: TokenView[]; total: number }>
  /** Undefined for another account's, a revoked one, or none. */
  get(account: string, id: string): Promise<TokenView | undefined>
  /**
   * The old secret opens for another `graceSeconds`. Undefined unless the token is the account's and still opens.
   * @param intent as for `mint`
   */
  rotate(account: string, id: string, graceSeconds: number, intent?: string): Promise<Minted | undefined>
  /** Gives whether there was such a token to revoke. */
  revoke(account: string, id: string): Promise<boolean>
}

const COLUMNS = `id, name, scopes, preset, iso_ms(created_at) as created_at, iso_ms(expires_at) as expires_at,
  iso_ms(last_used_at) as last_used_at, iso_ms(rotated_at) as rotated_at,
  case when previous_until > now() then iso_ms(previous_until) end as previous_until`
const MINT = `select ${COLUMNS} from mint_token($1, $2, $3, $4, $5, $6, $7, $8)`
const GET = `select ${COLUMNS} from tokens where id = $1 and account = $2 and revoked_at is null`
const LIST = `
select
  (select count(*) from tokens where account = $1 and revoked_at is null) as total,
  (
    select coalesce(json_agg(page), '[]')
    from (
      select ${COLUMNS} from tokens where account = $1 and revoked_at is null
      order by tokens.created_at desc, id desc limit $2 offset $3
    ) page
  ) as tokens`
/**
 * A secret that is replaced during an earlier grace ends that grace: at most two secrets open at a time. One that is there
 * already was put there by the same intent.
 */
const ROTATE = `
with rotated as (
  update tokens set
    secret_hash = $3, rotated_at = now(),
    previous_hash = case when $4::int > 0 then secret_hash end,
    previous_until = case when $4::int > 0 then now() + make_interval(secs => $4::int) end
  where id = $1 and account = $2 and revoked_at is null and (expires_at is null or expires_at > now())
    and secret_hash <> $3
  returning ${COLUMNS}
)
select * from rotated
union all
select ${COLUMNS} from tokens where id = $1 and account = $2 and revoked_at is null and secret_hash = $3`
const REVOKE = 'update tokens set revoked_at = now() where id = $1 and account = $2 and revoked_at is null returning id'

/** @param deps.beforeLook awaited before tokens are shown: writes down when they were used */
export const makeTokenStore = (deps: { pg: Pg; keys: TokenKeys; beforeLook?: () => Promise<void> }): TokenStore => ({
  async mint({ account, name, scopes, preset, expiresAt }, intent) {
    const { id, secret, token } =
      intent === undefined ? newToken() : tokenOfIntent(deps.keys, `mint ${account} ${intent}`)
    const values = [id, account, name, deps.keys.tokenHash(secret), scopes, preset, expiresAt, TOKENS_MAX]
    const { rows } = await deps.pg.query<TokenView>('mint_token', MINT, values)
    return rows[0] ? { token: rows[0], secret: token } : null
  },
  async list(account, { limit, offset }) {
    await deps.beforeLook?.()
    const values = [account, limit, offset]
    const { rows } = await deps.pg.query<{ tokens: TokenView[]; total: number }>('list_tokens', LIST, values)
    return rows[0] ?? { tokens: [], total: 0 }
  },
  async get(account, id) {
    await deps.beforeLook?.()
    const { rows } = await deps.pg.query<TokenView>('get_token', GET, [id, account])
    return rows[0]
  },
  async rotate(account, id, graceSeconds, intent) {
    const { secret, token } =
      intent === undefined ? newToken(id) : tokenOfIntent(deps.keys, `rotate ${id} ${intent}`, id)
    const { rows } = await deps.pg.query<TokenView>('rotate_token', ROTATE, [
      id,
      account,
      deps.keys.tokenHash(secret),
      graceSeconds,
    ])
    return rows[0] && { token: rows[0], secret: token }
  },
  async revoke(account, id) {
    const { rows } = await deps.pg.query('revoke_token', REVOKE, [id, account])
    return rows.length > 0
  },
})
