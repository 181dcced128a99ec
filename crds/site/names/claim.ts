/** What a claim of a name comes to, in words that REST and the status share. */
import type { ProblemCode } from '../../kernel/problem.ts'
import { isDomain } from './names.ts'

/**
 * Why a claim was refused; null when it was not. A domain is refused only to another site of the account that claims it already:
 * other accounts are asked for a proof. @param outcome of claim_site_name
 */
export const claimRefusal = (
  name: string,
  outcome: 'taken' | 'held' | 'refused' | 'kept',
): { code: ProblemCode; detail: string } | null => {
  switch (outcome) {
    case 'taken':
    case 'held':
      return null
    case 'refused': {
      const code = isDomain(name) ? 'DOMAIN_TAKEN' : 'SUBDOMAIN_TAKEN'
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
