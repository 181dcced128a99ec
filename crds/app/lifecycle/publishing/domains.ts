/**
 * The domains of an app: which are served beside its own name below the host's base domain, and why one is not
 * (rules/app.md#domains). Whose a name is, is decided as for sites (crds/names/life.ts).
 */
import type { Fault } from '../../../kernel/problem.ts'
import { ownDomainFaults } from '../../../names/fullname.ts'
import { isServed, type ProofCheck } from '../../../names/life.ts'
import { type NameRefusal, nameRefusal, type OwnName } from '../../../names/name.ts'
import type { AppResource, AppSpec } from '../../schema.ts'
import type { AppStep } from '../../steps.ts'
import type { AppNaming } from './naming.ts'

const INSTEAD = 'an app has its name below it by its slug'

export const domainsOf = ({ domains }: Pick<AppSpec, 'domains'>): readonly string[] => domains ?? []

/** @param pointer of the list, as `/domains` or `/hostnames` */
export const domainListFaults = (domains: readonly string[], rules: AppNaming['rules'], pointer: string): Fault[] =>
  domains.flatMap((domain, place) => {
    const at = `${pointer}/${place}`
    if (domains.indexOf(domain) < place) {
      return [{ code: 'BAD_DOMAIN' as const, pointer: at, detail: `${domain} stands there twice` }]
    }
    return ownDomainFaults(domain, rules, { pointer: at, instead: INSTEAD })
  })

const isAstray = ({ ok }: ProofCheck): boolean => !ok

const sayCheck = ({ type, name, expected, seen }: ProofCheck): string =>
  type === 'CAA'
    ? `the CAA records of ${name} (${seen.join(', ')}) do not admit the CA of the host; allowed is ${expected}`
    : `${name} leads to ${seen.join(', ') || 'nothing'} and not to ${expected}`

/** Why a name that is proven is not served for the first time: visitors, or the CA, would not find it. Null where they do. */
export const reachRefusal = ({ name, checks }: Pick<OwnName, 'name' | 'checks'>): NameRefusal | null => {
  if (checks === null) return { code: 'DOMAIN_UNVERIFIED', detail: `${name} is proven, and is being looked for` }
  const astray = checks.filter(({ type }) => type !== 'TXT' && type !== 'CNAME').filter(isAstray)
  if (astray.length === 0) return null
  return { code: 'DOMAIN_UNVERIFIED', detail: astray.map(sayCheck).join('; ') }
}

/** What is routed stays so while it is proven: where it leads is then its owner's matter. */
export const domainRefusal = (one: OwnName): NameRefusal | null =>
  nameRefusal(one) ?? (one.routed ? null : reachRefusal(one))

type Named = { naming: AppNaming }

const ownOf = ({ naming }: Named, domain: string): OwnName | undefined =>
  naming.names.find(({ name }) => name === domain)

/** Names of the spec that visitors are let in by, in the order of the spec. */
export const servedDomains = (spec: Pick<AppSpec, 'domains'>, world: Named): string[] =>
  domainsOf(spec).filter((domain) => {
    const one = ownOf(world, domain)
    return one?.settled === true && isServed(one.state) && domainRefusal(one) === null
  })

/** Why the first that is not served is not; null where all are. */
export const domainsRefusal = ({ spec }: Pick<AppResource, 'spec'>, world: Named): NameRefusal | null => {
  const fault = domainListFaults(domainsOf(spec), world.naming.rules, '/domains')[0]
  if (fault) return { code: fault.code, detail: `${fault.pointer} ${fault.detail}` }
  for (const domain of domainsOf(spec)) {
    if (world.naming.taken.includes(domain)) {
      return { code: 'DOMAIN_TAKEN', detail: `/domains ${domain} is another site's or app's of the account` }
    }
    const one = ownOf(world, domain)
    const refusal = one && domainRefusal(one)
    if (refusal) return { ...refusal, detail: `/domains ${refusal.detail}` }
  }
  return null
}

/** Claims what the spec names, and gives back what it names no longer once no route has it. */
export const nameSteps = ({ spec }: Pick<AppResource, 'spec'>, world: Named): AppStep[] => {
  const { naming } = world
  const domains = domainsOf(spec)
  if (domainListFaults(domains, naming.rules, '/domains').length > 0) return []
  const wanted = domains.filter((one) => !naming.taken.includes(one) && ownOf(world, one)?.settled !== true)
  const left = naming.names.filter(({ name, settled, routed }) => settled && !routed && !domains.includes(name))
  return [
    ...(wanted.length > 0 ? [{ do: 'claimNames' as const, names: wanted }] : []),
    ...(left.length > 0 ? [{ do: 'releaseNames' as const, keep: [...domains, ...routedOf(world)] }] : []),
  ]
}

const routedOf = ({ naming }: Named): string[] => naming.names.flatMap(({ name, routed }) => (routed ? [name] : []))

/** Whether a name gets its first route: somebody waits for its certificate. */
export const isNewlyServed = ({ naming }: Named, hostnames: readonly string[]): boolean =>
  naming.names.some(({ name, routed }) => !routed && hostnames.includes(name))
