/**
 * The report token of a dev instance: `dbr_<id>_<secret>`. It opens POST /api/devboxes/:id/report of that instance and
 * nothing else; one is good at a time, and only its keyed hash is kept (rules/devinstance.md#report-token).
 * It is looked up each time, once a minute per instance: a token that was replaced is refused at once.
 */
import { makeBatch } from '../../controllers/base/batch.ts'
import { joinProfile, type ProfileRow } from '../../controllers/store/account/accounts.ts'
import type { Pg } from '../../controllers/store/pg/pg.ts'
import { type Authenticate, refuseCredential, refuseNobody } from './auth.ts'
import { matches, parseReportToken, type TokenKeys } from './tokens.ts'

type Row = ProfileRow & { id: string; account: string; tokenHash: Buffer | null }

const FIND = `
select d.resource as id, d.account, d.token_hash as "tokenHash", m.profile
from unnest($1::text[]) as k(id)
  cross join lateral (select * from devboxes where devboxes.resource = k.id limit 1) d
  ${joinProfile('d')}`

/** @returns who reports; refuses every other credential. Throws Problem UNAUTHENTICATED */
export const makeReportAuth = ({ pg, keys }: { pg: Pg; keys: Pick<TokenKeys, 'tokenHash'> }): Authenticate => {
  const find = makeBatch<string, Row | undefined>({
    inFlight: 2,
    async run(ids) {
      const { rows } = await pg.query<Row>('find_report_tokens', FIND, [[...new Set(ids)]])
      const found = new Map(rows.map((row) => [row.id, row]))
      return ids.map((id) => found.get(id))
    },
  })
  return async ({ authorization }) => {
    const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (bearer === undefined) return refuseNobody()
    const parsed = parseReportToken(bearer)
    if (!parsed.ok) {
      return refuseCredential(
        parsed.fault === 'checksum'
          ? 'The token has a typing error: its checksum does not fit.'
          : 'This takes the report token of the instance, dbr_<id>_<secret>, and nothing else.',
      )
    }
    const row = await find(parsed.id)
    const { current } = matches(keys.tokenHash(parsed.secret), row?.tokenHash ?? undefined, null)
    if (!current || !row?.profile) return refuseCredential('The report token is unknown, replaced or revoked.')
    return { account: row.account, by: { kind: 'report', id: row.id }, scopes: [], profile: row.profile }
  }
}
