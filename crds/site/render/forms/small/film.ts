/** A video: a poster with our own button, which plays it there, and a line that names who will see the visitor and leads to them. */
import { html } from '../../../../text/html.ts'
import { videoOf } from '../../../content/video.ts'
import { nearestRatio } from '../../choose/pictures.ts'
import { outward, ratiosOf } from '../../page/frame.ts'
import { type SiteForm, sizesOf } from '../form.ts'
import { facade } from './facade.ts'

const CSS = `
.film,.film .screen{min-width:0;grid-template-columns:minmax(0,1fr)}
.film{display:grid;gap:.75rem;max-width:62rem}
.film .screen{position:relative;display:grid;text-decoration:none;border-radius:var(--rad);overflow:hidden}
.film .screen>*{grid-area:1/1}
.film .im{width:100%}
.film .reel{position:relative;z-index:2;width:100%;height:100%;border:0}
.film .screen:hover .play{filter:brightness(.94)}
.film .blank{aspect-ratio:16/9;display:grid;place-content:center;padding:2rem;background:color-mix(in oklab,var(--fill) 14%,var(--bg));color:var(--fg);font:var(--hw) var(--t3)/1.15 var(--head);text-align:center;border-radius:var(--rad)}
.film .who a{display:inline-flex;align-items:center;min-height:2.75rem;color:var(--fg)}
.film .screen .play{background:var(--fill);color:var(--on-fill);border-color:var(--fe)}
.film .play{align-self:end;justify-self:start;margin:1rem;z-index:1}
.film .play::before{content:"";border:solid transparent;border-width:.42em 0 .42em .7em;border-inline-start-color:currentColor;margin-inline-end:.7em}
.film .who{display:flex;flex-wrap:wrap;gap:0 1em;align-items:center;max-width:none;font-size:max(.875rem,var(--t-1));color:var(--mut)}
.l-atelier .film,.l-monolith .film{max-width:40rem;margin-inline:auto}.l-monolith .film{margin:0}
.l-narrative .s-video>.in{width:100%;max-width:none}.l-narrative .film{max-width:none}.l-narrative .film :is(.im,.screen,.blank){border-radius:0}.l-narrative .film .play{margin-inline:var(--mg)}.l-narrative .film .who,.l-narrative .s-video .sh{padding-inline:var(--mg)}
`

const RATIO = 16 / 9

export const film: SiteForm = {
  css: CSS,
  view: (frame, { items }) =>
    html`${items.map(({ title, shot, link = '#', role = '' }) => {
      const [own = RATIO] = ratiosOf(frame, [shot])
      const poster =
        frame.shot(shot, { sizes: sizesOf(80), ratio: nearestRatio(own, RATIO), as: 'mood' }) ??
        html`<span class="blank">${title}</span>`
      const { watch, watchedBy, watchAt } = frame.signs
      const source = videoOf(link)
      if (source === null) {
        const inside = html`${poster}<span class="button play">${watch}<span class="vh">: ${title}</span></span>`
        return html`<div class="film">${outward(link, inside, 'screen')}</div>`
      }
      const shown = html`${poster}<span class="button play" aria-hidden="true">${watch}</span>`
      return html`<div class="film"><div class="screen">${shown}${facade(frame, source, title)}</div><p class="who">${watchedBy(
        role,
      )} ${outward(source.watch, watchAt(role))}</p></div>`
    })}`,
}
