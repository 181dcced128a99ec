/** Refusals of websites (rules/site.md#refusals). */
import type { ProblemEntry } from './entry.ts'

export const SITE_PROBLEMS = {
  // ---- what the site is made of
  BAD_LANG: {
    status: 400,
    title: 'The language is not one that a site can speak',
    next: 'Use zh-Hant, zh-Hans, en or es.',
  },
  BAD_SECTION_ORDER: {
    status: 400,
    title: 'section_order is not acceptable',
    next: 'Name each section at most once; hero may only stand first, contact only last.',
  },
  BAD_PAGES: {
    status: 400,
    title: 'The map of pages is not acceptable',
    next: 'At most 8 pages, each with its own slug, one of them the index; each section at most once on a page.',
  },
  BAD_REDIRECTS: {
    status: 400,
    title: 'The list of redirects is not acceptable',
    next: 'At most 100, each from a path that is no page to a path of the site or an address with https://, and none that leads back to itself.',
  },
  BAD_VIDEO_URL: {
    status: 400,
    title: 'The video is not one of YouTube or Vimeo',
    next: 'Send the address of the page on which the video is seen, as https://www.youtube.com/watch?v=… or https://vimeo.com/….',
  },
  BAD_PRESET: {
    status: 400,
    title: 'There is no such preset',
    next: 'Use one of GET /templates, or none.',
  },
  BAD_SOURCE: {
    status: 400,
    title: 'What the site is to be made from is not acceptable',
    next: 'Send content or a brief, one of them; to extract, one PDF, up to 6 photos, one .txt or .md file, or JSON with text.',
  },
  BRIEF_TOO_SHORT: {
    status: 400,
    title: 'The brief is too short',
    next: 'Say in 40 to 24,000 characters who you are, what you offer and how one reaches you.',
  },
  BRIEF_TOO_LONG: {
    status: 400,
    title: 'The brief is too long',
    next: 'Send at most 24,000 characters; a longer text goes to POST /api/website/extract.',
  },
  BAD_TOKENS: {
    status: 400,
    title: 'Brand tokens are outside their bounds',
    next: 'Send colours as #rrggbb, rgb(), hsl() or oklch() without transparency, and a font pair of GET /templates.',
  },

  // ---- review
  NOT_APPROVED: {
    status: 409,
    title: 'These bytes are not approved',
    next: 'Submit the site for review; publish it once it is approved. Any change needs a new approval.',
  },
  NOT_SUBMITTED: { status: 409, title: 'Nothing waits for a decision', next: 'Submit the site for review first.' },
  ALREADY_DECIDED: {
    status: 409,
    title: 'This submission is decided already',
    next: 'Read the decision on the site; another one needs another submission.',
  },
  CHANGED_SINCE: {
    status: 409,
    title: 'The site has changed meanwhile',
    next: 'Look at it as it is now, then decide or submit again.',
  },
  SELF_APPROVAL: {
    status: 403,
    title: 'Nobody decides on a site of their own',
    next: 'Ask another reviewer.',
  },

  // ---- publishing
  NO_DOMAIN: {
    status: 409,
    title: 'The site has no domain',
    next: 'Choose one: PUT /api/website/:id/domain with subdomain or domain.',
  },
  FAR_OVER_BUDGET: {
    status: 409,
    title: 'A page is more than four times over its budget',
    next: 'Make what the detail names lighter: spread it over several pages, or show fewer things at once.',
  },
  BAD_DOMAIN: {
    status: 400,
    title: 'The domain is not acceptable',
    next: 'Send either subdomain, one label of a-z 0-9 and -, or domain, a full name that you own.',
  },
  DOMAIN_UNPROVEN: {
    status: 409,
    title: 'The domain is not proven to be yours',
    next: 'Set one of the records that domains[].records of the site or app shows; it goes on by itself once the record is seen.',
  },
  DOMAIN_LAPSED: {
    status: 409,
    title: 'The proof of the domain is gone',
    next: 'Set one of the records that domains[].records of the site or app shows again; it comes back by itself.',
  },
  DOMAIN_UNVERIFIED: {
    status: 409,
    title: 'The domain is proven, and does not lead to the host, or does not admit its CA',
    next: 'Set the A or AAAA record, or the CAA record, as the detail says; it is looked for again by itself, and at once by verify.',
  },
  SUBDOMAIN_TAKEN: { status: 409, title: 'The subdomain is in use', next: 'Choose another one.' },
  DOMAIN_TAKEN: {
    status: 409,
    title: 'The domain is in use',
    next: 'Choose another one, or free it where it is used.',
  },
  SITE_QUOTA: {
    status: 429,
    title: "The plan's number of websites is reached",
    next: 'Delete one that is not live, or ask support for more.',
  },
  ASSIST_QUOTA: {
    status: 429,
    title: "The account's drafts of websites of this day are used up",
    next: 'Send content, or ask again after 00:00 UTC.',
  },
  PUBLISH_QUOTA: {
    status: 429,
    title: "The account's publishes of this day are used up",
    next: 'Publish after 00:00 UTC, or ask support to raise the cap.',
  },
  NOT_PUBLISHED: { status: 409, title: 'The site was never live', next: 'Publish it first.' },
  NOT_LIVE: { status: 409, title: 'The site is not live', next: 'Publish it first.' },
  SITE_LIVE: { status: 409, title: 'A live site cannot be deleted', next: 'Unpublish it first.' },
} as const satisfies Record<string, ProblemEntry>
