/** Pieces of the client's page that show a document as it is: parties, items, sums. */

import type { Document, DocumentColumn, DocumentFact, Party, Sum } from '../../../crds/invoice/document/document.ts'
import { type Html, html } from '../../../crds/text/html.ts'
import { qrCode } from '../../../crds/text/qr.ts'
import type { PageWords } from './words.ts'

export const factRows = (facts: readonly DocumentFact[]): Html[] =>
  facts.map(({ label, value }) => html`<div><dt>${label}</dt><dd><bdi>${value}</bdi></dd></div>`)

export const sumRows = (sums: readonly Sum[]): Html[] =>
  sums.map(
    ({ label, value, strong }) => html`<div${strong && html` class="strong"`}><dt>${label}</dt><dd>${value}</dd></div>`,
  )

export const partyBlock = ({ label, name, lines }: Party): Html => html`<div>
<h2>${label}</h2>
${name !== '' && html`<p class="name"><bdi>${name}</bdi></p>`}
${lines.map((line) => html`<p><bdi>${line}</bdi></p>`)}
</div>`

/** On a narrow screen the cells stand below each other; the roles keep it a table for a screen reader even then. */
export const itemTable = ({ caption, columns, rows }: Document['items']): Html => html`<table role="table">
<caption class="visually-hidden">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(({ label, numeric }) => html`<th role="columnheader" scope="col"${numeric && html` class="figure"`}>${label}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (row) => html`<tr role="row">${columns.map((column, index) => cell(column, row[index] ?? ''))}</tr>
`,
)}</tbody>
</table>`

const cell = ({ id, label }: DocumentColumn, text: string): Html =>
  id === 'description'
    ? html`<th role="rowheader" scope="row" class="lines"><bdi>${text}</bdi></th>`
    : html`<td role="cell" class="figure" data-label="${label}">${text}</td>`

/** The way back from paper, and from one device to another. */
export const linkCode = (url: string, words: Pick<PageWords, 'pageLink' | 'pageLinkLabel'>): Html =>
  html`<figure class="link">${qrCode(url, { label: words.pageLinkLabel, ecc: 'low' })}<figcaption>${words.pageLink}</figcaption></figure>`
