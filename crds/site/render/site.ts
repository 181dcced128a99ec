/** Content to files: the renderer of websites. Pure: same input, same bytes. Source: rules/site.md#rendering. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { brandOf } from '../content/brand.ts'
import type { Content, Layout } from '../content/content.ts'
import { budgetWarnings } from './budget.ts'
import { isHan, typographyOf } from './fonts.ts'
import { gapsOf, imagesOf } from './gaps.ts'
import {
  imageKey,
  type RenderedImage,
  type RenderedSite,
  type SiteFile,
  type SiteInput,
  type Warning,
} from './input.ts'
import { classic } from './layouts/classic.ts'
import { editorial } from './layouts/editorial.ts'
import type { LayoutViews } from './layouts/layout.ts'
import { type Dress, documentOf } from './page/document.ts'
import { iconOf, notFoundOf } from './page/extras.ts'
import { frameOf } from './page/frame.ts'
import { headOf, robotsOf, sitemapOf } from './page/head.ts'
import { type PlannedPage, planPages } from './page/pages.ts'
import { assetPath, dominantRules, heaviestShown, IMAGE_TYPES, variantPath } from './page/picture.ts'
import { plainSheetOf, sheetOf } from './style/sheet.ts'
import { WORDS } from './words.ts'

const LAYOUTS: Record<Layout, LayoutViews> = { classic, editorial }
const HTML_TYPE = 'text/html; charset=utf-8'
const CSS_TYPE = 'text/css; charset=utf-8'

/**
 * Every file of the site, pages first, and what is missing or too heavy. The content has the shape of its schema and passed
 * `contentFaults`; a text may hold anything and is shown as text.
 */
export const renderSite = (input: SiteInput): RenderedSite => {
  const { content } = input
  const words = WORDS[content.meta.lang]
  const planned = planPages(content)
  const pages = planned.filter(({ part }) => part === 1)
  const images = usedImages(input)
  const dressed = dressOf(input, images)
  const layout = LAYOUTS[content.meta.layout]
  const rendered = planned.map((page): SiteFile => {
    const frame = frameOf(input, words, page, pages)
    const text = documentOf(frame, layout, dressed.dress, headOf(input, frame))
    return { path: page.path, contentType: HTML_TYPE, content: text }
  })
  const files = [
    ...rendered,
    notFoundOf(content, words, dressed.plainSheet),
    dressed.styleSheet,
    ...dressed.files,
    ...(input.logo === null ? [] : variantFiles([input.logo])),
    ...variantFiles(images),
    ...crawlerFiles(input),
  ]
  const weights = rendered.map((page, index) => ({
    page,
    styleSheet: dressed.styleSheet,
    fontBytes: dressed.fontBytes,
    firstImage: heaviestOf(input, planned[index]),
  }))
  const warnings = [...gapsOf(input, pages), ...dressed.warnings, ...weights.flatMap(budgetWarnings)]
  return { files: onePerPath(files), warnings }
}

const usedImages = ({ content, images }: SiteInput): RenderedImage[] =>
  imagesOf(content).flatMap((value) => images[imageKey(value)] ?? [])

/** Two pictures with the same bytes are one file. */
const onePerPath = (files: readonly SiteFile[]): SiteFile[] => {
  const found = new Map<string, SiteFile>()
  for (const file of files) {
    const before = found.get(file.path)
    assert(before === undefined || bytesOf(before) === bytesOf(file), `two files would be ${file.path}`)
    found.set(file.path, file)
  }
  return [...found.values()]
}

const bytesOf = ({ content }: SiteFile): string => (typeof content === 'string' ? content : content.sha256)

const variantFiles = (images: readonly RenderedImage[]): SiteFile[] =>
  images.flatMap(({ variants }) =>
    variants.map((variant) => ({
      path: variantPath(variant),
      contentType: IMAGE_TYPES[variant.format],
      content: { sha256: variant.sha256, bytes: variant.bytes },
    })),
  )

type Dressing = {
  dress: Dress
  styleSheet: SiteFile
  plainSheet: string
  fontBytes: number
  files: SiteFile[]
  warnings: Warning[]
}

const dressOf = (input: SiteInput, images: readonly RenderedImage[]): Dressing => {
  const { content, template } = input
  const { lang, layout } = content.meta
  const brand = brandOf(template, input.brand)
  const typography = typographyOf(brand.tokens.fontPair, lang, lettersOf(content), input.fonts)
  const han = isHan(lang)
  const dressed = { layout, template, brand, typography, han }
  const sheet = sheetOf({ ...dressed, colours: dominantRules(images) })
  const path = assetPath(createHash('sha256').update(sheet).digest('hex'), 'css')
  const icon = iconOf(content, input.logo, brand)
  return {
    dress: {
      classes: `${layout} ${template}`,
      styleSheet: path,
      preloads: typography.fonts.filter(({ preload }) => preload).map((font) => font.path),
      icon,
      paper: brand.palette.paper,
    },
    styleSheet: { path, contentType: CSS_TYPE, content: sheet },
    plainSheet: plainSheetOf(dressed),
    fontBytes: typography.fonts.reduce((sum, { blob }) => sum + blob.bytes, 0),
    files: [
      ...typography.fonts.map(({ path: place, blob }) => ({ path: place, contentType: 'font/woff2', content: blob })),
      ...(icon.file === null ? [] : [icon.file]),
    ],
    warnings: brand.clamped.map(({ token, from, to, reason }) => ({
      code: 'CONTRAST_CLAMPED' as const,
      pointer: `/brand/${token}`,
      detail: `${from} became ${to}: ${reason}`,
    })),
  }
}

/** All texts of a content in one, to tell which letters it needs. */
const lettersOf = (content: Content): string => JSON.stringify(content)

const crawlerFiles = (input: SiteInput): SiteFile[] => {
  const sitemap = sitemapOf(input)
  const robots: SiteFile = { path: 'robots.txt', contentType: 'text/plain; charset=utf-8', content: robotsOf(input) }
  if (sitemap === null) return [robots]
  return [robots, { path: 'sitemap.xml', contentType: 'application/xml; charset=utf-8', content: sitemap }]
}

/** The picture that a visitor waits for: the first of the page. */
const heaviestOf = ({ content, images }: SiteInput, page: PlannedPage | undefined) => {
  if (page === undefined) return undefined
  const lists = {
    hero: [content.hero?.image],
    products: (content.products ?? []).map(({ image }) => image),
    gallery: (content.gallery ?? []).map(({ image }) => image),
    feature_rows: (content.featureRows ?? []).map(({ image }) => image),
    pricing: [],
    testimonials: [],
    contact: [],
  }
  const first = page.sections.flatMap((section) => lists[section]).find((value) => value !== undefined)
  const image = first === undefined ? undefined : images[imageKey(first)]
  return image === undefined ? undefined : heaviestShown(image)
}
