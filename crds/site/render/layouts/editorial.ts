/** Editorial: a magazine. A poster over hung columns, a kicker as an issue has one, plates of unequal widths. */
import { type Html, html } from '../../../text/html.ts'
import { type Frame, WIDE_ENOUGH } from '../page/frame.ts'
import { actions, brandLink, mailLink } from '../page/parts.ts'
import { fitOf, languages, links, menu } from './chrome.ts'
import { footColumns, legalLine, nextPage } from './foot.ts'
import type { LayoutView } from './layout.ts'
import { facts, headline, heroSet, heroShot, lede, pageTitle } from './opening.ts'

const CSS = `
.top{border-bottom:1px solid var(--fg)}
.bar .kicker{font-size:var(--t-1);color:var(--mut);flex:1;max-width:none}
.bar>.brand{font-size:var(--t0)}
@media (min-width:64rem){.fit-w .bar,.fit-w .brand,.fit-w .links a{min-height:3rem}}
.open .im{border-radius:0;aspect-ratio:auto;height:clamp(12rem,36svh,56svh);width:100%}
.open .set{height:clamp(14rem,42svh,44rem)}.open .set.n3{grid-template-columns:2fr 1fr 1fr;grid-template-rows:1fr}.open .set.n3>:first-child{grid-row:1}.open .set .im{height:100%}
.open.inset .in>.im{width:min(100%,60rem)}
.open .in{display:grid;gap:1.25rem var(--gut);padding-block:clamp(1.25rem,3vw,2.25rem) calc(var(--gap)*.4)}
.open .actions{order:0}
.open.bare .in{padding-top:calc(var(--gap)*.6)}
.open.bare .thick{border-top:6px solid var(--fg);margin-block:.5rem}
@media (min-width:48rem){.open.pic .im{height:clamp(14rem,min(46svh,50vw),44rem)}}
@media (min-width:64rem){.open .in{grid-template-columns:repeat(12,minmax(0,1fr))}.open.inset .in>:is(.im,.set){grid-column:1/-1}.open h1{grid-column:1/-1;max-width:13em}.open .thick{grid-column:1/-1}
.open .lede{grid-column:1/7}.open .side{grid-column:8/-1;align-self:end}.open.bare .lede{grid-column:1/8;columns:2;column-gap:var(--gut);max-width:none;font-size:var(--t0);line-height:1.55}.open.bare .lede:not(.lng){columns:1;font-size:var(--t1);line-height:1.4}}
.side{display:grid;gap:1rem;align-content:start}
.side .chips{display:grid;gap:0}.side .chips li{padding-block:.5rem;border-top:1px solid var(--lin)}
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

const hero = (frame: Frame): Html => {
  const shot = heroShot(frame)
  const wide = (frame.image(shot?.value)?.width ?? 0) >= WIDE_ENOUGH
  const several = heroSet(frame, 2)
  const picture = several ?? frame.shot(shot, { sizes: '100vw', ratio: 2, as: 'mood' })
  const skip = frame.pages.length > 0 && frame.content.hero?.chips?.[0] === kickerOf(frame) ? 1 : 0
  const long = (frame.content.hero?.lede?.length ?? 0) > STANDFIRST_LONG
  const standfirst = long ? html`<p class="lede lng">${frame.content.hero?.lede ?? ''}</p>` : lede(frame)
  const side = html`<div class="side">${actions(frame)}${facts(frame, skip)}</div>`
  if (picture === null) {
    return html`<section class="hero open bare"><div class="in">${headline(frame)}<div class="thick"></div>${standfirst}${side}</div></section>`
  }
  return html`<section class="hero open pic${!wide && ' inset'}">${wide && picture}<div class="in">${!wide && picture}${headline(frame)}${standfirst}${side}</div></section>`
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
