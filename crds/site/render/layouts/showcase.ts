/** Showcase: the product is the hero. Shelves of goods at once, a strip that peeks, dense and to the point. */
import { type Html, html } from '../../../text/html.ts'
import { ratioOf } from '../choose/pictures.ts'
import { MATTERS } from '../matter/sections.ts'
import { type Frame, ratiosOf } from '../page/frame.ts'
import { actions, brandLink, priceOf, specsOf } from '../page/parts.ts'
import { collectionLinks, fitOf, fitting, languages, links, menu } from './chrome.ts'
import { footColumns, legalLine } from './foot.ts'
import type { LayoutView } from './layout.ts'
import { facts, headline, heroForm, heroShot, lede, pageTitle } from './opening.ts'

const CSS = `
.top{border-bottom:1px solid var(--lin)}
@media (min-width:48rem){.bar,.bar>.brand{min-height:4rem}.menu{margin-top:-4rem}.menu>summary{min-height:4rem}.bar>.links{margin-inline-start:auto}}
.mw{display:none}.panel .goods{border-bottom:1px solid var(--lin);margin-bottom:.5rem;padding-bottom:.5rem}.panel .n{color:var(--mut);margin-inline-start:.5em;font-size:var(--t-1);font-variant-numeric:tabular-nums}
@media (min-width:64rem){.shop .links{display:block;position:relative;z-index:1;margin-inline-end:7rem}.shop .bar>.brand{max-width:40%}.shop .menu .mo{display:none}.shop .menu:not([open]) .mw{display:inline}
.shop .panel{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:0 2rem;align-items:start}.shop .panel nav{display:contents}.shop .panel :is(.goods,.under,.langs,.tel,.hrs){border:0;margin:0;padding-block:0}.shop .panel .hrs{padding-top:.6rem}.shop .panel>.button{margin-top:.5rem}}
.hero{padding-block:clamp(1.25rem,2.4vw,2.25rem) calc(var(--gap)*.5);overflow:hidden}
.hero .hd{display:grid;grid-template-columns:minmax(0,1fr);gap:.75rem var(--gut);margin-bottom:clamp(1rem,2vw,1.75rem);align-items:end}
.hero h1{max-width:26em}
.hero .lede{font-size:var(--t0);color:var(--mut);display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden;max-width:40em}
@media (min-width:64rem){.hero .hd{grid-template-columns:minmax(0,1fr) auto}.hd .lede{grid-row:2}.hd .actions{grid-row:1/3;grid-column:2}}
.shelf{display:flex;gap:var(--gut);overflow-x:auto;scroll-snap-type:x proximity;padding-inline:max(var(--mg),calc((100% - var(--w))/2));scroll-padding-inline:var(--mg);scrollbar-width:thin;scrollbar-color:var(--edg) transparent;padding-bottom:.75rem}
.shelf li{flex:0 0 78%;scroll-snap-align:start;min-width:0}
.shelf .im{max-height:54svh;width:100%}
.shelf .ln{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.1rem 1rem;padding-top:.6rem}
@media (min-width:40rem){.shelf li{flex-basis:44%}}
@media (min-width:64rem){.shelf li{flex-basis:38%}.shelf.c2 li{flex-basis:48%}.shelf.c1 li{flex-basis:100%}}
.hero.single .in{display:grid;grid-template-columns:minmax(0,1fr);gap:1.5rem var(--gut)}
.hero.single{--hh:62svh}
.hero.single .wd{display:grid;grid-template-columns:minmax(0,1fr);gap:1rem;align-content:end}
@media (max-width:63.99rem){.hero.single .im{order:2}.hero.single{--hh:46svh}}
@media (min-width:64rem){.hero.single .in{grid-template-columns:minmax(0,8fr) minmax(0,4fr)}.hero.single.split .in{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}.hero.single h1{font-size:var(--t3)}}
.hero.bare{background:var(--tint);padding-block:calc(var(--gap)*.8)}
.hero.bare .hd{margin-bottom:0}
.cards{row-gap:calc(var(--gut)*1.75)}
@media (max-width:39.99rem){.cards.small{grid-template-columns:repeat(2,minmax(0,1fr))}.cards.small>.ac{grid-column:1/-1}}
.s{padding-block:calc(var(--gap)*.55)}
.sh{display:flex;align-items:baseline;gap:1rem;margin-bottom:1.25rem}
.sh>*{min-width:0}
.coll{padding-top:1rem;border-top:1px solid var(--lin)}
.ladder .lead blockquote{font-size:var(--t2)}
@media (min-width:64rem){.fcols{grid-template-columns:minmax(0,1.3fr) repeat(auto-fit,minmax(8rem,1fr))}}
.foot{padding-top:calc(var(--gap)*.5)}
.phead{padding-block:1.75rem 0}
@media (max-width:63.99rem){.s-feature_rows .cards{grid-template-columns:1fr}}
@media (prefers-reduced-motion:no-preference){::view-transition-group(*),::view-transition-old(*),::view-transition-new(*){animation-duration:.24s}}
`

const PLATES_MOST = 8
/** Width to height of the plate of a single picture. */
const PLATE = 1.6

/** The goods that are pictured, as plates of a strip. */
const shelf = (frame: Frame): Html | null => {
  const goods = MATTERS.products(frame)
    .groups.flatMap(({ items }) => items)
    .filter(({ shot }) => shot !== null)
  const shown = goods.slice(0, PLATES_MOST)
  if (shown.length < 2) return null
  const ratio = Math.max(
    1,
    ratioOf(
      ratiosOf(
        frame,
        shown.map(({ shot }) => shot),
      ),
      0.8,
    ),
  )
  // Its name stands under each: the picture says no more.
  return html`<ul class="shelf c${Math.min(9, shown.length)}" tabindex="0" aria-label="${frame.words.sections.products}">${shown.map(
    (item) =>
      html`<li>${frame.shot(item.shot && { ...item.shot, alt: '' }, { sizes: '(min-width:64rem) 38vw,78vw', ratio, as: 'goods' })}<p class="ln"><span>${item.title}</span></p></li>`,
  )}</ul>`
}

const single = (frame: Frame, picture: Html): Html => {
  const [group] = MATTERS.products(frame).groups
  const first = group?.items.length === 1 ? group.items[0] : undefined
  return html`<section class="hero single${heroForm(frame, PLATE) === 'split' && ' split'}"><div class="in">${picture}<div class="wd">${headline(frame)}${lede(frame)}${
    first !== undefined && html`${priceOf(frame, first)}${specsOf(frame, first)}`
  }${actions(frame)}${facts(frame)}</div></div></section>`
}

const hero = (frame: Frame): Html => {
  const ownPage = frame.page.sections.includes('products')
  const strip = ownPage || heroShot(frame) === null ? shelf(frame) : null
  const head = html`<div class="in hd">${headline(frame)}${lede(frame)}${actions(frame)}</div>`
  if (heroShot(frame) === null) {
    return strip === null
      ? html`<section class="hero bare">${head}</section>`
      : html`<section class="hero">${head}${strip}</section>`
  }
  const picture = frame.shot(heroShot(frame), {
    sizes: '(min-width:64rem) 66vw,100vw',
    ratio: PLATE,
    hero: {},
    as: 'mood',
  })
  return single(frame, picture ?? html``)
}

const COLLECTIONS_LEAST = 2

/** The collections lead, and the rest is under More; where there are none, the pages or sections. */
const header = (frame: Frame): Html => {
  const goods = collectionLinks(frame)
  if (goods.length < COLLECTIONS_LEAST)
    return html`<header class="top${fitOf(frame)}"><div class="bar">${brandLink(frame)}${links(frame)}${languages(frame)}${menu(frame)}</div></header>`
  const seen = fitting(goods).map(({ href, title }) => ({ href, title }))
  return html`<header class="top shop"><div class="bar">${brandLink(frame)}${links(frame, seen)}${menu(frame, goods)}</div></header>`
}

export const showcase: LayoutView = {
  name: 'showcase',
  grid: { margin: [16, 32], gutter: [8, 16], gap: [48, 72], width: 1720, top: 4, body: -1, heading: 2 },
  rhythm: { grounds: ['g-paper', 'g-paper', 'g-tint'], hung: false, last: 'g-tint' },
  header,
  hero,
  pageHead: (frame) => html`<header class="phead"><div class="in">${pageTitle(frame)}</div></header>`,
  footer: (frame) =>
    html`<footer class="foot g-inverse"><div class="in">${footColumns(frame)}${legalLine(frame)}</div></footer>`,
  css: CSS,
}
