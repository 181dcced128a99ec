/** What the Site's hands work with. */
import type { SitePlaces, SiteRows } from '../runtime/sites.ts'
import type { House } from '../house.ts'
import type { Hosts } from '../io/hosts.ts'
import type { ImageVerdict } from '../io/images.ts'
import type { Intake } from '../io/intake.ts'
import type { Webfont } from '../io/webfonts.ts'

export type SiteDeps = Pick<
  House,
  'ledger' | 'mirror' | 'blobs' | 'accounts' | 'keys' | 'publicUrl' | 'now' | 'wake' | 'onQueued'
> & {
  rows: SiteRows
  places: SitePlaces
  hosts: Pick<Hosts, 'link' | 'routes' | 'facts' | 'list' | 'tls'>
  renderImage(bytes: Uint8Array): Promise<ImageVerdict>
  /** Pictures that a content names by address. */
  intake: Intake
  webfonts(): Webfont[]
  /** Names under .test and the like are taken. */
  testDomains: boolean
}
