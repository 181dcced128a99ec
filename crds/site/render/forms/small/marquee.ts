/** Words that run by: stopped by hover, by focus and by a visible control; still where motion is reduced or words are few. */
import { html } from '../../../../text/html.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.f-marquee.s{padding-block:1.25rem;overflow:hidden}
.run{display:flex;align-items:center;gap:1.5rem}
.run ul{display:flex;flex-wrap:wrap;gap:.25rem 2.5rem;font:var(--hw) var(--t2)/1.3 var(--head);letter-spacing:var(--tr)}
.run .again,.run .stop{display:none}
.run .stop{font-size:max(.9375rem,var(--t-1));align-items:center;gap:.5rem;min-height:2.75rem;flex:none}
@media (prefers-reduced-motion:no-preference){
.run.moves{overflow:hidden}.run.moves .belt{display:flex;flex:1;overflow:hidden;min-width:0}
.run.moves ul{flex:none;flex-wrap:nowrap;padding-inline-end:2.5rem;white-space:nowrap;animation:by 40s linear infinite}
.run.moves .again{display:flex}.run.moves .stop{display:inline-flex}
.run.moves:hover ul,.run.moves:focus-within ul,.run.moves:has(:checked) ul{animation-play-state:paused}
}
@keyframes by{to{transform:translateX(-100%)}}
.l-monolith .run ul{font-size:var(--t4)}
.l-atelier .run{justify-content:center;text-align:center}
`

/** Under this many nothing moves. */
const MOVES_FROM = 4
const STILL = ['atelier', 'sidenav', 'narrative', 'monolith']

export const marquee: SiteForm = {
  css: CSS,
  view: (frame, { items }) => {
    const list = items.map(({ title }) => html`<li>${title}</li>`)
    if (items.length < MOVES_FROM || STILL.includes(frame.layout.name))
      return html`<div class="run"><ul>${list}</ul></div>`
    return html`<div class="run moves"><div class="belt"><ul>${list}</ul><ul class="again" aria-hidden="true">${list}</ul></div><label class="stop"><input type="checkbox"> ${frame.signs.pause}</label></div>`
  },
}
