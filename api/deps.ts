/** What the handlers are given. Wired by hand in main.ts; tests hand in the same. */
import type { Accounts } from '../controllers/runtime/accounts.ts'
import type { Allowance } from '../controllers/runtime/allowance.ts'
import type { AppStore } from '../controllers/runtime/appstore.ts'
import type { AppVault } from '../controllers/runtime/appvault.ts'
import type { AuditReader } from '../controllers/runtime/audit.ts'
import type { Blobs } from '../controllers/runtime/blobs.ts'
import type { Books } from '../controllers/runtime/books.ts'
import type { ReadCardEvent } from '../controllers/runtime/cardevents.ts'
import type { Devboxes } from '../controllers/runtime/devboxes.ts'
import type { Documents } from '../controllers/runtime/documents.ts'
import type { Egress } from '../controllers/runtime/egress.ts'
import type { Endpoints } from '../controllers/runtime/endpoints.ts'
import type { Appended, NewFact } from '../controllers/runtime/facts.ts'
import type { Credentials, HostReader } from '../controllers/runtime/hosts.ts'
import type { Issuers } from '../controllers/runtime/issuers.ts'
import type { Keys } from '../controllers/runtime/keys.ts'
import type { Kube } from '../controllers/runtime/kube.ts'
import type { LedgerReader } from '../controllers/runtime/ledger.ts'
import type { Llm } from '../controllers/runtime/llm.ts'
import type { MirrorReader } from '../controllers/runtime/mirror.ts'
import type { PdfText } from '../controllers/runtime/pdftext.ts'
import type { SitePlaces } from '../controllers/runtime/sites.ts'
import type { Slots } from '../controllers/runtime/slots.ts'
import type { Audit } from './audit.ts'
import type { Attempts } from './auth/attempts.ts'
import type { Authenticate } from './auth/auth.ts'
import type { Oidc } from './auth/oidc.ts'
import type { Sessions } from './auth/session.ts'
import type { SignIn } from './auth/signin.ts'
import type { TokenStore } from './auth/token-store.ts'
import type { HashSecret } from './auth/tokens.ts'
import type { Vault } from './devinstance/vault.ts'
import type { Idempotency } from './idempotency.ts'
import type { Limits } from './limits.ts'
import type { Waiter } from './wait.ts'
import type { Wake } from './wake.ts'

/** The API reads the ledger and the mirror, and writes nothing but resources, facts and settings. */
export type Deps = {
  kube: Kube
  ledger: LedgerReader
  appendFact(fact: NewFact): Promise<Appended>
  mirror: MirrorReader
  blobs: Blobs
  documents: Documents
  issuers: Issuers
  books: Books
  hosts: HostReader
  /** Private keys of hosts: written here, opened by the controllers. */
  credentials: Pick<Credentials, 'put'>
  /** Webhook endpoints, their deliveries and the events of accounts. */
  endpoints: Endpoints
  /** Where addresses that users name lead to. */
  egress: Pick<Egress, 'judge'>
  /** The development exception: owners may name what is on loopback. */
  allowLoopback: boolean
  waiter: Waiter
  wake: Wake
  keys: Keys
  authenticate: Authenticate
  /** Of a dev instance, by its report token. */
  authenticateReport: Authenticate
  hash: HashSecret
  tokens: TokenStore
  sessions: Sessions
  signIn: SignIn
  /** Null when no provider is configured. */
  oidc: Oidc | null
  attempts: Attempts
  accounts: Accounts
  slots: Slots
  /** Questions to the language model, counted by day. */
  allowance: Allowance
  /** Null when no language model is configured. */
  llm: Llm | null
  pdfText: PdfText
  /** Card collection; null when this installation has no card processor. */
  cards: { read: ReadCardEvent; checkoutOrigin: string } | null
  devboxes: Devboxes
  vault: Vault
  apps: AppStore
  /** Sealed releases, for what a deploy would change. */
  releases: Pick<AppVault, 'open'>
  limits: Limits
  idempotency: Idempotency
  audit: Audit
  auditReader: AuditReader
  sites: SitePlaces
  /** The renderer is switched off: nothing new is drawn. */
  pdfOff?: boolean
  namespace: string
  publicUrl: string
  now: () => Date
}
