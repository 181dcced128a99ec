/** Where sites may be put. */
import type { SiteHost } from '../../../crds/site/world.ts'
import type { Hosts } from '../../io/hosts/link.ts'

/** Hosts of the platform that sites may be put on, by name. */
export const siteHosts = ({ hosts }: { hosts: Pick<Hosts, 'list'> }): SiteHost[] =>
  hosts
    .list()
    .flatMap(({ name, account, takesSites, siteRoot, baseDomain, httpsPort, ready }) =>
      account === null && takesSites && siteRoot !== null && baseDomain !== null
        ? [{ name, baseDomain, httpsPort, ready }]
        : [],
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))
