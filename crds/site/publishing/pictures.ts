/**
 * Pictures on their way. A site is rendered twice where they are not there yet: first with one quick width of each, for the
 * preview alone, and for good when all have all their widths. Only the second is submitted, approved and published, for an
 * approval binds bytes (hack/decisions/066).
 */
import { stalled, type Verdict, waiting } from '../../kernel/plan.ts'
import type { Rendering, SiteWorld } from '../world.ts'
import { firstOf, type RenderRequest, renderingOf, sourcesOf } from './rendering.ts'

export type MakeStep =
  /** All that is still missing, and nothing that was asked for this site before. Answers at once. */
  { do: 'askPictures'; sources: string[] } | { do: 'render'; request: RenderRequest; isFirst: boolean }

/** How many of the pictures of what is asked for have all their widths. */
export type PictureCount = { ready: number; total: number }

/** How often whoever waits for pictures looks, beside being woken with each. */
const PICTURES_RETRY_MS = 15_000

type Seen = Pick<SiteWorld, 'pictures' | 'renderings'>

/** Pictures are looked at only while there is something to render. */
export const pictureCount = (world: Seen, request: RenderRequest | null): PictureCount => {
  const sources = request === null ? [] : sourcesOf(request)
  const isWhole = renderingOf(world, request) !== null
  const ready = sources.filter((source) => isWhole || world.pictures[source]?.state === 'ready')
  return { ready: ready.length, total: sources.length }
}

/** As kubectl shows it; undefined for a site without pictures. */
export const countText = ({ ready, total }: PictureCount): string | undefined =>
  total === 0 ? undefined : `${ready}/${total}`

/** What can be done now for the rendering that is asked for; nothing when it is there, or waits. */
export const makeSteps = (
  world: Seen & Pick<SiteWorld, 'firsts' | 'asks'>,
  request: RenderRequest | null,
  current: Rendering | null,
): MakeStep[] => {
  if (current !== null || request === null) return []
  const found = sourcesOf(request).map((source) => ({ source, of: world.pictures[source] }))
  const missing = found.filter(({ of }) => of?.state !== 'ready')
  const first: MakeStep[] = firstOf(world, request) === null ? [{ do: 'render', request, isFirst: true }] : []
  // whoever submitted ahead named a first rendering, which this one is held against
  const isNamed = world.asks.some(({ ask }) => ask === 'submitAhead')
  if (missing.length === 0) return [...(isNamed ? first : []), { do: 'render', request, isFirst: false }]
  const isUnasked = missing.some(
    ({ of }) => of === undefined || ((of.state === 'quick' || of.state === 'none') && !of.asked),
  )
  const canShow = missing.every(({ of }) => of?.state === 'quick')
  return [
    ...(isUnasked ? [{ do: 'askPictures' as const, sources: missing.map(({ source }) => source) }] : []),
    ...(canShow ? first : []),
  ]
}

/** Of a picture that cannot be shown; a source is told as it stands in the resource. */
export const badPicture = ({ pictures }: Pick<SiteWorld, 'pictures'>): Verdict | null => {
  for (const [source, found] of Object.entries(pictures)) {
    if (found.state !== 'bad') continue
    return stalled('INVALID_FIELD', `INVALID_FIELD: the picture ${source.slice(0, 200)} ${found.detail}`)
  }
  return null
}

/** @param submits it was submitted, or is to be */
export const picturesUnderWay = ({ ready, total }: PictureCount, submits: boolean): Verdict => {
  const then = submits ? 'it is submitted with the last of them' : 'what is rendered with the last of them is final'
  return waiting('Pictures', `${ready} of ${total} pictures have all their widths; ${then}`, PICTURES_RETRY_MS)
}
