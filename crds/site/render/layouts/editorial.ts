/** Editorial: a magazine. A poster over hung columns, a kicker as an issue has one, plates of unequal widths. */
import { type Html, html } from '../../../text/html.ts'
import { type HeroForm, nearestRatio } from '../choose/pictures.ts'
import { type Frame, ratiosOf } from '../page/frame.ts'
import { actions, brandLink, mailLink } from '../page/parts.ts'
import { fitOf, languages, links, menu } from './chrome.ts'
import { footColumns, legalLine, nextPage } from './foot.ts'
import type { LayoutView } from './layout.ts'
import {
  drawSet,
  facts,
  type HeroSet,
  headline,
  heroForm,
  heroSetOf,
  heroShot,
  heroShots,
  lede,
  pageTitle,
  pushesOut,
  wordsHeight,
} from './opening.ts'

const CSS = `
.top{border-bottom:1px solid var(--fg)}
.bar .kicker{font-size:var(--t-1);color:var(--mut);flex:1;max-width:none}
.bar>.brand{font-size:var(--t0)}
@media (min-width:64rem){.fit-w .bar,.fit-w .brand,.fit-w .links a{min-height:3rem}}
.open .im{border-radius:0}
.open.wide>:is(.one,.set){margin-inline:auto}
@media (max-width:63.99rem){.open{display:flex;flex-direction:column;--hh:50svh}.open.late>:is(.im,.set),.open.late .in>:is(.im,.set){order:9}.open .in>.chips{order:8}}
.open .in{display:grid;gap:1.25rem var(--gut);padding-block:clamp(1.25rem,3vw,2.25rem) calc(var(--gap)*.4)}
.open .actions{order:0}
.open.bare .in{padding-top:calc(var(--gap)*.6)}
.open.bare .thick{border-top:6px solid var(--fg);margin-block:.5rem}
@media (min-width:64rem){.open .in{grid-template-columns:repeat(12,minmax(0,1fr))}.open:is(.wide,.inset) .one{aspect-ratio:auto;height:var(--hh);width:min(100%,var(--mw),calc(var(--hh)*var(--o)/.6))}.open.wide>.set{--vw:min(100vw,var(--mw));aspect-ratio:auto;width:min(100%,var(--mw));height:clamp(var(--vw)/var(--x),var(--hh),var(--vw)/var(--n))}.open.inset .in>:is(.one,.set){grid-column:1/-1}.open.inset .in>:is(.one,.set)+.chips{grid-column:1/4;grid-row:1;align-self:end;display:grid;gap:0}.open.inset .in>:is(.one,.set):has(+.chips){grid-column:4/-1;grid-row:1;justify-self:end}.open.split{--hh:78svh}.open.split .in{grid-template-rows:auto auto 1fr}.open.split .in>.one{grid-column:8/-1;grid-row:1/4;justify-self:end}.open.split h1{grid-column:1/8}.open.split :is(.lede,.side){grid-column:1/7;align-self:start}.open h1{grid-column:1/-1;max-width:13em}.open .thick{grid-column:1/-1}
.open .lede{grid-column:1/7}.open .side{grid-column:8/-1;align-self:end}.open.bare .lede{grid-column:1/8;columns:2;column-gap:var(--gut);max-width:none;font-size:var(--t0);line-height:1.55}.open.bare .lede:not(.lng){columns:1;font-size:var(--t1);line-height:1.4}}
.side{display:grid;gap:1rem;align-content:start}
.side .chips{display:grid;gap:0}.open .chips li{padding-block:.5rem;border-top:1px solid var(--lin)}
.s>.in{border-top:1px solid var(--fg);padding-top:1rem}
.s{padding-block:calc(var(--gap)*.35)}
@media (min-width:64rem){.s>.in{display:grid;grid-template-columns:repeat(12,minmax(0,1fr));gap:0 var(--gut)}
.sh{grid-column:1/4}.sh h2{font-size:var(--t2)}.mt{grid-column:4/-1}
.wide .sh{grid-column:1/-1;margin-bottom:calc(var(--gap)*.25)}.wide .sh h2{font-size:var(--th)}.wide .mt{grid-column:1/-1}.quiet .mt{grid-column:1/-1}}
.ladder .lead blockquote{font-size:var(--t4);line-height:1.12}
.ladder .lead.long blockquote{font-size:var(--t2)}
.ladder .lead p{max-width:22em}
.row .nm h3,.row .nm h4{font-size:var(--t2)}
.rows.pics>.row>.im{margin-block:0}
.mail{font-size:var(--t4);line-height:1.1}
.reach{grid-template-columns:minmax(0,1fr)!important}
.foot{border-top:6px solid var(--fg);margin-top:calc(var(--gap)*.5)}
.foot .big{font:var(--hw) var(--t3)/1.15 var(--head);letter-spacing:var(--tr);margin-bottom:1.5rem;max-width:none}
.foot .next{display:block;border-top:1px solid var(--fg);text-decoration:none;padding-block:1.5rem}
.next span{display:block}
.next .to{font:var(--hw) var(--t4)/1.1 var(--head);letter-spacing:var(--tr)}
.phead .kicker{color:var(--mut);font-variant-numeric:tabular-nums;padding-bottom:.75rem}
.phead{padding-bottom:calc(var(--gap)*.3)}
@media (prefers-reduced-motion:no-preference){::view-transition-group(*),::view-transition-old(*),::view-transition-new(*){animation-duration:.22s}.phead h1,.open h1{view-transition-name:title}::view-transition-new(title){animation:slid .22s both}@keyframes slid{from{opacity:0;transform:translateX(16px)}}}
`

/** The line in the bar, as an issue of a magazine has one: the first chip, or the name of a page behind the index. */
const kickerOf = ({ content, page }: Frame): string | undefined =>
  page.slug === '' ? content.hero?.chips?.[0] : page.title

const kicker = (frame: Frame): Html | null => {
  const line = kickerOf(frame)
  return line === undefined ? null : html`<p class="kicker">${line}</p>`
}

/** From this many characters a standfirst stands in two columns. */
const STANDFIRST_LONG = 220

/** The screen of a desk; what a poster takes of its height, in percent, at least and at most; the bar with its line. */
const DESK = { width: 1440, height: 900 }
const [POSTER_LEAST, POSTER_MOST] = [34, 56] as const
const BAR_PX = 49
const COLUMNS = { title: 1000, text: 670 }
/** As high as 3:2 on a phone of 360. */
const PHONE_PX = 240

/** A poster takes what the words leave of the first screen. */
const posterShare = (frame: Frame): number => {
  const left = (100 * (DESK.height - BAR_PX - wordsHeight(frame, COLUMNS, 1))) / DESK.height
  return Math.round(Math.min(POSTER_MOST, Math.max(POSTER_LEAST, left)))
}

/** Of a poster over the whole width of a desk. */
const screenOf = (share: number): number => DESK.width / ((share * DESK.height) / 100)

/** A poster over the whole width where a crop can make it one; set in beside its facts; an upright picture beside the words. */
const posterForm = (frame: Frame, share: number): HeroForm => {
  const [own = 1] = ratiosOf(frame, [heroShot(frame)])
  if (own < 1) return 'split'
  const place = screenOf(share)
  return nearestRatio(own, place) < place ? 'inset' : (heroForm(frame, place) ?? 'inset')
}

/** Several pictures are a poster as well: side by side over the whole width, as high as the words leave it. */
const posterSet = (frame: Frame, share: number): HeroSet | null =>
  heroSetOf(frame, {
    wide: { ratio: screenOf(share), widthPx: DESK.width, prefer: 'row', fills: true },
    middle: { ratio: 2, widthPx: 768, prefer: 'row' },
    phone: { ratio: 1.5, widthPx: 360, prefer: 'row' },
  })

/** How several stand: over the whole width where they fill it within a crop's bound, else set in. */
const setForm = ({ plans: { wide } }: HeroSet, share: number): HeroForm =>
  wide.most < screenOf(share) || wide.mostPx < DESK.width ? 'inset' : 'wide'

type Poster = { form: HeroForm; share: number; set: HeroSet | null; phonePx: number }

const posterOf = (frame: Frame): Poster => {
  const share = posterShare(frame)
  const set = posterSet(frame, share)
  return set === null
    ? { form: posterForm(frame, share), share, set, phonePx: PHONE_PX }
    : { form: setForm(set, share), share, set, phonePx: 360 / set.plans.phone.ratio }
}

const openingOf = (frame: Frame, { form, share, set, phonePx }: Poster, words: Html, chips: Html | null): Html => {
  const view = { sizes: '100vw', ratio: form === 'split' ? 0.8 : 2.5, hero: {}, as: 'mood' }
  const picture = set === null ? frame.shot(heroShot(frame), view) : drawSet(frame, set)
  frame.ledger.rules.add(`@media (min-width:64rem){.v${share}{--hh:${share}svh}}`)
  const late = pushesOut(frame, phonePx)
  const beside = form === 'inset' && chips !== null
  const inner = form !== 'wide' && html`${picture ?? html``}${beside && chips}`
  return html`<section class="hero open pic ${form}${form !== 'split' && ` v${share}`}${late && ' late'}">${form === 'wide' && (picture ?? html``)}<div class="in">${inner}${words}</div></section>`
}

const hero = (frame: Frame): Html => {
  const skip = frame.pages.length > 0 && frame.content.hero?.chips?.[0] === kickerOf(frame) ? 1 : 0
  const long = (frame.content.hero?.lede?.length ?? 0) > STANDFIRST_LONG
  const standfirst = long ? html`<p class="lede lng">${frame.content.hero?.lede ?? ''}</p>` : lede(frame)
  const chips = facts(frame, skip)
  if (heroShots(frame).length === 0) {
    return html`<section class="hero open bare"><div class="in">${headline(frame)}<div class="thick"></div>${standfirst}<div class="side">${actions(frame)}${chips}</div></div></section>`
  }
  const poster = posterOf(frame)
  const hung = poster.form === 'inset'
  const side = html`<div class="side">${actions(frame)}${!hung && chips}</div>`
  return openingOf(frame, poster, html`${headline(frame)}${standfirst}${side}`, chips)
}

const footer = (frame: Frame): Html => {
  const { email } = frame.content.contact ?? {}
  const next = nextPage(frame)
  const onPage = frame.page.sections.includes('contact')
  return html`<footer class="foot"><div class="in">${
    next !== null &&
    html`<a class="next" href="${next.href}"><span>${frame.signs.nextPage}</span><span class="to">${next.title}</span></a>`
  }${email !== undefined && !onPage && html`<p class="big">${mailLink(email)}</p>`}${footColumns(frame)}${legalLine(frame)}</div></footer>`
}

export const editorial: LayoutView = {
  name: 'editorial',
  grid: { margin: [16, 40], gutter: [12, 24], gap: [72, 128], width: 1520, top: 6, body: 0, heading: 4 },
  rhythm: { grounds: ['g-paper'], hung: false, last: 'g-paper' },
  header: (frame) =>
    html`<header class="top${fitOf(frame, 10)}"><div class="bar">${brandLink(frame)}${kicker(frame)}${links(frame)}${languages(frame)}${menu(frame)}</div></header>`,
  hero,
  pageHead: (frame) => {
    const { page, pages } = frame
    const at = pages.findIndex(({ slug }) => slug === page.slug)
    return html`<header class="phead"><div class="in">${
      pages.length > 1 && html`<p class="kicker">${at + 1} / ${pages.length}</p>`
    }${pageTitle(frame, 6)}</div></header>`
  },
  footer,
  css: CSS,
}
