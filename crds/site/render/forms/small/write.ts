/** The contact form: plain HTML that posts to the platform, with a field that only programs fill in. Source: rules/site.md#messages. */
import { type Html, html, safeUrl } from '../../../../text/html.ts'
import { FORM_WORDS, type FormWords } from '../../../publishing/messages/words.ts'
import { PAGE_FIELD, TRAP_FIELD, WRITTEN_MAX } from '../../../publishing/messages/written.ts'
import { type Frame, outward } from '../../page/frame.ts'
import { hrefOf } from '../../page/pages.ts'
import type { SiteForm } from '../form.ts'

const CSS = `
.write{display:grid;gap:1.25rem;max-width:40rem;text-align:start}
.write>h3{font-size:var(--t2);line-height:1.2}
.write .fld{display:grid;gap:.35rem;align-content:start;min-width:0}
.write label{font-size:max(.9375rem,var(--t-1));font-weight:600}
.write label span{font-weight:400;color:var(--mut)}
.write :is(input,textarea){width:100%;min-height:3rem;padding:.6rem .85rem;font:inherit;font-size:max(1rem,var(--t0));color:var(--fg);background:transparent;border:1px solid var(--edg);border-radius:var(--rad);appearance:none}
.write textarea{min-height:9rem;resize:vertical}
.write :user-invalid{border-width:2px;border-color:var(--fg)}
.write .trp{display:none}
.write .pri{font-size:max(.875rem,var(--t-1));color:var(--mut)}
.write .button{justify-self:start;font-family:inherit;cursor:pointer}
@media (min-width:40rem){.write .duo{display:grid;gap:1.25rem;grid-template-columns:repeat(2,minmax(0,1fr))}
.l-monolith .write .duo{grid-template-columns:none}}
@media (max-width:39.99rem){.write .duo{display:grid;gap:1.25rem}.write .button{justify-self:stretch}}
.asks>div{display:grid;gap:2rem;align-content:start}
.asks .text{margin:0}
.reach.asks .mail{font-size:var(--t2)}
.l-atelier .write>h3{text-align:center}
.l-atelier .write .button{justify-self:center}
.l-monolith .asks{grid-template-columns:none}
@media (min-width:64rem){.asks{grid-template-columns:5fr 7fr}}
@media print{.write{display:none!important}}
`

type Field = {
  name: 'name' | 'email' | 'phone'
  type: 'text' | 'email' | 'tel'
  autocomplete: 'name' | 'email' | 'tel'
}

const field = (words: FormWords, { name, type, autocomplete }: Field): Html => {
  const isOptional = name === 'phone'
  return html`<div class="fld"><label for="write-${name}">${words[name]}${isOptional && html` <span>(${words.optional})</span>`}</label><input id="write-${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${WRITTEN_MAX[name]}"${!isOptional && html` required`}></div>`
}

/** What tells of privacy, by the name that it has in one of the languages. */
const PRIVACY = /priva|protecci[oó]n de datos|datenschutz|隱私|隐私|個資|个人信息/iu

/** The page of the site that tells of privacy, or another one of its foot, or a document elsewhere; null when there is none. */
const legalLink = ({ content, page, pages }: Frame): Html | null => {
  const foot = pages.filter((one) => one.foot)
  const links = content.legal?.links ?? []
  const own = foot.find(({ title, slug }) => PRIVACY.test(title) || PRIVACY.test(slug))
  const elsewhere = links.find(({ label }) => PRIVACY.test(label))
  const [firstPage = own] = foot
  const [firstLink = elsewhere] = links
  const target = own ?? (elsewhere === undefined ? firstPage : undefined)
  if (target !== undefined) return html`<a href="${hrefOf(page, target)}">${target.title}</a>`
  const link = elsewhere ?? firstLink
  return link === undefined ? null : outward(link.url, link.label)
}

/** Beside the ways to get in touch; the section's heading stands above. */
export const writeForm = (frame: Frame): Html => {
  const { content, form, page } = frame
  const words = FORM_WORDS[content.meta.lang]
  const legal = legalLink(frame)
  frame.ledger.forms.add('write')
  return html`<form class="write" method="post" action="${form === null ? '' : safeUrl(form)}" accept-charset="utf-8" aria-labelledby="write-title"><h3 id="write-title">${words.title}</h3><div class="duo">${field(
    words,
    { name: 'name', type: 'text', autocomplete: 'name' },
  )}${field(words, { name: 'email', type: 'email', autocomplete: 'email' })}</div>${field(words, {
    name: 'phone',
    type: 'tel',
    autocomplete: 'tel',
  })}<div class="fld"><label for="write-message">${words.message}</label><textarea id="write-message" name="message" rows="6" maxlength="${WRITTEN_MAX.message}" autocomplete="off" required></textarea></div><div class="trp"><label for="write-${TRAP_FIELD}">${words.trap}</label><input id="write-${TRAP_FIELD}" name="${TRAP_FIELD}" type="text" tabindex="-1" autocomplete="off"></div><input type="hidden" name="${PAGE_FIELD}" value="${page.path}"><p class="pri">${words.privacy}${legal !== null && html` ${legal}`}</p><button class="button" type="submit">${
    content.labels?.actions?.send ?? words.send
  }</button></form>`
}

/** Only its rules: it stands in the form of the contact section. */
export const write: SiteForm = { css: CSS, view: writeForm }
