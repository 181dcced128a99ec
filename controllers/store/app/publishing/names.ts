/** Domains of apps, which stand among the names of sites (sql/functions/claim_app_names.sql and its neighbours). */
import type { OwnName } from '../../../../crds/names/name.ts'
import { LEASE } from '../../pg/fence.ts'
import type { Pg } from '../../pg/pg.ts'

/** `refused`: another site or app of the account has it. `others`: another account holds it. Of either nothing was claimed. */
export type AppNameOutcome = 'taken' | 'held' | 'refused' | 'others'
export type ClaimedName = { name: string; outcome: AppNameOutcome }

/** As stored, without the records that prove them. */
export type AppNameRow = Omit<OwnName, 'records'>

/** `linksEnded`: access links that somebody came by, and that are revoked or expired. */
export type PublishedApp = { names: AppNameRow[]; taken: string[]; linksEnded: number }

export type AppNames = {
  /** @param wanted of these it is told which another holder of the account has */
  list(app: string, account: string, wanted: readonly string[]): Promise<PublishedApp>
  /** All of them or none. @param how `settle`: for good; else for the seven days of a plan, and they are looked for at once */
  claim(
    app: string,
    account: string,
    names: readonly string[],
    how: 'settle' | 'strict' | 'beside',
  ): Promise<ClaimedName[]>
  /** @returns ISO: a look of then or later is the answer */
  askLook(app: string, names: readonly string[]): Promise<string>
}

export const makeAppNames = ({ pg }: { pg: Pg }): AppNames => ({
  async list(app, account, wanted) {
    const text = 'select names, taken, links_ended as "linksEnded" from app_names($1, $2, $3)'
    const { rows } = await pg.query<PublishedApp>('app_names', text, [app, account, wanted])
    return rows[0] ?? { names: [], taken: [], linksEnded: 0 }
  },
  async claim(app, account, names, how) {
    const text = 'select name, outcome from claim_app_names($1, $2, $3, $4, $5)'
    const values = [app, account, names, how === 'settle', how === 'strict']
    return (await pg.query<ClaimedName>('claim_app_names', text, values)).rows
  },
  async askLook(app, names) {
    const text = 'select iso_ms(ask_app_look($1, $2)) as at'
    const { rows } = await pg.query<{ at: string }>('ask_app_look', text, [app, names])
    return rows[0]?.at ?? ''
  },
})

/** The controllers' part: what the spec names no longer. @throws StaleEpoch */
export const makeReleaseAppNames =
  ({ pg, epoch }: { pg: Pg; epoch: () => number }) =>
  async (app: string, keep: readonly string[]): Promise<void> => {
    await pg.query('release_app_names', 'select release_app_names($1, $2, $3, $4)', [LEASE, epoch(), app, keep])
  }
