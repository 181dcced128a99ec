/**
 * What becomes of an account that is made again: another one under an old name sees nothing of the former and opens with
 * nothing of it; the same one goes on (hack/decisions/028-accounts-made-again.md).
 */
import { GROUP, type Meta } from '../kernel/object.ts'
import type { OwnCondition } from '../kernel/plan.ts'

/** Names the uid of the former account that this one goes on as. Accounts are written by administrators alone. */
export const CONTINUES = `${GROUP}/continues`

/** What is on record of an Account's resource. */
export type AccountLife = {
  /** What the rows of the account name it by, and `spec.account` of its resources. */
  key: string
  email: string
  /** What CONTINUES said when it was last decided on. */
  asked: string | null
  isEnded: boolean
  /** The uid that the account had before, where the resource was made again and the account goes on. */
  before: string | null
  /** The uid of another account that had the name. */
  former: string | null
}

export const continuesOf = ({ annotations }: Pick<Meta, 'annotations'>): string | null =>
  annotations?.[CONTINUES] ?? null

/** Whether the record says anything else than the resource. */
export const isToBegin = (life: AccountLife | null, meta: Meta, email: string): boolean =>
  life === null || life.isEnded || life.email !== email || life.asked !== continuesOf(meta)

export const REMADE = 'Remade'

/** What is said of a resource that is not the first of its name or account; empty for all others. */
export const lifeConditions = ({ key, asked, before, former }: AccountLife, { name, uid }: Meta): OwnCondition[] => {
  const about = { type: REMADE, status: 'True' } as const
  if (before !== null) {
    return [{ ...about, reason: 'Continued', message: `goes on as the account that had the uid ${before}` }]
  }
  const refused = asked !== null && asked !== uid
  const why = refused ? `${asked} is no former account, or another resource stands for it; ` : ''
  if (former === null && !refused) return []
  const kept = former === null ? '' : `an account called ${name} had the uid ${former}: what was its stays with it; `
  const message = `${why}${kept}resources of this one say account: ${key}`
  return [{ ...about, reason: refused ? 'NotContinued' : 'FormerAccountKept', message }]
}
