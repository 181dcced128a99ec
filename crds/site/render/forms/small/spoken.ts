/** Opening hours that are one sentence: the days and the hours, large; what is closed, and what else there is, beneath. */
import { type Html, html } from '../../../../text/html.ts'
import { type Fact, otherHours, weekOf } from '../../matter/place.ts'
import type { Frame } from '../../page/frame.ts'
import type { SiteForm } from '../form.ts'
import { factList, facts } from './facts.ts'

const CSS = `
.spoken{display:grid;gap:.35rem}
.spoken .big{font:var(--hw) var(--t3)/1.2 var(--head);letter-spacing:var(--tr);font-variant-numeric:tabular-nums lining-nums;max-width:none}
.spoken .big span{margin-inline-end:.3em}
.spoken :is(.big,.rest) *{display:inline-block}
.spoken .rest{color:var(--mut);font-variant-numeric:tabular-nums lining-nums}
.spoken+.also{margin-top:1.5rem}
.also{display:grid;gap:1rem}
.also .note{color:var(--mut)}
.l-atelier .spoken{justify-items:center}
${facts.css}`

const sentenceOf = ({ title, lines, note }: Fact, as: string): Html =>
  html`<p class="${as}"><span>${title}</span> <span>${lines.join(' · ')}</span></p>${note !== undefined && html`<p>${note}</p>`}`

/** Days that are unlike the others, and what is said of all; null where there is neither. */
export const alsoOf = ({ content: { hours }, signs }: Frame, footnotes: readonly string[] = []): Html | null => {
  if (hours === undefined) return null
  const others = otherHours(hours, signs)
  const notes = [...footnotes, ...(hours.note === undefined ? [] : [hours.note])]
  if (others.length + notes.length === 0) return null
  return html`<div class="also">${others.length > 0 && factList(others)}${notes.map((one) => html`<p class="note">${one}</p>`)}</div>`
}

export const spoken: SiteForm = {
  css: CSS,
  view: (frame) => {
    const { hours = {} } = frame.content
    const week = weekOf(hours, frame.signs)
    const open = week.filter(({ closed }) => !closed)
    const closed = week.filter((one) => one.closed)
    // nothing but a sentence of the owner's: by appointment
    if (week.length === 0 && hours.note !== undefined && otherHours(hours, frame.signs).length === 0)
      return html`<div class="spoken"><p class="big">${hours.note}</p></div>`
    return html`<div class="spoken">${open.map((one) => sentenceOf(one, 'big'))}${closed.map((one) => sentenceOf(one, open.length === 0 ? 'big' : 'rest'))}</div>${alsoOf(frame)}`
  },
}
