/** How a submission differs from what it is held against, in words: its text, and what must not be overlooked beside it. */
import type { FileDiff } from '../../../crds/site/publishing/manifest.ts'
import type { LinkChange, Listed, SiteChanges, ValueChange } from '../../../crds/site/reviewing/changes.ts'
import type { DiffLine, DiffPiece, TextDiff } from '../../../crds/text/difference.ts'
import { type Html, html, safeUrl } from '../../../crds/text/html.ts'
import { visuallyHidden } from '../../page/form.ts'
import type { PlacedWarning } from './compare.ts'
import { mark } from './desk.ts'

/** Lines of one page that are shown. */
export const LINES_SHOWN_MAX = 400
const LISTED_MAX = 50

const piece = ({ is, text }: DiffPiece): Html => {
  switch (is) {
    case 'same':
      return html`${text}`
    case 'gone':
      return html`<del>${text}</del>`
    case 'new':
      return html`<ins>${text}</ins>`
    default:
      return is satisfies never
  }
}

const line = (one: DiffLine): Html => {
  switch (one.is) {
    case 'same':
      return html`<p data-sign="">${one.text}</p>`
    case 'gone':
      return html`<p class="is-gone" data-sign="−">${visuallyHidden('Gone: ')}<del>${one.text}</del></p>`
    case 'new':
      return html`<p class="is-new" data-sign="+">${visuallyHidden('New: ')}<ins>${one.text}</ins></p>`
    case 'changed':
      return html`<p class="is-changed" data-sign="±">${visuallyHidden('Changed: ')}${one.pieces.map(piece)}</p>`
    case 'left':
      return html`<p class="left">${one.count} lines stay as they are</p>`
    default:
      return one satisfies never
  }
}

/** The words of one page. */
export const words = (diff: TextDiff, hasBefore: boolean): Html => {
  const left = diff.lines.length - LINES_SHOWN_MAX
  if (diff.lines.length === 0) return html`<p>Not a word of this page changed.</p>`
  return html`${hasBefore && diff.isWhole && diff.gone > 0 && diff.added > 0 && html`<p class="note">The two texts have so little in common that they are not compared: first all that was, then all that is.</p>`}
<div class="diff">${diff.lines.slice(0, LINES_SHOWN_MAX).map(line)}</div>
${left > 0 && html`<p class="note">${left} more lines are not shown. Open both pages to read them.</p>`}`
}

const value = (text: string | null, is: 'gone' | 'new'): Html => {
  if (text === null) return html`<span class="hint">nothing</span>`
  return is === 'gone' ? html`<del>${text}</del>` : html`<ins>${text}</ins>`
}

const leftOut = (left: number): Html | null =>
  left > 0
    ? html`<p class="hint">${left} more are not listed here; GET /api/website/:id/review names as many.</p>`
    : null

const table = (title: string, { items, left }: Listed<ValueChange>): Html | null =>
  items.length === 0
    ? null
    : html`<h3>${title}</h3>
<table class="changes"><caption class="visually-hidden">${title}</caption>
<thead><tr><th scope="col">What</th><th scope="col">Before</th><th scope="col">Now</th></tr></thead>
<tbody>${items.map(
        ({ what, before, after }) =>
          html`<tr><th scope="row">${what}</th><td data-name="Before">${value(before, 'gone')}</td><td data-name="Now">${value(after, 'new')}</td></tr>`,
      )}</tbody></table>${leftOut(left)}`

const linkLine = ({ is, url, words: label, pages }: LinkChange): Html =>
  html`<li>${mark(is, is)} <code>${url}</code>${label !== '' && html` “${label}”`} on ${pages.join(', ')}</li>`

const links = ({ items, left }: Listed<LinkChange>): Html | null => {
  const fresh = items.filter(({ is, isHost }) => is === 'new' && isHost)
  const others = items.filter((one) => !fresh.includes(one))
  const hosts = [...new Set(fresh.map(({ host }) => host))]
  if (items.length === 0) return null
  return html`<h3>Links that leave the site</h3>
${hosts.length > 0 && html`<div class="alarm"><p><strong>Nothing of this site led there before:</strong> ${hosts.join(', ')}</p><ul>${fresh.map(linkLine)}</ul></div>`}
${others.length > 0 && html`<ul>${others.map(linkLine)}</ul>`}${leftOut(left)}`
}

const loads = ({ items }: Listed<LinkChange>): Html | null =>
  items.length === 0
    ? null
    : html`<h3>Asked of others without a click</h3><div class="alarm"><ul>${items.map(linkLine)}</ul></div>`

/** What must not be overlooked. */
export const changes = (found: SiteChanges): Html => {
  const parts = [
    loads(found.loads),
    links(found.links),
    table('Prices', found.prices),
    table('Contact, hours and legal lines', found.contacts),
    table('What search engines and machines read', found.heads),
  ].filter((part) => part !== null)
  return html`<section id="changes" aria-labelledby="changes-title"><h2 id="changes-title">Links, prices, contacts</h2>
${parts.length === 0 ? html`<p>No link, no price, no contact and nothing that machines read changed.</p>` : parts}</section>`
}

const paths = (label: string, list: string[]): Html | null =>
  list.length === 0
    ? null
    : html`<p>${label} (${list.length})</p>
<ul>${list.slice(0, LISTED_MAX).map((path) => html`<li><code>${path}</code></li>`)}</ul>`

export const fileList = (files: FileDiff | null): Html | null =>
  files === null
    ? null
    : html`<details><summary>Files: ${files.changed.length} changed, ${files.added.length} new, ${files.removed.length} gone, ${files.unchanged} the same</summary>
${paths('Changed', files.changed)}${paths('New', files.added)}${paths('Gone', files.removed)}</details>`

/** @param pageAt where a page is looked at, by its file */
export const warned = (
  warnings: readonly PlacedWarning[],
  pageAt: (file: string) => { href: string; path: string },
): Html => {
  const place = (file: string | null): Html | null => {
    if (file === null) return null
    const { href, path } = pageAt(file)
    return html` <a href="${safeUrl(href)}">on ${path}</a>`
  }
  return html`<section id="warnings" aria-labelledby="warnings-title"><h2 id="warnings-title">What deserves a look</h2>${
    warnings.length === 0
      ? html`<p>The automatic checks found nothing.</p>`
      : html`<ul>${warnings.map(({ code, pointer, detail, page }) => html`<li><code>${code}</code> ${pointer}: ${detail}${place(page)}</li>`)}</ul>`
  }</section>`
}
