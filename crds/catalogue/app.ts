/** What apps add to the catalogues. */
import { APP_PROBLEMS } from '../problems/apps.ts'
import type { KindCatalogue } from './entry.ts'

export const APP_CATALOGUE = {
  events: [
    ...(['app.released', 'app.release_failed', 'app.unhealthy', 'app.recovered'] as const),
    ...(['app.preview_ready', 'app.preview_ended'] as const),
    ...(['app.command_failed', 'app.schedule_failed'] as const),
    ...(['app.backup_succeeded', 'app.backup_failed', 'app.restored', 'app.restore_failed'] as const),
  ],
  problems: APP_PROBLEMS,
  scopes: {
    'apps:read': 'See apps, their releases and logs.',
    'apps:manage': 'Deploy and manage apps. The account needs the capability app.deploy.',
  },
  quotas: {
    app_storage_mib: {
      description: 'MiB of storage that uploads and backups of apps take.',
      byPlan: { free: 2_048, pro: 20_480, team: 204_800 },
      daily: false,
    },
  },
  presets: { apps: { description: 'See, deploy and manage apps.', scopes: ['apps:read', 'apps:manage'] } },
} as const satisfies KindCatalogue
