/**
 * Pictures on their way in: each is looked at, stored under its sha256, and named in the content by a key. What came inside the
 * content as a data URI becomes an asset too, so that a resource never holds bytes.
 */
import { setImmediate as turn } from 'node:timers/promises'
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
const isData = (value: string): boolean => value.startsWith('data:')
const base64Of = (value: string): string => value.slice(value.indexOf(',') + 1)

type Picture = { key: string; bytes: Buffer; sha256: string }

/** Others are served between two pictures, and between two looks at the same one: fifteen megabytes hold them up for 10 ms each time. */
const bytesOf = async (text: string): Promise<Buffer> => {
  await turn()
  return Buffer.from(text, 'base64')
}

const summed = async (bytes: Buffer): Promise<{ bytes: Buffer; sha256: string }> => {
  await turn()
  return { bytes, sha256: sha256Of(bytes) }
}

/** Pictures that were looked at. */
export type ReadPictures = {
  /** The content without their bytes in it: keys in their place. */
  named(content: SentContent): SentContent
  /** Key → sha256. */
  sums: Record<string, string>
  store(deps: Pick<SiteNeeds, 'blobs'>): Promise<void>
}

/**
 * Looks at what stands in a content and at what was sent beside it; nothing is stored before `store`.
 * @throws Problem INVALID_FIELD
 */
export const readPictures = async (content: SentContent, sent: SentAssets): Promise<ReadPictures> => {
  const uploads: [string, Buffer][] = []
  for (const [key, text] of Object.entries(sent)) uploads.push([key, await bytesOf(text)])
  refuseFaults([...sizeFault(uploads), ...kindFaults(uploads)])
  const pictures: Picture[] = []
  for (const [key, bytes] of uploads) pictures.push({ key, ...(await summed(bytes)) })
  const keys = new Map<string, string>()
  for (const value of new Set(
    pictureValues(contentSchema, content)
      .map((one) => one.value)
      .filter(isData),
  )) {
    const { bytes, sha256 } = await summed(await bytesOf(base64Of(value)))
    const key = `${DATA_KEY}${sha256.slice(0, DATA_KEY_DIGITS)}`
    keys.set(value, `asset:${key}`)
    pictures.push({ key, bytes, sha256 })
  }
  return {
    named: (given) => withPictures(contentSchema, given, (value) => keys.get(value) ?? value),
    sums: Object.fromEntries(pictures.map(({ key, sha256 }) => [key, sha256])),
    store: async ({ blobs }) => {
      for (const { bytes } of pictures) await blobs.put(bytes)
    },
  }
}

/**
 * The assets of a site: what a caller named stays until they take it away, what came inside the content goes with its picture.
 * @param content all of it @param sums of what was sent now @param kept assets that the site has already
 */
export const assetsOf = (
  content: SentContent,
  sums: Record<string, string>,
  kept: Record<string, string> = {},
): Record<string, string> => {
  const used = new Set(pictureValues(contentSchema, content).map(({ value }) => assetKeyOf(value)))
  const lasting = Object.entries(kept).filter(([key]) => !key.startsWith(DATA_KEY) || used.has(key))
  return Object.fromEntries([...lasting, ...Object.entries(sums)])
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
