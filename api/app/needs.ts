/** What the handlers of apps take. */
import type { Commanding, Deps } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

/** To answer with how an operation of one ended. */
export type AnsweringApp = Pick<Stores, 'apps' | 'publishing' | 'runs' | 'backups' | 'previews'> &
  Pick<Deps, 'now' | 'keys'>

export type AppNeeds = Commanding &
  Pick<Deps, 'composeJudge' | 'uploadReader' | 'allowLoopback' | 'egress'> &
  Pick<Stores, 'apps' | 'publishing' | 'sites' | 'attempts' | 'blobs' | 'releases' | 'runs' | 'usage' | 'episodes'> &
  Pick<Stores, 'uploads' | 'registries' | 'backups' | 'hosts' | 'previews'>
