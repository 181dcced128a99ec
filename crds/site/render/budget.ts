/**
 * What a page may weigh. Over it is a warning that names the culprit; four times over is refused at publish. Source:
 * rules/site.md#budgets.
 */
import { gzipSync } from 'node:zlib'
import type { ImageVariant, SiteFile, Warning } from './input.ts'
import { HAN_BUDGET, type HanFonts } from './type/han.ts'

const KB = 1000

/** Bytes, HTML and CSS after gzip; DOM in elements. There is no script. */
export const BUDGETS = { html: 60 * KB, css: 24 * KB, fonts: 120 * KB, firstImage: 150 * KB, dom: 1500 } as const
export const REFUSED_TIMES = 4
const FAR_OVER_BUDGET = 'FAR_OVER_BUDGET'

/** Of a rendering, or as REST shows it. */
type FoundWarning = { code: string; pointer: string; detail: string }

const NAMES: Record<keyof typeof BUDGETS, string> = {
  html: 'the page, compressed',
  css: 'the style sheet, compressed',
  fonts: 'the fonts',
  firstImage: 'the first picture',
  dom: 'the elements of the page',
}

/** What a page brings along. */
export type PageWeight = {
  page: SiteFile
  styleSheet: SiteFile
  fontBytes: number
  firstImage: ImageVariant | undefined
}

const bytesOf = ({ content }: SiteFile): number =>
  typeof content === 'string' ? Buffer.byteLength(content) : content.bytes

/** Of files that stand on every page, as the style sheet does: each is compressed once. */
const known = new WeakMap<SiteFile, number>()

/** Compression is dear, and what is small enough without it is small enough. */
const compressed = (file: SiteFile, budget: number): number => {
  const bytes = bytesOf(file)
  if (bytes <= budget || typeof file.content !== 'string') return bytes
  const before = known.get(file)
  if (before !== undefined) return before
  const { length } = gzipSync(file.content)
  known.set(file, length)
  return length
}

/** Elements in markup that the renderer wrote, where every `<` begins a tag. */
const elementsOf = ({ content }: SiteFile): number =>
  typeof content === 'string' ? (content.match(/<[a-z]/g) ?? []).length : 0

/** Why a site is not published: each page that is far too heavy, with its weight and the budget; null when none is. */
export const tooHeavy = ({ warnings }: { warnings: readonly FoundWarning[] }): string | null => {
  const culprits = warnings.filter(({ code }) => code === FAR_OVER_BUDGET)
  return culprits.length === 0 ? null : culprits.map(({ pointer, detail }) => `${pointer}: ${detail}`).join('; ')
}

/** What of a language's Han faces is too heavy to be sent. @param folder of the language, as `zh-hans/`; empty for the first */
export const hanWarnings = (folder: string, { over }: HanFonts): Warning[] =>
  over === null
    ? []
    : [
        {
          code: 'OVER_BUDGET',
          pointer: `${folder}index.html`,
          detail: `the Chinese typefaces: ${over} bytes, the budget is ${HAN_BUDGET}; the system's face stands for what is too much`,
        },
      ]

/** The warnings of one page; FAR_OVER_BUDGET where it is not to be published. */
export const budgetWarnings = ({ page, styleSheet, fontBytes, firstImage }: PageWeight): Warning[] => {
  const weights: Record<keyof typeof BUDGETS, number> = {
    html: compressed(page, BUDGETS.html),
    css: compressed(styleSheet, BUDGETS.css),
    fonts: fontBytes,
    firstImage: firstImage?.bytes ?? 0,
    dom: elementsOf(page),
  }
  return (Object.keys(BUDGETS) as (keyof typeof BUDGETS)[]).flatMap((name) => {
    const [weight, budget] = [weights[name], BUDGETS[name]]
    if (weight <= budget) return []
    const unit = name === 'dom' ? 'elements' : 'bytes'
    return [
      {
        code: weight > budget * REFUSED_TIMES ? FAR_OVER_BUDGET : 'OVER_BUDGET',
        pointer: page.path,
        detail: `${NAMES[name]}: ${weight} ${unit}, the budget is ${budget}`,
      } as const,
    ]
  })
}
