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
  scale: { spec: '.spec.replicas', status: '.status.replicas' },
  // previews, at their end
  controllerVerbs: ['delete'],
  columns: [
    { name: 'URL', type: 'string', path: '.status.url', description: 'Where visitors reach it.' },
    { name: 'Release', type: 'integer', path: '.status.release', description: 'The release that is live.' },
    { name: 'Replicas', type: 'string', path: '.status.serving', description: 'How many answer, of how many.' },
    { name: 'Host', type: 'string', path: '.status.host', description: 'The host that it runs on.', wide: true },
    { name: 'State', type: 'string', path: '.status.phase', description: 'empty, deploying, live or failed.' },
    READY,
    AGE,
    { name: 'Access', type: 'string', path: '.spec.access', description: 'public or private.', wide: true },
    {
      name: 'Preview of',
      type: 'string',
      path: '.spec.previewOf.app',
      description: 'The app that it is a preview of.',
      wide: true,
    },
    {
      name: 'Ends',
      type: 'string',
      path: '.spec.previewOf.expiresAt',
      description: 'When a preview goes by itself.',
      wide: true,
    },
    REASON,
  ],
  selectable: ['.spec.account', '.spec.hostId', '.spec.slug', '.status.phase'],
  rules: [
    {
      rule: 'has(self.spec.previewOf) == has(oldSelf.spec.previewOf) && (!has(self.spec.previewOf) || (self.spec.previewOf.app == oldSelf.spec.previewOf.app && self.spec.previewOf.ref == oldSelf.spec.previewOf.ref))',
      message: 'INVALID_FIELD: what an app is a preview of is fixed at creation',
      fieldPath: '.spec.previewOf',
    },
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
    {
      rule: "!has(oldSelf.spec.routing) || oldSelf.spec.routing != 'original' || self.spec.routing != 'original' || (self.spec.access == oldSelf.spec.access && has(self.spec.domains) == has(oldSelf.spec.domains) && (!has(self.spec.domains) || self.spec.domains == oldSelf.spec.domains))",
      message: 'INVALID_FIELD: domains and access change with routing managed alone; set it in the same change',
      fieldPath: '.spec.routing',
    },
    {
      rule: "!has(oldSelf.spec.routing) || oldSelf.spec.routing == 'original' || self.spec.routing == oldSelf.spec.routing",
      message: 'INVALID_FIELD: a managed route never becomes original again',
      fieldPath: '.spec.routing',
    },
  ],
}
