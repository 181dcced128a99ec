/** Templates with a voice: garden, craft, market, voltage, runway. */
import type { TemplateView } from './template.ts'

/** Greens, soft corners: tinted fields, portraits under an arch, a leaf before headings. */
export const garden: TemplateView = {
  density: 1.1,
  radius: 20,
  ratio: 1,
  body: 0,
  css: `
.button,.tag{border-radius:99px}
.tag{display:inline-block;align-self:flex-start;justify-self:start;padding:.15em .9em;background:color-mix(in oklab,var(--fill) 16%,var(--bg));color:var(--fg)}
.sh h2::before{content:"";display:inline-block;width:.62em;height:.62em;margin-inline-end:.4em;background:var(--al);border-radius:0 100% 0 100%}
.quiet .sh h2::before{display:none}
.g-tint.s{border-radius:32px;margin-inline:clamp(0px,1.4vw,20px)}
.g-tint.s>.in{width:min(100% - 2*var(--mg) + 2*clamp(0px,1.4vw,20px),var(--w))}
.portrait.im{border-radius:999px 999px var(--rad) var(--rad)}
.l-classic .hero .im,.l-atelier .hero .im{border-radius:14rem 14rem 20px 20px}
.card{background:var(--tnt);border-radius:var(--rad);padding-bottom:1.25rem;overflow:hidden}
.card .im{border-radius:0}.card .cw{padding-inline:1.25rem}
.rows.plain>.row,.list>li{border-top-style:dotted;border-top-width:2px}
.chap .im,.l-narrative .plate .im,.l-narrative .hero .im,.l-editorial .open>.im{border-radius:0}
`,
}

/** Warm paper and slabs: a stitched line between things, pictures as prints. */
export const craft: TemplateView = {
  density: 1,
  radius: 0,
  ratio: 1.25,
  body: 0,
  css: `
.sh h2{padding-block:.3rem;border-block:2px dashed var(--al);width:fit-content;max-width:100%;padding-inline:.1em}
.quiet .sh h2{border:0;padding:0}
.s.g-paper+.s>.in{position:relative}
.foot{border-top:2px dashed var(--al)}
.goods.im,.portrait.im{padding:10px;background:var(--paper);border:1px solid var(--line)}
.g-tint .goods.im{background:var(--paper)}
.mood img{filter:sepia(.06) saturate(1.06)}
.l-classic .hero .im{padding:10px;border:1px solid var(--line);background:var(--paper)}
.actions .more{border:2px solid var(--fg);padding-inline:1.4rem;text-decoration:none}
.list>li,.rows.plain>.row{border-top:2px dotted var(--edg)}
.list>li:first-child,.rows.plain>.row:first-child{border-top:0}
.rows.plain>.row:last-child{border-bottom:0}
.tag{display:inline-block;align-self:flex-start;justify-self:start;padding:.05em .5em;border:2px solid var(--al);transform:rotate(-1.2deg)}
.card .cw{padding-inline:.15rem}
`,
}

/** A bright shelf: tabs, badges for prices, cut-outs on plates, everything close. */
export const market: TemplateView = {
  density: 0.8,
  radius: 10,
  ratio: 1,
  body: 0,
  css: `
.sh h2{display:inline-block;background:var(--fill);color:var(--on-fill);padding:.25em .7em;border-radius:var(--rad) var(--rad) var(--rad) 0}
.quiet .sh h2{background:none}
.goods.im img{object-fit:cover}
.cards>.card,.strip>li,.plates>.plate{background:var(--paper);border-radius:var(--rad)}
.g-inverse .card{background:none}
.cards,.strip{padding-bottom:.75rem;border-bottom:4px solid var(--al)}
.card .cw{padding:.75rem .5rem 0}
.cards .price strong,.strip .price strong,.plates .price strong,.shelf .price strong{display:inline-block;padding:.1em .55em;background:var(--fill);color:var(--on-fill);border-radius:6px;font-weight:800}
.card,.strip>li{position:relative}
.card .tag,.strip .tag{position:absolute;inset:0 auto auto 0;z-index:1;padding:.25em .8em;background:var(--ink);color:var(--paper);border-radius:var(--rad) 0 var(--rad) 0}
.card:not(:has(.im)) .tag{position:static;width:fit-content;border-radius:6px}
.button{font-weight:800}
.top{border-bottom:4px solid var(--al)}
`,
}

/** Dark and technical: a one-pixel grid, mono indices, pictures flush in cells. */
export const voltage: TemplateView = {
  density: 0.85,
  radius: 3,
  ratio: 1,
  body: 0,
  css: `
body{counter-reset:sheet part}
.s{counter-increment:sheet;border-top:1px solid var(--line)}
.l-monolith .s,.l-editorial .s,.l-narrative .s{border-top:0}
.sh h2::before{content:"/" counter(sheet,decimal-leading-zero) " "/"";font:500 .5em/1 var(--mono);color:var(--al);margin-inline-end:.9em;vertical-align:.4em}
.l-monolith .sh h2::before,.quiet .sh h2::before{display:none}
.specs,.options,.price,.tag,.compare td{font-family:var(--mono)}
.specs{font-size:.875rem}
.tag::before{content:"[ "/""}.tag::after{content:" ]"/""}
.tag{font-weight:500}
.button{font-family:var(--mono);font-weight:500}
:focus-visible{outline-color:var(--al)}
.card{border:1px solid var(--line);border-radius:var(--rad)}
.card .im{border-radius:var(--rad) var(--rad) 0 0}
.card .cw{padding:.9rem 1rem 1rem}
.compare,.compare td,.compare th{border:1px solid var(--line)}
.compare td,.compare th{padding:.8rem 1rem!important}
.im img{filter:brightness(.94)}
.shelf .im{border:1px solid var(--line)}
`,
}

/** Black and white, extreme scale: pictures touch, black bars, capitals that reach the edges. */
export const runway: TemplateView = {
  density: 1,
  radius: 0,
  ratio: 2 / 3,
  body: 0,
  css: `
h1,h2,.brand,.who{font-stretch:125%}
:is(h1,h2,.brand,.links a,.side a,.tag,.more,.button):not(:lang(zh)){text-transform:uppercase}
h1:not(:lang(zh)){letter-spacing:-.03em;line-height:.95}
.sh h2{border-top:8px solid var(--fg);padding-top:.4rem}
.quiet .sh h2,.l-editorial .sh h2,.l-monolith .sh h2{border:0;padding:0}
.cards,.plates,.just,.just ul,.strip,.shelf{gap:2px!important}
.cards,.plates{row-gap:2.5rem!important}
.mood img{filter:grayscale(1)}
.card .cw,.plate .cw,.strip .cw{padding:.6rem .25rem 0}
.actions .more{text-underline-offset:.35em;text-decoration-thickness:2px}
.actions .button{min-width:min(100%,16rem)}
.button{border-radius:0}
.tag{letter-spacing:.04em}
.price s+strong{color:var(--acc)}
.l-editorial .f-plates>.in,.l-editorial .f-justified>.in,.l-showcase .f-cards>.in{width:calc(100% - 4px);max-width:none}
.l-editorial .f-plates .sh,.l-editorial .f-plates .cw,.l-editorial .f-justified .sh,.l-showcase .f-cards .sh,.l-editorial .f-plates .coll{padding-inline:var(--mg)}
`,
}
