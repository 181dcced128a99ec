/** Atelier: a maker's table. A stamp on a white sheet, a centred name, one thought and then air. */
import { type Html, html } from '../../../text/html.ts'
import { type Frame, navItems, ratiosOf } from '../page/frame.ts'
import { actions, brandLink, mailLink, otherWays } from '../page/parts.ts'
import { fitOf, languages, menu } from './chrome.ts'
import { hourSpans, legalWords } from './foot.ts'
import type { LayoutView } from './layout.ts'
import { facts, headline, heroSet, heroShot, lede, pageTitle, pushesOut, type SetPlaces } from './opening.ts'

const CSS = `
.button{background:none;color:var(--fg);border:1px solid var(--edg);font-weight:500;padding-inline:2rem}
.button:hover{color:var(--acc);filter:none}
h1,h2,h3,h4{font-weight:min(var(--hw),500)}
.bar .side,.end{display:none}
@media (min-width:64rem){.fit-w .bar{display:grid;grid-template-columns:1fr auto 1fr;min-height:6rem;gap:2rem}.fit-w .bar .side{display:block}
.fit-w .bar>.brand{justify-self:center}.fit-w .end{display:flex;align-items:center;justify-content:space-between;gap:2rem}.side ul{display:flex;gap:clamp(1rem,2.2vw,2rem)}.side.lft ul{justify-content:flex-end}
.side a{display:flex;align-items:center;min-height:2.75rem;text-decoration:none;font-size:max(.9375rem,var(--t-1))}
.side a:hover,.side [aria-current]{text-decoration:underline;text-underline-offset:.4em}}
.brand{font-size:var(--t2);font-weight:min(var(--hw),500)}
.hero{padding-block:calc(var(--gap)*.2) calc(var(--gap)*.6);text-align:center}
.hero .in{display:grid;justify-items:center;gap:1.25rem}
.hero{--hh:40svh}
.hero .stamp{position:relative;width:100%}
.hero :is(.one,.set){margin-inline:auto}
@media (max-width:63.99rem){.hero.late .stamp{order:9}}
.hero .cap{font-size:var(--t-1);color:var(--mut);padding-top:.5rem}
@media (min-width:64rem){.hero{--hh:46svh}.hero .stamp{width:auto}.hero .one{width:min(60vw,var(--mw),calc(var(--hh)*var(--r)))}.hero .cap{position:absolute;inset:auto auto 0 calc(100% + 1.25rem);width:9rem;text-align:start;padding:0}
.hero .cap:lang(zh){writing-mode:vertical-rl;width:auto;max-height:100%}}
.hero .set{max-width:52rem}.hero .stamp:has(.set){width:100%;display:grid;justify-items:center}.hero .stamp:has(.set) .cap{position:static;width:auto}
.hero h1{max-width:22em}
.hero .lede{max-width:36em}
.hero .actions,.hero .chips{justify-content:center}
.hero.bare{padding-block:calc(var(--gap)*.7)}
.hero.bare h1{font-size:var(--t5)}
.orn{width:4rem;border-top:1px solid var(--al);margin:.5rem auto}
.s{padding-block:calc(var(--gap)*.5)}
.sh{text-align:center;margin-bottom:calc(var(--gap)*.36)}
.coll{text-align:center}
.plates{column-gap:calc(var(--gut)*2);grid-template-columns:repeat(2,minmax(0,1fr))}
.plates>li{grid-column:auto}
.plates.c1{grid-template-columns:minmax(0,36rem);justify-content:center}
@media (min-width:40rem){.plates:not(.c1){align-items:start;padding-bottom:var(--gap)}.plates:not(.c1)>li:nth-child(even){margin-top:var(--gap);margin-bottom:calc(-1*var(--gap))}
.plates:not(.c1)>.p12{grid-column:1/-1;width:50%;justify-self:center;margin-block:var(--gap) calc(-1*var(--gap))!important}}
@media (max-width:39.99rem){.plates{gap:2.5rem var(--gut)}.plates>.p12{grid-column:1/-1}}
.list,.index,.rows.plain{max-width:46rem;margin-inline:auto}
.list.two{columns:1}
.rows.pics>.row{max-width:none}
.rows.pics>.row:nth-child(odd){padding-inline-end:8%}.rows.pics>.row:nth-child(even){padding-inline-start:8%}
:is(.f-sizes,.f-stacked,.f-facts,.f-week) .mt{width:min(100%,34rem);margin-inline:auto}.f-measures .meas{margin-inline:auto}.f-spoken{text-align:center}.f-spoken .also{text-align:start;width:min(100%,34rem);margin-inline:auto}.f-spoken .also:not(:has(dl)){text-align:center}
.beside{max-width:60rem;margin-inline:auto}
.ladder,.ladder.single{max-width:44rem;margin-inline:auto;text-align:center}
.ladder .lead p{margin-inline:auto}
.ladder li:not(.lead){padding-top:2rem}
.ladder li:not(.lead) p{margin-inline:auto}
.reach{text-align:center;grid-template-columns:minmax(0,1fr)!important;justify-items:center}
.ways{display:flex;flex-wrap:wrap;justify-content:center;gap:1rem 3rem}
.foot{text-align:center;padding-block:calc(var(--gap)*.6) 3rem}
.foot p{max-width:none}
.foot .ln{display:flex;flex-wrap:wrap;justify-content:center;align-items:center;gap:0 2rem}
.phead{text-align:center;padding-block:calc(var(--gap)*.4)}
.phead .lede{margin-inline:auto}
@media (prefers-reduced-motion:no-preference){::view-transition-group(*),::view-transition-old(*),::view-transition-new(*){animation-duration:.42s}}
`

/** Links stand at either side of the name; the odd one at the start. */
const sides = (frame: Frame): [Html, Html] => {
  const items = navItems(frame)
  const half = Math.ceil(items.length / 2)
  const side = (from: number, to: number, as: string, label: string) =>
    html`<nav class="side ${as}" aria-label="${label}"><ul>${items
      .slice(from, to)
      .map(
        ({ href, title, current }) =>
          html`<li><a href="${href}"${current && html` aria-current="page"`}>${title}</a></li>`,
      )}</ul></nav>`
  const { words, signs } = frame
  return [side(0, half, 'lft', words.navigation), side(half, items.length, 'rgt', signs.onThisPage)]
}

const header = (frame: Frame): Html => {
  const fits = navItems(frame).length > 1 && fitOf(frame, 12) !== '' ? ' fit-w' : ''
  const [left, right] = sides(frame)
  return html`<header class="top${fits}"><div class="bar">${fits !== '' && left}${brandLink(frame)}${fits !== '' && html`<div class="end">${right}${languages(frame)}</div>`}${menu(frame)}</div></header>`
}

/** A triptych, its centre larger; on a phone one across above two. */
const PLACES: SetPlaces = {
  wide: { ratio: 2, widthPx: 832, prefer: 'row', centred: true },
  middle: { ratio: 1.6, widthPx: 600, prefer: 'row', centred: true },
  phone: { ratio: 1.1, widthPx: 304, prefer: 'over' },
}

/** Of the stamp on a phone of 800, with its caption. */
const STAMP_PX = 350

const hero = (frame: Frame): Html => {
  const [own = 1] = ratiosOf(frame, [heroShot(frame)])
  const ratio = own > 1.2 ? 1 : 0.8
  const picture =
    heroSet(frame, PLACES) ??
    frame.shot(heroShot(frame), { sizes: '(min-width:64rem) 40vw,90vw', ratio, hero: { phone: 1 }, as: 'mood' })
  const late = picture !== null && pushesOut(frame, STAMP_PX)
  const caption = frame.content.hero?.chips?.[0]
  const opening =
    picture === null
      ? html``
      : html`<figure class="stamp">${picture}${caption !== undefined && html`<figcaption class="cap">${caption}</figcaption>`}</figure>`
  return html`<section class="hero${picture === null && ' bare'}${late && ' late'}"><div class="in">${opening}${headline(frame)}${
    picture === null && html`<div class="orn"></div>`
  }${lede(frame)}${actions(frame)}${picture === null && facts(frame)}</div></section>`
}

const footer = (frame: Frame): Html => {
  const { email } = frame.content.contact ?? {}
  const ways = otherWays(frame).flatMap(({ links }) => links)
  const items = navItems(frame)
  const hours = hourSpans(frame)
  return html`<footer class="foot"><div class="in"><div class="orn"></div><p class="brand">${frame.content.meta.companyName}</p>${
    email !== undefined && html`<p>${mailLink(email)}</p>`
  }${ways.length > 0 && html`<div class="ln">${ways}</div>`}${hours.length > 0 && html`<p class="ln hrs">${hours}</p>`}${
    items.length > 1 &&
    html`<nav aria-label="${frame.signs.index}"><p class="ln">${items.map(({ href, title }) => html`<a href="${href}">${title}</a>`)}</p></nav>`
  }<p class="ln">${legalWords(frame)}<a href="#top">${frame.words.top}</a></p></div></footer>`
}

export const atelier: LayoutView = {
  name: 'atelier',
  grid: { margin: [28, 144], gutter: [16, 56], gap: [96, 176], width: 1080, top: 4, body: 0, heading: 3 },
  rhythm: { grounds: ['g-paper'], hung: false, last: 'g-paper' },
  header,
  hero,
  pageHead: (frame) =>
    html`<header class="phead"><div class="in">${pageTitle(frame)}<div class="orn"></div></div></header>`,
  footer,
  css: CSS,
}
