/** What is told of a site to whoever listens: always with the partner's own reference and metadata (rules/site.md#events). */
import type { SITE_CATALOGUE } from '../catalogue/site.ts'
import type { SitePhase, SiteSpec } from './schema.ts'
import { SITE_KIND } from './schema.ts'

export type SiteEventType = (typeof SITE_CATALOGUE)['events'][number]

export type SiteEvent = {
  kind: string
  account: string
  type: SiteEventType
  data: {
    site: {
      id: string
      external_ref: string | null
      metadata: Record<string, unknown>
      status: SitePhase
      url: string | null
    }
    /** The link that was ended; `version` is the good one. */
    link?: { purpose: string; version: number }
    /** What a visitor wrote, by its name alone; one that is held was mailed to nobody. */
    message?: { id: string; held: boolean }
    /** What was decided on, and the note of who did. */
    review?: { digest: string; note: string }
  }
}

type About = { metadata: { name: string }; spec: Pick<SiteSpec, 'account' | 'externalRef' | 'metadata'> }

/** @param stand how the site stands once this has happened */
export const siteEvent = (
  type: SiteEventType,
  { metadata, spec }: About,
  stand: { status: SitePhase; url: string | null },
): SiteEvent => ({
  kind: SITE_KIND,
  account: spec.account,
  type,
  data: {
    site: { id: metadata.name, external_ref: spec.externalRef ?? null, metadata: spec.metadata ?? {}, ...stand },
  },
})
