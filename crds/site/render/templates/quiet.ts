/** Templates that keep still: studio, harbor, ledger, clinic, lumen. */
import type { TemplateView } from './template.ts'

/** Neutral grotesk, white, one accent: hairlines, and a square before what begins. */
export const studio: TemplateView = {
  density: 1,
  radius: 2,
  ratio: 4 / 3,
  body: 0,
  css: `
.kicker::before,.l-classic .s-contact h2::before,.hero .chips li:first-child::before{content:"";display:inline-block;width:10px;height:10px;margin-inline-end:.6em;background:var(--al)}
.s+.s.g-paper>.in{border-top:1px solid var(--lin)}
.s.g-paper+.s.g-paper>.in{padding-top:calc(var(--gap)*.35)}
.tag{display:inline-block;justify-self:start;align-self:flex-start;padding:.1em .6em;border:1px solid var(--al)}
`,
}

/** Navy and sand: thick-thin rules, pictures mounted on sand, serif heads. */
export const harbor: TemplateView = {
  density: 1.05,
  radius: 4,
  ratio: 1.5,
  body: 0,
  css: `
.sh h2{padding-bottom:.5rem;border-bottom:4px double var(--al);width:fit-content;max-width:100%}
.quiet .sh h2{border:0}
.goods.im,.portrait.im{padding:12px;background:var(--plate);border-radius:var(--rad)}
.goods.im img,.portrait.im img{border-radius:2px}
.mood img{filter:saturate(.85)}
.foot{border-top:4px double var(--lin)}
.top{border-bottom:4px double var(--lin)}
.actions .more{border:1px solid var(--edg);padding-inline:1.5rem;border-radius:var(--rad);text-decoration:none}
.tag{font-style:italic}:lang(zh) .tag{font-style:normal}
`,
}

/** Sober business: everything on a rule, tabular figures, pictures in quiet colour. */
export const ledger: TemplateView = {
  density: 0.9,
  radius: 0,
  ratio: 1.6,
  body: 0,
  css: `
body{font-variant-numeric:tabular-nums lining-nums}
.s>.in{border-top:1px solid var(--fg);padding-top:.9rem}
.sh{display:flex;justify-content:space-between}
.hero+.s>.in{border-top-width:3px}
.card,.plate{border-block:1px solid var(--lin);padding-block:1rem}
.mood img{filter:saturate(.3)}
.portrait img{filter:grayscale(1) contrast(1.08)}
.portrait.im{aspect-ratio:1}
.list>li,.row,.compare td{border-color:var(--edg)}
.tag{font-weight:600;text-transform:none;border-bottom:2px solid var(--al);width:fit-content}
.button{border-radius:0}
`,
}

/** Cool, generous, very legible: much air, white sheets, large targets. */
export const clinic: TemplateView = {
  density: 1.2,
  radius: 12,
  ratio: 4 / 3,
  body: 2,
  css: `
.button{min-height:3.5rem;padding-inline:1.75rem}
.card,.strip>li,.ladder li{background:var(--bg)}
.g-tint .card,.g-tint .strip>li{background:var(--paper);padding:1rem 1rem 1.25rem;border-radius:var(--rad)}
.rows.plain>.row,.list>li{padding-block:1.15rem}
.tag{display:inline-block;align-self:flex-start;justify-self:start;padding:.2em .9em;background:var(--plate);border-radius:99px}
:focus-visible{outline-width:4px}
.fold summary,.ask,.links a,.spine a{min-height:3rem}
.s.g-paper+.s.g-paper{padding-top:calc(var(--gap)*.3)}
`,
}

/** Ivory and gold, a light serif, large pictures: air alone between things, a lozenge beneath headings. */
export const lumen: TemplateView = {
  density: 1.3,
  radius: 0,
  ratio: 0.8,
  body: -1,
  css: `
:root{--hl:300;--qw:400;--qs:italic}
h3,h4,.row .nm h3,.list>li .ln h3,.list>li .ln h4{font-size:var(--t2);line-height:1.15}
:is(.st4,.st5,.st6,.st7):not(:lang(zh)){font-weight:300}
.lede:not(:lang(zh)){font-family:var(--head);font-style:italic;font-size:var(--t2);line-height:1.3}
.button{background:none;color:var(--fg);border:1px solid var(--al);font-weight:500;padding-inline:2.25rem}
.button:hover{color:var(--acc);filter:none}
:is(.button,.more,.tag,.kicker,.chips,.links a,.side a,.spine a):not(:lang(zh)){letter-spacing:.08em}
.more,.tag{font-weight:500}
.sh h2::after,.phead h1::after{content:"";display:block;width:.5rem;height:.5rem;margin-top:1.1rem;background:var(--al);transform:rotate(45deg)}
.l-classic .sh:not(.hung .sh),.l-atelier .sh{text-align:center}
.l-classic section:not(.hung) .sh h2::after,.l-atelier :is(.sh h2,.phead h1)::after{margin-inline:auto}
.quiet .sh h2::after{display:none}
.l-monolith .sh h2::after,.l-showcase .sh h2::after{display:none}
.mood.im{position:relative}
.mood.im::before{content:"";position:absolute;inset:8px;border:1px solid var(--al);z-index:1;pointer-events:none}
.hero.pic>.mood.im::before{display:none}
.mood img{filter:brightness(1.04)}
.price strong{font-weight:400}
.coll:not(:lang(zh)){font-style:italic}
`,
}
