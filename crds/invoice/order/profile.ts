/**
 * The seller profile: the identity of an issuer as its owner edits it; frozen onto each document at send.
 * Source: rules/invoice.md#seller-profile, #prefixes.
 */

import type { Fault } from '../../kernel/problem.ts'
import { EMAIL_MAX, EMAIL_PATTERN, type Infer, type ObjectSchema } from '../../kernel/schema.ts'
import { isTimeZone } from '../../values/calendar.ts'
import { NAME_MAX } from '../schema.ts'

export const ADDRESS_MAX = 500
export const FOOTER_MAX = 1000
export const TAX_ID_MAX = 64
export const CITY_MAX = 100
export const POSTCODE_MAX = 20
const IBAN_MAX = 34
const ZONE_MAX = 64
export const PREFIX_MAX = 8
export const PREFIX_PATTERN = '^[A-Z][A-Z0-9]{0,7}$'
/** Where a migrated register may begin at most; seven digits leave room for a year. */
export const NEXT_NUMBER_MAX = 9_999_999

export const profile = {
  type: 'object',
  description: 'The seller as it stands on the documents.',
  properties: {
    legalName: { type: 'string', description: 'Name of the seller.', maxLength: NAME_MAX, 'x-text': 'line' },
    taxId: { type: 'string', description: 'Tax number of the seller.', maxLength: TAX_ID_MAX, 'x-text': 'line' },
    address: { type: 'string', description: 'Address, lines in one text.', maxLength: ADDRESS_MAX, 'x-text': 'block' },
    city: { type: 'string', description: 'City, for the XML.', maxLength: CITY_MAX, 'x-text': 'line' },
    postcode: { type: 'string', description: 'Postcode, for the XML.', maxLength: POSTCODE_MAX, 'x-text': 'line' },
    country: {
      type: 'string',
      description: 'Country code of ISO 3166-1, two letters, for the XML.',
      maxLength: 2,
      pattern: '^[A-Z]{2}$',
    },
    email: { type: 'string', description: 'Where clients answer to.', maxLength: EMAIL_MAX, pattern: EMAIL_PATTERN },
    iban: {
      type: 'string',
      description: 'Bank account that clients pay into, without spaces.',
      maxLength: IBAN_MAX,
      pattern: '^[A-Z]{2}[0-9]{2}[A-Z0-9]{10,30}$',
    },
    footer: { type: 'string', description: 'Text at the foot.', maxLength: FOOTER_MAX, 'x-text': 'block' },
    timeZone: { type: 'string', description: 'IANA time zone that dates are reckoned in.', maxLength: ZONE_MAX },
    numberPrefix: {
      type: 'string',
      description: 'What the numbers of this issuer begin with. TEST and what begins with CN are reserved.',
      maxLength: PREFIX_MAX,
      pattern: PREFIX_PATTERN,
      'x-code': 'BAD_PREFIX',
    },
  },
} as const satisfies ObjectSchema

export type IssuerProfile = Infer<typeof profile>

/** Test invoices and credit notes have these (rules/invoice.md#prefixes). */
const isReserved = (prefix: string): boolean => prefix === 'TEST' || prefix.startsWith('CN')

const IBAN_MODULO = 97n

/** ISO 13616: letters as two digits, the first four at the end, one more than a multiple of 97. */
const isIban = (iban: string): boolean => {
  const digits = [...iban.slice(4), ...iban.slice(0, 4)].map((char) => parseInt(char, 36)).join('')
  return /^[0-9]+$/.test(digits) && BigInt(digits) % IBAN_MODULO === 1n
}

/** What the schema cannot say. Fields that are null or absent have no fault. */
export const profileFaults = (given: { [K in keyof IssuerProfile]: IssuerProfile[K] | null }): Fault[] => {
  const { timeZone, numberPrefix, iban } = given
  const faults: Fault[] = []
  if (typeof timeZone === 'string' && !isTimeZone(timeZone)) {
    faults.push({ code: 'INVALID_FIELD', pointer: '/timeZone', detail: `${JSON.stringify(timeZone)} is no time zone` })
  }
  if (typeof numberPrefix === 'string' && isReserved(numberPrefix)) {
    const detail = `${numberPrefix} is reserved for ${numberPrefix === 'TEST' ? 'test invoices' : 'credit notes'}`
    faults.push({ code: 'BAD_PREFIX', pointer: '/numberPrefix', detail })
  }
  if (typeof iban === 'string' && !isIban(iban)) {
    faults.push({ code: 'INVALID_FIELD', pointer: '/iban', detail: 'its check digits do not fit' })
  }
  return faults
}
