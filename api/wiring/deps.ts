/**
 * All parts of the api, wired by hand in main.ts, and the groups of them that mean something together. A handler takes the
 * groups that it needs and what its kind has beside them (`api/<kind>/needs.ts`), never all: whoever calls it hands in that much.
 */

import type { DraftJudge } from '../../controllers/base/judging/draft.ts'
import type { ComposeJudge } from '../../controllers/base/judging/judge.ts'
import type { VariantRenderer } from '../../controllers/base/judging/variants.ts'
import type { Keys } from '../../controllers/base/keys.ts'
import type { Kube } from '../../controllers/kube/kube.ts'
import type { Egress } from '../../controllers/net/egress.ts'
import type { OperationStore } from '../../controllers/store/request/operations.ts'
import type { UploadReader } from '../app/sources/reading/reader.ts'
import type { Authenticate } from '../auth/auth.ts'
import type { Oidc } from '../auth/signin/oidc.ts'
import type { Sessions } from '../auth/signin/session.ts'
import type { SignIn } from '../auth/signin/signin.ts'
import type { TokenStore } from '../auth/token-store.ts'
import type { Follow } from '../command/follow.ts'
import type { OwnMirror, OwnWaiter } from '../command/own.ts'
import type { Wake } from '../command/wake.ts'
import type { Stage } from '../http/exchange.ts'
import type { Audit } from '../http/stages/audit.ts'
import type { ClusterGuard } from '../http/stages/cluster.ts'
import type { Idempotency } from '../http/stages/idempotency.ts'
import type { RequestLimits } from '../http/stages/limits.ts'
import type { ReadCardEvent } from '../io/cardevents.ts'
import type { Llm } from '../io/llm.ts'
import type { PdfText } from '../io/pdftext.ts'
import type { Stores } from './stores.ts'

export type Deps = Stores & {
  kube: Kube
  mirror: OwnMirror
  /** Where addresses that users name lead to. */
  egress: Pick<Egress, 'judge' | 'exchange'>
  /** The development exception: owners may name what is on loopback. */
  allowLoopback: boolean
  /** Whether this is the database's cluster; nobody asks when left out. */
  cluster?: Pick<ClusterGuard, 'disagreement' | 'isEmpty'>
  waiter: OwnWaiter
  wake: Wake
  keys: Keys
  authenticate: Authenticate
  /** Before anybody is looked up: wrong credentials of one address. */
  limitWrong: Stage
  /** Of a dev instance, by its report token. */
  authenticateReport: Authenticate
  tokens: TokenStore
  sessions: Sessions
  signIn: SignIn
  /** Null when no provider is configured. */
  oidc: Oidc | null
  /** Null when no language model is configured. */
  llm: Llm | null
  pdfText: PdfText
  /** Holds drafts of websites against their sources. */
  draftJudge: Pick<DraftJudge, 'prove'>
  composeJudge: Pick<ComposeJudge, 'judge' | 'namedFiles'>
  uploadReader: Pick<UploadReader, 'read' | 'fetching'>
  /** Sites in other layouts, rendered for a look. */
  variants: Pick<VariantRenderer, 'render'>
  /** Card collection; null when this installation has no card processor. */
  cards: { read: ReadCardEvent; checkoutOrigin: string } | null
  limits: RequestLimits
  idempotency: Idempotency
  operations: OperationStore
  /** Goes on with what was answered 202. */
  follow: Follow
  audit: Audit
  /** The renderer is switched off: nothing new is drawn. */
  pdfOff?: boolean
  namespace: string
  publicUrl: string
  now: () => Date
}

/** To write desire. */
export type Writing = Pick<Deps, 'kube' | 'namespace'>

/** To report a fact: keep it, wake who decides it, wait for the decision. */
export type Reporting = Pick<Deps, 'appendFact' | 'ledger' | 'wake' | 'waiter' | 'mirror' | 'now'>

/** To answer a request with its verdict, or with where that will stand. */
export type Settling = Pick<Deps, 'waiter' | 'mirror' | 'operations' | 'follow' | 'now'>

/** To change desire or report a fact, under a name that nobody else can take, and answer with what came of it. */
export type Commanding = Writing & Reporting & Settling & Pick<Deps, 'keys' | 'deletions'>

/** To find the verdict of what was answered 202. */
export type ReadingVerdicts = Writing & Pick<Deps, 'operations' | 'mirror' | 'now'>
