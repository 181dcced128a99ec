/** The hosts that an account may put apps on, as their resources say. */
import { isNotFound } from '../../controllers/base/errors.ts'
import type { MirrorRow } from '../../controllers/store/mirror.ts'
import type { Budget } from '../../crds/app/compose/project.ts'
import { budgetOf as askedBudgetOf, roomFault, roomFor } from '../../crds/app/lifecycle/keeping/budget.ts'
import { singleFault } from '../../crds/app/lifecycle/scaling/scale.ts'
import type { AppBudget } from '../../crds/app/schema.ts'
import type { AppView } from '../../crds/app/view.ts'
import type { TargetHost } from '../../crds/app/world.ts'
import { capacityOf } from '../../crds/host/capacity.ts'
import { archOf } from '../../crds/host/inspect.ts'
import { HOST } from '../../crds/host/kind.ts'
import type { HostResource } from '../../crds/host/plan.ts'
import { budgetOf, proxyOf } from '../../crds/host/proxy.ts'
import { mayUseHost } from '../../crds/kernel/fields.ts'
import { Problem } from '../http/problem.ts'
import type { Writing } from '../wiring/deps.ts'
import type { AppNeeds } from './needs.ts'

const isReady = ({ status }: HostResource): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

/** `publicAddress`: where visitors reach it. `freeGib`: of its disk, as it was inspected last; null where it was not. */
export type AppHost = TargetHost & { publicAddress: string; freeGib: number | null }

const targetHostOf = (object: HostResource): AppHost => {
  const { metadata, spec, status } = object
  return {
    name: metadata.name,
    account: spec.account ?? null,
    class: spec.class,
    approved: spec.approved,
    ready: spec.approved && isReady(object),
    arch: archOf(status?.arch ?? ''),
    baseDomain: spec.baseDomain ?? null,
    siteRoot: spec.siteRoot ?? null,
    httpsPort: proxyOf(spec).httpsPort,
    budget: budgetOf(spec),
    capacity: capacityOf(spec, status),
    remapsUsers: status?.isolation?.users === 'remapped',
    isCordoned: spec.cordoned,
    publicAddress: spec.publicAddress ?? spec.address,
    freeGib: status?.disk?.freeGib ?? null,
  }
}

const HOSTS_MAX = 500

/** Those that the account may use, its own first. */
export const hostsFor = async ({ kube, namespace }: Writing, account: string): Promise<AppHost[]> => {
  const { items } = await kube.list<HostResource>(HOST, { namespace, limit: HOSTS_MAX })
  const usable = items.map(targetHostOf).filter((host) => mayUseHost(host, account))
  return usable.sort((a, b) => Number(b.account !== null) - Number(a.account !== null) || (a.name < b.name ? -1 : 1))
}

/** @throws Problem HOST_MISSING for one that is not there, or another account's */
export const hostOf = async ({ kube, namespace }: Writing, name: string, account: string): Promise<AppHost> => {
  const object = await kube.get<HostResource>(HOST, { namespace, name }).catch((error) => {
    if (isNotFound(error)) return null
    throw error
  })
  const host = object && targetHostOf(object)
  if (!host || !mayUseHost(host, account)) throw new Problem('HOST_MISSING', `There is no host ${name}.`)
  return host
}

/** Live changes run on approved hosts only (rules/app.md#approved-hosts). @throws Problem HOST_NOT_APPROVED, HOST_UNFIT */
export const refuseUnfit = (host: TargetHost): void => {
  if (!host.approved) throw new Problem('HOST_NOT_APPROVED', `Host ${host.name} is not approved.`)
  if (host.baseDomain === null) throw new Problem('HOST_UNFIT', `Host ${host.name} has no base domain.`)
}

type Reserving = { app: string; account: string; host: TargetHost; wanted: Budget }

/** Takes room on the host, or another size of it. @throws Problem HOST_FULL with the figures */
export const reserveRoom = async (
  { apps }: Pick<AppNeeds, 'apps'>,
  { app, account, host, wanted }: Reserving,
): Promise<void> => {
  const limits = host.capacity
  const { outcome, held, others } = await apps.takeRoom({ app, account, host: host.name, wanted, limits })
  if (outcome !== 'refused') return
  const why = roomFault(host.name, { wanted, held, others, limits })
  throw new Problem('HOST_FULL', `${why ?? `${host.name} is full`}.`)
}

const budgetIn = (view: AppView['budget']): AppBudget | undefined =>
  view === null ? undefined : { cpuMillis: view.cpu_millis, memoryMib: view.memory_mib, diskGib: view.disk_gib }

const larger = (a: Budget, b: Budget): Budget => ({
  cpuMillis: Math.max(a.cpuMillis, b.cpuMillis),
  memoryMib: Math.max(a.memoryMib, b.memoryMib),
  diskGib: Math.max(a.diskGib, b.diskGib),
})

/**
 * Room for another budget, or for another number of replicas. What runs counts until it was given less.
 * @param asked what is left out stays as it is; a budget of null is that of the host
 * @throws Problem HOST_FULL with the figures; REPLICAS_REFUSED where the live release can have one alone
 */
export const reserveReplicas = async (
  deps: AppNeeds,
  { name, account, view }: MirrorRow<AppView>,
  asked: { budget?: AppBudget | null; replicas?: number },
): Promise<void> => {
  const { budget = budgetIn(view.budget), replicas = view.replicas.wanted } = asked
  const fault = singleFault((await deps.apps.live(name))?.record, replicas)
  if (fault !== null) {
    const [pointer = '', ...words] = fault.split(' ')
    const detail = `${words.join(' ')}.`
    throw new Problem('REPLICAS_REFUSED', detail, { faults: [{ code: 'REPLICAS_REFUSED', pointer, detail }] })
  }
  const host = await hostOf(deps, view.host_id, account)
  const next = roomFor(askedBudgetOf(budget ?? undefined, host.budget), replicas)
  const applied = budgetIn(view.applied_budget)
  const wanted = applied ? larger(next, roomFor(applied, view.replicas.live ?? 1)) : next
  await reserveRoom(deps, { app: name, account, host, wanted })
}
