/**
 * What a template adds to any layout: corners, labels, ornament. Colours and fonts come from the brand. Source:
 * rules/site.md#templates.
 */
import type { Template } from '../../content/content.ts'

/** Neutral grotesk, white, one accent: corners hardly rounded, everything on the line. */
const STUDIO = `
:root{--radius:3px;--radius-round:999px;--pull-weight:640;--pull-style:normal}
.opening h1,.page-head h1{--display-leading:.98}
.kicker::before{content:"";display:inline-block;width:.55em;height:.55em;margin-right:.6em;background:var(--accent)}
.editorial .tag{padding:.1em .6em;border:1px solid var(--accent)}
.classic .tag{padding:.15em .7em;background:var(--accent);color:var(--paper);border-radius:var(--radius)}
.pulls blockquote{font-family:var(--body)}
`

/** Ivory and gold, a light serif, large pictures: hairlines, letterspaced labels, a lozenge between things. */
const LUMEN = `
:root{--radius:0px;--radius-round:0px;--pull-weight:400;--pull-style:italic}
h3,h4{font-size:var(--t2);line-height:1.15}
.lede{font-family:var(--head);font-size:var(--t2);line-height:1.32;font-style:italic}
.button,.more,.tag,.ways dt,nav ul a,.kicker,.chips,.bar .brand{letter-spacing:.09em}
.button{padding:1.05em 2em;font-weight:500}
.more{font-weight:500}
.tag{font-weight:500}
.top .brand{font-weight:500;letter-spacing:.02em;font-size:var(--t2)}
.bar .brand{font:500 var(--t1)/1.15 var(--head)}
.classic h2{display:grid;justify-items:center;gap:1.1rem;text-align:center}
.classic h2::after{content:"";width:.5rem;height:.5rem;background:var(--accent);transform:rotate(45deg)}
.classic .s-contact h2{justify-items:start;text-align:start}
.classic .card{border:0;background:none}
.classic .card-image img,.classic .card-image .initial{aspect-ratio:4/5}
.classic .card-words{padding:1.25rem 0 0;justify-items:center;text-align:center}
.classic .cards.one .card-words{padding:0 0 0 clamp(1.5rem,4vw,4rem);justify-items:start;text-align:start;align-content:center}
.classic .card .price{font-size:var(--t0)}
.classic .offer{border:1px solid var(--line)}
.classic .offer .card-words{padding:2rem}
.classic .offer .price{font-size:var(--t3)}
.ticks{text-align:start}
.classic .hero figure img{aspect-ratio:4/5;max-height:46rem}
.quotes blockquote,.pulls blockquote{font:400 var(--t1)/1.4 var(--head);font-style:italic}
.quotes.one blockquote{font-style:italic}
.collection{font-style:italic}
.opening h1,.page-head h1{--display-leading:.94}
.standfirst .lede{font-style:italic}
.aside .chips li::before,.hero .chips li::before{content:"◆"/"";margin-right:.8em;color:var(--accent);font-size:.55em;vertical-align:.25em}
:lang(zh) .button,:lang(zh) .more,:lang(zh) .tag,:lang(zh) .ways dt,:lang(zh) nav ul a,:lang(zh) .kicker,:lang(zh) .chips,:lang(zh) .brand{letter-spacing:0}
:lang(zh) .lede,:lang(zh) blockquote,:lang(zh) .collection,:lang(zh) .pulls li:first-child blockquote{font-style:normal}
`

export const TEMPLATE_RULES: Record<Template, string> = { studio: STUDIO, lumen: LUMEN }
