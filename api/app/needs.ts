/** What the handlers of apps take. */
import type { Commanding, Deps } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

/** To answer with how an operation of one ended. */
export type AnsweringApp = Pick<Stores, 'apps'>

export type AppNeeds = Commanding &
  Pick<Deps, 'composeJudge'> &
  Pick<Stores, 'apps' | 'attempts' | 'blobs' | 'releases'>
