/** The one frame of every page: what stands in the head, and the main part between what belongs to all of its family. */
import { type Html, html, rawText, safeUrl, textOf } from '../../crds/text/html.ts'
import type { Sheet } from './sheet.ts'

export type PageParts = {
  /** English when left out. */
  lang?: string
  title: string
  /** Linked by its path; a page on a host that serves nothing else of ours holds it in itself, and its policy the hash. */
  sheet: Sheet
  holdsSheet?: true
  /** How wide the main part is: a form, a text, or an invoice with its panel. */
  layout: 'narrow' | 'wide' | 'invoice'
  main: Html
  /** Above and below the main part. */
  header?: Html | null
  footer?: Html | null
  /** Runs once the page is read. Its policy holds the hash of `text`; `path` is what it posts to. */
  script?: { text: string; path: string } | null
  /** Found by search engines. */
  isIndexed?: true
}

const styleOf = ({ sheet, holdsSheet }: PageParts): Html =>
  holdsSheet ? html`<style>${rawText(sheet.css)}</style>` : html`<link rel="stylesheet" href="${sheet.path}">`

const scriptOf = ({ script = null }: PageParts): Html | null =>
  script && html`<script data-path="${safeUrl(script.path)}">${rawText(script.text)}</script>`

/** @returns the whole document */
export const page = (parts: PageParts): string => {
  const { lang = 'en', title, layout, main, header = null, footer = null, isIndexed } = parts
  return textOf(html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${isIndexed !== true && html`<meta name="robots" content="noindex, nofollow">`}
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${styleOf(parts)}
</head>
<body>
${header}
<main class="${layout}">
${main}
</main>
${footer}
${scriptOf(parts)}
</body>
</html>
`)
}
