/**
 * Pictures on their way in: each is looked at, stored under its sha256, and named in the content by a key. What came inside the
 * content as a data URI becomes an asset too, so that a resource never holds bytes.
 */
import { sha256Of } from '../../controllers/store/blobs.ts'
import { imageSourceOf } from '../../crds/files/imagesource.ts'
import type { Fault } from '../../crds/kernel/problem.ts'
import { restPointer } from '../../crds/kernel/rest.ts'
import { content as contentSchema, type SentContent } from '../../crds/site/content/content.ts'
import { assetKeyOf, pictureValues, withPictures } from '../../crds/site/content/pictures.ts'
import { ASSETS_MAX, ASSETS_MAX_BYTES, type SiteSpec } from '../../crds/site/schema.ts'
import { pointerSegment } from '../../crds/values/pointer.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { SiteNeeds } from './needs.ts'

/** As a caller sends them: key → base64. */
export type SentAssets = Record<string, string>

const fault = (pointer: string, detail: string): Fault => ({ code: 'INVALID_FIELD', pointer, detail })

const sizeFault = (sent: readonly [string, Buffer][]): Fault[] => {
  const bytes = sent.reduce((sum, [, content]) => sum + content.length, 0)
  return [
    ...(sent.length > ASSETS_MAX ? [fault('/assets', `${sent.length} assets, at most ${ASSETS_MAX}`)] : []),
    ...(bytes > ASSETS_MAX_BYTES ? [fault('/assets', `${bytes} bytes, at most ${ASSETS_MAX_BYTES}`)] : []),
  ]
}

/** What is no picture at all is refused before anything is stored; the rest is judged when it is converted. */
const kindFaults = (sent: readonly [string, Buffer][]): Fault[] =>
  sent.flatMap(([key, content]) =>
    imageSourceOf(content) === null ? [fault(`/assets/${key}`, 'is not a JPEG, PNG, WebP or AVIF picture')] : [],
  )

const DATA_KEY = 'data-'
const DATA_KEY_DIGITS = 24
const dataOf = (value: string): Buffer | null =>
  value.startsWith('data:') ? Buffer.from(value.slice(value.indexOf(',') + 1), 'base64') : null

export type TakenAssets = {
  content: SentContent
  assets: Record<string, string>
  store(deps: SiteNeeds): Promise<void>
}

/**
 * The content without bytes in it, and where its pictures will lie; nothing is stored before `store`.
 * @param kept assets that the site has already
 * @throws Problem INVALID_FIELD
 */
export const takeAssets = (content: SentContent, sent: SentAssets, kept: Record<string, string> = {}): TakenAssets => {
  const uploads = Object.entries(sent).map(([key, text]): [string, Buffer] => [key, Buffer.from(text, 'base64')])
  refuseFaults([...sizeFault(uploads), ...kindFaults(uploads)])
  const inside = new Map<string, Buffer>()
  const named = withPictures(contentSchema, content, (value) => {
    const bytes = dataOf(value)
    if (bytes === null) return value
    const key = `${DATA_KEY}${sha256Of(bytes).slice(0, DATA_KEY_DIGITS)}`
    inside.set(key, bytes)
    return `asset:${key}`
  })
  const all = [...uploads, ...inside]
  const sums = all.map(([key, bytes]): [string, string] => [key, sha256Of(bytes)])
  const used = new Set(pictureValues(contentSchema, named).map(({ value }) => assetKeyOf(value)))
  // What a caller named stays until they take it away; what came inside the content goes with its picture.
  const lasting = Object.entries(kept).filter(([key]) => !key.startsWith(DATA_KEY) || used.has(key))
  return {
    content: named,
    assets: Object.fromEntries([...lasting, ...sums]),
    store: async (deps) => {
      for (const [, bytes] of all) await deps.blobs.put(bytes)
    },
  }
}

type Pictures = Pick<SiteSpec, 'content' | 'assets'>

/** Where a source was sent, in the names of REST; null when it was not. @param isSent whether the caller named the key */
const placeOf = (
  source: string,
  { content, assets = {} }: Pictures,
  isSent: (key: string) => boolean,
): string | null => {
  const key = Object.keys(assets).find((one) => assets[one] === source)
  if (key !== undefined && isSent(key)) return `/assets/${pointerSegment(key)}`
  const found = pictureValues(contentSchema, content).find(
    ({ value }) => value === source || (key !== undefined && assetKeyOf(value) === key),
  )
  return found === undefined ? null : restPointer(`/content${found.pointer}`)
}

/** The same refusal with the place of the picture that it names by its source; any other error as it is. */
export const withPicturePlace = (error: unknown, pictures: Pictures, isSent: (key: string) => boolean): unknown => {
  if (!(error instanceof Problem) || error.code !== 'INVALID_FIELD' || error.faults.length > 0) return error
  const [, source] = /the picture (\S+) /.exec(error.message) ?? []
  const pointer = source === undefined ? null : placeOf(source, pictures, isSent)
  if (source === undefined || pointer === null) return error
  const detail = error.message.replace(source, pointer).replace(/^INVALID_FIELD: /, '')
  return new Problem('INVALID_FIELD', detail, { faults: [{ code: 'INVALID_FIELD', pointer, detail }] })
}
