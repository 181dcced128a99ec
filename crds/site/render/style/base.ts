/** What every page has in common, whatever its layout and template: text, grounds, links, buttons, small lists, print. */

/** Written for reading; `sheetOf` takes the line breaks out. */
export const BASE = `
*,::before,::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;background:var(--paper);scroll-padding-top:5.5rem}
body,.g-paper{--bg:var(--paper);--fg:var(--ink);--mut:var(--muted);--lin:var(--line);--edg:var(--edge);--acc:var(--accent);--al:var(--accent-line);--tnt:var(--tint);--fe:var(--fill-edge)}
.g-tint{--bg:var(--tint);--tnt:var(--paper)}
.g-inverse{--bg:var(--inverse);--fg:var(--on-inverse);--mut:var(--muted-inverse);--lin:var(--line-inverse);--edg:var(--muted-inverse);--acc:var(--accent-inverse);--al:var(--accent-inverse);--tnt:transparent;--fe:var(--fill-edge-inverse)}
.g-fill{--bg:var(--fill);--fg:var(--on-fill);--mut:var(--on-fill);--lin:var(--on-fill);--edg:var(--on-fill);--acc:var(--on-fill);--al:var(--on-fill);--tnt:transparent;--fe:var(--on-fill)}
body,.g-paper,.g-tint,.g-inverse,.g-fill{background:var(--bg);color:var(--fg)}
body{margin:0;font:400 var(--t0)/1.55 var(--body);overflow-wrap:anywhere;font-kerning:normal;-webkit-font-smoothing:antialiased}
h1,h2,h3,h4,p,ul,ol,dl,dd,figure,blockquote{margin:0;padding:0}
ul,ol{list-style:none}
img,picture{display:block}
h1,h2,h3,h4{font-family:var(--head);font-weight:var(--hw);letter-spacing:var(--tr);text-wrap:balance}
h1{line-height:var(--ld)}
h2{font-size:var(--th);line-height:1.15}
h3,h4{font-size:var(--t1);line-height:1.25;letter-spacing:0}
${[3, 4, 5, 6, 7].map((step) => `.st${step}{font-size:var(--t${step})}`).join('')}
.light{font-weight:var(--hl,400)}
.hy{hyphens:auto}
p{max-width:64ch;text-wrap:pretty}
.lede{font-size:var(--t1);line-height:1.4;max-width:34em}
.lede,.text,blockquote p{white-space:pre-line}
a{color:inherit;text-decoration-thickness:1px;text-underline-offset:.2em}
a:hover{color:var(--acc)}
:focus-visible{outline:3px solid var(--fg);outline-offset:3px;box-shadow:0 0 0 3px var(--bg);border-radius:var(--rad)}
.in,.bar{width:min(100% - 2*var(--mg),var(--w));margin-inline:auto}
.s{padding-block:calc(var(--gap)*.5)}
.g-tint.s,.g-inverse.s,.g-fill.s{padding-block:calc(var(--gap)*.8)}
.sh{margin-bottom:calc(var(--gap)*.3)}
.sh,.mt{min-width:0}
.coll{margin:calc(var(--gap)*.5) 0 1rem;font-size:var(--t2);line-height:1.2}
.grp:first-child>.coll{margin-top:0}
.mt>*+.rest{margin-top:2rem}
.im{overflow:hidden;border-radius:var(--rad);background:var(--plate)}
.im picture{height:100%}
.im img{width:100%;height:100%;object-fit:cover}
.vh,.quiet h2{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.quiet .sh h2{width:1px;max-width:1px}
.quiet .sh{margin:0}
.skip{position:absolute;left:var(--mg);top:0;z-index:9;padding:.75rem 1.25rem;background:var(--fg);color:var(--bg);transform:translateY(-120%)}
.skip:focus{transform:none}
.letter{display:none}
.button{display:inline-flex;align-items:center;justify-content:center;min-height:3rem;padding:.5rem 1.5rem;background:var(--fill);color:var(--on-fill);border:2px solid var(--fe);border-radius:var(--rad);font-size:max(1rem,var(--t-1));font-weight:600;line-height:1.25;text-decoration:none;text-align:center}
.button:hover{color:var(--on-fill);filter:brightness(.94)}
.act .button{background:none;color:var(--fg);border-color:var(--edg)}
.act .button:hover{color:var(--acc);filter:none}
.more{display:inline-flex;align-items:center;min-height:3rem;font-weight:600;line-height:1.25}
.strip,.shelf,.scroll{position:relative}
.actions{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 1.75rem;max-width:none}
.chips{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;font-size:var(--t-1);color:var(--mut)}
.tag{font-size:var(--t-1);font-weight:600;line-height:1.3;color:var(--acc)}
.price{font-variant-numeric:tabular-nums lining-nums;overflow-wrap:normal;max-width:none}
.price>*{white-space:nowrap}
.price.long{overflow-wrap:anywhere}
.price.long>*{white-space:normal}
.price strong{font-weight:600}
.price s{color:var(--mut);text-decoration-thickness:1px}
.specs,.options{font-size:max(.875rem,var(--t-1))}
.specs li,.options li{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;padding-block:.35rem;border-top:1px solid var(--lin)}
.k{color:var(--mut)}
.values{display:flex;flex-wrap:wrap;gap:.1rem .75rem}
.points li{padding:.3rem 0 .3rem 1.1em;position:relative}
.points li::before{content:"";position:absolute;left:0;top:.98em;width:.45em;height:2px;background:var(--al)}
.ask{display:inline-flex;align-items:center;min-height:2.75rem;font-size:max(.9375rem,var(--t-1))}
.role{color:var(--mut);font-size:max(.9375rem,var(--t-1))}
summary{cursor:pointer}
.fold summary{min-height:2.75rem;display:flex;align-items:center;font-size:var(--t-1);text-decoration:underline;text-underline-offset:.2em;text-decoration-thickness:1px}
.stars{color:var(--al);letter-spacing:.1em;line-height:1}
address{font-style:normal}
address span{display:block}
.logo{width:auto;max-height:2.5rem;max-width:min(12rem,48vw)}
.brand{text-decoration:none;font:var(--hw) var(--t1)/1.15 var(--head);letter-spacing:var(--tr)}
.quote{display:grid;gap:.75rem}
.quote figcaption{font-size:max(.9375rem,var(--t-1))}
.by{font-weight:600}
figcaption .role::before{content:"· "/""}
.pager{display:flex;flex-wrap:wrap;align-items:center;gap:1rem 2rem;margin-top:3rem;font-variant-numeric:tabular-nums}
.pager a{min-height:2.75rem;display:inline-flex;align-items:center}
.pager span{color:var(--mut)}
.beside{display:grid;gap:2rem calc(var(--gut)*2)}
@media (min-width:64rem){.l-classic .g-words,.l-showcase .g-words{display:grid;grid-template-columns:minmax(0,4fr) minmax(0,8fr);gap:calc(var(--gut));margin-top:calc(var(--gap)*.4)}.l-classic .g-words .coll,.l-showcase .g-words .coll{margin:0;padding-top:.75rem}}
@media (min-width:48rem){.beside{grid-template-columns:5fr 7fr;align-items:start}.beside .list.two{columns:1}}
@media (prefers-reduced-motion:no-preference){
html{scroll-behavior:smooth}
.button,a{transition:color .15s,background-color .15s,filter .15s}
@view-transition{navigation:auto}
}
:lang(zh){line-break:strict;text-spacing-trim:trim-start;font-synthesis:none}
body:lang(zh){line-height:1.7}
:lang(zh) :is(h1,h2,h3,h4){letter-spacing:0;line-height:1.3;font-style:normal;font-weight:var(--hz)}
:lang(zh) :is(.st4,.st5,.st6,.st7){line-height:1.2}
.kp{word-break:keep-all}
@media (min-width:64rem){.kw{word-break:keep-all}}
:lang(zh) :is(blockquote,.lede,.text){font-style:normal;line-height:1.7}
:lang(zh) :is(.text,.lede,blockquote p){max-width:36em}
@media (forced-colors:active){.button,.chat{border:1px solid}}
`

/**
 * Paper: black on white under a letterhead, every fold open, no item split. What only a screen can do stays there: ways about the
 * site, films, what runs by, forms, and tones that are put over pictures.
 */
export const PRINT = `
@media print{
@page{margin:16mm}
:root{--mg:0px}
*{color:#000!important;background:none!important;text-shadow:none!important;box-shadow:none!important;animation:none!important}
::before,::after{color:#000!important}
html,body{background:#fff!important;font-size:10pt}
.skip,nav,.top,.go,.menu,.dock,.actions,.ask,.act,.pager,.progress,.toindex,.next,.write,.shelf,.s-video,.s-marquee,.button,tr:has(.button),a[href="#top"]{display:none!important}
.letter{display:flex;flex-wrap:wrap;gap:0 2em;align-items:baseline;justify-content:space-between;padding-bottom:3mm;margin-bottom:4mm;border-bottom:1px solid #000;font-size:8.5pt}
.letter p{max-width:none}
.letter .who{font:var(--hw) 13pt/1.2 var(--head)}
.letter span:not(:last-child)::after{content:" · "}
details::details-content{content-visibility:visible!important;display:block!important;block-size:auto!important}
summary{list-style:none!important;min-height:0!important;padding-block:1mm!important}
summary::after{content:none!important}
.fold summary{display:none!important}
.s,.hero,.phead,.foot,.chap,.chap>.wd,.s-contact{padding-block:4mm!important;min-height:0!important;height:auto!important}
.hero,.hero .in,.chap,.banner{display:block!important}
.hero>*,.chap>*{margin-block:2mm}
.hero .wd,.hero .stamp{width:auto!important}
img{filter:none!important}
.im{position:static!important;height:auto!important;min-height:0!important;padding:0!important;border:0!important}
.im::before,.im::after,.chap>.big{display:none!important}
.hero .im,.open .im,.chap>.im{height:auto!important;width:auto!important;max-height:80mm!important;aspect-ratio:auto}
.hero .im img,.open .im img,.chap>.im img{max-height:80mm;width:100%}
.over{display:none!important}
.turns{display:block!important}
.set{width:auto!important;height:auto!important;aspect-ratio:var(--r)!important;max-width:calc(60mm*var(--r))!important}
.set>.im{height:100%!important;max-height:none!important}
.set .im img{max-height:none!important}
.banner .im,.banner .im img{max-height:60mm!important}
.banner.side .im{width:60mm!important}
.seals .im{height:12mm!important}
body{display:block!important;padding:0!important}
.strip,.scroll{overflow:visible!important}
li,figure,.row,.card,.fold,tr{break-inside:avoid}
h2,h3{break-after:avoid}
.list,.cards,.rows,.plates,.strip,.folds{display:block!important;columns:2!important;gap:8mm!important}
.cards>*,.plates>*,.rows>*,.strip>*{break-inside:avoid;margin:0 0 4mm!important;padding-block:2mm!important}
.card .im,.plate .im,.row .im,.strip .im{max-height:34mm}
.index>li:has(>.im){grid-template-columns:2rem 42mm minmax(0,1fr);column-gap:4mm}
.index>li>.im{grid-column:2!important;max-height:50mm}
.index>li:has(>.im)>.bd{grid-column:3}
.mail{font-size:14pt}
.foot a[href^="http"]::after,.ways a[href^="http"]::after{content:attr(href);font-size:8pt;margin-inline-start:.5em}
}
`
