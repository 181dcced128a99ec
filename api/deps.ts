/** What the handlers are given. Wired by hand in main.ts; tests hand in the same. */
import type { Blobs } from '../controllers/runtime/blobs.ts'
import type { Appended, NewFact } from '../controllers/runtime/facts.ts'
import type { Issuers } from '../controllers/runtime/issuers.ts'
import type { Keys } from '../controllers/runtime/keys.ts'
import type { Kube } from '../controllers/runtime/kube.ts'
import type { LedgerReader } from '../controllers/runtime/ledger.ts'
import type { MirrorReader } from '../controllers/runtime/mirror.ts'
import type { Authenticate } from './auth.ts'
import type { Waiter } from './wait.ts'
import type { WrongCounter } from './wrong.ts'

/** The API reads the ledger and the mirror, and writes nothing but resources, facts and settings. */
export type Deps = {
  kube: Kube
  ledger: LedgerReader
  appendFact(fact: NewFact): Promise<Appended>
  mirror: MirrorReader
  blobs: Blobs
  issuers: Issuers
  waiter: Waiter
  keys: Keys
  authenticate: Authenticate
  wrong: WrongCounter
  namespace: string
  publicUrl: string
  now: () => Date
}
