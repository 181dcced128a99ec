/** What the handlers are given. Wired by hand in main.ts; tests hand in the same. */

import type { Keys } from '../../controllers/base/keys.ts'
import type { Kube } from '../../controllers/kube/kube.ts'
import type { Egress } from '../../controllers/net/egress.ts'
import type { Accounts } from '../../controllers/store/account/accounts.ts'
import type { AppStore } from '../../controllers/store/app/app.ts'
import type { AppVault } from '../../controllers/store/app/releases.ts'
import type { AuditReader } from '../../controllers/store/audit.ts'
import type { Blobs } from '../../controllers/store/blobs.ts'
import type { DevInstances } from '../../controllers/store/devinstances.ts'
import type { HostCredentials, HostReader } from '../../controllers/store/hosts.ts'
import type { Allowance } from '../../controllers/store/invoice/ai-quota.ts'
import type { BookStore } from '../../controllers/store/invoice/books.ts'
import type { Documents } from '../../controllers/store/invoice/documents.ts'
import type { Issuers } from '../../controllers/store/invoice/issuers.ts'
import type { SendQuota } from '../../controllers/store/invoice/send-quota.ts'
import type { Appended, NewFact } from '../../controllers/store/ledger/facts.ts'
import type { LedgerReader } from '../../controllers/store/ledger/ledger.ts'
import type { ShowRow } from '../../controllers/store/mirror.ts'
import type { OperationStore } from '../../controllers/store/request/operations.ts'
import type { SiteReservations } from '../../controllers/store/site/sites.ts'
import type { Endpoints } from '../../controllers/store/webhook/endpoints.ts'
import type { Attempts } from '../auth/attempts.ts'
import type { Authenticate } from '../auth/auth.ts'
import type { Oidc } from '../auth/signin/oidc.ts'
import type { Sessions } from '../auth/signin/session.ts'
import type { SignIn } from '../auth/signin/signin.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { HashSecret } from '../auth/tokens.ts'
import type { Follow } from '../command/follow.ts'
import type { OwnMirror, OwnWaiter } from '../command/own.ts'
import type { Wake } from '../command/wake.ts'
import type { Vault } from '../devinstance/vault.ts'
import type { Audit } from '../http/stages/audit.ts'
import type { ClusterGuard } from '../http/stages/cluster.ts'
import type { Idempotency } from '../http/stages/idempotency.ts'
import type { RequestLimits } from '../http/stages/limits.ts'
import type { ReadCardEvent } from '../io/cardevents.ts'
import type { Llm } from '../io/llm.ts'
import type { PdfText } from '../io/pdftext.ts'

/** The API reads the ledger and the mirror, and writes nothing but resources, facts and settings. */
export type Deps = {
  kube: Kube
  ledger: LedgerReader
  appendFact(fact: NewFact): Promise<Appended>
  mirror: OwnMirror
  /** Shows what was asked until the controllers have judged it. */
  show: ShowRow
  blobs: Blobs
  documents: Documents
  issuers: Issuers
  books: BookStore
  hosts: HostReader
  /** Private keys of hosts: written here, opened by the controllers. */
  credentials: Pick<HostCredentials, 'put'>
  /** Webhook endpoints, their deliveries and the events of accounts. */
  endpoints: Endpoints
  /** Where addresses that users name lead to. */
  egress: Pick<Egress, 'judge'>
  /** The development exception: owners may name what is on loopback. */
  allowLoopback: boolean
  /** Whether this is the database's cluster; nobody asks when left out. */
  cluster?: Pick<ClusterGuard, 'disagreement'>
  waiter: OwnWaiter
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
  sendQuota: SendQuota
  /** Questions to the language model, counted by day. */
  allowance: Allowance
  /** Null when no language model is configured. */
  llm: Llm | null
  pdfText: PdfText
  /** Card collection; null when this installation has no card processor. */
  cards: { read: ReadCardEvent; checkoutOrigin: string } | null
  devInstances: DevInstances
  vault: Vault
  apps: AppStore
  /** Sealed releases, for what a deploy would change. */
  releases: Pick<AppVault, 'open'>
  limits: RequestLimits
  idempotency: Idempotency
  operations: OperationStore
  /** Goes on with what was answered 202. */
  follow: Follow
  audit: Audit
  auditReader: AuditReader
  sites: SiteReservations
  /** The renderer is switched off: nothing new is drawn. */
  pdfOff?: boolean
  namespace: string
  publicUrl: string
  now: () => Date
}
