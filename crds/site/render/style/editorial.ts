/** The grid of the editorial layout: twelve columns, headings beside what they head. Source: rules/site.md#layouts. */

export const EDITORIAL = `
body{counter-reset:chapter}
.bar{border-bottom:1px solid var(--ink);font-size:var(--t-1)}
.bar .wrap,.opening .wrap,.section>.wrap,.colophon .wrap,.page-head .wrap{width:min(100% - 2*var(--gutter),96rem)}
.bar .wrap{display:flex;flex-wrap:wrap;align-items:baseline;justify-content:space-between;gap:0 2rem}
.bar .brand{padding-block:.75rem;font-weight:700}
.bar nav{min-width:0;max-width:100%}
.kicker{color:var(--muted)}
.opening figure img{width:100%;height:clamp(22rem,72svh,52rem);object-fit:cover}
.opening h1{font-size:var(--display);line-height:var(--display-leading);padding-top:clamp(2.5rem,6vw,5rem)}
.opening.pictured h1{margin-top:-.62em;padding:0;position:relative}
.opening.pictured h1 span{padding:.06em .22em .1em 0;background:var(--paper);-webkit-box-decoration-break:clone;box-decoration-break:clone}
.opening.pictured h1 span span{position:relative;padding:0;background:none}
.opening.pictured .wrap{position:relative}
.standfirst{display:grid;gap:1.5rem 3rem;padding-block:clamp(1.5rem,3vw,2.5rem) 0}
.standfirst .lede{font:400 var(--t2)/1.35 var(--head);max-width:40ch}
.aside{display:grid;gap:1.25rem;align-content:start}
.aside .chips{display:grid;gap:0}
.aside .chips li{padding-block:.5rem;border-top:1px solid var(--line)}
.page-head h1{font-size:var(--display);line-height:var(--display-leading);padding-top:clamp(2.5rem,6vw,5rem)}
.section>.wrap{display:grid;gap:clamp(1.5rem,3vw,2.5rem);padding-top:1rem;border-top:1px solid var(--ink)}
.section{padding-block:calc(var(--band)/2)}
.head{counter-increment:chapter}
.head::before{content:counter(chapter,decimal-leading-zero)/"";display:block;margin-bottom:.5rem;color:var(--accent);font-size:var(--t-1);
  font-variant-numeric:tabular-nums lining-nums}
.head h2{font-size:var(--t3)}
.matter,.exhibits,.pulls{min-width:0}
.collection{margin:clamp(2rem,5vw,4rem) 0 1.25rem;font-size:var(--t2)}
.matter>.collection:first-child{margin-top:0}
.plates{display:grid;gap:clamp(2.5rem,5vw,4.5rem) clamp(1.5rem,3vw,3rem)}
.plate{min-width:0}
.plate-image img,.plate-image .initial{width:100%;aspect-ratio:4/5;object-fit:cover}
.plate-words{display:grid;gap:.5rem;justify-items:start;padding-top:.9rem}
.plate-words>.specs,.plate-words>.options{width:100%}
.line{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.15rem 1.5rem;width:100%}
.line h3,.line h4{font-size:var(--t1)}
.unpictured .plate{padding-top:.25rem;border-top:1px solid var(--ink)}
.exhibits{display:grid;gap:clamp(1.5rem,3vw,3rem)}
.exhibits a{display:block}
.exhibits img,.exhibits .initial{width:100%}
.exhibits li:nth-child(5n+1) img{aspect-ratio:8/5;object-fit:cover}
figcaption{padding-top:.5rem;font-size:var(--t-1)}
.exhibits figcaption{color:var(--muted);max-width:48ch}
.thoughts{display:grid;gap:clamp(2rem,4vw,3.5rem)}
.thought{display:grid;gap:1.5rem 3rem}
.thought+.thought{padding-top:clamp(2rem,4vw,3.5rem);border-top:1px solid var(--line)}
.thought .words{display:grid;gap:.75rem;align-content:start}
.thought h3{font-size:var(--t3);line-height:1.12;letter-spacing:var(--tracking)}
.thought figure img{width:100%;aspect-ratio:4/5;object-fit:cover}
.tariff{display:grid;gap:.75rem 2.5rem;padding-block:1.5rem;border-top:1px solid var(--line)}
.tariff:first-child{border-top:0;padding-top:0}
.tariff h3{font-size:var(--t2)}
.tariff .price{font:var(--head-weight) var(--t2)/1.2 var(--head);font-variant-numeric:tabular-nums lining-nums}
.features{font-size:var(--t-1);color:var(--muted)}
.features li{padding-block:.2rem}
.ask-price{display:grid;gap:.75rem;justify-items:start;align-content:start}
.pulls{display:grid;gap:clamp(2rem,4vw,3.5rem) clamp(2rem,5vw,5rem)}
.pulls .quote{display:grid;gap:1rem}
.pulls li:first-child blockquote{font:var(--pull-weight) var(--t4)/1.14 var(--head);font-style:var(--pull-style);letter-spacing:var(--tracking)}
.pulls blockquote{font:400 var(--t1)/1.45 var(--head)}
.pulls li:first-child blockquote p{max-width:28ch}
.s-contact .mail{font:var(--head-weight) var(--t4)/1.15 var(--head);letter-spacing:var(--tracking)}
.s-contact .mail a{text-decoration-thickness:2px;text-underline-offset:.14em}
.ways{display:grid;gap:1.25rem 2rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,13rem),1fr))}
.colophon{padding-block:2rem 3rem;font-size:var(--t-1);color:var(--muted)}
.colophon .wrap{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.5rem 2rem}
.titled .head::before{display:none}
@media (min-width:40rem){
  .plates.few,.plates.many{grid-template-columns:repeat(2,minmax(0,1fr))}
  .exhibits.few,.exhibits.many{grid-template-columns:repeat(6,minmax(0,1fr))}
  .exhibits li{grid-column:span 3}
  .exhibits li:nth-child(5n+1){grid-column:span 6}
  .exhibits.few li{grid-column:span 3}
  .exhibits.few li:first-child{grid-column:span 6}
}
@media (min-width:60rem){
  .standfirst{grid-template-columns:repeat(12,minmax(0,1fr))}
  .standfirst .lede{grid-column:1/span 7}
  .aside{grid-column:9/span 4}
  .section>.wrap{grid-template-columns:repeat(12,minmax(0,1fr))}
  .head{grid-column:1/span 3}
  .head h2{position:sticky;top:2rem}
  .matter{grid-column:4/span 9}
  .titled .matter{grid-column:1/-1}
  .titled .head{display:contents}
  .exhibits,.pulls,.s-contact .mail,.s-contact .ways{grid-column:4/span 9}
  .plates.few,.plates.many{grid-template-columns:repeat(9,minmax(0,1fr));align-items:end}
  .plate{grid-column:span 4}
  .plates:not(.unpictured) .plate:nth-child(4n+1){grid-column:1/span 5}
  .plates:not(.unpictured) .plate:nth-child(4n+2){grid-column:6/span 4}
  .plates:not(.unpictured) .plate:nth-child(4n+3){grid-column:1/span 4}
  .plates:not(.unpictured) .plate:nth-child(4n){grid-column:5/span 5}
  .plates.one .plate{display:grid;grid-template-columns:5fr 4fr;gap:3rem;align-items:end;grid-column:1/-1}
  .exhibits.few,.exhibits.many{grid-template-columns:repeat(9,minmax(0,1fr));align-items:start}
  .exhibits li,.exhibits.few li{grid-column:span 4}
  .exhibits li:nth-child(5n+1),.exhibits.few li:first-child{grid-column:1/-1}
  .exhibits li:nth-child(5n+2){grid-column:1/span 5}
  .exhibits li:nth-child(5n+3){grid-column:6/span 4;margin-top:6rem}
  .exhibits li:nth-child(5n+4){grid-column:1/span 4}
  .exhibits li:nth-child(5n+5){grid-column:5/span 5;margin-top:-3rem}
  .thought.pictured{grid-template-columns:minmax(0,5fr) minmax(0,4fr)}
  .thought:not(.pictured){grid-template-columns:minmax(0,1fr)}
  .thought:not(.pictured) .words{grid-template-columns:minmax(0,4fr) minmax(0,5fr);gap:3rem}
  .tariff{grid-template-columns:minmax(0,3fr) minmax(0,3fr) minmax(0,3fr)}
  .ask-price{justify-items:end;text-align:right}
  .pulls{grid-template-columns:repeat(2,minmax(0,1fr))}
  .pulls li:first-child{grid-column:1/-1}
}
@media (max-width:39.99rem){
  .bar nav{width:100vw;max-width:100vw;margin-inline:calc(-1*var(--gutter));padding-inline:var(--gutter);border-top:1px solid var(--line)}
}
`
