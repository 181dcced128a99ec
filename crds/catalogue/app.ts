/** What apps add to the catalogues. */
import { APP_PROBLEMS } from '../problems/apps.ts'
import type { KindCatalogue } from './entry.ts'

export const APP_CATALOGUE = {
  events: ['app.released', 'app.release_failed'],
  problems: APP_PROBLEMS,
  scopes: {
    'apps:read': 'See apps, their releases and logs.',
    'apps:manage': 'Deploy and manage apps. The account needs the capability app.deploy.',
  },
  presets: { apps: { description: 'See, deploy and manage apps.', scopes: ['apps:read', 'apps:manage'] } },
} as const satisfies KindCatalogue
