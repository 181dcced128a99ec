/** What the handlers of sites take. */
import type { Commanding, Deps } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

export type SiteNeeds = Commanding & Pick<Deps, 'allowLoopback'> & Pick<Stores, 'blobs' | 'origins' | 'sites'>
