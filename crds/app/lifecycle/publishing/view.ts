/** How the domains of an app stand, over REST and in the status. Every key is always there. */
import { isServed, type NameState, type ProofCheck } from '../../../names/life.ts'
import { type OwnName, recordLine } from '../../../names/name.ts'
import type { ProofRecord } from '../../../names/proof.ts'
import { shownName } from '../../../values/hostname.ts'
import type { AppFacts, AppSpec } from '../../schema.ts'
import { domainRefusal, domainsOf } from './domains.ts'
import type { AppNaming, ReachedName, ReachSeen } from './naming.ts'

export type DomainCertificate = { state: NonNullable<ReachedName['certificate']>; not_after: string | null }

export type DomainView = {
  hostname: string
  unicode: string
  /** managed: below the base domain of the host, by the slug. */
  kind: 'managed' | 'own'
  /** A name of another site or app of the account is `taken`. */
  state: NameState | 'taken'
  verified: boolean
  /** The host's proxy lets visitors in by it. */
  served: boolean
  /** As it was found last; null before that. */
  certificate: DomainCertificate | null
  records: ProofRecord[]
  checks: ProofCheck[]
  looked_at: string | null
  next_look_at: string | null
  missing_since: string | null
  kept_until: string | null
  /** Why it is not served. */
  code: string | null
  reason: string | null
}

type Seen = { naming: AppNaming; reach: ReachSeen | null }

const certificateOf = ({ reach }: Seen, hostname: string): DomainCertificate | null => {
  const found = reach?.names.find((one) => one.hostname === hostname)
  // While the first look at it goes on nothing is known of it.
  if (!found || found.certificate === null) return null
  return { state: found.certificate, not_after: found.notAfter }
}

const NOTHING = { records: [], checks: [], looked_at: null, next_look_at: null, missing_since: null, kept_until: null }

const managedView = (world: Seen, hostname: string): DomainView => ({
  ...NOTHING,
  hostname,
  unicode: shownName(hostname),
  kind: 'managed',
  state: 'verified',
  verified: true,
  served: world.reach?.names.some((one) => one.hostname === hostname) ?? false,
  certificate: certificateOf(world, hostname),
  code: null,
  reason: null,
})

/** All checks of the last look: the proof, where it leads, whom it lets issue. */
export const isVerified = ({ state, checks }: Pick<OwnName, 'state' | 'checks'>): boolean =>
  isServed(state) && checks?.every(({ ok, type }) => ok || type === 'TXT' || type === 'CNAME') === true

/** @param one undefined before it was claimed */
export const ownDomainView = (hostname: string, one: OwnName | undefined, world: Seen): DomainView => {
  const shown = { hostname, unicode: shownName(hostname), kind: 'own' as const }
  if (one === undefined) {
    const isTaken = world.naming.taken.includes(hostname)
    return {
      ...NOTHING,
      ...shown,
      state: isTaken ? 'taken' : 'free',
      verified: false,
      served: false,
      certificate: null,
      code: isTaken ? 'DOMAIN_TAKEN' : null,
      reason: isTaken ? `${hostname} is another site's or app's of the account` : null,
    }
  }
  const refusal = domainRefusal(one)
  return {
    ...shown,
    state: one.state,
    verified: isVerified(one),
    served: one.routed,
    certificate: certificateOf(world, hostname),
    records: one.records,
    checks: one.checks ?? [],
    looked_at: one.lookedAt,
    next_look_at: one.dueAt,
    missing_since: one.missingSince,
    kept_until: one.until,
    code: refusal?.code ?? null,
    reason: refusal?.detail ?? null,
  }
}

const heldAs = ({ naming }: Seen, domain: string): OwnName | undefined =>
  naming.names.find(({ name }) => name === domain)

/** @param managed the hostname below the host's base domain; null where there is none */
export const domainViews = (spec: Pick<AppSpec, 'domains'>, world: Seen, managed: string | null): DomainView[] => [
  ...(managed === null ? [] : [managedView(world, managed)]),
  ...domainsOf(spec).map((domain) => ownDomainView(domain, heldAs(world, domain), world)),
]

const RECORDS_MAX = 4

/** What the status says of them: the records stay there, so that whoever works with kubectl knows what to set. */
export const domainsStatus = (spec: Pick<AppSpec, 'domains'>, world: Seen): Pick<AppFacts, 'domains'> => {
  const domains = domainsOf(spec)
  if (domains.length === 0) return {}
  return {
    domains: domains.map((name) => {
      const one = heldAs(world, name)
      const { state } = ownDomainView(name, one, world)
      const records = (one?.records ?? []).map(recordLine).slice(0, RECORDS_MAX)
      return { name, state, ...(records.length > 0 && { records }) }
    }),
  }
}
