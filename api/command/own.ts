/**
 * The one door to what the controllers have said of resources. Whoever looks says whose the row must be; a row of anybody
 * else is not there at all, whatever it is called (rules/platform.md#ownership). Nothing else in the api reads the mirror.
 */

import type { MirrorFilter, MirrorReader, MirrorRow } from '../../controllers/store/mirror.ts'
import type { Page } from '../../controllers/store/pg/page.ts'
import { ACCOUNT } from '../../crds/account/kind.ts'
import type { StoredAccount } from '../../crds/account/view.ts'
import { belongsTo } from '../../crds/kernel/fields.ts'
import type { KindOf } from '../../crds/kernel/kind.ts'
import type { Caller } from '../http/caller.ts'
import { Problem } from '../http/problem.ts'
import type { Waiter, Watched } from './wait.ts'

/** Why a row is looked at without asking whose it is. Who looks answers for what is told of it. */
type Ground =
  /** Who asks holds a link that nobody can guess and that names the resource. */
  | 'link'
  /** The route lets in who may see it whosever it is: administrators, reviewers. */
  | 'role'
  /** It may be shared with the caller, which the row itself says. */
  | 'shared'
  /** It is the account's own resource, which belongs to nobody else: its uid says which it is. */
  | 'itself'
  /** The card processor speaks of it, over its signature. */
  | 'signed'

export type Whose = { account: string } | { because: Ground }

/** Of the same account as a row that was let through before. */
export const sameOwner = ({ account }: Pick<MirrorRow, 'account'>): Whose => ({ account })

const isOf = (whose: Whose, account: string): boolean => 'because' in whose || belongsTo(whose, account)

/** Whether a thing is the caller's own; where it is not, what it may be to them follows from a ground that the door names. */
export const isOwn = (
  thing: { account?: string | null | undefined } | null | undefined,
  { account }: Pick<Caller, 'account'>,
): boolean => belongsTo(thing, account)

/** The row as it is for whom it may be; undefined when it is somebody else's. */
const own = <View>(row: MirrorRow<View> | undefined, whose: Whose): MirrorRow<View> | undefined =>
  row !== undefined && isOf(whose, row.account) ? row : undefined

/** The same of a resource as the API server has it. @throws Problem NOT_FOUND */
export const refuseForeign = ({ spec }: { spec: unknown }, whose: Whose, name: string): void => {
  const { account } = spec as { account?: string }
  if (!isOf(whose, account ?? '')) throw new Problem('NOT_FOUND', `There is no ${name}.`)
}

/** The mirror as handlers see it. */
export type OwnMirror = {
  get<View>(kind: KindOf<View>, name: string, whose: Whose): Promise<MirrorRow<View> | undefined>
  list<View>(
    of: { kind: KindOf<View>; account: string },
    filter: MirrorFilter,
    page: Page,
  ): Promise<{ rows: MirrorRow<View>[]; total: number }>
}

/** The wait as handlers see it: a row of somebody else is as good as none. */
export type OwnWaiter = Pick<Waiter, 'isLeaving'> & {
  watch<View>(kind: KindOf<View>, name: string, whose: Whose): Watched<View>
}

const guard = <View>({ until, isQuiet, leave }: Watched<View>, whose: Whose): Watched<View> => ({
  async until(done, timeoutMs) {
    const found = await until((row) => done(own(row, whose)), timeoutMs)
    return found && { row: own(found.row, whose) }
  },
  isQuiet,
  leave,
})

/** @param of the mirror and the waiter, which ask nobody */
export const makeOwnDoor = (of: {
  mirror: MirrorReader
  waiter: Pick<Waiter, 'watch' | 'isLeaving'>
}): { mirror: OwnMirror; waiter: OwnWaiter } => ({
  mirror: {
    get: async (kind, name, whose) => own(await of.mirror.get(kind, name), whose),
    list: of.mirror.list,
  },
  waiter: {
    isLeaving: () => of.waiter.isLeaving(),
    watch: (kind, name, whose) => guard(of.waiter.watch(kind, name), whose),
  },
})

/** The caller's row of the Account kind: what it may, as it stands now. */
export const accountRow = (
  { mirror }: { mirror: Pick<OwnMirror, 'get'> },
  { account, profile }: Pick<Caller, 'account' | 'profile'>,
): Promise<MirrorRow<StoredAccount> | undefined> => mirror.get(ACCOUNT, profile.id, { account })

/** The same of any account, by its key. */
export const accountRowOf = async (
  deps: { mirror: OwnMirror },
  account: string,
): Promise<MirrorRow<StoredAccount> | undefined> =>
  (await deps.mirror.list({ kind: ACCOUNT, account }, {}, { limit: 1, offset: 0 })).rows[0]
