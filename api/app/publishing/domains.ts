/**
 * The domains of an app over REST: planned, verified by what the DNS says, applied (rules/app.md#domains). Nobody is asked here:
 * the leader looks at the DNS, and the answer to a verify is what it saw (hack/decisions/055).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { domainListFaults, domainRefusal } from '../../../crds/app/lifecycle/publishing/domains.ts'
import type { AppNaming } from '../../../crds/app/lifecycle/publishing/naming.ts'
import { type DomainPlan, domainEtag, type PublishingPlan } from '../../../crds/app/lifecycle/publishing/plans.ts'
import { isVerified, ownDomainView } from '../../../crds/app/lifecycle/publishing/view.ts'
import { DOMAINS_MAX } from '../../../crds/app/schema.ts'
import type { AppView } from '../../../crds/app/view.ts'
import type { Fault } from '../../../crds/kernel/problem.ts'
import { isDomain, type OwnName, provenName } from '../../../crds/names/name.ts'
import { addressRecord, PROOF_KEY, type ProofRecord, proofToken, recordsOf } from '../../../crds/names/proof.ts'
import { proofFor } from '../../../crds/names/twin.ts'
import { typedName } from '../../../crds/values/hostname.ts'
import { nameFor } from '../../command/name.ts'
import { WAIT_MS } from '../../command/wait.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { hostsFor } from '../hosts.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'
import { apply, staleFor } from './applying.ts'

const POLL_MS = 250

type Row = MirrorRow<AppView>
type Sent = { step: 'plan' | 'verify' | 'apply'; hostnames?: string[]; plan_id?: string }

const ownOf = ({ view }: Row): string[] =>
  view.domains.flatMap(({ kind, hostname }) => (kind === 'own' ? [hostname] : []))

const etagOf = (row: Row): string =>
  domainEtag({ domains: ownOf(row), ...(row.view.domain_plan !== null && { domainPlan: row.view.domain_plan }) })

/** As they are kept: people type capitals, their own letters, and whole addresses. @throws Problem BAD_DOMAIN */
const typed = (hostnames: readonly string[]): string[] => {
  const understood = hostnames.map((hostname) => typedName(hostname))
  const faults = understood.flatMap((one, place): Fault[] =>
    'fault' in one ? [{ code: 'BAD_DOMAIN', pointer: `/hostnames/${place}`, detail: one.fault }] : [],
  )
  refuseFaults(faults)
  return understood.flatMap((one) => ('name' in one ? [one.name] : []))
}

const rulesFor = async (deps: AppNeeds, account: string): Promise<AppNaming['rules']> => {
  const [bases, hosts] = await Promise.all([deps.sites.baseDomains(), hostsFor(deps, account)])
  const own = hosts.flatMap(({ baseDomain }) => (baseDomain === null ? [] : [baseDomain]))
  return { baseDomains: [...new Set([...bases, ...own])], testDomains: deps.allowLoopback }
}

/** @throws Problem BAD_DOMAIN */
const askedIn = async (deps: AppNeeds, { account }: Row, { hostnames }: Sent): Promise<string[]> => {
  const names = typed(hostnames ?? [])
  refuseFaults(domainListFaults(names, await rulesFor(deps, account), '/hostnames'))
  return names
}

/** The names with the records that prove them, as they stand now. */
const namingNow = async (deps: AppNeeds, { name: app, account, view }: Row, wanted: string[]): Promise<AppNaming> => {
  const [{ names, taken }, baseDomains] = await Promise.all([
    deps.publishing.list(app, account, wanted),
    deps.sites.baseDomains(),
  ])
  const key = deps.keys.lastingKey(PROOF_KEY)
  const tokenOf = (of: string) => proofToken(key, account, of)
  const withRecords = (one: Omit<OwnName, 'records'>): OwnName => ({
    ...one,
    records: isDomain(one.name) ? recordsOf(proofFor(provenName(one), { baseDomains, tokenOf })) : [],
  })
  const rules = { baseDomains, testDomains: deps.allowLoopback }
  return { names: names.map(withRecords), taken, rules, address: view.host_address }
}

const CHANGES = { add: 'add', keep: 'keep', remove: 'remove' } as const

/** What an owner has to set, and what was found of it. */
const viewPlanned = (row: Row, naming: AppNaming, hostname: string, change: keyof typeof CHANGES) => {
  const one = naming.names.find(({ name }) => name === hostname)
  const view = ownDomainView(hostname, one, { naming, reach: null })
  const certificate = row.view.domains.find((shown) => shown.hostname === hostname)?.certificate ?? null
  const lead = row.view.host_address === null ? [] : [addressRecord(hostname, row.view.host_address)]
  const records: ProofRecord[] = change === 'remove' ? [] : [...view.records, ...lead]
  return { ...view, certificate, change, records }
}

const verifiedIn = (naming: AppNaming, hostname: string): boolean => {
  const one = naming.names.find(({ name }) => name === hostname)
  return one !== undefined && isVerified(one)
}

const takenProblem = (faults: Fault[]): Problem =>
  new Problem('DOMAIN_TAKEN', `${faults.map(({ detail }) => detail).join('; ')}.`, { faults })

/** @param how strict: names that another account holds are refused too; beside: they may be contested by a record */
const claim = async (deps: AppNeeds, row: Row, hostnames: string[], how: 'strict' | 'beside'): Promise<void> => {
  const outcomes = await deps.publishing.claim(row.name, row.account, hostnames, how)
  const faults = outcomes.flatMap(({ name, outcome }): Fault[] => {
    const pointer = `/hostnames/${hostnames.indexOf(name)}`
    if (outcome === 'refused') {
      return [{ code: 'DOMAIN_TAKEN', pointer, detail: `${name} is another site's or app's of this account` }]
    }
    if (outcome !== 'others') return []
    return [{ code: 'DOMAIN_TAKEN', pointer, detail: `${name} is proven by another account` }]
  })
  if (faults.length > 0) throw takenProblem(faults)
}

const planDomains = async (deps: AppNeeds, request: ApiRequest, row: Row, sent: Sent): Promise<Answer> => {
  const hostnames = await askedIn(deps, row, sent)
  await claim(deps, row, hostnames, 'strict')
  const own = ownOf(row)
  const naming = await namingNow(deps, row, [...hostnames, ...own])
  const etag = etagOf(row)
  const id = nameFor('plan', request)
  const body: DomainPlan = { hostnames }
  const createdAt = deps.now().toISOString()
  await deps.publishing.put({ id, app: row.name, account: row.account, sort: 'domain-config', etag, body, createdAt })
  const shown = [
    ...hostnames.map((one) => viewPlanned(row, naming, one, own.includes(one) ? 'keep' : 'add')),
    ...own.filter((one) => !hostnames.includes(one)).map((one) => viewPlanned(row, naming, one, 'remove')),
  ]
  return {
    status: 200,
    headers: { etag },
    body: {
      step: 'plan',
      plan_id: id,
      etag,
      managed: row.view.domains.find(({ kind }) => kind === 'managed')?.hostname ?? null,
      hostnames: shown,
      builds: false,
      restarts: false,
    },
  }
}

/** What the leader saw since it was asked; what it saw before, where that takes longer than a request waits. */
const verifyDomains = async (deps: AppNeeds, row: Row, sent: Sent): Promise<Answer> => {
  const plan = sent.plan_id === undefined ? null : await deps.publishing.plan(sent.plan_id)
  if (sent.plan_id !== undefined && (plan?.app !== row.name || plan.sort !== 'domain-config')) {
    throw new Problem('UNKNOWN_PLAN', `There is no plan ${sent.plan_id} of ${row.name}.`)
  }
  const planned = plan === null ? ownOf(row) : (plan.body as DomainPlan).hostnames
  const hostnames = sent.hostnames === undefined ? planned : await askedIn(deps, row, sent)
  if (hostnames.length > 0) await claim(deps, row, hostnames, 'beside')
  const askedAt = await deps.publishing.askLook(row.name, hostnames)
  const endMs = performance.now() + WAIT_MS
  const isAnswered = ({ names }: AppNaming) =>
    hostnames.every((one) => (names.find(({ name }) => name === one)?.lookedAt ?? '') >= askedAt)
  let naming = await namingNow(deps, row, hostnames)
  while (!isAnswered(naming) && performance.now() < endMs) {
    await sleep(POLL_MS)
    naming = await namingNow(deps, row, hostnames)
  }
  const shown = hostnames.map((one) => viewPlanned(row, naming, one, ownOf(row).includes(one) ? 'keep' : 'add'))
  const verified = shown.every((one) => one.verified)
  return { status: 200, headers: { etag: etagOf(row) }, body: { step: 'verify', verified, hostnames: shown } }
}

/** Each name that comes anew has to be proven, to lead to the host and to admit its CA. @throws Problem */
const refuseUnverified = async (deps: AppNeeds, row: Row, { hostnames }: DomainPlan): Promise<void> => {
  const naming = await namingNow(deps, row, hostnames)
  const faults = hostnames.flatMap((hostname, place): Fault[] => {
    const pointer = `/hostnames/${place}`
    if (naming.taken.includes(hostname)) {
      return [{ code: 'DOMAIN_TAKEN', pointer, detail: `${hostname} is another site's or app's of this account` }]
    }
    const one = naming.names.find(({ name }) => name === hostname)
    if (one === undefined) return [{ code: 'DOMAIN_UNPROVEN', pointer, detail: `${hostname} was not verified` }]
    const refusal = verifiedIn(naming, hostname) ? null : domainRefusal(one)
    return refusal === null ? [] : [{ ...refusal, pointer }]
  })
  const [first] = faults
  if (first !== undefined) {
    throw new Problem(first.code, `${faults.map(({ detail }) => detail).join('; ')}.`, { faults })
  }
}

const sameNames = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name, place) => name === other[place])

const applyDomains = (deps: AppNeeds, request: ApiRequest, row: Row, sent: Sent): Promise<Answer> => {
  const hostnamesOf = ({ body }: PublishingPlan) => (body as DomainPlan).hostnames
  return apply(deps, request, {
    row,
    sort: 'domain-config',
    etag: etagOf(row),
    etagOf: domainEtag,
    planId: sent.plan_id,
    async judge(plan) {
      if (sent.hostnames !== undefined && !sameNames(typed(sent.hostnames), hostnamesOf(plan))) {
        throw staleFor(
          plan,
          `is about ${hostnamesOf(plan).join(', ') || 'no hostnames'}, and not about those of this request`,
        )
      }
      await refuseUnverified(deps, row, plan.body as DomainPlan)
    },
    desire: async (plan) => ({ domains: hostnamesOf(plan), domainPlan: plan.id, routing: 'managed' }),
    isApplied: (spec, plan) => spec.domainPlan === plan.id,
  })
}

export const putDomainConfig = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const sent = request.body as Sent
  switch (sent.step) {
    case 'plan': {
      if (sent.hostnames !== undefined) return planDomains(deps, request, row, sent)
      const detail = 'a plan needs hostnames; [] leaves the managed name alone'
      throw new Problem('INVALID_FIELD', `${detail}.`, {
        faults: [{ code: 'INVALID_FIELD', pointer: '/hostnames', detail }],
      })
    }
    case 'verify':
      return verifyDomains(deps, row, sent)
    case 'apply':
      return applyDomains(deps, request, row, sent)
    default:
      return sent.step satisfies never
  }
}

export const getDomainConfig = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { domains, domain_plan, host_address, routing } = row.view
  const etag = etagOf(row)
  const managed = domains.find(({ kind }) => kind === 'managed')?.hostname ?? null
  const config = { hostnames: ownOf(row), managed, domains, host_address, routing, applied_plan_id: domain_plan, etag }
  return { status: 200, headers: { etag }, body: { domain_config: { ...config, hostnames_max: DOMAINS_MAX } } }
}
