/**
 * What banking apps read from a code to fill in a transfer: European Payments Council, EPC069-12 v2.1, "Quick Response Code:
 * Guidelines to enable data capture for the initiation of an SEPA credit transfer".
 */
import { isIban } from '../order/iban.ts'

/** Bytes of the whole, and letters of its parts, as the guideline limits them. */
const BYTES_MAX = 331
const NAME_MAX = 70
const REMITTANCE_MAX = 140
const CENTS_MAX = 99_999_999_999

export type Transfer = { name: string; iban: string; currency: string; amountCents: number; remittance: string }

/** One line of letters that any SEPA bank takes is left to the bank; a line break would begin the next field. */
const line = (text: string, max: number): string =>
  [...text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()].slice(0, max).join('')

const amountOf = (cents: number): string => `EUR${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`

/** The text of the code (error correction M), or null where there is none: only euros, only to a sound IBAN. */
export const epcText = ({ name, iban, currency, amountCents, remittance }: Transfer): string | null => {
  const to = iban.replace(/\s+/g, '').toUpperCase()
  const beneficiary = line(name, NAME_MAX)
  const isFit = currency === 'EUR' && amountCents >= 1 && amountCents <= CENTS_MAX && beneficiary !== '' && isIban(to)
  if (!isFit) return null
  const fields = [
    'BCD',
    '002',
    '1',
    'SCT',
    '',
    beneficiary,
    to,
    amountOf(amountCents),
    '',
    '',
    line(remittance, REMITTANCE_MAX),
  ]
  const text = fields.join('\n')
  return new TextEncoder().encode(text).length <= BYTES_MAX ? text : null
}
