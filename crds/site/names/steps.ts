/** What there is to do about a site's names beside claiming them: the owner is told, a lost one is left, those not needed go back. */
import { type Verdict, waiting } from '../../kernel/plan.ts'
import { type SiteEvent, siteEvent } from '../events.ts'
import { type PublishStep, wayOffLost } from '../publishing/publish.ts'
import type { SiteResource } from '../schema.ts'
import type { SiteWorld } from '../world.ts'
import { type NameNews, newsOf } from './names.ts'

export type NameStep =
  /** How the life of a name has gone on, with a mail where somebody has to act. */
  | { do: 'tellName'; news: NameNews; event: SiteEvent }
  /** Names that the site neither asks for nor is live under. */
  | { do: 'releaseNames'; keep: string[] }

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

/** The route that tells visitors that the site is gone would keep a name from whoever has it next. */
export const releaseSteps = ({ names, home }: SiteWorld, keep: string[]): (NameStep | PublishStep)[] => {
  const left = names.filter(({ name, settled }) => settled && !keep.includes(name))
  if (left.length === 0) return []
  const isRouted = left.some(({ routed }) => routed)
  return [
    ...(isRouted && home !== null ? [{ do: 'removeRoute', host: home } as const] : []),
    { do: 'releaseNames', keep },
  ]
}
