/**
 * Everything that stands in the cluster before the first resource: definitions, identities with least privilege, and the
 * admission policies. `hack/up` and the chart install the same list.
 */
import { KINDS } from '../kinds.ts'
import { type Manifest, manifestOf } from './manifest.ts'
import { GROUP } from './object.ts'
import { policiesOf } from './policies.ts'

/** The one lease of the controllers, in the platform's namespace. */
export const LEASE_NAME = 'bottega-controllers'

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
  /** Name of the controllers' service account. */
  controllersAccount: string
  /** Name of the API's service account. */
  apiAccount: string
}

export type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }

const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'update', 'patch', 'delete']

const LABELS = { 'app.kubernetes.io/part-of': 'bottega' }
const RBAC = 'rbac.authorization.k8s.io'

/** The platform as `hack/up` and the chart install it: one per cluster, for the definitions and policies are the cluster's. */
export const platformIn = (namespace: string, resources = namespace): Platform => ({
  namespace,
  resources,
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
    ...homeAccess(namespace, platform),
    ...clusterRights(platform),
    lease(namespace),
    ...aggregated(),
    ...policiesOf(
      KINDS,
      { operator: usernameOf(namespace, controllersAccount), api: usernameOf(namespace, apiAccount) },
      LEASE_NAME,
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
  ]
}

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

const pluralOf = (subresource = ''): string[] => KINDS.map((kind) => `${kind.plural}${subresource}`)

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
const controllersRules = (namespace: string): Rule[] => {
  const finalized = KINDS.filter((kind) => kind.finalizer !== undefined).map((kind) => kind.plural)
  return [
    { apiGroups: [GROUP], resources: pluralOf(), verbs: READ },
    { apiGroups: [GROUP], resources: pluralOf('/status'), verbs: ['patch'] },
    ...(finalized.length > 0 ? [{ apiGroups: [GROUP], resources: finalized, verbs: ['patch'] }] : []),
    ...KINDS.flatMap(({ plural, controllerVerbs: verbs = [] }) =>
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
const apiRules = (): Rule[] =>
  KINDS.map(({ plural, apiVerbs }) => ({ apiGroups: [GROUP], resources: [plural], verbs: ['get', ...apiVerbs] }))

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

/**
 * What holders of the built-in roles may do. A status is nobody's to write. Invoices hold names and addresses of clients:
 * whoever may view them sees those.
 */
const aggregated = (): Manifest[] => [
  clusterRole('view', [{ apiGroups: [GROUP], resources: pluralOf(), verbs: READ }]),
  clusterRole('edit', writtenBy('edit')),
  clusterRole('admin', writtenBy('admin')),
]

/** One rule per kind that the role writes. A guarded verb is the administrators', whoever writes the rest. */
const writtenBy = (role: 'edit' | 'admin'): Rule[] =>
  KINDS.flatMap(({ plural, writers, guardedVerbs = [] }) => {
    const verbs = [...(writers === role ? WRITE : []), ...(role === 'admin' ? guardedVerbs : [])]
    return verbs.length === 0 ? [] : [{ apiGroups: [GROUP], resources: [plural], verbs }]
  })

const clusterRole = (role: 'view' | 'edit' | 'admin', rules: Rule[]): Manifest => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRole',
  metadata: { name: `bottega-${role}`, labels: { ...LABELS, [`${RBAC}/aggregate-to-${role}`]: 'true' } },
  rules,
})
