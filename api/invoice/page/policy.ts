/** What the client's page may do: show itself, tell by its one script that it is looked at, and send its forms home. */
import { DATA, hashOf, policyOf, SELF } from '../../../crds/text/policy.ts'
import { BEACON } from './viewed-script.ts'

const beacon = hashOf(BEACON)

/**
 * The policy of the page and its gate.
 * @param checkout where the form of Pay now may lead beside, and nowhere else: browsers hold its redirects to the policy, too
 */
export const clientPolicy = (checkout?: string): string =>
  policyOf({
    scripts: [beacon],
    styles: [SELF],
    images: [SELF, DATA],
    connect: [SELF],
    forms: checkout === undefined ? [SELF] : [SELF, checkout],
  })
