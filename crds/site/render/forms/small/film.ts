/** A video: a poster with our own button, and a line that names who will see the visitor. Nothing of theirs is loaded before. */
import { html } from '../../../../text/html.ts'
import { outward } from '../../page/frame.ts'
import { type SiteForm, sizesOf } from '../form.ts'

const CSS = `
.film,.film>a{min-width:0;grid-template-columns:minmax(0,1fr)}
.film{display:grid;gap:.75rem;max-width:62rem}
.film>a{position:relative;display:grid;text-decoration:none}
.film>a>*{grid-area:1/1}
.film .im{width:100%}
.film .blank{aspect-ratio:16/9;display:grid;place-content:center;padding:2rem;background:color-mix(in oklab,var(--fill) 14%,var(--bg));color:var(--fg);font:var(--hw) var(--t3)/1.15 var(--head);text-align:center;border-radius:var(--rad)}
.film .play{align-self:end;justify-self:start;margin:1rem;z-index:1}
.film .play::before{content:"";border:solid transparent;border-width:.42em 0 .42em .7em;border-inline-start-color:currentColor;margin-inline-end:.7em}
.film .who{font-size:max(.875rem,var(--t-1));color:var(--mut)}
.l-atelier .film,.l-monolith .film{max-width:40rem;margin-inline:auto}.l-monolith .film{margin:0}
.l-narrative .s-video>.in{width:100%;max-width:none}.l-narrative .film{max-width:none}.l-narrative .film .im{border-radius:0}.l-narrative .film .who,.l-narrative .s-video .sh{padding-inline:var(--mg)}
`

const RATIO = 16 / 9

export const film: SiteForm = {
  css: CSS,
  view: (frame, { items }) =>
    html`${items.map(({ title, shot, link = '#', role = '' }) => {
      const poster =
        frame.shot(shot, { sizes: sizesOf(80), ratio: RATIO, as: 'mood' }) ?? html`<span class="blank">${title}</span>`
      const inside = html`${poster}<span class="button play">${frame.signs.watch}<span class="vh">: ${title}</span></span>`
      return html`<div class="film">${outward(link, inside)}<p class="who">${frame.signs.watchedBy(role)}</p></div>`
    })}`,
}
