/** What websites add to the catalogues. */
import { SITE_PROBLEMS } from '../problems/sites.ts'
import type { KindCatalogue } from './entry.ts'

export const SITE_CATALOGUE = {
  events: [
    'website.generated',
    'website.submitted',
    'website.approved',
    'website.changes_requested',
    'website.published',
    'website.unpublished',
    'website.link_rotated',
    'website.domain_verified',
    'website.domain_missing',
    'website.domain_lapsed',
    'website.message_received',
  ],
  problems: SITE_PROBLEMS,
  scopes: {
    'websites:read': 'See websites and their statistics.',
    'websites:write': 'Make, change and publish websites.',
  },
  presets: {
    websites: { description: 'See, make, change and publish websites.', scopes: ['websites:read', 'websites:write'] },
  },
  quotas: {
    sites: { description: 'Websites.', byPlan: { free: 3, pro: 20, team: 100 }, daily: false },
    publishes_per_day: {
      description: 'Live publishes on this day (UTC).',
      byPlan: { free: 5, pro: 50, team: 500 },
      daily: true,
    },
    messages_per_day: {
      description: 'Messages that visitors of websites sent on this day (UTC).',
      byPlan: { free: 40, pro: 200, team: 1000 },
      daily: true,
    },
  },
} as const satisfies KindCatalogue
