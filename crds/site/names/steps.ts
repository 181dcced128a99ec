/** What there is to do about a site's names beside claiming them: the owner is told, a lost one is left, those not needed go back. */
import { type Verdict, waiting } from '../../kernel/plan.ts'
import { type SiteEvent, siteEvent } from '../events.ts'
import { type PublishStep, wayOffLeft, wayOffLost } from '../publishing/publish.ts'
import type { SiteResource } from '../schema.ts'
import type { SiteWorld } from '../world.ts'
import { type NameNews, newsOf } from './names.ts'

export type NameStep =
  /** How the life of a name has gone on, with a mail where somebody has to act. */
  | { do: 'tellName'; news: NameNews; event: SiteEvent }
  /** Names that the site needs no longer; `spare`: those that only lead to it from now on. */
  | { do: 'releaseNames'; keep: string[]; spare: string[] }

type First = { verdict: Verdict; steps: (NameStep | PublishStep)[] }

/**
 * What comes before all else, for no visitor is served under a name that is not proven; null when there is nothing.
 * @param stand how the site stands, for whoever is told
 */
export const nameSteps = (
  object: SiteResource,
  world: SiteWorld,
  stand: Parameters<typeof siteEvent>[2],
): First | null => {
  const tell = newsOf(world, world.told).map((news): NameStep => {
    return { do: 'tellName', news, event: siteEvent(news.event, object, stand) }
  })
  if (tell.length > 0) return { verdict: waiting('Telling', 'tells how its name stands'), steps: tell }
  const off = wayOffLost(object, world)
  if (off.length === 0) return null
  return { verdict: waiting('TakingDown', 'is taken off a name whose proof is gone'), steps: off }
}

/** A route under a name, of a live site or of one that is gone, would keep it from whoever has it next. */
export const releaseSteps = (
  object: SiteResource,
  world: SiteWorld,
  { chosen, beside }: { chosen: string[]; beside: string[] },
): (NameStep | PublishStep)[] => {
  const keep = [...chosen, ...beside]
  const settled = world.names.filter((one) => one.settled)
  const left = settled.filter(({ name }) => !keep.includes(name))
  const spare = settled.flatMap((one) =>
    !one.spare && !chosen.includes(one.name) && beside.includes(one.name) ? [one.name] : [],
  )
  if (left.length === 0 && spare.length === 0) return []
  const off = left.some(({ routed }) => routed) ? wayOffLeft(object, world) : []
  return [...off, { do: 'releaseNames', keep, spare }]
}
