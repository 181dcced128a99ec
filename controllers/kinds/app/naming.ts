/** The names of an app as its plan sees them, with the records that prove them. */
import type { AppNaming } from '../../../crds/app/lifecycle/publishing/naming.ts'
import { hostnameOf } from '../../../crds/app/lifecycle/publishing/url.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import type { AppWorld } from '../../../crds/app/world.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import type { AppNames } from '../../store/app/publishing/names.ts'
import { type Proving, withRecords } from '../names/proof.ts'
import type { ReachLooks } from './health/reach.ts'

export type NamingDeps = Pick<Proving, 'keys'> & {
  hosts: Pick<Hosts, 'list' | 'facts'>
  names: Pick<AppNames, 'list'>
  reachLooks: ReachLooks
  /** Names of no DNS are taken too, for development. */
  testDomains: boolean
}

/** Below which names are a host's to give: of the platform's hosts, and of the app's own. */
const baseDomainsFor = (hosts: Pick<Hosts, 'list'>, own: string): string[] =>
  hosts
    .list()
    .flatMap(({ name, account, baseDomain }) =>
      baseDomain !== null && (account === null || name === own) ? [baseDomain] : [],
    )

export const namingOf = async (
  deps: NamingDeps,
  { metadata, spec }: AppResource,
): Promise<Pick<AppWorld, 'naming' | 'linksEnded'>> => {
  const { names, taken, linksEnded } = await deps.names.list(metadata.name, spec.account, spec.domains ?? [])
  const naming: AppNaming = {
    names: withRecords(deps, spec.account, names),
    taken,
    rules: { baseDomains: baseDomainsFor(deps.hosts, spec.hostId), testDomains: deps.testDomains },
    address: deps.hosts.facts(spec.hostId)?.publicAddress ?? null,
  }
  return { naming, linksEnded }
}

/** Hostnames that the proxy has a route for by now: its own below the host's base domain, and those of its domains. */
export const routedNames = ({ spec }: AppResource, { names }: AppNaming, hosts: Pick<Hosts, 'facts'>): string[] => {
  const managed = hostnameOf(spec, hosts.facts(spec.hostId))
  const own = names.flatMap(({ name, routed }) => (routed ? [name] : []))
  return [...(managed === null ? [] : [managed]), ...own]
}
