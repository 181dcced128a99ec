/** What the Site's hands work with. */

import type { Hosts } from '../../io/hosts/link.ts'
import type { SiteReservations, SiteRows } from '../../store/site/sites.ts'
import type { Context } from '../context.ts'

export type SiteDeps = Pick<
  Context,
  | 'ledger'
  | 'mirror'
  | 'blobs'
  | 'accounts'
  | 'keys'
  | 'media'
  | 'publicUrl'
  | 'mailDomain'
  | 'now'
  | 'wake'
  | 'onQueued'
> & {
  rows: SiteRows
  reservations: SiteReservations
  hosts: Pick<Hosts, 'link' | 'routes' | 'facts' | 'list' | 'tls'>
  /** Names under .test and the like are taken. */
  testDomains: boolean
}
