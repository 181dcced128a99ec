/** The grid of the classic layout. Source: rules/site.md#layouts. */

export const CLASSIC = `
.top{position:sticky;top:0;z-index:4;background:var(--paper);border-bottom:1px solid var(--line)}
.top .wrap{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:0 2.5rem;min-height:4.5rem}
.top .brand{padding-block:.75rem;font:var(--head-weight) var(--t1)/1.15 var(--head);letter-spacing:var(--tracking)}
.top nav{min-width:0;max-width:100%}
.hero{padding-block:clamp(3rem,7vw,6.5rem)}
.hero .wrap{display:grid;gap:clamp(2rem,5vw,4.5rem);align-items:center}
.hero h1{font-size:var(--t5)}
.hero .words{display:grid;gap:1.5rem}
.hero .chips{padding-top:1.25rem;border-top:1px solid var(--line)}
.hero figure img{width:100%;aspect-ratio:5/4;object-fit:cover;border-radius:var(--radius)}
.hero:not(.pictured) h1{font-size:var(--t6);max-width:18ch}
.page-head{padding-block:clamp(2.5rem,6vw,5rem) 0}
.page-head h1{font-size:var(--t5)}
main>.section:nth-child(even){background:var(--tint)}
.section h2{margin-bottom:clamp(1.75rem,3.5vw,3rem)}
.collection{margin:3rem 0 1.5rem;font-size:var(--t2)}
h2+.collection{margin-top:0}
.cards,.tiles{display:grid;gap:clamp(1.5rem,2.6vw,2.25rem)}
.card{display:flex;flex-direction:column;background:var(--paper);border:1px solid var(--line);border-radius:var(--radius);overflow:hidden}
.card-image img,.card-image .initial{width:100%;aspect-ratio:4/3;object-fit:cover}
.card-words{display:grid;gap:.65rem;align-content:start;justify-items:start;padding:1.4rem 1.5rem 1.5rem;flex:1}
.card-words>.specs,.card-words>.options{width:100%}
.card-words>.ask{align-self:end}
.card .price{font-size:var(--t1)}
.cards.one .card{max-width:56rem}
.tiles img,.tiles .initial{width:100%;aspect-ratio:4/3;object-fit:cover;border-radius:var(--radius)}
.tiles a{display:block;text-decoration:none}
.tiles a .caption{text-decoration:underline;text-decoration-thickness:1px;text-underline-offset:.22em}
.caption{display:block;padding-top:.6rem;font-size:var(--t-1);color:var(--muted)}
.tiles.one img{aspect-ratio:21/9}
.rows{display:grid;gap:clamp(2.5rem,6vw,5rem)}
.row .words{display:grid;gap:.75rem;align-content:center}
.row h3{font-size:var(--t2)}
.row figure img{width:100%;aspect-ratio:3/2;object-fit:cover;border-radius:var(--radius)}
.rows.columns{gap:2.5rem clamp(2rem,4vw,3.5rem)}
.rows.columns .row{padding-top:1.25rem;border-top:2px solid var(--accent)}
.rows.columns h3{font-size:var(--t1)}
.offer .card-words{display:flex;flex-direction:column;gap:1.1rem}
.offer .price{font:var(--head-weight) var(--t3)/1.15 var(--head)}
.offer .button,.offer .note{margin-top:auto}
.ticks li{padding:.5rem 0 .5rem 1.6em;border-top:1px solid var(--line);font-size:var(--t-1);position:relative}
.ticks li::before{content:"";position:absolute;left:.15em;top:1.02em;width:.62em;height:.32em;border:solid var(--accent);
  border-width:0 0 2px 2px;transform:rotate(-45deg)}
.quotes{display:grid;gap:1.5rem clamp(1.5rem,2.6vw,2.25rem)}
.quotes .quote{display:grid;gap:1rem;padding:1.5rem 0 0;border-top:2px solid var(--accent)}
.quotes.one blockquote{font:var(--head-weight) var(--t3)/1.25 var(--head);letter-spacing:var(--tracking)}
.quotes.one blockquote p{max-width:34ch}
.s-contact{background:var(--ink)!important;color:var(--paper)}
.s-contact a:hover{color:inherit;text-decoration-thickness:3px}
.s-contact :focus-visible{outline-color:var(--paper);box-shadow:none}
.reach{display:grid;gap:2.5rem}
.s-contact .mail{font:var(--head-weight) var(--t2)/1.3 var(--head);letter-spacing:var(--tracking)}
.ways{display:grid;gap:1.25rem 2rem;align-content:start;grid-template-columns:repeat(auto-fill,minmax(min(100%,13rem),1fr))}
.foot{padding-block:1.75rem;background:var(--ink);color:var(--paper);font-size:var(--t-1)}
.foot .wrap{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.5rem 2rem}
.foot a:hover{color:inherit}
.foot :focus-visible{outline-color:var(--paper);box-shadow:none}
.s-contact+.foot,.foot{border-top:1px solid rgb(128 128 128/.35)}
@media (min-width:40rem){
  .cards.few,.cards.many,.tiles.few,.tiles.many,.rows.columns{grid-template-columns:repeat(2,minmax(0,1fr))}
  .cards.one .card{flex-direction:row}
  .cards.one .card-image{flex:0 0 48%}
  .cards.one .card-image img,.cards.one .card-image .initial{height:100%;aspect-ratio:auto}
  .cards.one .card-words{padding:2rem}
  .quotes.few,.quotes.many{grid-template-columns:repeat(2,minmax(0,1fr))}
}
@media (min-width:60rem){
  .hero.pictured .wrap{grid-template-columns:minmax(0,6fr) minmax(0,6fr)}
  .cards.few,.cards.many,.tiles.few,.tiles.many,.rows.columns.few,.rows.columns.many,.quotes.few,.quotes.many{grid-template-columns:repeat(3,minmax(0,1fr))}
  .zigzag .row.pictured{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:clamp(2.5rem,5vw,5rem)}
  .zigzag .row.pictured:nth-child(even) figure{order:-1}
  .reach{grid-template-columns:minmax(0,7fr) minmax(0,5fr)}
}
@media (max-width:39.99rem){
  .top .wrap{padding-block:.25rem}
  .top nav{margin-inline:calc(-1*var(--gutter));padding-inline:var(--gutter);width:100vw;max-width:100vw}
  .row figure{margin-top:1.25rem}
}
`
