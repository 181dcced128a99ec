/** The policy of a page whose form leads to the card processor's checkout: browsers hold redirects of a form to it too. */
import type { Deps } from '../deps.ts'
import type { Answer } from '../route.ts'

/** Lets the form of this page lead to the checkout, and to nowhere else. */
export const withCheckout = ({ cards }: Pick<Deps, 'cards'>, answer: Answer): Answer => {
  const policy = answer.headers?.['content-security-policy']
  if (!cards || policy === undefined) return answer
  const widened = policy.replace("form-action 'self'", `form-action 'self' ${cards.checkoutOrigin}`)
  return { ...answer, headers: { ...answer.headers, 'content-security-policy': widened } }
}
