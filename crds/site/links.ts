/** What leads to a site that is not published: its preview, and the page of its review. Both have a version (crds/values/links.ts). */
import { linkVersionsOf } from '../kernel/fields.ts'
import type { LinkVersions } from '../values/links.ts'

export const SITE_LINKS = ['preview', 'review'] as const
export type SiteLink = (typeof SITE_LINKS)[number]
export type SiteLinks = LinkVersions<SiteLink>

/** Of the spec and of the status. */
export const SITE_LINK_FIELDS = linkVersionsOf({
  preview: 'Of the link to the preview; 1 is the first.',
  review: "Of the link to the reviewer's page; 1 is the first.",
})
