/** How the Site is named and shown. */
import { AGE, type Kind, READY, REASON } from '../kernel/kind.ts'
import { SITE_KIND, type SiteSpec, type SiteStatus, spec, status } from './schema.ts'
import type { SiteView } from './view.ts'

/** Holds the resource until its files and its route are off the host. */
export const SITE_FINALIZER = 'bottega.dev/site'

export const SITE: Kind<SiteSpec, SiteStatus, SiteView> = {
  kind: SITE_KIND,
  plural: 'sites',
  singular: 'site',
  listKind: 'SiteList',
  shortNames: ['wsite'],
  description: 'A website: rendered from content, approved by digest, published by release.',
  spec,
  status,
  writers: 'edit',
  apiVerbs: ['create', 'patch', 'delete'],
  finalizer: SITE_FINALIZER,
  columns: [
    { name: 'Status', type: 'string', path: '.status.phase', description: 'draft, in_review, approved, live, …' },
    { name: 'URL', type: 'string', path: '.status.url', description: 'Where it is live.' },
    { name: 'Release', type: 'integer', path: '.status.release', description: 'The release that is live.' },
    { name: 'Domain', type: 'string', path: '.status.domainState', description: 'Whether its name is proven.' },
    READY,
    AGE,
    {
      name: 'Review',
      type: 'string',
      path: '.status.review',
      description: 'How what is rendered now stands.',
      wide: true,
    },
    {
      name: 'Pictures',
      type: 'string',
      path: '.status.pictures',
      description: 'How many of its pictures have all their widths.',
      wide: true,
    },
    { name: 'Host', type: 'string', path: '.status.host', description: 'The Host that serves it.', wide: true },
    { name: 'Digest', type: 'string', path: '.status.digest', description: 'Names the rendered bytes.', wide: true },
    REASON,
  ],
  selectable: [
    '.spec.account',
    '.spec.externalRef',
    '.spec.subdomain',
    '.spec.domain',
    '.status.phase',
    '.status.host',
  ],
  rules: [],
}
