/** What stands at the head of a printed page, and is seen nowhere else: whose it is, how they are reached, and where it is found. */
import { type Html, html, veiled } from '../../../text/html.ts'
import { addressOf } from '../matter/place.ts'
import type { Frame } from './frame.ts'

/** Paper is not pressed, so that nothing is a link. Day and time are the browser's own to print: bytes that were approved do not know them. */
export const letterhead = ({ content, address }: Frame): Html => {
  const { phone, email } = content.contact ?? {}
  const ways = [
    ...addressOf(content).map((line) => html`${line}`),
    ...(phone === undefined ? [] : [html`${phone}`]),
    ...(email === undefined ? [] : [veiled(email)]),
  ]
  return html`<div class="letter"><p class="who">${content.legal?.name ?? content.meta.companyName}</p>${
    ways.length > 0 && html`<p>${ways.map((way) => html`<span>${way}</span>`)}</p>`
  }${address !== null && html`<p>${address}</p>`}</div>`
}
