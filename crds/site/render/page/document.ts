/** A page of the site as a whole HTML document. */
import { type Html, html, textOf } from '../../../text/html.ts'
import type { SectionId } from '../../content/content.ts'
import type { LayoutViews } from '../layouts/layout.ts'
import type { Frame } from './frame.ts'
import { chatButton } from './parts.ts'
import { documentShell } from './shell.ts'

/** What stands in the head of every page, from the root of the site; `icon` is null when there is nothing to draw one from. */
export type Dress = {
  classes: string
  styleSheet: string
  preloads: readonly string[]
  icon: { path: string; type: string }
  paper: string
}

export const documentOf = (frame: Frame, layout: LayoutViews, dress: Dress, head: Html): string => {
  const { root } = frame.page
  const preloads = dress.preloads.map(
    (path) => html`<link rel="preload" as="font" type="font/woff2" href="${root}${path}" crossorigin>`,
  )
  return textOf(
    documentShell({
      lang: frame.content.meta.lang,
      head: html`${head}${preloads}
<link rel="stylesheet" href="${root}${dress.styleSheet}">
<link rel="icon" type="${dress.icon.type}" href="${root}${dress.icon.path}">
<meta name="theme-color" content="${dress.paper}">`,
      attributes: html` class="${dress.classes}" id="top"`,
      body: html`<a class="skip" href="#main">${frame.words.skip}</a>
${layout.header(frame)}
<main id="main">${mainOf(frame, layout)}</main>
${layout.footer(frame)}${chatButton(frame)}`,
    }),
  )
}

const mainOf = (frame: Frame, layout: LayoutViews): Html[] => {
  const { sections, part } = frame.page
  const opened = part === 1 && sections[0] === 'hero'
  const rest = opened ? sections.slice(1) : sections
  return [
    opened ? layout.hero(frame) : pageHead(frame),
    ...rest.map((section, index) => sectionOf(frame, layout, section, !opened && index === 0)),
  ]
}

/** A page without a hero begins with its name. */
const pageHead = ({ page, words }: Frame): Html =>
  html`<header class="page-head"><div class="wrap"><h1>${page.title}</h1>${
    page.part > 1 && html`<p class="lede">${words.pageOf(page.part, page.parts)}</p>`
  }</div></header>`

const sectionOf = (frame: Frame, layout: LayoutViews, section: SectionId, titled: boolean): Html =>
  html`<section id="${section}" class="section s-${section.replace('_', '-')}${titled && ' titled'}" aria-labelledby="${section}-title"><div class="wrap">${layout[section](frame)}</div></section>`
