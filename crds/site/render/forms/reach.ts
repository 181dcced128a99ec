/** How one gets in touch: the mail address or the name, large, and every other way beside it, or the form beside all of them. */
import { html } from '../../../text/html.ts'
import { mailLink, otherWays, phoneLink } from '../page/parts.ts'
import type { SiteForm } from './form.ts'
import { writeForm } from './small/write.ts'

const CSS = `
.reach{display:grid;gap:2rem calc(var(--gut)*2)}
.reach .text{margin-bottom:1rem}
.mail{font:var(--hw) var(--t2)/1.25 var(--head);letter-spacing:var(--tr);overflow-wrap:anywhere}
.mail a{text-decoration-thickness:2px;text-underline-offset:.16em}
.ways{display:grid;gap:1.25rem 2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,11rem),1fr));align-content:start}
.ways dt{font-size:var(--t-1);color:var(--mut)}
.ways a{display:inline-flex;align-items:center;min-height:2.75rem;min-width:2.75rem}
@media (min-width:64rem){.reach{grid-template-columns:7fr 5fr;align-items:start}}
`

export const reach: SiteForm = {
  css: CSS,
  view: (frame) => {
    const { email } = frame.content.contact ?? {}
    const ways = otherWays(frame).map(
      ({ name, links }) => html`<div><dt>${name}</dt>${links.map((link) => html`<dd>${link}</dd>`)}</div>`,
    )
    const { text, phone } = frame.content.contact ?? {}
    const leads =
      email !== undefined
        ? mailLink(email)
        : phone !== undefined
          ? phoneLink(phone)
          : html`${frame.content.meta.companyName}`
    const lead = html`${text !== undefined && html`<p class="text">${text}</p>`}<p class="mail">${leads}</p>`
    const list = ways.length > 0 && html`<dl class="ways">${ways}</dl>`
    return frame.content.contact?.form === true
      ? html`<div class="reach asks"><div><div>${lead}</div>${list}</div>${writeForm(frame)}</div>`
      : html`<div class="reach"><div>${lead}</div>${list}</div>`
  },
}
