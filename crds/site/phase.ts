/** How a site stands, in one word; and how an edit stands beside what is live (rules/site.md#over-rest). */
import { liveOf } from './facts.ts'
import { reviewOf } from './reviewing/review.ts'
import type { SitePhase } from './schema.ts'
import type { Rendering, SiteWorld } from './world.ts'

export type SiteStanding = { status: SitePhase; pendingStatus: SitePhase | null }

/** @param current what is rendered now  @param publishing what is on its way to be live; null when nothing is */
export const standOf = (world: SiteWorld, current: Rendering | null, publishing: Rendering | null): SiteStanding => {
  const live = liveOf(world)
  const review = current === null ? 'draft' : reviewOf(world, current)
  if (live !== null) {
    const isLive = current !== null && current.digest === live.digest
    const pending = isLive ? null : review
    return { status: 'live', pendingStatus: publishing ? 'publishing' : pending }
  }
  if (publishing) return { status: 'publishing', pendingStatus: null }
  const last = world.switches.findLast(({ to }) => to !== null)?.to
  if (!last) return { status: review, pendingStatus: null }
  return { status: 'unpublished', pendingStatus: current?.digest === last.digest ? null : review }
}
