/** What is done about one picture at a time: it is fetched, shown, or given one width more. What is made is kept at once (queue.ts). */
import type { Blobs } from '../../store/blobs.ts'
import type { PictureRows } from '../../store/site/pictures.ts'
import type { ImageBlob, OpenImage } from './images.ts'
import type { Media } from './media.ts'

export type PictureLane = 'fetch' | 'quick' | 'widths'

export type PictureTools = {
  rows: PictureRows
  blobs: Pick<Blobs, 'get' | 'put' | 'putAll'>
  media: Pick<Media, 'intake' | 'quickImage' | 'openImage'>
}

/** `open` is the decoded picture, where it is still at hand. */
export type WorkedPicture = { source: string; open: OpenImage | null }

/** How it goes on after one piece of work. */
export type PictureNext = { to: PictureLane } | { done: true } | { bad: string }

const FETCH_MAX_MS = 30_000
const NOT_STORED: PictureNext = { bad: 'is not stored; upload it again' }

const storeAll = async ({ blobs }: PictureTools, made: readonly ImageBlob[]): Promise<void> => {
  await blobs.putAll(made.map(({ bytes }) => Buffer.from(bytes)))
}

/** Fetched once, whatever happens later. */
const fetchOne = async ({ rows, blobs, media }: PictureTools, { source }: WorkedPicture): Promise<PictureNext> => {
  const work = await rows.work(source)
  if (work?.image) return { done: true }
  if (work?.quick) return { to: 'widths' }
  if (work?.original) return { to: 'quick' }
  const taken = await media.intake(source, AbortSignal.timeout(FETCH_MAX_MS))
  if (!taken.ok) return { bad: taken.reason }
  await rows.keep(source, { original: await blobs.put(taken.bytes) })
  return { to: 'quick' }
}

const quickOne = async (tools: PictureTools, { source }: WorkedPicture): Promise<PictureNext> => {
  const { rows, blobs, media } = tools
  const work = await rows.work(source)
  if (work?.image) return { done: true }
  if (work?.quick) return { to: 'widths' }
  const bytes = await blobs.get(work?.original ?? source)
  if (bytes === null) return NOT_STORED
  const verdict = await media.quickImage(bytes)
  if (!verdict.ok) return { bad: verdict.reason }
  await storeAll(tools, verdict.blobs)
  await rows.keep(source, verdict.isWhole ? { image: verdict.image } : { quick: verdict.image })
  return verdict.isWhole ? { done: true } : { to: 'widths' }
}

/** The next width; what was made before stays, whichever process made it. */
const widthOf = async (tools: PictureTools, picture: WorkedPicture): Promise<PictureNext> => {
  const { rows, blobs, media } = tools
  const { source } = picture
  const work = await rows.work(source)
  if (work?.image) return { done: true }
  if (picture.open === null) {
    const bytes = await blobs.get(work?.original ?? source)
    if (bytes === null) return NOT_STORED
    const verdict = await media.openImage(bytes)
    if (!verdict.ok) return { bad: verdict.reason }
    picture.open = verdict.open
  }
  const { targets, encode, finish } = picture.open
  const made = work?.variants ?? []
  const target = targets.find(({ format, width }) => !made.some((one) => one.format === format && one.width === width))
  if (target === undefined) {
    await rows.keep(source, { image: await finish(made) })
    return { done: true }
  }
  const { variant, blob } = await encode(target)
  await storeAll(tools, [blob])
  await rows.keepVariant(source, variant)
  return { to: 'widths' }
}

export const PICTURE_WORK: Record<PictureLane, (tools: PictureTools, picture: WorkedPicture) => Promise<PictureNext>> =
  {
    fetch: fetchOne,
    quick: quickOne,
    widths: widthOf,
  }
