/** What the handlers of hosts take. */
import type { Commanding, Deps } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

export type HostNeeds = Commanding & Pick<Deps, 'allowLoopback'> & Pick<Stores, 'credentials' | 'hosts' | 'apps'>
