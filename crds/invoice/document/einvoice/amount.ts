/** Numbers as XML has them: a point, no grouping, made of integers and never of floats. */
import assert from 'node:assert/strict'
import { formatDecimal, SCALE } from '../../../values/decimal.ts'
import { currencyDigits } from '../../../values/money.ts'

const PER_UNIT = 100n
const DIGITS = 2

/**
 * `144000, 'EUR'` → `1440.00`; `50000, 'JPY'` → `500`; `50050, 'JPY'` → `500.50`. At most two decimals, whatever the
 * currency: the standard allows no more (BR-DEC), and hundredths need no more.
 */
export const amountText = (cents: number, currency: string): string => {
  assert(Number.isSafeInteger(cents), 'cents are safe integers')
  const amount = BigInt(cents)
  const absolute = amount < 0n ? -amount : amount
  const fraction = absolute % PER_UNIT
  const decimals =
    fraction === 0n && currencyDigits(currency) === 0 ? '' : `.${fraction.toString().padStart(DIGITS, '0')}`
  return `${amount < 0n ? '-' : ''}${absolute / PER_UNIT}${decimals}`
}

/** Basis points as per cent: `1950` → `19.5`. */
export const percentText = (rateBp: number): string => formatDecimal((BigInt(rateBp) * SCALE) / PER_UNIT)
