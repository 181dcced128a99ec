/** The hosts that an account may put apps on, as their resources say. */
import { isNotFound } from '../../controllers/base/errors.ts'
import { mayUse } from '../../crds/app/plan.ts'
import type { TargetHost } from '../../crds/app/world.ts'
import { archOf } from '../../crds/host/inspect.ts'
import { HOST } from '../../crds/host/kind.ts'
import type { HostResource } from '../../crds/host/plan.ts'
import { budgetOf, proxyOf } from '../../crds/host/proxy.ts'
import { Problem } from '../http/problem.ts'
import type { Writing } from '../wiring/deps.ts'

const isReady = ({ status }: HostResource): boolean =>
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

const targetHostOf = (object: HostResource): TargetHost => {
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
    remapsUsers: status?.isolation?.users === 'remapped',
  }
}

const HOSTS_MAX = 500

/** Those that the account may use, its own first. */
export const hostsFor = async ({ kube, namespace }: Writing, account: string): Promise<TargetHost[]> => {
  const { items } = await kube.list<HostResource>(HOST, { namespace, limit: HOSTS_MAX })
  const usable = items.map(targetHostOf).filter((host) => mayUse(host, account))
  return usable.sort((a, b) => Number(b.account !== null) - Number(a.account !== null) || (a.name < b.name ? -1 : 1))
}

/** @throws Problem HOST_MISSING for one that is not there, or another account's */
export const hostOf = async ({ kube, namespace }: Writing, name: string, account: string): Promise<TargetHost> => {
  const object = await kube.get<HostResource>(HOST, { namespace, name }).catch((error) => {
    if (isNotFound(error)) return null
    throw error
  })
  const host = object && targetHostOf(object)
  if (!host || !mayUse(host, account)) throw new Problem('HOST_MISSING', `There is no host ${name}.`)
  return host
}

/** Live changes run on approved hosts only (rules/app.md#approved-hosts). @throws Problem HOST_NOT_APPROVED, HOST_UNFIT */
export const refuseUnfit = (host: TargetHost): void => {
  if (!host.approved) throw new Problem('HOST_NOT_APPROVED', `Host ${host.name} is not approved.`)
  if (host.baseDomain === null) throw new Problem('HOST_UNFIT', `Host ${host.name} has no base domain.`)
}
