/** Monolith: one column, one voice. Type only, black bars, numbered sections, and the foot is the index. */
import { type Html, html } from '../../../text/html.ts'
import { contactHref, type Frame, homeHref, navItems } from '../page/frame.ts'
import { brandLink, mailLink, otherWays } from '../page/parts.ts'
import { sectionLinks } from './chrome.ts'
import { hourSpans, legalWords } from './foot.ts'
import type { LayoutView } from './layout.ts'
import { facts, headline, heroSet, heroShot, lede, pageTitle, type SetPlaces } from './opening.ts'

const CSS = `
body{counter-reset:part}
.bar{justify-content:space-between;flex-wrap:nowrap;margin-inline:var(--mg)}
.bar,.in{margin-inline:var(--mg);width:auto;max-width:var(--w)}
.toindex{display:flex;align-items:center;min-height:3rem;font-weight:600;text-decoration-thickness:2px}
.hero{padding-block:calc(var(--gap)*.45) calc(var(--gap)*.7)}
.hero h1{line-height:1.02}
.hero .lede{font-size:var(--t2);line-height:1.35;margin-top:calc(var(--gap)*.25);max-width:26em}
.hero .go{display:inline-flex;align-items:center;min-height:3rem;margin-top:calc(var(--gap)*.25);font:var(--hw) var(--t2)/1.2 var(--head);text-decoration-thickness:3px;text-underline-offset:.2em}
.hero .chips{margin-top:1.5rem}
.hero>.in>:is(.im,.set){margin-top:calc(var(--gap)*.5)}
.hero .one{max-width:40rem}.hero{--hh:90svh}.hero .set{--hh:min(56svh,30rem);max-width:64rem}
.s,.g-tint.s,.g-inverse.s{padding-block:calc(var(--gap)*.5)}
.s{overflow-x:clip}
.s>.in{position:relative;padding-top:1.25rem}
.s>.in::before{content:"";position:absolute;inset:0 auto auto 0;width:100vw;height:6px;background:var(--fg)}
.sh{counter-increment:part;display:flex;gap:1.25rem;align-items:baseline;margin-bottom:calc(var(--gap)*.22)}
.sh::before{content:counter(part);font:var(--hw) var(--th)/1.15 var(--head);font-variant-numeric:tabular-nums lining-nums;color:var(--mut)}
.quiet .sh{counter-increment:none}.quiet .sh::before{display:none}
.mt{max-width:40rem}
.rows.plain>.row{grid-template-columns:minmax(0,1fr)!important}
.index>li{border-top-width:1px}
.index>li:first-child{border-top:0;padding-top:0}
.list.two{columns:1}
.plates{grid-template-columns:minmax(0,1fr)!important;gap:2.5rem}.plates>li{grid-column:1/-1!important}
.ladder{grid-template-columns:minmax(0,1fr)!important}
.reach{grid-template-columns:minmax(0,1fr)!important}
.mail{font-size:var(--t4);line-height:1.1}
.foot{padding-block:calc(var(--gap)*.6) 2.5rem;border-top:6px solid var(--fg);font-size:var(--t0)}
.foot .big{font:var(--hw) var(--t4)/1.1 var(--head);letter-spacing:var(--tr);max-width:none;margin-bottom:2rem}
.foot .big a{text-decoration-thickness:3px;text-underline-offset:.14em;min-height:0}
.idx{display:grid;max-width:40rem;counter-reset:at}
.idx li{counter-increment:at;border-top:1px solid var(--lin)}
.idx a{display:flex;gap:1.25rem;min-height:3rem;text-decoration:none;width:100%}
.idx a::before{content:counter(at);color:var(--mut);font-variant-numeric:tabular-nums;min-width:1.5rem}
.idx [aria-current]{font-weight:700;text-decoration:underline}
.foot .wy{display:flex;flex-wrap:wrap;gap:.25rem 2rem;margin-top:1.5rem;color:var(--mut)}
.foot .hrs{display:grid;justify-content:start;color:var(--fg);font-variant-numeric:tabular-nums lining-nums}
.phead h1{line-height:1.02}
@media (max-width:63.99rem){.hero .lede{font-size:var(--t1)}}
@media (prefers-reduced-motion:no-preference){@view-transition{navigation:none}}
`

const header = (frame: Frame): Html =>
  html`<header class="top"><div class="bar">${brandLink(frame)}<a class="toindex" href="#index">${frame.signs.index}</a></div></header>`

/** A contact sheet. */
const PLACES: SetPlaces = {
  wide: { ratio: 2.2, widthPx: 1024, prefer: 'row' },
  middle: { ratio: 1.8, widthPx: 640, prefer: 'row' },
  phone: { ratio: 1.2, widthPx: 312, prefer: 'over' },
}

const hero = (frame: Frame): Html => {
  const href = contactHref(frame)
  return html`<section class="hero"><div class="in">${headline(frame)}${lede(frame)}${
    href !== null && html`<p><a class="go" href="${href}">${frame.words.heroAction ?? frame.words.getInTouch}</a></p>`
  }${facts(frame)}${heroSet(frame, PLACES) ?? frame.shot(heroShot(frame), { sizes: '(min-width:48rem) 640px,100vw', hero: {}, as: 'mood' })}</div></section>`
}

/** Pages, or the sections of the only one; and one way to get in touch, large. */
const footer = (frame: Frame): Html => {
  const { email } = frame.content.contact ?? {}
  const onPage = frame.page.sections.includes('contact')
  const items =
    frame.pages.length > 1 ? navItems(frame) : sectionLinks(frame).map((one) => ({ ...one, current: false }))
  const ways = otherWays(frame).flatMap(({ links }) => links)
  const hours = hourSpans(frame)
  return html`<footer class="foot" id="index"><div class="in">${
    email !== undefined && !onPage && html`<p class="big">${mailLink(email)}</p>`
  }<nav aria-label="${frame.signs.index}"><ol class="idx">${items.map(
    ({ href, title, current }) => html`<li><a href="${href}"${current && html` aria-current="page"`}>${title}</a></li>`,
  )}</ol></nav>${hours.length > 0 && html`<div class="wy hrs">${hours}</div>`}<div class="wy"><a href="${homeHref(frame)}">${frame.content.meta.companyName}</a>${ways}${legalWords(frame)}<a href="#top">${frame.words.top}</a></div></div></footer>`
}

export const monolith: LayoutView = {
  name: 'monolith',
  grid: { margin: [24, 96], gutter: [16, 24], gap: [64, 112], width: 1120, top: 7, body: 0, heading: 3 },
  rhythm: { grounds: ['g-paper'], hung: false, last: 'g-paper' },
  header,
  hero,
  pageHead: (frame) => html`<header class="phead"><div class="in">${pageTitle(frame, 6)}</div></header>`,
  footer,
  css: CSS,
}
