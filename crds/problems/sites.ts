/** Refusals of websites (spec/2 Errors; CONTRACT sections 5 and 10). */
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
  BAD_TOKENS: {
    status: 400,
    title: 'Brand tokens are outside their bounds',
    next: 'Send colours as #rrggbb, rgb(), hsl() or oklch() without transparency, and a font pair of GET /templates.',
  },
} as const satisfies Record<string, ProblemEntry>
