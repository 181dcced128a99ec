/**
 * Hosts that are driven over SSH: what controllers may ask of one. Everything goes over one small pool of connections per
 * host; the key is checked before anything is said to it, and a host that is not approved is refused. A kind that works on
 * hosts follows the kind Host (controllers/kinds/kind-controller.ts), so that it is woken when one changes. Source:
 * rules/host.md#connections, #the-proxy.
 */

import { BUILDER, GATE, REGISTRIES } from '../../../crds/host/builds.ts'
import { capacityOf } from '../../../crds/host/capacity.ts'
import type { AddressRule } from '../../../crds/host/faults.ts'
import { archOf } from '../../../crds/host/inspect.ts'
import type { HostResource } from '../../../crds/host/plan.ts'
import { budgetOf, proxyOf } from '../../../crds/host/proxy.ts'
import { makeHost, type OneHost } from './host.ts'
import { HostMissing } from './hosterrors.ts'
import type { HostJobState, Job } from './jobs.ts'
import type { Hosts, HostsDeps, LinkedHostFacts } from './link.ts'
import type { Lane } from './pool.ts'
import type { RemoteBody, RemoteScript, RunResult } from './remote.ts'
import type { RouteDrift } from './routes.ts'
import { makeOwnLooks } from './tls/ownlooks.ts'
import { visit } from './tls/served.ts'

export type { HostJobState, Job, Lane, RemoteBody, RemoteScript, RouteDrift, RunResult }

const isTrue = ({ status, metadata }: HostResource, type: string): boolean =>
  status?.conditions?.some(
    (one) => one.type === type && one.status === 'True' && one.observedGeneration === metadata.generation,
  ) ?? false

const factsOf = (object: HostResource): LinkedHostFacts => {
  const { metadata, spec, status } = object
  const { httpPort, httpsPort, acme } = proxyOf(spec)
  return {
    name: metadata.name,
    account: spec.account ?? null,
    class: spec.class,
    approved: spec.approved,
    ready: spec.approved && isTrue(object, 'Ready'),
    arch: archOf(status?.arch ?? ''),
    baseDomain: spec.baseDomain ?? null,
    publicAddress: spec.publicAddress ?? spec.address,
    httpPort,
    httpsPort,
    acmeDirectory: acme?.directory ?? null,
    siteRoot: spec.siteRoot ?? null,
    takesSites: spec.takesSites,
    budget: budgetOf(spec),
    capacity: capacityOf(spec, status),
    remapsUsers: status?.isolation?.users === 'remapped',
    isCordoned: spec.cordoned,
    builds: {
      registries: spec.registries ?? REGISTRIES,
      packages: spec.packages ?? null,
      builder: spec.builder ?? BUILDER,
      gate: spec.gate ?? GATE,
    },
  }
}

export const makeHosts = (deps: HostsDeps): Hosts => {
  const { held, namespace, rows, credentials } = deps
  const known = new Map<string, OneHost>()
  const own = makeOwnLooks()
  const objectOf = (name: string) => held.get(`${namespace}/${name}`)

  const addressRule = (name: string): AddressRule => {
    if (objectOf(name)?.spec.account === undefined) return 'any'
    return deps.allowLoopback ? 'public-or-loopback' : 'public'
  }

  const hostOf = (name: string): OneHost => {
    const found = known.get(name) ?? makeHost({ ...deps, name, object: () => objectOf(name), addressRule })
    known.set(name, found)
    return found
  }

  return {
    link: (name) => hostOf(name).link,
    routes: (name) => hostOf(name).routes,
    facts: (name) => {
      const object = objectOf(name)
      return object ? factsOf(object) : null
    },
    list: () => held.list().map(factsOf),
    inspect: (name, signal) => hostOf(name).inspect(signal),
    tls: (name) => hostOf(name).tls(),
    certificates: (name) => hostOf(name).certificates(),
    authorityOf: (name, hostname) => hostOf(name).authorityOf(hostname),
    certificatesOf: (name, hostnames) => hostOf(name).certificatesOf(hostnames),
    visit: async (name, page) => {
      const visited = await own.during(name, page.hostname, () => visit(() => hostOf(name).tls(), page))
      return { status: visited.status, detail: visited.status === null ? visited.detail : null }
    },
    visited: own.of,
    hasCredential: async (name) => {
      const object = objectOf(name)
      if (!object) throw new HostMissing(name)
      return (await credentials.open(name, object.spec.credentialVersion)) !== null
    },
    addressRule,
    forget: async (name) => {
      await rows.forget(name)
      void known.get(name)?.drain()
      known.delete(name)
      own.forget(name)
    },
    close: async () => {
      await Promise.all([...known.values()].map((host) => host.drain()))
    },
  }
}
