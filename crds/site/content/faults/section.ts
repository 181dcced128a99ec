/** The rules of single sections that no schema says. Pointers are in the names of the spec, from the content down. */
import type { Fault, ProblemCode } from '../../../kernel/problem.ts'
import { nearest } from '../../../values/nearest.ts'
import type { SentContent } from '../content.ts'
import { langFolder } from '../languages.ts'
import { videoOf } from '../video.ts'

const fault = (code: ProblemCode, pointer: string, detail: string): Fault => ({ code, pointer, detail })

/** Of sections that are there. */
export const sectionValueFaults = (content: SentContent): Fault[] => [
  ...videoFaults(content),
  ...sizeFaults(content),
  ...hourFaults(content),
  ...passageFaults(content),
  ...translationFaults(content),
]

const videoFaults = ({ video }: SentContent): Fault[] =>
  video === undefined || videoOf(video.url) !== null
    ? []
    : [fault('BAD_VIDEO_URL', '/video/url', 'is not the https address of a video at YouTube or Vimeo')]

const sizeFaults = ({ sizeGuide }: SentContent): Fault[] =>
  (sizeGuide?.rows ?? []).flatMap(({ cells }, row) => {
    const columns = sizeGuide?.columns.length
    if (cells.length === columns) return []
    const detail = `${cells.length} cells under ${columns} columns`
    return [fault('INVALID_FIELD', `/sizeGuide/rows/${row}/cells`, detail)]
  })

const hourFaults = ({ hours }: SentContent): Fault[] => {
  const pairs = [
    ...(hours?.weekly ?? []).map((one, index) => [`/hours/weekly/${index}`, one] as const),
    ...(hours?.exceptions ?? []).map((one, index) => [`/hours/exceptions/${index}`, one] as const),
  ]
  const halves = pairs.flatMap(([at, { opens, closes }]): Fault[] => {
    if ((opens === undefined) === (closes === undefined)) return []
    const missing = opens === undefined ? 'opens' : 'closes'
    return [fault('INVALID_FIELD', `${at}/${missing}`, 'opens and closes come together; closed all day has neither')]
  })
  const spans = (hours?.exceptions ?? []).flatMap(({ from, to }, index) =>
    to === undefined || to >= from
      ? []
      : [fault('INVALID_FIELD', `/hours/exceptions/${index}/to`, `${to} is before ${from}`)],
  )
  return [...halves, ...spans]
}

/** A passage that stands on a page which there is not would never be read. */
const passageFaults = ({ meta, text = [] }: SentContent): Fault[] => {
  const slugs = (meta.pages ?? [{ slug: '' }]).map(({ slug }) => slug)
  return text.flatMap(({ page }, index) => {
    if (page === undefined || slugs.includes(page)) return []
    const meant = nearest(page, slugs)
    const hint = meant ? `; did you mean ${JSON.stringify(meant)}?` : ''
    return [fault('BAD_PAGES', `/text/${index}/page`, `no page has the slug ${JSON.stringify(page)}${hint}`)]
  })
}

const translationFaults = ({ meta, translations = [] }: SentContent): Fault[] =>
  translations.flatMap(({ lang }, index): Fault[] => {
    const at = `/translations/${index}/lang`
    if (lang === meta.lang) return [fault('BAD_LANG', at, `${lang} is the first language of the site`)]
    if (translations.findIndex((one) => one.lang === lang) < index) {
      return [fault('BAD_LANG', at, `${lang} is there twice`)]
    }
    const taken = (meta.pages ?? []).findIndex(({ slug }) => slug === langFolder(lang))
    if (taken < 0) return []
    return [fault('BAD_PAGES', `/meta/pages/${taken}/slug`, `is the folder of the pages in ${lang}`)]
  })
