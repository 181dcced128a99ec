/** Hours and addresses as people read them. */
import type { Content, Day, Hours } from '../../content/content.ts'
import type { Signs } from '../signs.ts'

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const satisfies readonly Day[]

/** A name and what is so. */
export type Fact = { title: string; lines: string[]; note?: string; closed: boolean }

/** As 09:00 and 18:30. */
export type OpenSpan = { opens: string; closes: string }

/** A day with all its hours, in their order; closed when there are none. */
export type DayHours = { day: Day; spans: OpenSpan[]; notes: string[] }

export const spanText = ({ opens, closes }: OpenSpan): string => `${opens}–${closes}`

/** Days that follow each other are joined: `Mon–Fri`; all of them are every day. */
export const daysOf = (days: readonly Day[], signs: Signs): string => {
  const at = DAYS.flatMap((day, index) => (days.includes(day) ? [index] : []))
  if (at.length === DAYS.length) return signs.daily
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

/** The days that something is said of, in the order of a week, however the lines were sent. */
export const weekDays = ({ weekly = [] }: Pick<Hours, 'weekly'>): DayHours[] =>
  DAYS.flatMap((day): DayHours[] => {
    const lines = weekly.filter(({ days }) => days.includes(day))
    if (lines.length === 0) return []
    const spans = lines
      .flatMap(({ opens, closes }) => (opens === undefined || closes === undefined ? [] : [{ opens, closes }]))
      .sort((a, b) => (a.opens < b.opens ? -1 : 1))
    const notes = lines.flatMap(({ note }) => (note === undefined ? [] : [note]))
    return [{ day, spans, notes: [...new Set(notes)] }]
  })

const sameAs = ({ spans, notes }: DayHours): string => JSON.stringify([spans, notes])

/** Days with the same hours, as one; in the order in which the content names them. A day that is named twice has a pause. */
export const weekOf = (hours: Pick<Hours, 'weekly'>, signs: Signs): Fact[] => {
  const days = weekDays(hours)
  const named = [...new Set((hours.weekly ?? []).flatMap((line) => line.days))]
  const ordered = named.flatMap((day) => days.filter((one) => one.day === day))
  return [...new Set(ordered.map(sameAs))].flatMap((same): Fact[] => {
    const alike = days.filter((one) => sameAs(one) === same)
    const [first] = alike
    if (first === undefined) return []
    const { spans, notes } = first
    const closed = spans.length === 0
    const title = daysOf(
      alike.map(({ day }) => day),
      signs,
    )
    const lines = closed ? [signs.closed] : spans.map(spanText)
    return [{ title, lines, closed, ...(notes.length > 0 && { note: notes.join(' · ') }) }]
  })
}

/** The days that are unlike the others, by their dates. */
export const otherHours = ({ exceptions = [] }: Pick<Hours, 'exceptions'>, signs: Signs): Fact[] =>
  exceptions.map(({ from, to, opens, closes, note }): Fact => {
    const title =
      to === undefined || to === from ? dateOf(from, signs) : `${dateOf(from, signs)} – ${dateOf(to, signs)}`
    const closed = opens === undefined || closes === undefined
    const lines = [closed ? signs.closed : spanText({ opens, closes })]
    return { title, lines, closed, ...(note !== undefined && { note }) }
  })

/** Each day or run of days with its hours on one line, then what is said of all; at most so many. */
export const hourLinesOf = ({ hours }: Content, signs: Signs, most = HOUR_LINES_MOST): string[] => {
  if (hours === undefined) return []
  const facts = [...weekOf(hours, signs), ...otherHours(hours, signs)]
  const lines = facts.map(({ title, lines: spans }) => `${title} ${spans.join(' · ')}`)
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
