/** What leads to a site beside its own address: its preview, the page of its review, and where its form posts to. Each has a version (crds/values/links.ts). */
import { linkVersionsOf } from '../kernel/fields.ts'
import type { LinkVersions } from '../values/links.ts'

export const SITE_LINKS = ['preview', 'review', 'form'] as const
export type SiteLink = (typeof SITE_LINKS)[number]
export type SiteLinks = LinkVersions<SiteLink>

/** Of the spec and of the status. */
export const SITE_LINK_FIELDS = linkVersionsOf({
  preview: 'Of the link to the preview; 1 is the first.',
  review: "Of the link to the reviewer's page; 1 is the first.",
  form: 'Of the address that the contact form posts to; 1 is the first.',
})
