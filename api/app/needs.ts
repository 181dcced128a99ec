/** What the handlers of apps take. */
import type { Commanding } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

/** To tell how an operation of one ended. */
export type TellingApp = Pick<Stores, 'apps'>

export type AppNeeds = Commanding & Pick<Stores, 'apps' | 'attempts' | 'blobs' | 'releases'>
