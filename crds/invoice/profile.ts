/**
 * The seller profile: the identity of an issuer as its owner edits it; frozen onto each document at send.
 * Source: spec/1 rule 4 and "Seller profile"; CONTRACT section 10, Issuer and profile.
 */
import { isTimeZone } from '../calendar.ts'
import type { Fault } from '../problem.ts'
import { EMAIL_MAX, EMAIL_PATTERN, type Infer, type ObjectSchema } from '../schema.ts'
import { DEFAULT_ISSUER, NAME_MAX } from './schema.ts'
import type { Issuer } from './world.ts'

export const ADDRESS_MAX = 500
export const FOOTER_MAX = 1000
export const TAX_ID_MAX = 64
const ZONE_MAX = 64
const DEFAULT_ZONE = 'UTC'
const DEFAULT_PREFIX = 'INV'

export const profile = {
  type: 'object',
  description: 'The seller as it stands on the documents.',
  properties: {
    legalName: { type: 'string', description: 'Name of the seller.', maxLength: NAME_MAX, 'x-text': 'line' },
    taxId: { type: 'string', description: 'Tax number of the seller.', maxLength: TAX_ID_MAX, 'x-text': 'line' },
    address: { type: 'string', description: 'Address, lines in one text.', maxLength: ADDRESS_MAX, 'x-text': 'block' },
    email: { type: 'string', description: 'Where clients answer to.', maxLength: EMAIL_MAX, pattern: EMAIL_PATTERN },
    footer: { type: 'string', description: 'Text at the foot.', maxLength: FOOTER_MAX, 'x-text': 'block' },
    timeZone: { type: 'string', description: 'IANA time zone that dates are reckoned in.', maxLength: ZONE_MAX },
  },
} as const satisfies ObjectSchema

export type Profile = Infer<typeof profile>

/** What the schema cannot say. */
export const profileFaults = (given: Profile): Fault[] =>
  given.timeZone === undefined || isTimeZone(given.timeZone)
    ? []
    : [{ code: 'INVALID_FIELD', pointer: '/timeZone', detail: `${JSON.stringify(given.timeZone)} is no time zone` }]

/** The default issuer of an account; what the profile leaves open comes from the account itself. */
export const defaultIssuer = (account: { name: string; email: string }, stored: Profile): Issuer => ({
  id: DEFAULT_ISSUER,
  legalName: stored.legalName ?? (account.name === '' ? account.email : account.name),
  taxId: stored.taxId ?? '',
  address: stored.address ?? '',
  email: stored.email ?? account.email,
  footer: stored.footer ?? '',
  timeZone: stored.timeZone ?? DEFAULT_ZONE,
  numberPrefix: DEFAULT_PREFIX,
})
