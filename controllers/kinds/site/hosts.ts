/** Where sites may be put. */
import type { SiteHost } from '../../../crds/site/world.ts'
import type { Hosts } from '../../io/hosts/link.ts'

/** Where visitors reach the hosts that take sites, each once, in the order of their names. */
export const siteAddresses = (deps: { hosts: Pick<Hosts, 'list'> }): string[] => {
  const known = new Map(deps.hosts.list().map(({ name, publicAddress }) => [name, publicAddress]))
  return [...new Set(siteHosts(deps).flatMap(({ name }) => known.get(name) ?? []))]
}

/** Hosts of the platform that sites may be put on, by name. */
export const siteHosts = ({ hosts }: { hosts: Pick<Hosts, 'list'> }): SiteHost[] =>
  hosts
    .list()
    .flatMap(({ name, account, takesSites, siteRoot, baseDomain, httpsPort, ready, isCordoned }) =>
      account === null && takesSites && siteRoot !== null && baseDomain !== null
        ? [{ name, baseDomain, httpsPort, ready, isCordoned }]
        : [],
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))
