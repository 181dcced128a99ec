/** What dev instances add to the catalogues. */
import { DEVINSTANCE_PROBLEMS } from '../problems/devinstances.ts'
import type { KindCatalogue } from './entry.ts'

export const DEVINSTANCE_CATALOGUE = {
  events: ['devbox.state_changed', 'devbox.budget_reached'],
  problems: DEVINSTANCE_PROBLEMS,
  scopes: {
    'devboxes:read': 'See dev instances.',
    'devboxes:manage': 'Manage dev instances. The account needs the capability devbox.manage.',
  },
  presets: {
    devboxes: { description: 'See and manage dev instances.', scopes: ['devboxes:read', 'devboxes:manage'] },
  },
  quotas: {
    devbox_cost_cap_usd: {
      description: 'Committed monthly cost of dev instances, in US dollars.',
      byPlan: { free: 100, pro: 100, team: 100 },
      grantedBy: 'cost_cap_usd',
      daily: false,
    },
  },
} as const satisfies KindCatalogue
