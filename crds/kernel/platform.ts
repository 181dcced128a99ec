/**
 * Everything that stands in the cluster before the first resource: definitions, identities with least privilege, and the
 * admission policies. `hack/up` and the chart install the same list.
 */
import { bindingsOf, isTenanted, type Tenant } from '../account/tenants.ts'
import { KINDS } from '../kinds.ts'
import type { Kind } from './kind.ts'
import { type Manifest, manifestOf } from './manifest.ts'
import { GROUP } from './object.ts'
import { LEASE_NAME, policiesOf, TENANTS_NAME } from './rights/policies.ts'
import { aggregated, LABELS, pluralOf, RBAC, READ, type Rule } from './rights/roles.ts'

export { LEASE_NAME, type Rule }

/** The accounts of the chart's Jobs: one installs and removes definitions, the other makes truths agree again. */
export const SETUP_ACCOUNT = 'bottega-setup'
export const RECONCILE_ACCOUNT = 'bottega-reconcile'

/** Its uid is taken for the cluster's: it is made with the cluster, and nobody removes it. */
export const CLUSTER_NAMESPACE = 'kube-system'

export type Platform = {
  /** Where its identities, its Lease and its pods live. */
  namespace: string
  /** Where its resources live: apart from those, whoever may edit resources there has no hand in Secrets, tokens or the Lease. */
  resources: string
  /** Namespaces of tenants, each with the accounts whose resources live there. */
  tenants: readonly Tenant[]
  /** Name of the controllers' service account. */
  controllersAccount: string
  /** Name of the API's service account. */
  apiAccount: string
}

/** The platform as `hack/up` and the chart install it: one per cluster, for the definitions and policies are the cluster's. */
export const platformIn = (namespace: string, resources = namespace, tenants: readonly Tenant[] = []): Platform => ({
  namespace,
  resources,
  tenants,
  controllersAccount: 'bottega-controllers',
  apiAccount: 'bottega-api',
})

/** The name under which the API server knows a service account. */
export const usernameOf = (namespace: string, account: string): string =>
  `system:serviceaccount:${namespace}:${account}`

/** All manifests, in an order in which they can be applied. The namespace is there already. */
export const platformObjects = (platform: Platform): Manifest[] => {
  const { namespace, controllersAccount, apiAccount } = platform
  return [
    ...KINDS.map(manifestOf),
    serviceAccount(namespace, controllersAccount),
    serviceAccount(namespace, apiAccount),
    ...resourceAccess(platform.resources, platform),
    ...platform.tenants.flatMap((tenant) => tenantAccess(tenant.namespace, platform)),
    ...homeAccess(namespace, platform),
    ...clusterRights(platform),
    lease(namespace),
    bindings(platform),
    ...aggregated(),
    ...policiesOf(
      KINDS,
      { operator: usernameOf(namespace, controllersAccount), api: usernameOf(namespace, apiAccount) },
      { home: namespace, resources: platform.resources },
    ),
  ]
}

/** What the two processes, and who reconciles, may do in a namespace that is home and holds the resources as well. */
export const accessTo = (namespace: string, platform: Platform): Manifest[] => [
  ...resourceAccess(namespace, platform),
  ...homeAccess(namespace, platform),
  ...reconcileAccess({ home: namespace, resources: namespace }, platform),
]

/** Where resources are. */
export const resourceAccess = (namespace: string, platform: Platform): Manifest[] => {
  const { controllersAccount, apiAccount } = platform
  return [
    ...grant(
      namespace,
      platform,
      { name: controllersAccount, account: controllersAccount },
      controllersRules(namespace),
    ),
    ...grant(namespace, platform, { name: apiAccount, account: apiAccount }, apiRules()),
  ]
}

/** Where resources of accounts are that are bound to a namespace: neither Accounts nor Hosts live there. */
export const tenantAccess = (namespace: string, platform: Platform): Manifest[] => {
  const { controllersAccount, apiAccount } = platform
  const { controllers, api } = tenantRules(namespace)
  return [
    ...grant(namespace, platform, { name: `${controllersAccount}-tenant`, account: controllersAccount }, controllers),
    ...grant(namespace, platform, { name: `${apiAccount}-tenant`, account: apiAccount }, api),
  ]
}

/** What the two processes may do there. */
export const tenantRules = (namespace: string): { controllers: Rule[]; api: Rule[] } => ({
  controllers: controllersRules(namespace, TENANTED),
  api: apiRules(TENANTED),
})

/** Where the Lease is. */
export const homeAccess = (namespace: string, platform: Platform): Manifest[] => {
  const { controllersAccount: account } = platform
  return grant(namespace, platform, { name: `${account}-home`, account }, HOME_RULES)
}

/** Who runs as the chart's Jobs, with all that their templates give while such a Job runs. The chart makes them by itself. */
export const jobObjects = (platform: Platform): Manifest[] => {
  const { namespace, resources } = platform
  return [
    serviceAccount(namespace, SETUP_ACCOUNT),
    serviceAccount(namespace, RECONCILE_ACCOUNT),
    ...clusterGrant(SETUP_ACCOUNT, setupRules({ removes: true }), [SETUP_ACCOUNT], namespace),
    clusterBinding(RECONCILE_ACCOUNT, 'bottega-cluster', [RECONCILE_ACCOUNT], namespace),
    ...reconcileAccess({ home: namespace, resources }, platform),
    ...platform.tenants.flatMap((tenant) => reconcileTenantAccess(tenant.namespace, platform)),
  ]
}

/** Of who reconciles, where resources of bound accounts are. */
export const reconcileTenantAccess = (namespace: string, platform: Platform): Manifest[] =>
  grant(
    namespace,
    platform,
    { name: `${RECONCILE_ACCOUNT}-tenant`, account: RECONCILE_ACCOUNT },
    reconcileTenantRules({ applies: true }),
  )

const reconcileAccess = (at: { home: string; resources: string }, platform: Platform): Manifest[] => {
  const account = RECONCILE_ACCOUNT
  return [
    ...grant(at.resources, platform, { name: account, account }, reconcileRules({ applies: true })),
    ...grant(at.home, platform, { name: `${account}-home`, account }, reconcileHomeRules({ applies: true })),
  ]
}

const serviceAccount = (namespace: string, name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name, namespace, labels: LABELS },
})

/** There before the first leader and gone with the platform, so that nobody who stops makes it anew. Its spec is the leader's. */
const lease = (namespace: string): Manifest => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: LEASE_NAME, namespace, labels: LABELS },
})

/** What the admission policy knows of who is bound where (policies.ts). */
const bindings = ({ namespace, tenants }: Platform): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: TENANTS_NAME, namespace, labels: LABELS },
  ...(tenants.length > 0 && { data: bindingsOf(tenants) }),
})

/** Kinds whose resources may live with their account. */
const TENANTED = KINDS.filter(isTenanted)

const EVENTS: Rule = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] }

/** `create` cannot be narrowed by name in RBAC. The Events are about the Lease. */
const HOME_RULES: Rule[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [LEASE_NAME],
    verbs: ['get', 'patch'],
  },
  EVENTS,
]

/**
 * The controllers read resources and write statuses. They may touch an object itself only where a kind has a finalizer to
 * add and take away, or says that they make and remove some; no spec that stands is ever theirs to write.
 */
const controllersRules = (namespace: string, kinds: readonly Kind[] = KINDS): Rule[] => {
  const finalized = kinds.filter((kind) => kind.finalizer !== undefined).map((kind) => kind.plural)
  return [
    { apiGroups: [GROUP], resources: pluralOf('', kinds), verbs: READ },
    { apiGroups: [GROUP], resources: pluralOf('/status', kinds), verbs: ['patch'] },
    ...(finalized.length > 0 ? [{ apiGroups: [GROUP], resources: finalized, verbs: ['patch'] }] : []),
    ...kinds.flatMap(({ plural, controllerVerbs: verbs = [] }) =>
      verbs.length > 0 ? [{ apiGroups: [GROUP], resources: [plural], verbs: [...verbs] }] : [],
    ),
    EVENTS,
    // Whether it is being removed, with all that is in it.
    { apiGroups: [''], resources: ['namespaces'], resourceNames: [namespace], verbs: ['get'] },
  ]
}

const definitionsRule = (verbs: string[], resourceNames?: string[]): Rule => ({
  apiGroups: ['apiextensions.k8s.io'],
  resources: ['customresourcedefinitions'],
  ...(resourceNames && { resourceNames }),
  verbs,
})

/** What the two processes may look at beyond their namespace: which cluster this is, and whether definitions are being removed. */
const clusterRights = ({ namespace, controllersAccount, apiAccount }: Platform): Manifest[] => {
  const cluster = { apiGroups: [''], resources: ['namespaces'], resourceNames: [CLUSTER_NAMESPACE], verbs: ['get'] }
  return [
    ...clusterGrant('bottega-cluster', [cluster], [controllersAccount, apiAccount], namespace),
    ...clusterGrant(
      'bottega-definitions',
      [definitionsRule(['get'], definitionNames())],
      [controllersAccount],
      namespace,
    ),
  ]
}

const definitionNames = (): string[] => KINDS.map((kind) => manifestOf(kind).metadata.name)

/** The Job that installs definitions, and removes them where that was asked for. A name cannot be asked of what is not there yet. */
export const setupRules = ({ removes }: { removes: boolean }): Rule[] => [
  definitionsRule(['create']),
  definitionsRule(['get', 'patch', ...(removes ? ['delete'] : [])], definitionNames()),
]

/** Where resources are. A host that was approved is made again as one; all is made again for every account, with its annotations. */
export const reconcileRules = ({ applies }: { applies: boolean }): Rule[] => [
  { apiGroups: [GROUP], resources: pluralOf(), verbs: ['list', 'watch', ...(applies ? ['create'] : [])] },
  ...(applies
    ? [
        { apiGroups: [GROUP], resources: ['hosts'], verbs: ['approve'] },
        { apiGroups: [GROUP], resources: ['accounts'], verbs: ['use', 'update'] },
      ]
    : []),
]

/** Where resources of bound accounts are. */
export const reconcileTenantRules = ({ applies }: { applies: boolean }): Rule[] => [
  {
    apiGroups: [GROUP],
    resources: pluralOf('', TENANTED),
    // one that has the name is looked at, whether it is still there
    verbs: ['get', 'list', 'watch', ...(applies ? ['create'] : [])],
  },
  ...(applies ? [{ apiGroups: [GROUP], resources: ['accounts'], verbs: ['use'] }] : []),
]

/** Where the Lease is. */
export const reconcileHomeRules = ({ applies }: { applies: boolean }): Rule[] => [
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [LEASE_NAME],
    verbs: ['get', ...(applies ? ['patch'] : [])],
  },
]

/** The API writes desire and never a status. */
const apiRules = (kinds: readonly Kind[] = KINDS): Rule[] =>
  kinds.map(({ plural, apiVerbs }) => ({ apiGroups: [GROUP], resources: [plural], verbs: ['get', ...apiVerbs] }))

const clusterGrant = (name: string, rules: Rule[], accounts: string[], namespace: string): Manifest[] => [
  { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name, labels: LABELS }, rules },
  clusterBinding(name, name, accounts, namespace),
]

const clusterBinding = (name: string, role: string, accounts: string[], namespace: string): Manifest => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name, labels: LABELS },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
  subjects: accounts.map((account) => ({ kind: 'ServiceAccount', name: account, namespace })),
})

type Granted = { name: string; account: string }

const grant = (namespace: string, platform: Platform, { name, account }: Granted, rules: Rule[]): Manifest[] => [
  { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata: { name, namespace, labels: LABELS }, rules },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace, labels: LABELS },
    roleRef: { apiGroup: RBAC, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: platform.namespace }],
  },
]
