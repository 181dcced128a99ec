/** That links were ended: verdicts on what was asked for, and steps for what the spec or the status knows of and no fact says. */
import { unrecordedLinks } from '../../values/links.ts'
import { type SiteEvent, siteEvent } from '../events.ts'
import { SITE_LINKS, type SiteLink } from '../links.ts'
import type { SitePhase, SiteResource } from '../schema.ts'
import type { SiteWorld } from '../world.ts'

/** `isAsked`: by the spec; otherwise the status knows of it, and the ledger is the older one. */
export type SiteLinkStep = {
  do: 'recordLink'
  purpose: SiteLink
  version: number
  isAsked: boolean
  event: SiteEvent | null
}
type AllowStep = { do: 'decide'; verdict: { seq: number; accept: true; event: SiteEvent } }

/** What was asked for is never refused: whatever becomes of a site, who may look at it can be ended. @param stand of the site */
export const linkSteps = (
  object: SiteResource,
  { links, linkVersions }: Pick<SiteWorld, 'links' | 'linkVersions'>,
  stand: { status: SitePhase; url: string | null },
): (SiteLinkStep | AllowStep)[] => {
  const rotated = (purpose: string, version: number): SiteEvent => {
    const event = siteEvent('website.link_rotated', object, stand)
    return { ...event, data: { ...event.data, link: { purpose, version } } }
  }
  const unrecorded = unrecordedLinks(SITE_LINKS, linkVersions, links.recorded)
  return [
    ...unrecorded.map(({ purpose, version }): SiteLinkStep => {
      const isAsked = object.spec.linkVersions?.[purpose] === version
      // of what is only given back everybody was told
      return { do: 'recordLink', purpose, version, isAsked, event: isAsked ? rotated(purpose, version) : null }
    }),
    ...links.asked.map(
      ({ seq, purpose, version }): AllowStep => ({
        do: 'decide',
        verdict: { seq, accept: true, event: rotated(purpose, version) },
      }),
    ),
  ]
}
