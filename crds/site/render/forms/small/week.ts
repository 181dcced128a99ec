/** A week by its days: a line each, the hours before and after a pause under each other. */
import { type Html, html } from '../../../../text/html.ts'
import { type DayHours, daysOf, type OpenSpan, spanText, weekDays } from '../../matter/place.ts'
import type { Frame } from '../../page/frame.ts'
import type { SiteForm } from '../form.ts'
import { alsoOf, spoken } from './spoken.ts'

const CSS = `
.week{border-collapse:collapse;width:100%;max-width:34rem;font-variant-numeric:tabular-nums lining-nums}
.week :is(th,td){padding:.55rem 0 .55rem 1.25rem;border-top:1px solid var(--lin);text-align:start;vertical-align:baseline;font-weight:400}
.week th{font-weight:600;padding-inline-start:0}
.week tr:last-child :is(th,td){border-bottom:1px solid var(--lin)}
.week td span{display:inline-block;white-space:nowrap;margin-inline-end:1.25rem}
.week td span:last-child{margin:0}
.week .shut{color:var(--mut)}
.week+.also{margin-top:1rem;max-width:34rem}
@media (max-width:39.99rem){.week :is(th,td){padding-inline-start:.6rem}.week th{padding-inline-start:0}}
${spoken.css}`

/** A day is split once, or its hours stand one behind the other. */
const COLUMNS = 2

const isSplit = ({ spans }: DayHours): boolean => spans.length === COLUMNS

/** Where the hours of a day that is not split stand: before the pause of the others, after it, or across. */
const placeOf = (span: OpenSpan, days: readonly DayHours[]): 'before' | 'after' | 'across' => {
  const split = days.filter(isSplit)
  const pauseFrom = split.map(({ spans }) => spans[0]?.closes ?? '').reduce((a, b) => (a > b ? a : b), '')
  const pauseTo = split.map(({ spans }) => spans[1]?.opens ?? '').reduce((a, b) => (a < b ? a : b), '24:00')
  if (span.opens >= pauseFrom) return 'after'
  return span.closes > span.opens && span.closes <= pauseTo ? 'before' : 'across'
}

const cellsOf = (day: DayHours, days: readonly DayHours[], split: boolean, { signs }: Frame): Html => {
  const { spans } = day
  const across = split && html` colspan="${COLUMNS}"`
  const [first] = spans
  if (first === undefined) return html`<td class="shut"${across}>${signs.closed}</td>`
  if (split && spans.length === COLUMNS)
    return html`${spans.map((one) => html`<td><span>${spanText(one)}</span></td>`)}`
  if (split && spans.length === 1) {
    const place = placeOf(first, days)
    const cell = html`<td><span>${spanText(first)}</span></td>`
    if (place === 'before') return html`${cell}<td></td>`
    if (place === 'after') return html`<td></td>${cell}`
  }
  return html`<td${across}>${spans.map((one) => html`<span>${spanText(one)}</span> `)}</td>`
}

/** What is said of some days, once for all that it holds for. */
const footnotesOf = (days: readonly DayHours[], { signs }: Frame): string[] => {
  const notes = new Set(days.flatMap((one) => one.notes))
  return [...notes].map((note) => {
    const held = days.filter((one) => one.notes.includes(note)).map(({ day }) => day)
    return held.length === days.length ? note : `${daysOf(held, signs)}${signs.colon}${note}`
  })
}

export const week: SiteForm = {
  css: CSS,
  view: (frame) => {
    const days = weekDays(frame.content.hours ?? {})
    const split = days.some(isSplit)
    return html`<table class="week" aria-labelledby="hours-title"><tbody>${days.map(
      (one) => html`<tr><th scope="row">${frame.signs.days[one.day]}</th>${cellsOf(one, days, split, frame)}</tr>`,
    )}</tbody></table>${alsoOf(frame, footnotesOf(days, frame))}`
  },
}
