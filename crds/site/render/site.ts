/** Content to files: the renderer of websites. Pure: same input, same bytes. Source: rules/site.md#rendering. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type Html, html, textOf } from '../../text/html.ts'
import { brandOf } from '../content/brand/brand.ts'
import { type Content, content as contentSchema, keyOf, type SiteLang } from '../content/content.ts'
import { contentIn, langFolder, langsOf } from '../content/languages.ts'
import { pictureValues } from '../content/pictures.ts'
import { REDIRECTS_PATH } from '../content/redirects.ts'
import { budgetWarnings, hanWarnings } from './budget.ts'
import { gapsOf, imagesOf } from './gaps.ts'
import { HINTS_PATH } from './headers.ts'
import { imageOf, type RenderedImage, type RenderedSite, type SiteFile, type SiteInput, type Warning } from './input.ts'
import { LAYOUT_VIEWS } from './layouts/catalogue.ts'
import { type Dress, documentOf, drawn } from './page/document.ts'
import { iconOf, notFoundOf } from './page/extras.ts'
import { type Frame, frameOf } from './page/frame.ts'
import { headOf, robotsOf, sitemapOf } from './page/head.ts'
import { newLedger, type PageLedger } from './page/ledger.ts'
import { type PlannedPage, planPages } from './page/pages.ts'
import { assetPath, dominantRules, heaviestShown, IMAGE_TYPES, variantPath } from './page/picture.ts'
import { SIGNS } from './signs.ts'
import { plainSheetOf, sheetOf } from './style/sheet.ts'
import { TEMPLATE_VIEWS } from './templates/catalogue.ts'
import { PAIRS } from './type/faces.ts'
import { typographyOf } from './type/fonts.ts'
import { chosenHan, cutsOf, type HanCut, type HanFonts, isHan } from './type/han.ts'
import { addLetters, noLetters } from './type/letters.ts'
import { type SiteWords, wordsFor } from './words.ts'

const HTML_TYPE = 'text/html; charset=utf-8'
const CSS_TYPE = 'text/css; charset=utf-8'

/**
 * Every file of the site, pages first, and what is missing or too heavy. The content has the shape of its schema and passed
 * `contentFaults`; a text may hold anything and is shown as text.
 */
export const renderSite = (input: SiteInput): RenderedSite => {
  const { content } = input
  const voices = voicesOf(input)
  const planned = voices.flatMap((voice) => voice.planned)
  const pages = planPages(content).filter(({ part }) => part === 1)
  const images = usedImages(input)
  const ledger = newLedger()
  const frames = framesOf(voices, ledger)
  const bodies = frames.map(({ frame }) => drawn(frame))
  const han = hanOf(input, spokenIn(voices, frames, bodies))
  const dressed = dressOf(input, { images, ledger, han: han.map(({ fonts }) => fonts) })
  const rendered = frames.map(({ frame, voice }, index): SiteFile => {
    const dress = dressed.dressIn(voice.lang)
    const text = documentOf(frame, bodies[index] ?? html``, dress, headOf(voice.input, frame))
    const framed = [...frame.framed].sort()
    return { path: frame.page.path, contentType: HTML_TYPE, content: text, ...(framed.length > 0 && { framed }) }
  })
  const files = [
    ...rendered,
    ...voices.map(({ input: own, words, folder, shown }) =>
      notFoundOf(own.content, words, shown, { sheet: dressed.plainSheet, folder }),
    ),
    dressed.styleSheet,
    ...dressed.files,
    ...(input.logo === null ? [] : variantFiles([input.logo])),
    ...variantFiles(images),
    ...crawlerFiles(input),
    hintFile(dressed.styleSheet),
    ...redirectFiles(input),
  ]
  const weights = rendered.map((page, index) => ({
    page,
    styleSheet: dressed.styleSheet,
    fontBytes: dressed.fontBytes,
    firstImage: heaviestOf(input, planned[index]),
  }))
  const warnings = [
    ...gapsOf(input, pages),
    ...dressed.warnings,
    ...han.flatMap(({ folder, fonts }) => hanWarnings(folder, fonts)),
    ...weights.flatMap(budgetWarnings),
  ]
  return { files: onePerPath(files), warnings }
}

/** The site in one of its languages: its content, its words, its pages in their folder, and those that are listed. */
type Voice = {
  lang: SiteLang
  folder: string
  input: SiteInput
  words: SiteWords
  planned: PlannedPage[]
  shown: PlannedPage[]
}

const voicesOf = (input: SiteInput): Voice[] =>
  langsOf(input.content).map((lang, index) => {
    const content = contentIn(input.content, lang)
    const folder = index === 0 ? '' : `${langFolder(lang)}/`
    const planned = planPages(content, folder)
    const shown = planned.filter(({ part }) => part === 1)
    return { lang, folder, input: { ...input, content }, words: wordsFor(content), planned, shown }
  })

type Framed = { voice: Voice; frame: Frame }

const framesOf = (voices: readonly Voice[], ledger: PageLedger): Framed[] => {
  const languages = voices.map(({ lang, folder }) => ({ lang, folder }))
  return voices.flatMap((voice) =>
    voice.planned.map((page) => {
      const { input, words, shown: pages, lang } = voice
      const layout = LAYOUT_VIEWS[input.content.meta.layout]
      const ratio = TEMPLATE_VIEWS[input.template].ratio
      const around = { words, signs: SIGNS[lang], page, pages, languages, layout, ratio, ledger }
      return { voice, frame: frameOf(input, around) }
    }),
  )
}

/** What is written on the pages of a Chinese voice. */
type Spoken = { voice: Voice; markup: string[] }

const spokenIn = (voices: readonly Voice[], frames: readonly Framed[], bodies: readonly Html[]): Spoken[] =>
  voices
    .filter(({ lang }) => isHan(lang))
    .map((voice) => ({
      voice,
      markup: frames.flatMap((one, index) => (one.voice === voice ? [textOf(bodies[index] ?? html``)] : [])),
    }))

const cutsIn = ({ template, brand }: SiteInput, { voice: { lang }, markup }: Spoken): HanCut[] => {
  if (!isHan(lang)) return []
  const letters = noLetters()
  for (const body of markup) addLetters(letters, body)
  return cutsOf(PAIRS[brandOf(template, brand).tokens.fontPair], lang, letters)
}

const hanOf = (input: SiteInput, spoken: readonly Spoken[]): { folder: string; fonts: HanFonts }[] =>
  input.han === undefined
    ? []
    : spoken.flatMap((one) => {
        const { lang, folder } = one.voice
        return isHan(lang) ? [{ folder, fonts: chosenHan(lang, cutsIn(input, one), input.han ?? {}) }] : []
      })

/** The Han faces that the site is to bring along, each cut to what it shows: whoever has them made hands them in as `han`. */
export const hanCutsOf = (input: SiteInput): HanCut[] => {
  const voices = voicesOf(input)
  if (!voices.some(({ lang }) => isHan(lang))) return []
  const frames = framesOf(voices, newLedger())
  const bodies = frames.map(({ frame }) => drawn(frame))
  return spokenIn(voices, frames, bodies).flatMap((one) => cutsIn(input, one))
}

const usedImages = ({ content, images }: SiteInput): RenderedImage[] =>
  imagesOf(content).flatMap((value) => imageOf(images, value) ?? [])

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
  dressIn(lang: SiteLang): Dress
  styleSheet: SiteFile
  plainSheet: string
  fontBytes: number
  files: SiteFile[]
  warnings: Warning[]
}

type DressedIn = { images: readonly RenderedImage[]; ledger: PageLedger; han: readonly HanFonts[] }

const dressOf = (input: SiteInput, { images, ledger, han }: DressedIn): Dressing => {
  const { content, template, fonts: available } = input
  const { layout } = content.meta
  const brand = brandOf(template, input.brand)
  const [first = content.meta.lang, ...further] = langsOf(content)
  const langs = [first, ...further] as const
  const typography = typographyOf({ pair: brand.tokens.fontPair, langs, text: lettersOf(content), available, han })
  const dressed = { layout: LAYOUT_VIEWS[layout], template: TEMPLATE_VIEWS[template], brand, typography }
  const sheet = sheetOf({ ...dressed, ledger, colours: dominantRules(images) })
  const path = assetPath(createHash('sha256').update(sheet).digest('hex'), 'css')
  const icon = iconOf(content, input, brand)
  return {
    dressIn: (lang) => ({
      classes: `l-${layout} t-${template}`,
      styleSheet: path,
      preloads: typography.stacks.find((one) => one.lang === lang)?.preloads ?? [],
      icons: icon.links,
      paper: brand.palette.paper,
    }),
    styleSheet: { path, contentType: CSS_TYPE, content: sheet },
    plainSheet: plainSheetOf(dressed),
    fontBytes: typography.bytes,
    files: [
      ...typography.fonts.map(({ path: place, blob }) => ({ path: place, contentType: 'font/woff2', content: blob })),
      ...icon.files,
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

/**
 * What a host says before each page (103 Early Hints). It lies beside the pages and changes with them at one stroke: named in the
 * host's routes it would have the proxy take a new configuration for each other style sheet. Source: RFC 8297.
 */
const hintFile = ({ path }: SiteFile): SiteFile => ({
  path: HINTS_PATH,
  contentType: 'text/plain; charset=utf-8',
  content: `</${path}>; rel=preload; as=style\n`,
})

/** Where former addresses lead is approved with all else. */
const redirectFiles = ({ content }: SiteInput): SiteFile[] => {
  const { redirects = [] } = content.meta
  if (redirects.length === 0) return []
  return [{ path: REDIRECTS_PATH, contentType: 'application/json', content: `${JSON.stringify(redirects, null, 1)}\n` }]
}

/** The picture that a visitor waits for: the first of the page. */
const heaviestOf = (input: SiteInput, page: PlannedPage | undefined) => {
  const { content, images } = input
  if (page === undefined) return undefined
  const values = page.sections.flatMap((section) =>
    pictureValues(contentSchema.properties[keyOf(section)], content[keyOf(section)]),
  )
  const first = values[0]?.value
  const image = first === undefined ? undefined : imageOf(images, first)
  return image === undefined ? undefined : heaviestShown(image)
}
