/**
 * Money: integers in hundredths of the currency unit, for every currency (rules/invoice.md#cents), and its display with the
 * digits of ISO 4217 (list of 2026-01-01). Never Intl for digits: it differs from ISO for 17 codes.
 */
import assert from 'node:assert/strict'

const CENTS_PER_UNIT = 100n
const CENTS_DIGITS = 2

const words = (text: string): string[] => text.trim().split(/\s+/)

/** Currencies whose digits are not two. */
const DIGITS = new Map<string, number>([
  ...words('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF').map((code) => [code, 0] as const),
  ...words('BHD IQD JOD KWD LYD OMR TND').map((code) => [code, 3] as const),
  ...words('CLF UYW').map((code) => [code, 4] as const),
])

const CURRENCIES = new Set([
  ...DIGITS.keys(),
  ...words(`
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP
    COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR
    JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN
    NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL
    THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`),
])

/** True for the codes of ISO 4217 that money is kept in; metals, test codes and withdrawn codes are not. */
export const isCurrency = (code: string): boolean => CURRENCIES.has(code)

/** Decimals of a currency by ISO 4217; two for a code that is not in the list. */
export const currencyDigits = (code: string): number => DIGITS.get(code) ?? CENTS_DIGITS

/** `'1920'` → `'1,920'` */
export const grouped = (digits: string): string => {
  let text = digits
  for (let at = digits.length - 3; at > 0; at -= 3) text = `${text.slice(0, at)},${text.slice(at)}`
  return text
}

/**
 * The smallest amount of a currency, in hundredths of its unit: 100 for JPY, 1 for EUR. 1 for KWD too: money is kept in
 * hundredths, and below them is nothing.
 */
export const leastCents = (currency: string): number =>
  currencyDigits(currency) < CENTS_DIGITS ? 10 ** (CENTS_DIGITS - currencyDigits(currency)) : 1

/** False for hundredths that the currency does not have: 50 of JPY. */
export const isWholeAmount = (cents: number, currency: string): boolean => cents % leastCents(currency) === 0

/** Why an amount was refused: `0.50 JPY is no amount of JPY, which has nothing below 1 JPY`. */
export const notWhole = (cents: number, currency: string): string =>
  `${displayCents(cents, currency)} is no amount of ${currency}, which has nothing below ${displayCents(leastCents(currency), currency)}`

/**
 * `192000, 'EUR'` → `1,920.00 EUR`; `50000, 'JPY'` → `500 JPY`; `1234, 'KWD'` → `12.340 KWD`. Hundredths that a currency
 * without decimals cannot have are shown all the same (`500.50 JPY`): no display rounds money away.
 */
export const displayCents = (cents: number, currency: string): string => {
  assert(Number.isSafeInteger(cents), 'cents are safe integers')
  const amount = BigInt(cents)
  const absolute = amount < 0n ? -amount : amount
  const whole = grouped((absolute / CENTS_PER_UNIT).toString())
  const hundredths = absolute % CENTS_PER_UNIT
  const digits = hundredths === 0n ? currencyDigits(currency) : Math.max(currencyDigits(currency), CENTS_DIGITS)
  const fraction = hundredths.toString().padStart(CENTS_DIGITS, '0').padEnd(digits, '0').slice(0, digits)
  return `${amount < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`} ${currency}`
}

/**
 * The card processor's own list, which is not that of ISO 4217 (docs.stripe.com/currencies): how many of its units make one
 * unit of the currency. ISK and UGX have no decimals and are written with two all the same.
 */
const PROCESSOR_WHOLE = new Set(words('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'))
const PROCESSOR_WHOLE_IN_HUNDREDTHS = new Set(['ISK', 'UGX'])
const PROCESSOR_THOUSANDTHS = new Set(words('BHD JOD KWD OMR TND'))
/**
 * Hundredths → the integer that the card processor counts in; null when the amount is no whole unit of a currency without
 * decimals. `50000, 'JPY'` → 500; `500, 'ISK'` → 500; `1234, 'KWD'` → 12340.
 */
export const processorUnits = (cents: number, currency: string): number | null => {
  assert(Number.isSafeInteger(cents), 'cents are safe integers')
  const isWhole = cents % 100 === 0
  if (PROCESSOR_WHOLE.has(currency)) return isWhole ? cents / 100 : null
  if (PROCESSOR_WHOLE_IN_HUNDREDTHS.has(currency)) return isWhole ? cents : null
  return PROCESSOR_THOUSANDTHS.has(currency) ? cents * 10 : cents
}

/** The way back; null for what cannot be said in hundredths. */
export const centsOfProcessor = (units: number, currency: string): number | null => {
  if (!Number.isSafeInteger(units)) return null
  if (PROCESSOR_WHOLE.has(currency)) return units * 100
  if (PROCESSOR_THOUSANDTHS.has(currency)) return units % 10 === 0 ? units / 10 : null
  return units
}

/** Divides and rounds half away from zero, so that a rebate undoes exactly the line it mirrors. */
export const divideHalfUp = (numerator: bigint, denominator: bigint): bigint => {
  assert(denominator > 0n, 'a divisor is positive')
  const absolute = numerator < 0n ? -numerator : numerator
  const rounded = (2n * absolute + denominator) / (2n * denominator)
  return numerator < 0n ? -rounded : rounded
}

/** As `divideHalfUp`, to a whole number of steps. @param step of what is rounded to, above zero */
export const divideToStep = (numerator: bigint, denominator: bigint, step: bigint): bigint =>
  divideHalfUp(numerator, denominator * step) * step

/**
 * Splits an amount in proportion to weights without losing a cent: each share is rounded down, and the cents left over
 * go to the largest remainders, the earlier first. Weights below zero count as none; without any weight the first takes
 * all.
 */
export const splitByLargestRemainder = (amount: bigint, weights: readonly bigint[]): bigint[] => {
  assert(amount >= 0n, 'what is split is not below zero')
  const positive = weights.map((weight) => (weight > 0n ? weight : 0n))
  const sum = positive.reduce((total, weight) => total + weight, 0n)
  if (sum === 0n) return weights.map((_, index) => (index === 0 ? amount : 0n))
  const shares = positive.map((weight) => (amount * weight) / sum)
  let left = amount - shares.reduce((total, share) => total + share, 0n)
  const byRemainder = positive
    .map((weight, index) => ({ index, remainder: (amount * weight) % sum }))
    .sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1))
  for (const { index } of byRemainder) {
    if (left === 0n) break
    shares[index] = (shares[index] ?? 0n) + 1n
    left -= 1n
  }
  return shares
}
