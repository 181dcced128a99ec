/** A display price as an amount with its currency, where there is no doubt about either (schema.org Offer). */
import type { SiteLang } from './content.ts'

/** `amount` as schema.org has it: digits, and a point before decimals. `currency` is an ISO 4217 code. */
export type PriceAmount = { amount: string; currency: string }

/** Longer signs first: `NT$` is no `$`. */
const SIGNS: readonly (readonly [string, string])[] = [
  ['NT$', 'TWD'],
  ['HK$', 'HKD'],
  ['US$', 'USD'],
  ['MX$', 'MXN'],
  ['S$', 'SGD'],
  ['€', 'EUR'],
  ['£', 'GBP'],
  ['元', ''],
]
/** A sign of several countries is one of them only by what the caller says, or by the language. */
const BY_LANG: Partial<Record<SiteLang, Record<string, string>>> = {
  'zh-Hans': { '¥': 'CNY', '￥': 'CNY', 元: 'CNY' },
  'zh-Hant': { 元: 'TWD' },
}
const AMBIGUOUS = ['$', '¥', '￥', '元']

/** `1.280,50`, `1,280.50`, `1 280`, `68`: one amount, and nothing else. Three digits after the only mark are thousands. */
const amountOf = (text: string): string | null => {
  const plain = text.replace(/[\s\u00a0\u202f'’]/g, '')
  if (!/^[0-9]{1,3}([.,]?[0-9]{3})*([.,][0-9]{1,2})?$/.test(plain) && !/^[0-9]+([.,][0-9]{1,2})?$/.test(plain))
    return null
  const [, whole = '', decimals] = /^(.*?)(?:[.,]([0-9]{1,2}))?$/.exec(plain) ?? []
  const digits = whole.replace(/[.,]/g, '')
  return decimals === undefined ? digits : `${digits}.${decimals}`
}

const currencyOf = (mark: string, lang: SiteLang, given: string | undefined): string | null => {
  if (/^[A-Z]{3}$/.test(mark)) return mark
  if (AMBIGUOUS.includes(mark)) return given ?? BY_LANG[lang]?.[mark] ?? null
  return SIGNS.find(([sign, code]) => sign === mark && code !== '')?.[1] ?? (mark === '' ? (given ?? null) : null)
}

const lastDigit = (text: string): number => {
  for (let at = text.length - 1; at >= 0; at--) if (/[0-9]/.test(text[at] ?? '')) return at
  return -1
}

/** @param given the currency of `meta`; null for `from €68`, `68–82 €`, `on request`, and a `$` of nobody knows where */
export const priceAmount = (price: string, lang: SiteLang, given?: string): PriceAmount | null => {
  const [start, end] = [price.search(/[0-9]/), lastDigit(price) + 1]
  if (start < 0) return null
  const [before, digits, after] = [price.slice(0, start).trim(), price.slice(start, end), price.slice(end).trim()]
  if (before !== '' && after !== '') return null
  const amount = amountOf(digits)
  const currency = currencyOf(before || after, lang, given)
  return amount === null || currency === null ? null : { amount, currency }
}
