/** The look at names that are due, of sites and of apps: of domains, and of base domains, which what is below them follows. */
import { randomBytes } from 'node:crypto'
import { authoritiesOf } from '../../../crds/names/caa.ts'
import { type LookedName, lookedAt, type NameLook, soonerLook } from '../../../crds/names/life.ts'
import { recordsOf, type WantedProof } from '../../../crds/names/proof.ts'
import { domainOfBase } from '../../../crds/names/wildcard.ts'
import { SITE } from '../../../crds/site/kind.ts'
import type { NameMail } from '../../../crds/site/names/mail.ts'
import { type LookForProof, makeLookForProof } from '../../net/proof.ts'
import { type DueName, makeNameLooks, type NameLooks } from '../../store/site/names.ts'
import type { Context } from '../context.ts'
import { siteAddresses } from '../site/hosts.ts'
import { byOf, messageIdOf } from '../site/names.ts'
import { type Proving, proofOf } from './proof.ts'

/** Names read at once, and asked about at once. */
const BATCH = 64
const LANES = 16

export type NameSweep = {
  looks: NameLooks
  lookFor: LookForProof
  /** Who else is to be looked at when a look changed something. */
  deps: Proving & Pick<Context, 'now' | 'wake' | 'ledger' | 'accounts' | 'publicUrl' | 'mailDomain' | 'onQueued'>
}

/** Nobody has set such a name by itself. */
const PROBE_BYTES = 8
const probeBelow = (domain: string): string => `probe-${randomBytes(PROBE_BYTES).toString('hex')}.${domain}`

/** What a host has to be found by. */
const reachOf = (deps: Proving, host: string): WantedProof['reach'] => {
  const found = deps.hosts.list().find(({ name }) => name === host)
  return found && { addresses: [found.publicAddress], authorities: authoritiesOf(found.acmeDirectory) }
}

const wantedOf = (deps: Proving, { account, name, state, host }: DueName): WantedProof => {
  const reach = host === null ? undefined : reachOf(deps, host)
  const wanted = { ...proofOf(deps, account, name), ...(reach && { reach }) }
  const domain = domainOfBase(name)
  if (domain === null) return wanted
  const addresses = siteAddresses(deps)
  return { ...wanted, wildcard: { probe: probeBelow(domain), addresses, isNeeded: state === 'asked' } }
}

/** A look that changed nothing tells nobody anew: the purpose of a mail names this stay in its state. */
const mailOwner = async ({ deps }: NameSweep, { account, name }: DueName, looked: LookedName, at: string) => {
  const { state, missingSince, until } = looked
  const mail = state === 'missing' ? 'base-missing' : state === 'lapsed' ? 'base-lapsed' : null
  const domain = domainOfBase(name)
  const to = deps.accounts.get(account)?.email
  if (mail === null || domain === null || !to) return
  const purpose = `${mail}:${domain}:${missingSince ?? until}`
  const payload: NameMail = {
    ...{ mail, to, domain, site: '', records: recordsOf(proofOf(deps, account, name)) },
    ...{ by: byOf(looked), url: deps.publicUrl },
  }
  const messageId = messageIdOf(deps, account, purpose)
  const queued = { kind: SITE.kind, account, purpose, messageId, payload }
  await deps.ledger.notifyOwner({ resource: account, at, fact: null, mail: queued, giveBack: null })
  deps.onQueued()
}

/** All sites of the account: their names follow. */
const followBase = async (sweep: NameSweep, due: DueName, looked: LookedName, at: string): Promise<void> => {
  await mailOwner(sweep, due, looked, at)
  if (looked.state === due.state) return
  for (const { kind, name } of await sweep.looks.holdersOf(due.account)) sweep.deps.wake(kind, name)
}

const APP_MARK = 'App/'

const wakeHolder = (deps: NameSweep['deps'], { site }: Pick<DueName, 'site'>): void => {
  if (site.startsWith(APP_MARK)) deps.wake('App', site.slice(APP_MARK.length))
  else deps.wake(SITE.kind, site)
}

const isContest = (due: DueName, look: NameLook): boolean => look.found !== null && due.holder !== null

/** Of an app's name that is proven, and leads elsewhere or forbids the CA: its owner is about to set the rest. Null for any other. */
const againAt = ({ host, askedAt }: DueName, { checks }: NameLook, at: string): string | null =>
  host !== null && checks?.some(({ ok }) => !ok) === true ? soonerLook(askedAt, at) : null

const lookAtName = async (sweep: NameSweep, due: DueName): Promise<void> => {
  const { looks, lookFor, deps } = sweep
  const look = await lookFor(wantedOf(deps, due))
  const at = deps.now().toISOString()
  if (due.proof === 'base') {
    await looks.keepChecks(due, { checks: look.checks ?? null, dueAt: againAt(due, look, at) }, at)
    wakeHolder(deps, due)
    return
  }
  const next = lookedAt(due, look, due, at)
  const again = againAt(due, look, at)
  const looked = again !== null && again < next.dueAt ? { ...next, dueAt: again } : next
  const kept = await looks.keep(due, looked, at, isContest(due, look))
  if (kept !== 'kept') return
  if (domainOfBase(due.name) === null) wakeHolder(deps, due)
  else await followBase(sweep, due, looked, at)
}

/** Looks at all that is due. @returns how many names were looked at */
export const sweepNames = async (sweep: NameSweep): Promise<number> => {
  const due = await sweep.looks.due(sweep.deps.now(), BATCH)
  const waiting = [...due]
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await lookAtName(sweep, next)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return due.length
}

export const makeNameSweep = (context: Context): NameSweep => ({
  looks: makeNameLooks(context),
  lookFor: makeLookForProof(context.nameServers),
  deps: context,
})
