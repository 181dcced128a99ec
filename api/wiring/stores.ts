/**
 * The stores that handlers are given, each made once for a process: main.ts, the crash sweep and the benches take the same.
 * A further kind adds its store here, and who counts what is used of its quota.
 */
import type { Keys } from '../../controllers/base/keys.ts'
import { makeAccounts } from '../../controllers/store/account/accounts.ts'
import { makeSshKeys } from '../../controllers/store/account/sshkeys.ts'
import { makeAppStore } from '../../controllers/store/app/app.ts'
import { makeBackupStore } from '../../controllers/store/app/backups.ts'
import { makeAppEpisodeReader } from '../../controllers/store/app/episodes.ts'
import { makeAccessLinks } from '../../controllers/store/app/publishing/links.ts'
import { makeAppNames } from '../../controllers/store/app/publishing/names.ts'
import { makeAppPlans } from '../../controllers/store/app/publishing/plans.ts'
import { makeAppPreviews } from '../../controllers/store/app/publishing/previews.ts'
import { makeRegistries } from '../../controllers/store/app/registries.ts'
import { makeAppVault } from '../../controllers/store/app/releases.ts'
import { makeRunStore } from '../../controllers/store/app/runs.ts'
import { makeAppUploads } from '../../controllers/store/app/sources.ts'
import { makeUsageReader } from '../../controllers/store/app/usage.ts'
import { makeAuditReader } from '../../controllers/store/audit.ts'
import { makeBlobs } from '../../controllers/store/blobs.ts'
import { makeDevInstances } from '../../controllers/store/devinstance/devinstances.ts'
import { makeCertificateReader } from '../../controllers/store/host/certificates.ts'
import { type HostCredentials, makeCredentials, makeHostReader } from '../../controllers/store/host/hosts.ts'
import { makeAllowance } from '../../controllers/store/invoice/ai-quota.ts'
import { makeBooks } from '../../controllers/store/invoice/books.ts'
import { makeDocuments } from '../../controllers/store/invoice/documents.ts'
import { makeIssuers } from '../../controllers/store/invoice/issuers.ts'
import { makeSendQuota } from '../../controllers/store/invoice/send-quota.ts'
import { makeAskDeletion, makeOriginReader } from '../../controllers/store/ledger/desires.ts'
import { makeAppendFact } from '../../controllers/store/ledger/facts.ts'
import { makeLedgerReader } from '../../controllers/store/ledger/ledger.ts'
import { makeQuarantine } from '../../controllers/store/ledger/quarantine.ts'
import { makeShowRow } from '../../controllers/store/mirror.ts'
import type { Pg } from '../../controllers/store/pg/pg.ts'
import { makeBaseStore } from '../../controllers/store/site/bases.ts'
import { makeMessages } from '../../controllers/store/site/messages.ts'
import { makeProvenances } from '../../controllers/store/site/provenances.ts'
import { makeReviewQueue } from '../../controllers/store/site/reviews.ts'
import { makeSiteReservations } from '../../controllers/store/site/sites.ts'
import { makeVisitReader } from '../../controllers/store/site/visits.ts'
import { makeEndpoints } from '../../controllers/store/webhook/endpoints.ts'
import type { QuotaName } from '../../crds/account/quotas.ts'
import { usdOf } from '../../crds/devinstance/sizing/prices.ts'
import { makeGateDecisions } from '../app/publishing/gate/decisions.ts'
import { makeAttempts } from '../auth/attempts.ts'
import { writing } from '../command/written.ts'
import { makeVault } from '../devinstance/vault.ts'
import { makeFlood } from '../site/live/messages/flood.ts'

export type StoreDeps = {
  pg: Pg
  keys: Keys
  /** How long a commit that could go at once waits for company; none when left out. */
  gatherMs?: () => number
}

/** Several requests share a statement, so that each counts its own report (command/written.ts). */
const counted =
  (append: ReturnType<typeof makeAppendFact>): ReturnType<typeof makeAppendFact> =>
  (fact) =>
    writing(() => append(fact))

/** Without what opens them. */
const sealing = ({ put, takeBack, versionOf }: HostCredentials): Omit<HostCredentials, 'open'> => ({
  put,
  takeBack,
  versionOf,
})

/** The API reads the ledger and the mirror, and writes nothing but resources, facts and settings. */
export const makeStores = ({ pg, keys, gatherMs }: StoreDeps) => {
  const blobs = makeBlobs({ pg })
  const apps = makeAppStore({ pg, sealer: keys.sealer('app-env') })
  return {
    ledger: makeLedgerReader({ pg }),
    /** Under which uid the rows of a resource know it. */
    origins: makeOriginReader({ pg }),
    /** What is asked to be deleted is on record before the cluster is asked. */
    deletions: makeAskDeletion({ pg }),
    appendFact: counted(makeAppendFact({ pg, epoch: null })),
    /** Shows what was asked until the controllers have judged it. */
    show: makeShowRow({ pg }),
    blobs,
    documents: makeDocuments({ pg }),
    issuers: makeIssuers({ pg }),
    books: makeBooks({ pg }),
    hosts: makeHostReader({ pg }),
    /** What the CAs of hosts would say to new names. */
    certificates: makeCertificateReader({ pg }),
    /** Private keys of hosts: written here, opened by the controllers. */
    credentials: sealing(makeCredentials({ pg, keys })),
    /** Webhook endpoints, their deliveries and the events of accounts. */
    endpoints: makeEndpoints({ pg, sealer: keys.sealer('webhook-secret') }),
    attempts: makeAttempts({ pg }),
    accounts: makeAccounts({ pg }),
    sshKeys: makeSshKeys({ pg }),
    sendQuota: makeSendQuota({ pg, ...(gatherMs && { gatherMs }) }),
    /** Questions to the language model, counted by day. */
    allowance: makeAllowance({ pg }),
    devInstances: makeDevInstances({ pg }),
    vault: makeVault(keys),
    apps,
    /** Domains of apps, plans, and links that open private ones. */
    publishing: {
      ...makeAppNames({ pg }),
      ...makeAppPlans({ pg }),
      ...makeAccessLinks({ pg }),
      decisions: makeGateDecisions(),
    },
    previews: makeAppPreviews({ pg }),
    /** What was uploaded for apps. */
    uploads: makeAppUploads({ pg }),
    /** Logins of accounts for registries. */
    registries: makeRegistries({ pg, sealer: keys.sealer('app-registry') }),
    /** Sealed releases, for what a deploy would change. */
    releases: makeAppVault({ pg, blobs, source: apps.source, sealer: keys.sealer('app-release') }),
    /** Commands that are run in apps, and what they print. */
    runs: makeRunStore({ pg, sealer: keys.sealer('app-env') }),
    backups: makeBackupStore({ pg, blobs }),
    auditReader: makeAuditReader({ pg }),
    /** What was set aside after bounded tries. */
    quarantine: makeQuarantine({ pg }),
    sites: makeSiteReservations({ pg }),
    bases: makeBaseStore({ pg }),
    visits: makeVisitReader({ pg }),
    /** What apps were asked and used, and when they were not as they are to be. */
    usage: makeUsageReader({ pg }),
    episodes: makeAppEpisodeReader({ pg }),
    /** What visitors wrote to sites. */
    messages: makeMessages({ pg, keys }),
    flood: makeFlood({ pg }),
    /** What drafted sites rest on. */
    provenances: makeProvenances({ pg }),
    /** What waits for a decision, over all accounts: for who decides. */
    reviews: makeReviewQueue({ pg }),
  }
}

export type Stores = ReturnType<typeof makeStores>

type Used = Partial<Record<QuotaName, number>>
/** Who counts what is used of each quota. */
export type QuotaStores = {
  sendQuota: Pick<Stores['sendQuota'], 'used'>
  allowance: Pick<Stores['allowance'], 'used'>
  sites: Pick<Stores['sites'], 'used'>
  messages: Pick<Stores['messages'], 'used'>
  devInstances: Pick<Stores['devInstances'], 'committed'>
  endpoints: Pick<Stores['endpoints'], 'list'>
  apps: Pick<Stores['apps'], 'storedBytes'>
}

/** How much of each quota an account has used. @param day the day in which daily quotas count */
export const usedQuotas = async (stores: QuotaStores, account: string, day: string): Promise<Used> => {
  const counted: Used[] = await Promise.all([
    stores.sendQuota.used(account, day).then((sends) => ({ sends_per_day: sends })),
    stores.allowance.used(account, day),
    stores.sites.used(account, day).then(({ sites, publishes }) => ({ sites, publishes_per_day: publishes })),
    stores.messages.used(account, day).then((messages) => ({ messages_per_day: messages })),
    stores.devInstances.committed(account).then((committed) => ({ devbox_cost_cap_usd: usdOf(committed) })),
    stores.apps.storedBytes(account).then((bytes) => ({ app_storage_mib: Math.ceil(bytes / 1_048_576) })),
    stores.endpoints.list(account).then((endpoints) => ({ webhook_endpoints: endpoints.length })),
  ])
  return Object.assign({}, ...counted)
}
