/** The files beside the pages: an icon, and the page for what is not found. */
import { html, rawText, textOf } from '../../../text/html.ts'
import type { Brand } from '../../content/brand/brand.ts'
import type { Content } from '../../content/content.ts'
import type { RenderedImage, SiteFile, SiteInput } from '../input.ts'
import type { SiteWords } from '../words.ts'
import type { PlannedPage } from './pages.ts'
import { assetPath, IMAGE_TYPES, variantPath } from './picture.ts'
import { documentShell } from './shell.ts'

const PNG = IMAGE_TYPES.png

/** Letters of an icon: of the first two words, or the first sign of a name in Han. */
export const initialsOf = (name: string): string => {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = '', second = ''] = words
  if (/^\p{Script=Han}/u.test(first)) return [...first][0] ?? ''
  return [first, second].map((word) => ([...word][0] ?? '').toUpperCase()).join('')
}

export type IconLink = { rel: 'icon' | 'apple-touch-icon'; path: string; type: string; sizes: string | null }
export type Icon = { links: IconLink[]; files: SiteFile[] }

/** What an icon of initials is drawn of. */
export type IconSketch = { letters: string; fill: string; onFill: string }

export const iconSketch = (content: Content, { palette: { fill, onFill } }: Brand): IconSketch => ({
  letters: initialsOf(content.meta.companyName),
  fill,
  onFill,
})

/** What iOS puts on its home screen; smaller ones are for tabs and lists. */
const TOUCH_SIZE = 180

/** PNGs first, for whoever takes the first; what can be drawn at any size is said to be so. */
export const iconOf = (
  content: Content,
  { logo, icons = [] }: Pick<SiteInput, 'logo' | 'icons'>,
  brand: Brand,
): Icon => {
  const pngs = icons.map(({ size, ...blob }): { link: IconLink; file: SiteFile } => {
    const path = assetPath(blob.sha256, 'png')
    const rel = size === TOUCH_SIZE ? 'apple-touch-icon' : 'icon'
    return {
      link: { rel, path, type: PNG, sizes: `${size}x${size}` },
      file: { path, contentType: PNG, content: blob },
    }
  })
  const plain = pngs.length > 0 && logo !== null ? null : plainIcon(content, logo, brand)
  return {
    links: [...pngs.map(({ link }) => link), ...(plain === null ? [] : [plain.link])],
    files: [...pngs.map(({ file }) => file), ...(plain?.file ? [plain.file] : [])],
  }
}

/** The logo's smallest picture, else the initials on the accent; a name without a letter gives a plain square. */
const plainIcon = (
  content: Content,
  logo: RenderedImage | null,
  brand: Brand,
): { link: IconLink; file: SiteFile | null } => {
  const variants = (logo?.variants ?? []).filter(({ format }) => format === 'png' || format === 'jpeg')
  const [smallest] = variants.toSorted((a, b) => a.width - b.width)
  if (smallest !== undefined) {
    const type = IMAGE_TYPES[smallest.format]
    return { link: { rel: 'icon', path: variantPath(smallest), type, sizes: null }, file: null }
  }
  const { letters, fill, onFill } = iconSketch(content, brand)
  const size = [...letters].length > 1 ? 30 : 38
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="10" fill="${fill}"/><text x="32" y="33" fill="${onFill}" font-family="system-ui,sans-serif" font-size="${size}" font-weight="700" text-anchor="middle" dominant-baseline="central">${letters}</text></svg>`
  const path = 'favicon.svg'
  const type = 'image/svg+xml'
  const file = { path, contentType: type, content: textOf(svg) }
  return { link: { rel: 'icon', path, type, sizes: 'any' }, file }
}

/**
 * In the site's own colours and words, with the pages. Its links start at the root of the host, for it is served under any path.
 * @param folder of the language, as `es/`; empty for the first
 */
export const notFoundOf = (
  content: Content,
  words: SiteWords,
  pages: readonly PlannedPage[],
  { sheet, folder }: { sheet: string; folder: string },
): SiteFile => {
  const { title, text, home } = words.notFound
  const page = documentShell({
    lang: content.meta.lang,
    head: html`<meta name="robots" content="noindex">
<title>${title} – ${content.meta.companyName}</title>
<style>${rawText(sheet)}</style>`,
    body: html`<p class="name">${content.meta.companyName}</p>
<main><h1>${title}</h1><p>${text}</p>${
      pages.length > 1
        ? html`<ul>${pages.map((page) => html`<li><a href="/${page.path.replace(/index\.html$/, '')}">${page.title}</a></li>`)}</ul>`
        : html`<p><a href="/${folder}">${home}</a></p>`
    }</main>`,
  })
  return { path: `${folder}404.html`, contentType: 'text/html; charset=utf-8', content: textOf(page) }
}
