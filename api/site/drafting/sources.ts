/**
 * What a website is to be drafted from, however it came: a brief, JSON with text, a PDF, a text file, photos; as raw bytes or as a form.
 * All of it was written by others: sizes are looked at before anything is read, and PDFs are read apart (api/io/pdftext.ts).
 */
import { imageSourceOf } from '../../../crds/files/imagesource.ts'
import { cleaned, type DraftSource } from '../../../crds/site/content/drafting/source.ts'
import { Problem } from '../../http/problem.ts'
import type { ApiRequest } from '../../http/route.ts'
import { boundaryOf, type FormFile, filesOf } from '../../io/multipart.ts'
import { isPdf, refusePdf } from '../../io/pdfrefusal.ts'
import type { Deps } from '../../wiring/deps.ts'
import { FILES_MAX_BYTES, PHOTO_MAX_BYTES, PHOTOS_MAX, TEXT_MAX_CHARS } from './limits.ts'

/** A character has at most so many bytes in UTF-8. */
const CHAR_BYTES = 4
const NAME_MAX = 100
const MEGABYTE = 1_000_000

/** `photos` are data URIs in the order of the sources. */
export type Sources = { sources: DraftSource[]; photos: string[] }

export const badSource = (pointer: string, detail: string): Problem =>
  new Problem('BAD_SOURCE', detail, { faults: [{ code: 'BAD_SOURCE', pointer, detail }] })

type Sort = 'pdf' | 'photo' | 'text'
type Sorted = FormFile & { sort: Sort; mime: string; pointer: string }

const PHOTO_TYPES = { jpeg: 'image/jpeg', png: 'image/png', webp: 'image/webp' } as const
const TEXT_NAME = /\.(txt|md|markdown)$/i
const TEXT_TYPE = /^text\/(plain|markdown|x-markdown)\s*(;|$)/i

/** By its bytes first: what it is called is the caller's word. */
const sortOf = (file: FormFile, pointer: string): Sorted => {
  if (file.bytes.length === 0) throw badSource(pointer, `${called(file)} is empty.`)
  if (isPdf(file.bytes)) return { ...file, sort: 'pdf', mime: 'application/pdf', pointer }
  const picture = imageSourceOf(file.bytes)
  if (picture !== null && picture !== 'avif') return { ...file, sort: 'photo', mime: PHOTO_TYPES[picture], pointer }
  const isText = file.name === '' ? TEXT_TYPE.test(file.type) : TEXT_NAME.test(file.name)
  if (isText) return { ...file, sort: 'text', mime: 'text/plain', pointer }
  throw badSource(pointer, `${called(file)} is no PDF, no JPEG, PNG or WebP photo, and no .txt or .md file.`)
}

const baseName = (name: string): string =>
  cleaned(name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1))
    .replace(/[\n\t]/g, ' ')
    .slice(-NAME_MAX)
    .trim()
const called = ({ name }: FormFile): string => (name === '' ? 'The body' : JSON.stringify(baseName(name)))

const DEFAULT_NAMES: Record<Sort, string> = { pdf: 'document.pdf', photo: 'photo', text: 'text.txt' }
const nameOf = ({ name, sort }: Sorted): string => baseName(name) || DEFAULT_NAMES[sort]

const hasWords = (text: string): boolean => /[\p{L}\p{N}]/u.test(text)

/** @throws Problem BAD_SOURCE */
export const textSource = (text: string, name: string, kind: 'brief' | 'text', pointer: string): DraftSource => {
  if (!hasWords(text)) throw badSource(pointer, 'There are no words in it.')
  if (text.length > TEXT_MAX_CHARS) {
    throw badSource(pointer, `The text has ${text.length} characters, at most ${TEXT_MAX_CHARS} are read.`)
  }
  return { name, kind, parts: [cleaned(text)] }
}

const decoded = ({ bytes, pointer }: Sorted): string => {
  if (bytes.length > TEXT_MAX_CHARS * CHAR_BYTES) {
    throw badSource(pointer, `The text has ${bytes.length} bytes, at most ${TEXT_MAX_CHARS} characters are read.`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badSource(pointer, 'The text is not UTF-8.')
  }
}

const pdfSource = async (deps: Pick<Deps, 'pdfText'>, file: Sorted, account: string): Promise<DraftSource> => {
  const hint = (why: string, detail: string) =>
    badSource(file.pointer, why === 'empty' ? `${detail} Send its pages as photos.` : detail)
  const pages = await deps.pdfText.readPages(file.bytes, account).catch((error) => refusePdf(error, hint))
  const chars = pages.reduce((sum, { length }) => sum + length, 0)
  if (chars > TEXT_MAX_CHARS) {
    throw badSource(file.pointer, `The PDF has ${chars} characters of text, at most ${TEXT_MAX_CHARS} are read.`)
  }
  return { name: nameOf(file), kind: 'pdf', parts: pages.map(cleaned) }
}

const photoSources = (files: readonly Sorted[]): Sources => {
  const large = files.find(({ bytes }) => bytes.length > PHOTO_MAX_BYTES)
  if (large) {
    const detail = `A photo has ${large.bytes.length} bytes, at most ${PHOTO_MAX_BYTES / MEGABYTE} MB are taken.`
    throw badSource(large.pointer, detail)
  }
  return {
    sources: files.map((file, index) => ({
      name: file.name === '' ? `photo-${index + 1}` : nameOf(file),
      kind: 'photo',
      parts: [],
    })),
    photos: files.map(({ mime, bytes }) => `data:${mime};base64,${bytes.toString('base64')}`),
  }
}

/** All of one sort, and as many as there may be of it. */
const refuseMixture = (files: readonly Sorted[]): void => {
  const [first] = files
  if (first === undefined) throw badSource('/files', 'Nothing was sent.')
  const other = files.find(({ sort }) => sort !== first.sort)
  if (other) throw badSource(other.pointer, `A ${first.sort} and a ${other.sort} were sent together.`)
  const most = first.sort === 'photo' ? PHOTOS_MAX : 1
  const beyond = files[most]
  if (beyond) throw badSource(beyond.pointer, `${files.length} files of the sort ${first.sort}, at most ${most}.`)
  const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
  if (bytes > FILES_MAX_BYTES) {
    throw badSource('/files', `The files have ${bytes} bytes, at most ${FILES_MAX_BYTES / MEGABYTE} MB are taken.`)
  }
}

const sentFiles = async (form: Buffer, contentType: string): Promise<FormFile[]> => {
  if (!/^multipart\//i.test(contentType))
    return form.length === 0 ? [] : [{ field: 'files', name: '', type: contentType, bytes: form }]
  // one more than may be, so that whoever sends too many is told how many those are
  const files = boundaryOf(contentType) === null ? null : await filesOf(form, contentType, 2 * PHOTOS_MAX)
  if (files === null) throw badSource('/files', 'The form cannot be read, or has too many parts.')
  const stranger = files.find(({ field }) => field !== 'files')
  if (stranger) throw badSource(`/${baseName(stranger.field)}`, 'Only the field files is taken.')
  return files
}

/** @throws Problem BAD_SOURCE, UNAVAILABLE */
export const extractSources = async (deps: Pick<Deps, 'pdfText'>, request: ApiRequest): Promise<Sources> => {
  const { form = Buffer.alloc(0), headers, body, caller } = request
  if (body !== undefined) {
    const { text } = body as { text?: string }
    if (text === undefined) throw badSource('/text', 'Send text.')
    return { sources: [textSource(text, 'text', 'text', '/text')], photos: [] }
  }
  const files = (await sentFiles(form, headers['content-type'] ?? '')).map((file, index) =>
    sortOf(file, file.name === '' && index === 0 ? '' : `/files/${index}`),
  )
  refuseMixture(files)
  const [first] = files
  if (first === undefined || first.sort === 'photo') return photoSources(files)
  if (first.sort === 'pdf') return { sources: [await pdfSource(deps, first, caller.account)], photos: [] }
  return { sources: [textSource(decoded(first), nameOf(first), 'text', first.pointer)], photos: [] }
}
