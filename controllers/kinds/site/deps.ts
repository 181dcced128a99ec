/** What the Site's hands work with. */

import type { SiteResource } from '../../../crds/site/schema.ts'
import type { SiteLook, SiteWorld } from '../../../crds/site/world.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import type { Metrics } from '../../ops/metrics.ts'
import type { PictureRows } from '../../store/site/pictures.ts'
import type { SiteReservations, SiteRows } from '../../store/site/sites.ts'
import type { Context } from '../context.ts'

export type SiteDeps = Pick<
  Context,
  | 'ledger'
  | 'schedule'
  | 'mirror'
  | 'blobs'
  | 'accounts'
  | 'keys'
  | 'media'
  | 'pictures'
  | 'publicUrl'
  | 'mailDomain'
  | 'now'
  | 'wake'
  | 'onQueued'
  | 'log'
  | 'events'
> & {
  metrics?: Pick<Metrics, 'drifted'>
  rows: SiteRows
  pictureRows: Pick<PictureRows, 'kept'>
  reservations: SiteReservations
  hosts: Pick<Hosts, 'link' | 'routes' | 'facts' | 'list' | 'tls'>
  /** Names under .test and the like are taken. */
  testDomains: boolean
  looks: SiteLooks
}

/** Which bytes were seen, under which name, and what leads there. */
export type VerifiedSite = { digest: string; hostname: string; hsts: boolean; aliases: readonly string[] }

/** What is remembered of looks at live sites, in this process alone (look.ts). */
export type SiteLooks = {
  /** Null while there is nothing to look at. Never throws for what a host does. */
  look(object: SiteResource, world: SiteWorld, signal: AbortSignal): Promise<SiteLook | null>
  /** It is put back: how often that was, lately, is part of what is seen. */
  restoring(site: string): void
  /** Something was put there: it is looked at anew. */
  touched(site: string): void
  /** All files were checked as they were put there, and every page as visitors get it. */
  verified(object: SiteResource, of: VerifiedSite): void
  forget(site: string): void
}
