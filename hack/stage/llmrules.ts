/** How the stand-in of a language model reads a source: every text that it writes is a piece of the source, and is its own quote. */

import { addressOf, amountsOf, mailOf, runsOf, tokensOf } from '../../crds/site/content/drafting/facts.ts'
import { sentencesOf } from '../../crds/site/content/drafting/sentences.ts'

type Quote = { pointer: string; quote: string }
export type DraftedSite = { content: Record<string, unknown>; quotes: Quote[]; photos?: object[] }

const nameMax = 60
const textMax = 1_800
const productsMax = 60
const joining = /(?:\b(?:is|costs?|from|for|at|cuesta|cuestan|desde|por|son|es)|[:：.…\u2013-])\s*$/i
const leading = /^(?:an?|the|and|our|we sell|un|una|el|la|los|las|y)\s+/i

const dayNames: [string, RegExp][] = [
  ['mon', /\b(?:mon(?:day)?s?|lunes)\b|[周週]一|星期一/i],
  ['tue', /\b(?:tue(?:sday)?s?|martes)\b|[周週]二|星期二/i],
  ['wed', /\b(?:wed(?:nesday)?s?|mi[ée]rcoles)\b|[周週]三|星期三/i],
  ['thu', /\b(?:thu(?:rsday)?s?|jueves)\b|[周週]四|星期四/i],
  ['fri', /\b(?:fri(?:day)?s?|viernes)\b|[周週]五|星期五/i],
  ['sat', /\b(?:sat(?:urday)?s?|s[áa]bados?)\b|[周週]六|星期六/i],
  ['sun', /\b(?:sun(?:day)?s?|domingos?)\b|[周週]日|星期[日天]/i],
]
const clock = /([0-9]{1,2})[:.]([0-9]{2})/g

function sentencesIn(text: string): string[] {
  return sentencesOf(text).map((one) => one.trim())
}

function companyIn(sentences: readonly string[]): string {
  const first = (sentences[0] ?? '').replace(/^#+ */, '')
  if (first.length <= nameMax && !/[.!?。！？]$/.test(first)) return first
  const named = /(?:We are|I am|This is|Somos|Soy|我们是|我們是)\s*([^,.。，;\n]{2,60})/.exec(first)?.[1]
  const capital = /^(?:[A-ZÁÉÍÓÚÑ][\w&'’áéíóúñ-]*\s?)+/.exec(first)?.[0]
  return (named ?? capital ?? first.slice(0, nameMax)).replace(leading, '').trim() || first.slice(0, nameMax)
}

function langOf(text: string): string {
  if (/\p{Script=Han}/u.test(text)) return /[們與體時開關業務電話號]/.test(text) ? 'zh-Hant' : 'zh-Hans'
  return /\b(?:el|la|los|las|somos|para|nuestr[oa]s?|con)\b/i.test(text) ? 'es' : 'en'
}

/** `A bowl is 48 EUR` is a bowl and its price; a sentence may hold several. */
function productsIn(sentence: string): { name: string; price: string }[] {
  let from = 0
  return amountsOf(sentence).flatMap(({ start, shown, currency }) => {
    if (currency === undefined) return []
    const before = sentence.slice(from, start)
    from = start + shown.length
    const part = before.slice(Math.max(before.lastIndexOf(','), before.lastIndexOf(';')) + 1).trim()
    const name = part.replace(joining, '').trim().replace(leading, '').trim()
    return name === '' || name.length > nameMax ? [] : [{ name, price: shown.trim() }]
  })
}

function hoursIn(sentences: readonly string[]): { weekly: object[]; quotes: Quote[] } {
  const weekly: object[] = []
  const quotes: Quote[] = []
  for (const sentence of sentences) {
    const named = dayNames.flatMap(([day, word], place) => {
      const at = sentence.search(word)
      return at < 0 ? [] : [{ day, place, at }]
    })
    const [opens, closes] = [...sentence.matchAll(clock)].map(
      ([, hour = '', minute]) => `${hour.padStart(2, '0')}:${minute}`,
    )
    const [first, last] = [named[0], named.at(-1)]
    if (first === undefined || last === undefined || opens === undefined || closes === undefined) continue
    const isRange = named.length === 2 && /\bto\b|\ba\b|[-–—至到]/.test(sentence.slice(first.at, last.at))
    const days = isRange ? dayNames.slice(first.place, last.place + 1).map(([day]) => day) : named.map(({ day }) => day)
    quotes.push({ pointer: `/hours/weekly/${weekly.length}`, quote: sentence })
    weekly.push({ days, opens, closes })
  }
  return { weekly, quotes }
}

const leaves = (value: unknown, pointer = ''): Quote[] => {
  if (typeof value === 'string') return [{ pointer, quote: value }]
  if (Array.isArray(value)) return value.flatMap((one, index) => leaves(one, `${pointer}/${index}`))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => leaves(one, `${pointer}/${key}`))
}

const phoneDigitsMin = 7

function phoneIn(text: string): string | undefined {
  const run = runsOf(text).find((one) => one.replace(/[^0-9]/g, '').length >= phoneDigitsMin)
  return run?.slice(0, Math.max(...[...'0123456789)'].map((unit) => run.lastIndexOf(unit))) + 1)
}

function contactIn(text: string): Record<string, string> {
  const tokens = tokensOf(text)
  const [email, site] = [tokens.find((one) => mailOf(one) !== null), tokens.find((one) => addressOf(one) !== null)]
  const phone = phoneIn(text)
  return {
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    ...(site !== undefined && { website_url: /^http/i.test(site) ? site : `https://${site}` }),
  }
}

/** A sentence that tells nothing but how one is reached. */
function isContact(sentence: string): boolean {
  return tokensOf(sentence).some((one) => (mailOf(one) ?? addressOf(one)) !== null) || phoneIn(sentence) !== undefined
}

export function draftFromText(text: string, asked?: string): DraftedSite {
  const sentences = sentencesIn(text)
  const company = companyIn(sentences)
  const products = sentences.flatMap(productsIn).slice(0, productsMax)
  const { weekly, quotes } = hoursIn(sentences)
  const told = quotes.map(({ quote }) => quote)
  const plain = sentences.filter(
    (one) => !one.endsWith(company) && productsIn(one).length === 0 && !isContact(one) && !told.includes(one),
  )
  const [lede, ...rest] = plain
  const story = rest.join('\n\n').slice(0, textMax)
  const content = {
    meta: { company_name: company, lang: asked ?? langOf(text) },
    hero: { title: company, ...(lede !== undefined && { lede: lede.slice(0, textMax) }) },
    ...(products.length > 0 && { products }),
    ...(story !== '' && { text: [{ text: story }] }),
    ...(weekly.length > 0 && { hours: { weekly } }),
    contact: contactIn(text),
  }
  return { content, quotes: [...leaves(content), ...quotes] }
}

/** It sees nothing: how many photos there are is all that it says. */
export function draftOfPhotos(count: number): DraftedSite {
  const photos = Array.from({ length: count }, (_, index) => ({ photo: index + 1, alt: `Photo ${index + 1}` }))
  return {
    content: { meta: { company_name: 'Untitled', lang: 'en' }, hero: { title: 'Untitled' } },
    quotes: [],
    photos,
  }
}
