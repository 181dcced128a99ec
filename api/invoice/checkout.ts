/** Pay now on the client's page: whether it is shown, and the policy under which its form may lead to the checkout. */
import type { Collect } from '../../crds/invoice/page.ts'
import type { Deps } from '../deps.ts'
import type { Answer } from '../route.ts'
import type { Found } from './page.ts'

/** @param isAway the processor did not take it just now */
export const collectOf = (
  { view, path }: Pick<Found, 'view' | 'path'>,
  lang: string,
  isAway: boolean,
): Collect | null => {
  // a view that was archived before there was card collection says nothing of it
  if (!view.collect?.offered) return null
  return isAway ? { state: 'away' } : { state: 'ready', path: `${path}/pay?lang=${lang}` }
}

/** Lets the form of this page lead to the checkout, and to nowhere else: browsers hold its redirects to the policy too. */
export const withCheckout = ({ cards }: Pick<Deps, 'cards'>, answer: Answer): Answer => {
  const policy = answer.headers?.['content-security-policy']
  if (!cards || policy === undefined) return answer
  const widened = policy.replace("form-action 'self'", `form-action 'self' ${cards.checkoutOrigin}`)
  return { ...answer, headers: { ...answer.headers, 'content-security-policy': widened } }
}
