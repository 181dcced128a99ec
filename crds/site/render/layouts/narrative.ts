/** Narrative: a story told by scrolling. A statement over a picture, chapters without margins, lists as interludes. */
import { type Html, html } from '../../../text/html.ts'
import { heroFormOf, heroRatiosOf } from '../choose/pictures.ts'
import { type Frame, type Shot, shotOf } from '../page/frame.ts'
import { actions, brandLink } from '../page/parts.ts'
import { menu } from './chrome.ts'
import { footColumns, legalLine, nextPage } from './foot.ts'
import type { LayoutView } from './layout.ts'
import { facts, headline, heroShot, lede, pageTitle, pushesOut } from './opening.ts'

const CSS = `
.bar{width:calc(100% - 2*var(--mg));max-width:none}
.bar>.brand{font-size:var(--t0)}
.progress{position:fixed;inset:0 0 auto;z-index:6;height:3px;background:var(--al);transform-origin:0 50%;transform:scaleX(0)}
@supports (animation-timeline:scroll()){@media (prefers-reduced-motion:no-preference){.progress{animation:far linear both;animation-timeline:scroll(root)}}}
@keyframes far{to{transform:scaleX(1)}}
.hero{position:relative;display:grid;overflow:hidden}
.hero .wd{display:grid;gap:1.25rem;padding:calc(var(--gap)*.5) var(--mg);min-width:0}
.hero h1{max-width:11em}
.hero.bare{min-height:82svh}.hero.bare .wd{align-self:center}
.hero>.im{border-radius:0}
@media (max-width:63.99rem){.hero.late>.im{order:9}.hero>.one{width:min(100%,var(--mw))}}
@media (min-width:64rem){.hero.bare{min-height:90svh}
.hero.split{grid-template-columns:1fr 1fr;min-height:min(90svh,60rem)}.hero.split .wd{align-self:center;padding-inline:clamp(2.5rem,5vw,4.5rem)}.hero.split>.one{height:100%;width:100%;aspect-ratio:auto;max-height:90svh}.hero.split.far>.im{order:9}
.hero.split.own>.one{height:auto;width:min(100%,var(--mw));aspect-ratio:var(--r);place-self:center end}.hero.split.own.far>.one{justify-self:start}
.hero:is(.wide,.inset)>*{grid-area:1/1}
.hero.wide>.one{aspect-ratio:auto;width:100%;height:clamp(60vw/var(--o),90svh,100vw/(.6*var(--o)))}
.hero.inset{padding:calc(var(--mg)*.5) 0}.hero.inset>.one{justify-self:center;--hh:calc(90svh - var(--mg))}
.hero:is(.wide,.inset) .im{position:relative}
.hero:is(.wide,.inset)>.im::after{content:"";position:absolute;inset:0;background:linear-gradient(to right,rgb(0 0 0/.66) 54%,transparent 86%)}
.hero:is(.wide,.inset).far>.im::after{background:linear-gradient(to left,rgb(0 0 0/.66) 54%,transparent 86%)}
.hero:is(.wide,.inset) .wd{position:relative;z-index:1;width:56%;align-self:center;--fg:#fff;--bg:#000;--acc:#fff;--mut:#fff;color:#fff}
.hero.inset .wd{padding-inline:12.5vw var(--mg)}.hero.inset.far .wd{padding-inline:var(--mg) 12.5vw}
.hero.far:is(.wide,.inset) .wd{justify-self:end}}
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
@media (prefers-reduced-motion:no-preference){::view-transition-new(root){animation:risen .32s both}::view-transition-old(root){animation-duration:.32s}@keyframes risen{from{opacity:0;transform:translateY(24px)}}}
`

/** Of the whole screen at 90 % of its height, on a desk. */
const SCREEN = 16 / 9
/** Under this many pixels in width a picture is half a screen, for words would stick out of it. */
const UNDER_WORDS = 900

/** The picture of an opening and its words: over it, in it where it is small, beside it where it is upright; on a phone in turn. */
const opened = (frame: Frame, shot: Shot | null, words: Html, tag: 'section' | 'header'): Html | null => {
  const image = frame.image(shot?.value)
  const picture = frame.shot(shot, { sizes: '100vw', ratio: SCREEN, hero: {}, as: 'mood' })
  if (picture === null || image === null) return null
  const form = image.width < UNDER_WORDS ? 'split own' : heroFormOf(image, SCREEN)
  // the words stand on the side away from the subject
  const far = (shot?.focal?.x ?? 0.5) < 0.4
  const late = tag === 'section' && pushesOut(frame, PHONE_PX / heroRatiosOf(image.width / image.height, SCREEN).phone)
  const classes = `hero pic g-inverse ${form}${far ? ' far' : ''}${late ? ' late' : ''}`
  return tag === 'section'
    ? html`<section class="${classes}">${picture}${words}</section>`
    : html`<header class="${classes}">${picture}${words}</header>`
}

const PHONE_PX = 360

const hero = (frame: Frame): Html => {
  const words = html`<div class="wd">${headline(frame)}${lede(frame)}${actions(frame)}${facts(frame)}</div>`
  return (
    opened(frame, heroShot(frame), words, 'section') ?? html`<section class="hero bare g-inverse">${words}</section>`
  )
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
  const words = html`<div class="wd">${pageTitle(frame, 6)}</div>`
  return (
    opened(frame, shotOf(frame, value, ''), words, 'header') ??
    html`<header class="phead g-inverse"><div class="in">${pageTitle(frame, 6)}</div></header>`
  )
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
