/** What a claim of a name comes to, in words that REST and the status share. */
import type { ProblemCode } from '../kernel/problem.ts'

/**
 * Why a claim was refused; null when it was not. A domain is refused only to another site of the account that claims it already:
 * other accounts are asked for a proof. @param isLabel asked for as a subdomain @param outcome of claim_site_name
 */
export const claimRefusal = (
  name: string,
  isLabel: boolean,
  outcome: 'taken' | 'held' | 'refused' | 'kept',
): { code: ProblemCode; detail: string } | null => {
  switch (outcome) {
    case 'taken':
    case 'held':
      return null
    case 'refused': {
      const code = isLabel ? 'SUBDOMAIN_TAKEN' : 'DOMAIN_TAKEN'
      return { code, detail: `${name} is another site's; choose another name` }
    }
    case 'kept': {
      const detail = `${name} was given back by another account less than 30 days ago; choose another name`
      return { code: 'SUBDOMAIN_TAKEN', detail }
    }
    default:
      return outcome satisfies never
  }
}
