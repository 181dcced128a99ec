/** How the App is named and shown. */
import { AGE, type Kind, READY, REASON } from '../kernel/kind.ts'
import { type AppSpec, type AppStatus, spec, status } from './schema.ts'
import type { AppView } from './view.ts'

/** Containers, route and volumes on the host go first. */
export const APP_FINALIZER = 'bottega.dev/app'

export const APP: Kind<AppSpec, AppStatus, AppView> = {
  kind: 'App',
  plural: 'apps',
  singular: 'app',
  listKind: 'AppList',
  shortNames: ['bapp'],
  description: 'A project with a compose file, released on a host and reached under its own name.',
  spec,
  status,
  finalizer: APP_FINALIZER,
  writers: 'edit',
  apiVerbs: ['create', 'patch', 'delete'],
  columns: [
    { name: 'URL', type: 'string', path: '.status.url', description: 'Where visitors reach it.' },
    { name: 'Release', type: 'integer', path: '.status.release', description: 'The release that is live.' },
    { name: 'Host', type: 'string', path: '.spec.hostId', description: 'The host that it runs on.' },
    { name: 'State', type: 'string', path: '.status.phase', description: 'empty, deploying, live or failed.' },
    READY,
    AGE,
    { name: 'Access', type: 'string', path: '.spec.access', description: 'public or private.', wide: true },
    REASON,
  ],
  selectable: ['.spec.account', '.spec.hostId', '.spec.slug', '.status.phase'],
  rules: [
    {
      rule: '!(has(self.spec.source) && has(self.spec.restore))',
      message: 'INVALID_FIELD: give source or restore, not both',
      fieldPath: '.spec.restore',
    },
    {
      rule: '!has(oldSelf.spec.asked) || (has(self.spec.asked) && self.spec.asked >= oldSelf.spec.asked)',
      message: 'INVALID_FIELD: asked never falls',
      fieldPath: '.spec.asked',
    },
  ],
}
