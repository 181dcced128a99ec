/** A page of the site as a whole HTML document. */
import { type Html, html, textOf } from '../../../text/html.ts'
import { LAYOUT_VIEWS } from '../layouts/catalogue.ts'
import { announcement, dock } from '../layouts/chrome.ts'
import { mainOf } from './compose.ts'
import type { IconLink } from './extras.ts'
import type { Frame } from './frame.ts'
import { letterhead } from './letterhead.ts'
import { documentShell } from './shell.ts'

/** What stands in the head of every page, from the root of the site. */
export type Dress = {
  classes: string
  styleSheet: string
  /** Faces that a page without pictures asks for before its style sheet does. */
  preloads: readonly string[]
  icons: readonly IconLink[]
  paper: string
}

/** What a page shows. It is drawn before the style sheet is made, which holds the rules for what was drawn. */
export const drawn = (frame: Frame): Html =>
  html`<a class="skip" href="#main">${frame.words.skip}</a>
${letterhead(frame)}${announcement(frame)}${LAYOUT_VIEWS[frame.layout.name].header(frame)}
<main id="main">${mainOf(frame)}</main>
${LAYOUT_VIEWS[frame.layout.name].footer(frame)}${dock(frame)}`

export const documentOf = (frame: Frame, body: Html, dress: Dress, head: Html): string => {
  const { root } = frame.page
  // On a slow line they would halve what the picture has, which visitors wait for; a stand-in of the same measures shows the words.
  const preloads = (frame.showsPicture() ? [] : dress.preloads).map(
    (path) => html`<link rel="preload" as="font" type="font/woff2" href="${root}${path}" crossorigin>`,
  )
  const icons = dress.icons.map(({ rel, path, type, sizes }) =>
    rel === 'apple-touch-icon'
      ? html`<link rel="${rel}" href="${root}${path}">\n`
      : html`<link rel="${rel}" type="${type}"${sizes !== null && html` sizes="${sizes}"`} href="${root}${path}">\n`,
  )
  const docked = dock(frame) === null ? '' : ' docked'
  return textOf(
    documentShell({
      lang: frame.content.meta.lang,
      head: html`${head}${preloads}
<link rel="stylesheet" href="${root}${dress.styleSheet}">
${icons}<meta name="theme-color" content="${dress.paper}">`,
      attributes: html` class="${dress.classes}${docked}" id="top"`,
      body,
    }),
  )
}
