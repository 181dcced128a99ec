/**
 * What in a text could do harm if it were invented: mail addresses, web addresses, phone numbers, prices. Each is brought to one form,
 * in which a draft is held against its source. Linear in the text. Source: rules/site.md#provenance.
 */
import { EMAIL_MAX } from '../../../kernel/schema.ts'
import { isDomainName } from '../../../values/domain.ts'

export type HarmfulFact = { sort: 'mail' | 'address' | 'phone' | 'price'; text: string }

export type SourceFacts = {
  mails: ReadonlySet<string>
  addresses: ReadonlySet<string>
  phones: ReadonlySet<string>
  /** Amounts that stand as prices do. */
  prices: ReadonlySet<number>
  currencies: ReadonlySet<string>
  /** All numbers, those of prices and dates among them. */
  numbers: ReadonlySet<number>
}

/** What stands between words, and never within an address. Han is written up to one. */
const BETWEEN = /[\s<>()[\]{}"'`“”‘’«»,;|、，。；：（）「」『』\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/u
const TOKEN_MAX = 2_048
const EDGES = '.!?:-*/_'

const trimmed = (token: string): string => {
  let [from, to] = [0, token.length]
  while (from < to && EDGES.includes(token[from] ?? '')) from++
  while (to > from && EDGES.includes(token[to - 1] ?? '')) to--
  return token.slice(from, to)
}

/** Words without what stands around them. */
export const tokensOf = (text: string): string[] =>
  text
    .split(BETWEEN)
    .map(trimmed)
    .filter((token) => token.length > 2 && token.length <= TOKEN_MAX)

const LOCAL = /^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]+$/

/** `mailto:A@B` and `A@B` alike; null for what is none. */
export const mailOf = (text: string): string | null => {
  const mail = text.trim().toLowerCase()
  const plain = mail.slice(mail.lastIndexOf(':') + 1).split('?')[0] ?? ''
  const at = plain.lastIndexOf('@')
  const isMail =
    at > 0 && plain.length <= EMAIL_MAX && LOCAL.test(plain.slice(0, at)) && isDomainName(plain.slice(at + 1))
  return isMail ? plain : null
}

/** `https://www.a.test/` and `a.test` alike; null for what is none. */
export const addressOf = (text: string): string | null => {
  const plain = trimmed(text.trim())
    .replace(/^https?:\/\//i, '')
    .replace(/^www\./i, '')
  const end = plain.search(/[/?#:]/)
  const host = (end < 0 ? plain : plain.slice(0, end)).toLowerCase()
  if (plain.includes('@') || !isDomainName(host)) return null
  return trimmed(host + (end < 0 ? '' : plain.slice(end)))
}

const DIGIT = /[0-9]/
const IN_PHONE = ' \u00a0().-'
const PHONE_DIGITS_MIN = 6
/** Of a bank account as well, which would do as much harm. */
const PHONE_DIGITS_MAX = 40

/** Runs of digits with what is written between those of a phone number. */
export const runsOf = (text: string): string[] => {
  const runs: string[] = []
  for (let at = 0; at < text.length; at++) {
    if (!DIGIT.test(text[at] ?? '') && text[at] !== '+') continue
    let end = at + 1
    while (end < text.length && (DIGIT.test(text[end] ?? '') || IN_PHONE.includes(text[end] ?? ''))) {
      if (text[end] === ' ' && text[end + 1] === ' ') break
      end++
    }
    runs.push(text.slice(at, end))
    at = end
  }
  return runs
}

const digitsOf = (run: string): string => run.replace(/[^0-9]/g, '')

/** The digits of a number as it may be written: with and without the 0 in brackets, and the code of the country. */
const phoneForms = (run: string): string[] => {
  const isAbroad = run.startsWith('+') || run.startsWith('00')
  const digits = digitsOf(run.replace('(0)', '')).replace(/^00/, '')
  const plain = digitsOf(run)
  if (plain.length < PHONE_DIGITS_MIN || plain.length > PHONE_DIGITS_MAX) return []
  if (!isAbroad) return [plain, digits]
  const rest = run
    .replace('(0)', '')
    .replace(/^(\+|00)/, '')
    .split(/[^0-9]+/)
  const national = rest.slice(1).join('')
  return [digits, plain, ...(national.length >= PHONE_DIGITS_MIN ? [national, `0${national}`] : [])]
}

/** The digits of a phone number, without the mark of a foreign one. */
export const phoneOf = (text: string): string => digitsOf(text.replace('(0)', '')).replace(/^00/, '')

const CURRENCIES: Readonly<Record<string, readonly string[]>> = {
  EUR: ['€', 'eur', 'euro', 'euros'],
  $: ['$', 'usd', 'dollar', 'dollars', 'us$', 'nt$', 'hk$', 'mx$', 'twd', 'hkd', 'mxn', 'pesos'],
  GBP: ['£', 'gbp'],
  YEN: ['¥', '￥', '元', '円', '圆', '圓', 'cny', 'rmb', 'jpy', 'yen', '块', '塊'],
  CHF: ['chf', 'fr.'],
}
const MARKED = Object.entries(CURRENCIES).flatMap(([currency, marks]) => marks.map((mark) => ({ currency, mark })))
const NEAR = 8

type Mark = { currency: string; before: number; after: number }

/** The currency whose mark ends or begins a text, and how far it goes. */
const markAt = (before: string, after: string): Mark | undefined => {
  const [left, right] = [before.trimEnd().toLowerCase(), after.trimStart().toLowerCase()]
  const found = MARKED.find(({ mark }) => left.endsWith(mark) || right.startsWith(mark))
  if (found === undefined) return undefined
  const { currency, mark } = found
  if (left.endsWith(mark)) return { currency, before: before.length - left.length + mark.length, after: 0 }
  return { currency, before: 0, after: after.length - right.length + mark.length }
}

/** `shown`: with the mark of its currency. */
type Amount = {
  value: number
  text: string
  start: number
  shown: string
  currency: string | undefined
  isPrice: boolean
}

/** 1,200.50 and 1.200,50 alike: what stands before one or two last digits is the decimal point. */
const amountOf = (text: string): number => {
  const decimals = /[.,]([0-9]{1,2})$/.exec(text)
  const whole = decimals ? text.slice(0, -decimals[0].length) : text
  return Number(`${digitsOf(whole)}.${decimals?.[1] ?? '0'}`)
}

const IN_NUMBER = ".,'’"
const isDigit = (unit: string | undefined): boolean => unit !== undefined && DIGIT.test(unit)

/** Digits, with marks between them. */
const numbersIn = (text: string): { start: number; end: number }[] => {
  const found: { start: number; end: number }[] = []
  for (let start = 0; start < text.length; start++) {
    if (!isDigit(text[start])) continue
    let end = start + 1
    while (isDigit(text[end]) || (IN_NUMBER.includes(text[end] ?? ' ') && isDigit(text[end + 1]))) end++
    found.push({ start, end })
    start = end
  }
  return found
}

export const amountsOf = (text: string): Amount[] =>
  numbersIn(text).map(({ start, end }) => {
    const number = text.slice(start, end)
    const after = text.slice(end, end + NEAR)
    const mark = markAt(text.slice(Math.max(0, start - NEAR), start), after)
    const isAtEnd = /^[ \t]*($|\n)/.test(after)
    return {
      value: amountOf(number),
      text: number,
      start: start - (mark?.before ?? 0),
      shown: text.slice(start - (mark?.before ?? 0), end + (mark?.after ?? 0)),
      currency: mark?.currency,
      isPrice: mark !== undefined || /[.,][0-9]{2}$/.test(number) || isAtEnd,
    }
  })

export const factsOfSources = (texts: readonly string[]): SourceFacts => {
  const tokens = texts.flatMap(tokensOf)
  const amounts = texts.flatMap(amountsOf)
  const lower = texts.map((text) => text.toLowerCase())
  const marks = MARKED.filter(({ mark }) => lower.some((text) => text.includes(mark)))
  return {
    mails: new Set(tokens.flatMap((token) => mailOf(token) ?? [])),
    addresses: new Set(tokens.flatMap((token) => addressOf(token) ?? [])),
    phones: new Set(texts.flatMap(runsOf).flatMap(phoneForms)),
    prices: new Set(amounts.filter(({ isPrice }) => isPrice).map(({ value }) => value)),
    currencies: new Set(marks.map(({ currency }) => currency)),
    numbers: new Set(amounts.map(({ value }) => value)),
  }
}

/** Whether a web address stands in the source, or is the beginning of one that does. */
const hasAddress = ({ addresses }: SourceFacts, address: string): boolean =>
  addresses.has(address) || [...addresses].some((one) => one.startsWith(`${address}/`))

/** Whether the link leads to where the source says. */
export const hasLink = (facts: SourceFacts, link: string): boolean => {
  if (/^mailto:/i.test(link)) return facts.mails.has(mailOf(link) ?? '')
  if (/^tel:/i.test(link)) return facts.phones.has(phoneOf(link))
  const address = addressOf(link)
  return address !== null && hasAddress(facts, address)
}

/** Whether all amounts of a price stand in the source as prices, in its currency. A price in words has none. */
export const hasPrice = (facts: SourceFacts, price: string): boolean => {
  const lower = price.toLowerCase()
  const currencies = MARKED.filter(({ mark }) => lower.includes(mark)).map(({ currency }) => currency)
  return (
    amountsOf(price).every(({ value }) => facts.prices.has(value)) &&
    (currencies.length === 0 || currencies.some((currency) => facts.currencies.has(currency)))
  )
}

export const hasPhone = (facts: SourceFacts, phone: string): boolean => facts.phones.has(phoneOf(phone))

const PROSE_PHONE_MIN = 7

/** Facts within running text that the source does not hold. */
export const strangeFacts = (facts: SourceFacts, text: string): HarmfulFact[] => {
  const tokens = tokensOf(text)
  const mails = tokens.filter((token) => !facts.mails.has(mailOf(token) ?? token) && mailOf(token) !== null)
  const addresses = tokens.filter((token) => {
    const address = addressOf(token)
    return address !== null && !hasAddress(facts, address)
  })
  const phones = runsOf(text).filter((run) => {
    const isPhone = digitsOf(run).length >= PROSE_PHONE_MIN && phoneForms(run).length > 0
    return isPhone && !hasPhone(facts, run)
  })
  const prices = amountsOf(text).filter(
    ({ currency, value }) => currency !== undefined && !(facts.prices.has(value) && facts.currencies.has(currency)),
  )
  return [
    ...mails.map((one): HarmfulFact => ({ sort: 'mail', text: one })),
    ...addresses.map((one): HarmfulFact => ({ sort: 'address', text: one })),
    ...phones.map((one): HarmfulFact => ({ sort: 'phone', text: one.trim() })),
    ...prices.map((one): HarmfulFact => ({ sort: 'price', text: one.text })),
  ]
}

/** Figures of a text that stand nowhere in the source. */
export const strangeFigures = (facts: SourceFacts, text: string): string[] =>
  amountsOf(text)
    .filter(({ value }) => !facts.numbers.has(value))
    .map((one) => one.text)
