/**
 * What the identities of the chart ask of the API server, compared with what its Roles give them: a call that no Role gives would
 * be refused in somebody's cluster, and a right that nothing uses serves only whoever takes the process over.
 */

import type { Manifest } from '../../../crds/kernel/manifest.ts'
import {
  CLUSTER_NAMESPACE,
  jobObjects,
  type Platform,
  platformObjects,
  type Rule,
} from '../../../crds/kernel/platform.ts'

/** As the API server's audit tells it. `resource` with its subresource; empty for a path that is no resource. */
export type Call = {
  identity: string
  verb: string
  group: string
  resource: string
  /** '' for the whole cluster. */
  namespace: string
  name: string
  /** A patch may make what is not there. */
  made: boolean
  uri: string
}

/** One verb on one resource, of one name where the rule says it. */
export type Grant = {
  identity: string
  role: string
  verb: string
  group: string
  resource: string
  name: string | null
  isCluster: boolean
  /** What stands in one rule is asked by the same code, of each kind as it comes. */
  rule: string
}

/** The product's own client: what a test tries with kubectl under such an identity is no need of it. */
const OURS = '"userAgent":"bottega"'

type AuditEvent = {
  verb: string
  requestURI: string
  user: { username: string }
  objectRef?: { resource: string; subresource?: string; namespace?: string; name?: string; apiGroup?: string }
  responseStatus?: { code?: number }
}

/** @param line of an audit log @returns null for what is none of ours */
export const callOf = (line: string): Call | null => {
  if (!line.includes(OURS)) return null
  const { verb, requestURI: uri, user, objectRef, responseStatus } = JSON.parse(line) as AuditEvent
  const { resource = '', subresource, namespace = '', name = '', apiGroup: group = '' } = objectRef ?? {}
  const made = verb === 'patch' && responseStatus?.code === 201
  const whole = subresource === undefined ? resource : `${resource}/${subresource}`
  return { identity: user.username.split(':').at(-1) ?? '', verb, group, resource: whole, namespace, name, made, uri }
}

/** In place of those of an installation. */
const PLATFORM: Platform = {
  namespace: 'home',
  resources: 'resources',
  tenants: [{ namespace: 'tenant', accounts: ['bound'] }],
  controllersAccount: 'bottega-controllers',
  apiAccount: 'bottega-api',
}
const CHART: readonly Manifest[] = [...platformObjects(PLATFORM), ...jobObjects(PLATFORM)]

type Bound = Manifest & { roleRef?: { kind: string; name: string }; subjects?: { kind: string; name: string }[] }

/** Everything that the chart gives to accounts, one by one. */
export const grantsOf = (manifests: readonly Manifest[] = CHART): Grant[] =>
  manifests.flatMap((binding: Bound) =>
    (binding.subjects ?? []).flatMap(({ kind, name: identity }) => {
      const role = manifests.find(
        (one) =>
          one.kind === binding.roleRef?.kind &&
          one.metadata.name === binding.roleRef.name &&
          one.metadata.namespace === binding.metadata.namespace,
      ) as (Manifest & { rules: Rule[] }) | undefined
      if (kind !== 'ServiceAccount' || role === undefined) return []
      const isCluster = binding.kind === 'ClusterRoleBinding'
      const { name } = role.metadata
      return role.rules.flatMap((rule, index) =>
        grantsIn(rule).map((one) => ({ identity, role: name, rule: `${name}[${index}]`, isCluster, ...one })),
      )
    }),
  )

const grantsIn = ({ apiGroups, resources, verbs, resourceNames }: Rule) =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => (resourceNames ?? [null]).map((name) => ({ group, resource, verb, name }))),
    ),
  )

/** Whose Roles name them. */
const PLACES = new Set([PLATFORM.resources, ...PLATFORM.tenants.map(({ namespace }) => namespace)])

const isNamed = (grant: Grant, { name, namespace }: Call): boolean =>
  grant.name === name ||
  // the namespace that the Role is in
  (PLACES.has(grant.name ?? '') && name === namespace && name !== CLUSTER_NAMESPACE)

const isGiven =
  (call: Call) =>
  (grant: Grant): boolean =>
    grant.identity === call.identity &&
    (grant.verb === call.verb || (call.made && grant.verb === 'create')) &&
    grant.group === call.group &&
    grant.resource === call.resource &&
    (grant.isCluster || call.namespace !== '') &&
    // of what is not there yet no name is asked
    (grant.name === null || (grant.verb !== 'create' && isNamed(grant, call)))

/** Paths that the built-in role system:discovery lets everybody read who has a name. */
const DISCOVERY = /^\/(api|apis|healthz|livez|readyz|version|openapi)(\/|\?|$)/
const isDiscovery = ({ verb, resource, uri }: Call): boolean => resource === '' && verb === 'get' && DISCOVERY.test(uri)

type Policy = {
  matchConstraints: {
    resourceRules: { apiGroups: string[]; operations: string[]; resources: string[] }[]
  }
  matchConditions?: { expression: string }[]
  validations: { expression: string }[]
}

const OPERATIONS: Record<string, readonly string[]> = {
  CREATE: ['create'],
  UPDATE: ['update', 'patch'],
  DELETE: ['delete'],
}
const CHECKED = /authorizer\.group\('([^']+)'\)\.resource\('([^']+)'\)[^|&]*?\.check\('([^']+)'\)/g

/** What admission policies ask about whoever makes such a call: rights that no call needs by itself. */
export const askedOf = (call: Call, manifests: readonly Manifest[] = CHART): Grant[] =>
  manifests.flatMap((manifest) => {
    if (manifest.kind !== 'ValidatingAdmissionPolicy') return []
    const { matchConstraints, matchConditions = [], validations } = manifest.spec as Policy
    const isMatched = matchConstraints.resourceRules.some(
      ({ apiGroups, operations, resources }) =>
        apiGroups.includes(call.group) &&
        resources.includes(call.resource) &&
        operations.some((one) => OPERATIONS[one]?.includes(call.verb) || (one === 'CREATE' && call.made)),
    )
    const isLetThrough = matchConditions.some(({ expression }) => expression.includes(`:${call.identity}'`))
    if (!isMatched || isLetThrough) return []
    return validations.flatMap(({ expression }) =>
      [...expression.matchAll(CHECKED)].map(([, group = '', resource = '', verb = '']) => ({
        ...{ identity: call.identity, role: manifest.metadata.name, verb, group, resource },
        ...{ rule: manifest.metadata.name, name: null, isCluster: false },
      })),
    )
  })

const described = (verb: string, group: string, resource: string, name: string | null) =>
  `${verb} ${group === '' ? resource : `${resource}.${group}`}${name ? ` (${name})` : ''}`

/** What differs between two calls, as far as rules can tell them apart. */
const isAlike = (call: Call): string =>
  [
    ...[call.identity, call.verb, call.group, call.resource === '' ? call.uri : call.resource, String(call.made)],
    ...[call.namespace === '' ? 'cluster' : 'namespace', NAMED.has(call.resource) ? call.name : ''],
  ].join(' ')

const NAMED = new Set(
  grantsOf()
    .filter(({ name }) => name !== null)
    .map(({ resource }) => resource),
)

/** Takes calls in, one after another, and keeps one of each that differs. */
export const makeRightsJudge = (grants: readonly Grant[] = grantsOf()) => {
  const identities = new Set(grants.map(({ identity }) => identity))
  const seen = new Map<string, Call>()
  return {
    take: (call: Call): void => {
      const key = isAlike(call)
      if (identities.has(call.identity) && !seen.has(key)) seen.set(key, call)
    },
    /** Calls that differ. */
    count: () => seen.size,
    /** One sentence each. @returns calls that no rule gives */
    refused: (): string[] =>
      [...seen.values()]
        .filter((call) => !isDiscovery(call) && !grants.some(isGiven(call)))
        .map(
          ({ identity, verb, group, resource, name, uri }) =>
            `${identity} needs what no Role gives: ${described(verb, group, resource || 'path', name)}, asked as ${uri}`,
        )
        .sort(),
    /**
     * One sentence for each verb of a rule, for all that the rule names is asked for by the same code: which kind a fault meets is
     * chance. @returns verbs that no call used and no policy asked for
     */
    idle: (): string[] => {
      const calls = [...seen.values()]
      const asked = calls.flatMap((call) => askedOf(call))
      const isAsked = (grant: Grant) =>
        asked.some((one) =>
          (['identity', 'verb', 'group', 'resource'] as const).every((field) => one[field] === grant[field]),
        )
      const together = Map.groupBy(grants, ({ identity, rule, verb }) => `${identity} ${rule} ${verb}`)
      return [...together.values()]
        .filter((alike) => !alike.some((grant) => isAsked(grant) || calls.some((call) => isGiven(call)(grant))))
        .flatMap(([first, ...more]) => {
          if (first === undefined) return []
          const { identity, role, verb, group, resource, name } = first
          const others = more.length > 0 ? ` and ${more.length} more` : ''
          return `the role ${role} gives ${identity} what nothing used: ${described(verb, group, resource, name)}${others}`
        })
        .sort()
    },
  }
}
