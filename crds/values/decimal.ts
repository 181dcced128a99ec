/**
 * Decimals that never touch a float: a string with at most six decimals, computed as a BigInt scaled by 10^6.
 */
import { trimmedEnd } from './trimmed.ts'

export const DECIMALS_MAX = 6
export const SCALE = 10n ** BigInt(DECIMALS_MAX)
/** Nine digits before the point: together with six behind it a double still holds every value exactly. */
export const DECIMAL_PATTERN = '^(0|[1-9][0-9]{0,8})(\\.[0-9]{1,6})?$'
export const DECIMAL_MAX = '999999999.999999'

const SHAPE = new RegExp(DECIMAL_PATTERN, 'u')

/** `'1.5'` → `1500000n`; null when the text is no such decimal. */
export const parseDecimal = (text: string): bigint | null => {
  if (!SHAPE.test(text)) return null
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(DECIMALS_MAX, '0'))
}

/** `1500000n` → `'1.5'`: the shortest text. */
export const formatDecimal = (scaled: bigint): string => {
  const sign = scaled < 0n ? '-' : ''
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(DECIMALS_MAX + 1, '0')
  const fraction = trimmedEnd(digits.slice(-DECIMALS_MAX), '0')
  return `${sign}${digits.slice(0, -DECIMALS_MAX)}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * The decimal that a JSON number was written as. Null when it is negative, has more than six decimals (0.1 + 0.2 has
 * seventeen), or more than nine digits before the point.
 */
export const decimalOf = (value: number): string | null => {
  const text = String(value) // the shortest text that reads back as the same double: what the sender wrote
  return SHAPE.test(text) ? text : null
}

/** The JSON number of a decimal string. Exact: see DECIMAL_PATTERN. */
export const numberOf = (text: string): number => Number(text)
