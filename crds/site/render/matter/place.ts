/** Hours and addresses as people read them. */
import type { Content, Day, Hours } from '../../content/content.ts'
import type { Signs } from '../signs.ts'

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const satisfies readonly Day[]

/** A name and what is so. */
export type Fact = { title: string; lines: string[]; note?: string }

const spanOf = (signs: Signs, opens: string | undefined, closes: string | undefined): string => {
  if (opens === undefined && closes === undefined) return signs.closed
  return `${opens ?? ''}–${closes ?? ''}`
}

/** Days that follow each other are joined: `Mon–Fri`. */
const daysOf = (days: readonly Day[], signs: Signs): string => {
  const at = DAYS.flatMap((day, index) => (days.includes(day) ? [index] : []))
  const runs: [number, number][] = []
  for (const index of at) {
    const last = runs.at(-1)
    if (last !== undefined && last[1] === index - 1) last[1] = index
    else runs.push([index, index])
  }
  const name = (index: number) => signs.days[DAYS[index] ?? 'mon']
  return runs
    .map(([from, to]) =>
      from === to ? name(from) : `${name(from)}${to - from === 1 && signs.to === '–' ? ', ' : signs.to}${name(to)}`,
    )
    .join(signs.to === '–' ? ', ' : '、')
}

const dateOf = (text: string, signs: Signs): string => {
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number)
  return signs.date(year, month, day)
}

/** The week, then the days that are unlike the others. A day that is named twice has a pause. */
export const hoursOf = ({ weekly = [], exceptions = [] }: Hours, signs: Signs): Fact[] => {
  const week = new Map<string, Fact>()
  for (const { days, opens, closes, note } of weekly) {
    const title = daysOf(days, signs)
    const fact = week.get(title) ?? { title, lines: [] }
    fact.lines.push(spanOf(signs, opens, closes))
    week.set(title, note === undefined ? fact : { ...fact, note })
  }
  const others = exceptions.map(({ from, to, opens, closes, note }): Fact => {
    const title =
      to === undefined || to === from ? dateOf(from, signs) : `${dateOf(from, signs)} – ${dateOf(to, signs)}`
    return { title, lines: [spanOf(signs, opens, closes)], ...(note !== undefined && { note }) }
  })
  return [...week.values(), ...others]
}

/** Each day or run of days with its hours on one line, then what is said of all; at most so many. */
export const hourLinesOf = ({ hours }: Content, signs: Signs, most = HOUR_LINES_MOST): string[] => {
  if (hours === undefined) return []
  const lines = hoursOf(hours, signs).map(({ title, lines: spans }) => `${title} ${spans.join(' · ')}`)
  return [...lines.slice(0, most), ...(hours.note === undefined ? [] : [hours.note])]
}

/** Lines of hours that a foot or a menu has room for. */
const HOUR_LINES_MOST = 7

/** Lines of an address; from large to small in Chinese. */
export const addressOf = ({ contact, meta }: Content): string[] => {
  const address = contact?.address
  if (address === undefined) return []
  const { street, more, postalCode, locality, region } = address
  const han = meta.lang === 'zh-Hans' || meta.lang === 'zh-Hant'
  if (han)
    return [
      [postalCode, ' ', region, locality, street, more]
        .filter((one) => one !== undefined)
        .join('')
        .trim(),
    ]
  const town = [postalCode, locality].filter((one) => one !== undefined).join(' ')
  const regional = region === undefined || region === locality ? town : `${town}, ${region}`
  return [street, ...(more === undefined ? [] : [more]), regional]
}

/** A number as a telephone takes it. */
export const telOf = (phone: string): string => `tel:${phone.replace(/[^+0-9]/g, '')}`
