/** Sidenav: a catalogue or manual. A spine with the pages and the sections, rows and tables on hairlines. */
import { type Html, html } from '../../../text/html.ts'
import { addressOf, hourLinesOf } from '../matter/place.ts'
import { canContact, type Frame, navItems } from '../page/frame.ts'
import { actions, brandLink, mailLink, otherWays, phoneLink } from '../page/parts.ts'
import { languages, menu, primary, sectionLinks } from './chrome.ts'
import { hourSpans, legalWords } from './foot.ts'
import type { LayoutView } from './layout.ts'
import { facts, headline, heroSet, heroShot, lede, pageTitle, type SetPlaces } from './opening.ts'

/** How a link of the spine says that one is there. */
const CURRENT =
  'font-weight:700;color:var(--fg);box-shadow:inset 3px 0 var(--al);padding-inline-start:.75rem;margin-inline-start:-.75rem'

const CSS = `
.top{border-bottom:1px solid var(--lin)}
.spine{display:none}
@media (min-width:64rem){
body{display:grid;grid-template-columns:16rem minmax(0,1fr);grid-template-rows:1fr auto}
.skip,.dock{grid-column:1}
.top{grid-row:1/3;border:0;border-inline-end:1px solid var(--lin);background:var(--tint)}
.bar{display:block;width:auto;margin:0;padding:1.75rem 1.5rem;position:sticky;top:0;max-height:100svh;overflow-y:auto;scrollbar-width:thin}
.bar>.brand{max-width:none;min-height:0;padding:0 0 1.25rem;display:block}
.bar>.menu{display:none}
.spine{display:block}
main{grid-column:2;min-width:0}
.foot{grid-column:2}
.in{margin-inline:var(--mg);width:auto;max-width:calc(1440px - 16rem)}
}
.spine a{display:flex;align-items:center;min-height:2.75rem;text-decoration:none;font-size:max(.9375rem,var(--t-1))}
.spine a:hover{text-decoration:underline}
.spine nav [aria-current]{${CURRENT}}
.spine .sec{scroll-target-group:auto}
@supports (scroll-target-group:auto){.spine .sec a:target-current{${CURRENT}}}
.spine ul+ul,.spine nav+*,.spine .more-ways{border-top:1px solid var(--lin);margin-top:.75rem;padding-top:.75rem}
.spine .pg+.sec a{color:var(--mut)}
.spine .button{display:flex;margin-top:1rem;padding-inline:1rem;min-height:3rem;font-size:.9375rem;color:var(--on-fill)}
.spine .tel{margin-top:.5rem}.spine .tel a{min-height:2.75rem;font-weight:600}
.spine .langs{gap:0 1rem}
.spine .more-ways{font-size:.9375rem;color:var(--mut)}
.hero{padding-block:clamp(1.5rem,3vw,3rem) calc(var(--gap)*.6);border-bottom:1px solid var(--lin)}
.hero .in{display:grid;gap:1.25rem var(--gut)}
.hero .wd{display:grid;gap:1rem;align-content:start}
.hero h1{max-width:20em}
.hero .chips{display:grid;gap:0;align-content:start}
.hero .chips li{padding-block:.5rem;border-top:1px solid var(--lin)}
.hero{--hh:38svh}.hero .set{--hh:min(38svh,22rem);justify-self:end}
@media (min-width:48rem){.hero .in:has(>.im),.hero .in:has(>.set),.hero .in:has(>.chips){grid-template-columns:minmax(0,5fr) minmax(0,4fr);align-items:start}}
@media (min-width:64rem){.hero .in:has(>.chips){grid-template-columns:minmax(0,5fr) minmax(0,3fr);justify-content:space-between}}
.s{padding-block:calc(var(--gap)*.55);border-bottom:1px solid var(--lin)}
.s:last-child{border-bottom:0}
.sh{margin-bottom:1rem}
.rows.plain>.row{padding-block:.9rem}
.rows.pics{gap:0}
.rows.pics>.row{border-top:1px solid var(--lin);padding-block:1rem}
.rows.pics>.row:nth-child(even)>.im{order:0}
@media (min-width:40rem){.rows.pics>.row{grid-template-columns:minmax(0,3fr) minmax(0,8fr);align-items:start;column-gap:var(--gut)}.rows.pics>.row.bare>.wd{grid-column:2}}
@media (max-width:39.99rem){.rows.pics{gap:0}.rows.pics>.row{grid-template-columns:6rem minmax(0,1fr);gap:1rem;padding-block:1rem;border-top:1px solid var(--lin)}.rows.pics>.row.bare{grid-template-columns:minmax(0,1fr)}}
.rows.pics .row h3,.rows.pics .row h4{font-size:var(--t1)}
.coll{font-size:var(--t1);margin-top:2rem}
.ladder .lead blockquote{font-size:var(--t1)}
.compare th{font-size:var(--t0)}
.compare .price{font-size:var(--t1)}
.mail{font-size:var(--t1)}
.foot{padding-block:1.25rem;border-top:1px solid var(--lin)}
.foot .ft{display:flex;flex-wrap:wrap;gap:0 2rem;align-items:center;max-width:none}
.phead{padding-block:clamp(1.5rem,3vw,3rem) .5rem}
.phead+.s{padding-top:1rem}
@media (min-width:64rem){.dock{inset:auto 0 2rem auto}}
@media (prefers-reduced-motion:no-preference){.top{view-transition-name:rail}::view-transition-group(*),::view-transition-old(*),::view-transition-new(*){animation-duration:.12s}}
`

const SPINE_LEAST = 3

/** Address and hours of a spine that has few links. */
const railFacts = ({ content, signs }: Frame): Html => {
  const { email } = content.contact ?? {}
  const lines = [...addressOf(content), ...hourLinesOf(content, signs)]
  return html`<div class="more-ways">${lines.map((line) => html`<p>${line}</p>`)}${email !== undefined && html`<p>${mailLink(email)}</p>`}</div>`
}

/** The section that is read is marked by the browser where it tracks it, else the one that was jumped to. */
const marksJump = ({ ledger }: Frame, sections: readonly { href: string }[]): void => {
  for (const { href } of sections)
    ledger.rules.add(
      `@supports not (scroll-target-group:auto){body:has(${href}:target) .spine .sec a[href="${href}"]{${CURRENT}}}`,
    )
}

/** Pages, sections of this page, the action, the phone; a spine of few lines bears the other ways to get in touch as well. */
const spine = (frame: Frame): Html => {
  const paged = frame.pages.length > 1
  const items = navItems(frame)
  const sections = sectionLinks(frame)
  const { phone } = frame.content.contact ?? {}
  marksJump(frame, sections)
  const list = (links: readonly { href: string; title: string; current?: boolean }[], as: string) =>
    links.length > 0 &&
    html`<ul class="${as}">${links.map(
      ({ href, title, current = false }) =>
        html`<li><a href="${href}"${current && html` aria-current="page"`}>${title}</a></li>`,
    )}</ul>`
  const nav = paged ? html`${list(items, 'pg')}${list(sections, 'sec')}` : html`${list(items, 'sec')}`
  const short = items.length + (paged ? sections.length : 0) < SPINE_LEAST
  return html`<div class="spine"><nav aria-label="${frame.words.navigation}">${nav}</nav>${
    canContact(frame.content) && primary(frame)
  }${phone !== undefined && html`<p class="tel">${phoneLink(phone)}</p>`}${short && railFacts(frame)}${languages(frame)}</div>`
}

const PLACES: SetPlaces = {
  wide: { ratio: 1.5, widthPx: 480, prefer: 'tall' },
  middle: { ratio: 1.5, widthPx: 300, prefer: 'tall' },
  phone: { ratio: 1.5, widthPx: 328, prefer: 'tall' },
}

const hero = (frame: Frame): Html => {
  const picture =
    heroSet(frame, PLACES) ??
    frame.shot(heroShot(frame), { sizes: '(min-width:64rem) 40vw,100vw', ratio: 1.5, hero: {}, as: 'mood' })
  const chips = facts(frame)
  return html`<section class="hero"><div class="in"><div class="wd">${headline(frame)}${lede(frame)}${actions(frame)}${picture !== null && chips}</div>${picture ?? chips}</div></section>`
}

export const sidenav: LayoutView = {
  name: 'sidenav',
  grid: { margin: [16, 40], gutter: [16, 20], gap: [40, 56], width: 1440, top: 4, body: -1, heading: 2 },
  rhythm: { grounds: ['g-paper'], hung: false, last: 'g-paper' },
  header: (frame) =>
    html`<header class="top"><div class="bar">${brandLink(frame)}${spine(frame)}${menu(frame)}</div></header>`,
  hero,
  pageHead: (frame) => html`<header class="phead"><div class="in">${pageTitle(frame)}</div></header>`,
  footer: (frame) =>
    html`<footer class="foot"><div class="in"><div class="ft"><span>${frame.content.meta.companyName}</span>${otherWays(
      frame,
    ).flatMap(
      ({ links }) => links,
    )}${hourSpans(frame)}${legalWords(frame)}<a href="#top">${frame.words.top}</a></div></div></footer>`,
  css: CSS,
}
