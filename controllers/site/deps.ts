/** What the Site's hands work with. */

import type { House } from '../house.ts'
import type { Hosts } from '../io/hosts.ts'
import type { SitePlaces, SiteRows } from '../runtime/sites.ts'

export type SiteDeps = Pick<
  House,
  'ledger' | 'mirror' | 'blobs' | 'accounts' | 'keys' | 'media' | 'publicUrl' | 'now' | 'wake' | 'onQueued'
> & {
  rows: SiteRows
  places: SitePlaces
  hosts: Pick<Hosts, 'link' | 'routes' | 'facts' | 'list' | 'tls'>
  /** Names under .test and the like are taken. */
  testDomains: boolean
}
