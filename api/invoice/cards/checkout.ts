/** Pay now on the client's page: whether it is shown, and the policy under which its form may lead to the checkout. */
import type { FactRow } from '../../../controllers/store/ledger/facts.ts'
import { collectedOf, type Session, usableSession } from '../../../crds/invoice/facts/collected.ts'
import { FIRST_LINK } from '../../../crds/values/links.ts'
import type { Answer } from '../../http/route.ts'
import type { Deps } from '../../wiring/deps.ts'
import type { FoundInvoice } from '../page/found.ts'
import { clientPolicy } from '../page/policy.ts'
import type { Collect } from '../page/render.ts'

/** The invoice as it stands for whoever pays. */
export const standOf = ({ view }: Pick<FoundInvoice, 'view'>) => ({
  phase: view.status,
  balanceCents: view.balance_cents ?? 0,
  currency: view.currency,
  linkVersions: { link: view.link_versions?.link ?? FIRST_LINK },
})

/** The session in which the present balance can be paid, out of facts that may be newer than what was found. */
export const openSession = (
  { now }: Pick<Deps, 'now'>,
  found: Pick<FoundInvoice, 'view'>,
  facts: readonly FactRow[],
): Session | undefined => usableSession(collectedOf(facts), standOf(found), now())

/** `isAway`: the processor did not take it just now. `hasPaid`: the client comes from the checkout. */
type Paying = { isAway?: boolean; hasPaid?: boolean }

export const collectOf = (
  deps: Pick<Deps, 'now'>,
  found: FoundInvoice,
  lang: string,
  { isAway = false, hasPaid = false }: Paying,
): Collect | null => {
  const { view, path, facts } = found
  // a view that was archived before there was card collection says nothing of it
  if (!view.collect?.offered) return null
  if (isAway) return { state: 'away' }
  // it would be paid twice: the processor's message is under way
  if (hasPaid && openSession(deps, found, facts)) return { state: 'waiting' }
  return { state: 'ready', path: `${path}/pay?lang=${lang}` }
}

/** Lets the form of this page lead to the checkout. */
export const withCheckout = ({ cards }: Pick<Deps, 'cards'>, answer: Answer): Answer => {
  if (!cards) return answer
  const policy = clientPolicy(cards.checkoutOrigin)
  return { ...answer, headers: { ...answer.headers, 'content-security-policy': policy } }
}
