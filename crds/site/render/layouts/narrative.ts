/** Narrative: a story told by scrolling. A statement over a picture, chapters without margins, lists as interludes. */
import { type Html, html } from '../../../text/html.ts'
import { type Frame, shotOf } from '../page/frame.ts'
import { actions, brandLink } from '../page/parts.ts'
import { menu } from './chrome.ts'
import { footColumns, legalLine, nextPage } from './foot.ts'
import type { LayoutView } from './layout.ts'
import { facts, headline, heroShot, lede, pageTitle } from './opening.ts'

const CSS = `
.bar{width:calc(100% - 2*var(--mg));max-width:none}
.bar>.brand{font-size:var(--t0)}
.progress{position:fixed;inset:0 0 auto;z-index:6;height:3px;background:var(--al);transform-origin:0 50%;transform:scaleX(0)}
@supports (animation-timeline:scroll()){@media (prefers-reduced-motion:no-preference){.progress{animation:far linear both;animation-timeline:scroll(root)}}}
@keyframes far{to{transform:scaleX(1)}}
.hero{position:relative;display:grid;min-height:82svh;overflow:hidden}
.hero>*{grid-area:1/1}
.hero>.im{border-radius:0;aspect-ratio:auto;height:100%;min-height:82svh;position:relative}
.hero>.im::after{content:"";position:absolute;inset:0;background:linear-gradient(to top,rgb(0 0 0/.66) 62%,rgb(0 0 0/.12))}
.hero .wd{position:relative;z-index:1;align-self:end;display:grid;gap:1.25rem;padding:calc(var(--gap)*.6) var(--mg);min-width:0}
.hero.pic .wd{--fg:#fff;--bg:#000;--acc:#fff;--mut:#fff;color:#fff}
.hero.pic .lede{text-wrap:pretty}
.hero.bare .wd{align-self:center}
.hero h1{max-width:11em}
@media (min-width:64rem){.hero.pic>.im::after{background:linear-gradient(to right,rgb(0 0 0/.66) 54%,transparent 86%)}
.hero.pic.far>.im::after{background:linear-gradient(to left,rgb(0 0 0/.66) 54%,transparent 86%)}
.hero.pic .wd{width:56%;align-self:center}.hero.pic.far .wd{justify-self:end}.hero{min-height:90svh}.hero>.im{min-height:90svh}}
.s{padding-block:calc(var(--gap)*.75)}
.in{width:min(100% - 2*var(--mg),72rem)}
.f-chapters{padding:0!important}
.f-chapters>.in{width:100%;max-width:none}
.f-chapters .sh{padding:calc(var(--gap)*.4) var(--mg) 1.25rem;margin:0}
.f-chapters .sh h2{font-size:var(--t1);color:var(--mut)}
.quiet.f-chapters .sh{padding:0}
.f-justified>.in{width:100%;max-width:none}
.f-justified .sh{padding-inline:var(--mg)}
.f-justified{padding-bottom:0!important}
.f-justified .im{border-radius:0}
.f-justified .cap{padding:.5rem var(--mg) 1rem}
.f-justified .just,.f-justified .just ul{gap:0}
@media (max-width:39.99rem){.just.many{columns:1!important}.just.many li{padding:0!important}}
.plates{gap:0;align-items:stretch!important}
.plates>li{grid-column:span 6}.plates>.p12,.plates.c1>li{grid-column:1/-1}
.f-plates>.in{width:100%;max-width:none}
.f-plates{padding-bottom:0!important}
.f-plates .sh,.f-plates .coll{padding-inline:var(--mg)}
.f-plates .im{border-radius:0}
.f-plates .rest,.f-plates .pager{margin:2rem auto var(--gap);width:min(100% - 2*var(--mg),72rem)}
.plate{display:flex;flex-direction:column}.plate .cw{padding:1rem var(--mg) 2.5rem;max-width:none}
.ladder.single{max-width:none}
.ladder .lead blockquote{font-size:var(--t4);line-height:1.14}
.ladder .lead p{max-width:20em}
.ladder .lead.long blockquote{font-size:var(--t2)}
.f-ladder{min-height:60svh;display:grid;align-content:center}
.mail{font-size:var(--t4);line-height:1.12}
.s-contact{min-height:70svh;display:grid;align-content:center}
.next{display:block;padding:calc(var(--gap)*.5) var(--mg);background:var(--tint);text-decoration:none}
.next span{display:block;color:var(--mut)}
.next .to{font:var(--hw) var(--t4)/1.12 var(--head);letter-spacing:var(--tr);color:var(--ink)}
.phead{min-height:46svh;display:grid;align-content:end;padding-block:calc(var(--gap)*.7) calc(var(--gap)*.4)}
.foot .in{max-width:72rem}
`

const hero = (frame: Frame): Html => {
  const shot = heroShot(frame)
  const picture = frame.shot(shot, { sizes: '100vw', as: 'mood' })
  const words = html`<div class="wd">${headline(frame)}${lede(frame)}${actions(frame)}${facts(frame)}</div>`
  if (picture === null) return html`<section class="hero bare g-inverse">${words}</section>`
  // the words stand on the side away from the subject
  const far = (shot?.focal?.x ?? 0.5) < 0.4
  return html`<section class="hero pic${far && ' far'}">${picture}${words}</section>`
}

const footer = (frame: Frame): Html => {
  const next = nextPage(frame)
  return html`${
    next !== null &&
    html`<nav aria-label="${frame.signs.nextPage}"><a class="next" href="${next.href}"><span>${frame.signs.nextPage}</span><span class="to">${next.title}</span></a></nav>`
  }<footer class="foot g-inverse"><div class="in">${footColumns(frame)}${legalLine(frame)}</div></footer>`
}

/** A page opens on the picture that its first section would show, or on the other ground. */
const pageHead = (frame: Frame): Html => {
  const [section] = frame.page.sections
  const value = section === 'gallery' ? frame.content.gallery?.[0]?.image : undefined
  const picture = frame.shot(shotOf(frame, value, ''), { sizes: '100vw', as: 'mood' })
  if (picture === null)
    return html`<header class="phead g-inverse"><div class="in">${pageTitle(frame, 6)}</div></header>`
  return html`<header class="hero pic">${picture}<div class="wd">${pageTitle(frame, 6)}</div></header>`
}

export const narrative: LayoutView = {
  name: 'narrative',
  grid: { margin: [24, 72], gutter: [16, 32], gap: [64, 128], width: 1152, top: 6, body: 0, heading: 3 },
  rhythm: { grounds: ['g-paper'], hung: false, last: 'g-inverse' },
  header: (frame) =>
    html`<div class="progress"></div><header class="top"><div class="bar">${brandLink(frame)}${menu(frame)}</div></header>`,
  hero,
  pageHead,
  footer,
  css: CSS,
}
