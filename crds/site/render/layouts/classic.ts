/** Classic: the trusted shop front. Headline beside the picture, bands that alternate, cards in threes. */
import { html } from '../../../text/html.ts'
import { actions, brandLink } from '../page/parts.ts'
import { fitOf, languages, links, menu, primary } from './chrome.ts'
import { footColumns, legalLine } from './foot.ts'
import type { LayoutView } from './layout.ts'
import { facts, headline, heroSet, heroShot, lede, pageTitle, type SetPlaces } from './opening.ts'

const CSS = `
.top{border-bottom:1px solid var(--lin)}
@media (min-width:48rem){.bar,.bar>.brand{min-height:4.5rem}.menu{margin-top:-4.5rem}.menu>summary{min-height:4.5rem}
.top{position:sticky;top:0}.top:has([open]){position:relative}.bar>.links{margin-inline-start:auto}}
.hero{padding-block:calc(var(--gap)*.4) calc(var(--gap)*.45)}
.hero .in{display:grid;gap:2rem calc(var(--gut)*2)}
.hero .wd{display:grid;gap:1.25rem;align-content:center;min-width:0}
.hero h1{max-width:18em}
.hero .chips{padding-top:1rem;border-top:1px solid var(--lin)}
@media (max-width:47.99rem){.hero{--hh:60svh}}
@media (min-width:48rem){.hero.pic .in{grid-template-columns:repeat(2,minmax(0,1fr));align-items:center}
.hero.bare .in{grid-template-columns:minmax(0,8fr) minmax(0,3fr);justify-content:space-between;align-items:end}
.hero.bare .in:not(:has(.chips)){grid-template-columns:minmax(0,10fr)}
.hero.bare .chips{display:grid;gap:0;padding:0;border:0;font-size:var(--t0)}
.hero.bare .chips li{padding-block:.7rem;border-top:1px solid var(--lin)}
.hero{--hh:min(70svh,44rem)}.hero :is(.one,.set){justify-self:end}}
@media (min-width:64rem){.hung .in{display:grid;grid-template-columns:minmax(0,4fr) minmax(0,8fr);gap:calc(var(--gut)*1)}.hung .sh{margin:0}}
.list,.rows.plain{max-width:none}
.card .cw{padding-top:1rem}
.ladder .quote{padding-top:1.25rem;border-top:2px solid var(--al)}
.phead{background:var(--tint)}
.phead{padding-block:calc(var(--gap)*.6)}
.s-contact .sh{margin-bottom:1.25rem}
@media (prefers-reduced-motion:no-preference){.top{view-transition-name:bar}::view-transition-group(*),::view-transition-old(*),::view-transition-new(*){animation-duration:.16s}}
`

/** Beside the words, on a desk as high as they are; one tall and two square where there are three. */
const PLACES: SetPlaces = {
  wide: { ratio: 1.25, widthPx: 568, prefer: 'tall' },
  middle: { ratio: 1.25, widthPx: 320, prefer: 'tall' },
  phone: { ratio: 1.5, widthPx: 320, prefer: 'tall' },
}

export const classic: LayoutView = {
  name: 'classic',
  grid: { margin: [20, 72], gutter: [20, 32], gap: [56, 96], width: 1200, top: 5, body: 0, heading: 3 },
  rhythm: { grounds: ['g-paper', 'g-tint'], hung: true, last: 'g-inverse' },
  header: (frame) =>
    html`<header class="top${fitOf(frame, 14)}"><div class="bar">${brandLink(frame)}${links(frame)}${primary(frame)}${languages(frame)}${menu(frame)}</div></header>`,
  hero: (frame) => {
    const picture =
      heroSet(frame, PLACES) ??
      frame.shot(heroShot(frame), { sizes: '(min-width:48rem) 50vw,100vw', ratio: 1.25, hero: {}, as: 'mood' })
    const chips = facts(frame)
    return html`<section class="hero ${picture === null ? 'bare' : 'pic'}"><div class="in"><div class="wd">${headline(frame)}${lede(frame)}${actions(
      frame,
    )}${picture !== null && chips}</div>${picture ?? chips}</div></section>`
  },
  pageHead: (frame) => html`<header class="phead"><div class="in">${pageTitle(frame)}</div></header>`,
  footer: (frame) =>
    html`<footer class="foot g-inverse"><div class="in">${footColumns(frame)}${legalLine(frame)}</div></footer>`,
  css: CSS,
}
