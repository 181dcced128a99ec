/** What every page has in common, whatever its layout and template: text, links, buttons, small lists, print. */

/** Written for reading; `sheetOf` takes the line breaks out. */
export const BASE = `
*,::before,::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:6rem;background:var(--paper)}
body{margin:0;background:var(--paper);color:var(--ink);font:400 var(--t0)/1.6 var(--body);overflow-wrap:anywhere;
  font-kerning:normal;-webkit-font-smoothing:antialiased}
h1,h2,h3,h4,p,ul,ol,dl,dd,figure,blockquote{margin:0;padding:0}
ul,ol{list-style:none}
img{display:block;max-width:100%;height:auto}
picture{display:block}
h1,h2,h3,h4{font-family:var(--head);font-weight:var(--head-weight);letter-spacing:var(--tracking);
  line-height:var(--leading);text-wrap:balance}
h2{font-size:var(--t4)}
h3,h4{font-size:var(--t1);line-height:1.25;letter-spacing:0}
p{max-width:68ch;text-wrap:pretty}
.lede{font-size:var(--t1);line-height:1.5}
.lede,.text,blockquote p{white-space:pre-line}
a{color:inherit;text-decoration-thickness:1px;text-underline-offset:.22em}
a:hover{color:var(--accent)}
:focus-visible{outline:2px solid var(--ink);outline-offset:4px;box-shadow:0 0 0 4px var(--paper);border-radius:2px}
.wrap{width:min(100% - 2*var(--gutter),78rem);margin-inline:auto}
.section{padding-block:var(--band)}
.vh{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:var(--gutter);top:0;z-index:9;padding:.75rem 1.25rem;background:var(--ink);color:var(--paper);
  transform:translateY(-120%)}
.skip:focus{transform:none}
.button{display:inline-block;padding:.85em 1.6em;background:var(--accent);color:var(--paper);border-radius:var(--radius);
  font-size:var(--t-1);font-weight:600;line-height:1.25;text-decoration:none;text-align:center}
.button:hover{background:var(--ink);color:var(--paper)}
.more{display:inline-block;padding-block:.85em;font-size:var(--t-1);font-weight:600;line-height:1.25}
.actions{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem 2rem}
.chips{display:flex;flex-wrap:wrap;gap:.4rem 1.25rem;font-size:var(--t-1);color:var(--muted)}
.tag{font-size:var(--t-2);font-weight:600;color:var(--accent)}
.price{font-variant-numeric:tabular-nums lining-nums}
.price strong{font-weight:600}
.price s{color:var(--muted);text-decoration-thickness:1px}
.specs,.options{font-size:var(--t-1)}
.specs li,.options li{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;padding-block:.35rem;
  border-top:1px solid var(--line)}
.k{color:var(--muted)}
.values{display:flex;flex-wrap:wrap;gap:.1rem .75rem}
.ask{display:inline-block;padding-block:.35rem;font-size:var(--t-1)}
.initial{display:grid;place-items:center;aspect-ratio:4/3;background:var(--line);color:var(--muted);font:var(--head-weight) var(--t5)/1 var(--head)}
.empty{color:var(--muted);font-size:var(--t1);max-width:40ch}
.empty a{color:var(--accent)}
.logo{width:auto;max-height:2.75rem;max-width:min(14rem,50vw)}
.brand{text-decoration:none}
.quote figcaption{font-size:var(--t-1)}
.by{font-weight:600}
.role{color:var(--muted)}
.role::before{content:"· "}
.ways dt{font-size:var(--t-1);opacity:.85}
.ways a{display:inline-block;padding-block:.2rem}
.mail{max-width:none}
.pager{display:flex;flex-wrap:wrap;gap:1rem 2rem;margin-top:3rem;font-variant-numeric:tabular-nums}
.pager span{color:var(--muted)}
.chat{position:fixed;right:clamp(1rem,3vw,2rem);bottom:clamp(1rem,3vw,2rem);z-index:5;padding:.8rem 1.3rem;
  background:var(--ink);color:var(--paper);border-radius:var(--radius-round);font-size:var(--t-1);font-weight:600;line-height:1.25;
  text-decoration:none;box-shadow:0 2px 16px rgb(0 0 0/.18)}
.chat:hover{background:var(--accent);color:var(--paper)}
.titled h2{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip-path:inset(50%)}
nav ul{display:flex;gap:.25rem clamp(1rem,2.2vw,2rem);overflow-x:auto;scrollbar-width:none}
nav ul a{display:block;padding-block:.75rem;white-space:nowrap;text-decoration:none;font-size:var(--t-1)}
nav ul a:hover,nav ul [aria-current]{text-decoration:underline;text-decoration-thickness:2px;text-underline-offset:.4em}
@media (prefers-reduced-motion:no-preference){
  html{scroll-behavior:smooth}
  .button,.chat,a{transition:color .15s,background-color .15s}
}
:lang(zh){line-break:strict;text-spacing-trim:trim-start}
body:lang(zh){line-height:1.7}
:lang(zh) h1,:lang(zh) h2,:lang(zh) h3,:lang(zh) h4{letter-spacing:0;line-height:1.3;font-style:normal}
:lang(zh) blockquote p,:lang(zh) .lede{font-style:normal;line-height:1.7}
@media (forced-colors:active){.button,.chat{border:1px solid}}
@media print{
  @page{margin:18mm}
  html,body{background:#fff;color:#000;font-size:10.5pt}
  .skip,nav,.chat,.actions,.ask,.pager{display:none!important}
  .section,.hero,.opening{padding-block:8mm;background:none!important;color:#000!important}
  li,figure,.row,.card{break-inside:avoid}
  h2,h3{break-after:avoid}
  a{color:#000}
  header{position:static!important}
}
`
