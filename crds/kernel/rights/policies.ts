/**
 * ValidatingAdmissionPolicies: what neither a schema nor RBAC can say. They bind cluster administrators too, so the rules
 * that REST keeps are kept for kubectl before anything is stored, without a webhook server.
 */
import { isTenanted } from '../../account/tenants.ts'
import type { AdmissionPolicy, Kind } from '../kind.ts'
import type { Manifest } from '../manifest.ts'
import { CREATED_FROM, GROUP, PAUSED, VERSION } from '../object.ts'

const LABELS = { 'app.kubernetes.io/part-of': 'bottega' }

/** The user names of the two processes. */
export type Processes = { operator: string; api: string }

/** The one lease of the controllers, in the platform's namespace. */
export const LEASE_NAME = 'bottega-controllers'
/** The ConfigMap beside it: which accounts are bound to which namespace (account/tenants.ts). */
export const TENANTS_NAME = 'bottega-tenants'

/** Where the pods are, and where Accounts are. */
export type PlatformPlaces = { home: string; resources: string }

/** Whoever may write for an account holds this verb on it (rules/platform.md#writers-of-an-account). */
export const USE = 'use'

/** The policies and their bindings. @param by the operator alone may write a status */
export const policiesOf = (kinds: readonly Kind[], by: Processes, at: PlatformPlaces): Manifest[] =>
  [
    statusPolicy(kinds, by),
    accountPolicy(kinds, by),
    namespacePolicy(kinds, by, at),
    marksPolicy(kinds, by, at),
    leasePolicy(by, at),
    tenantsPolicy(by, at),
    tokensPolicy(by, at),
    ...kinds.flatMap((kind) => kind.policies ?? []),
  ].flatMap(manifestsOf)

/** A status is a promise of the operator: numbers, amounts and readiness are nobody else's to state. */
const statusPolicy = (kinds: readonly Kind[], { operator }: Processes): AdmissionPolicy => ({
  name: 'status-of-operator',
  resources: kinds.map((kind) => `${kind.plural}/status`),
  validations: [
    {
      expression: `request.userInfo.username == '${operator}'`,
      message: `FORBIDDEN: only ${operator} may write the status of a resource of ${GROUP}`,
      reason: 'Forbidden',
    },
  ],
})

/** The two processes keep the rules themselves; the cluster's own controllers take a namespace or an owner's things away. */
const notOurs = ({ operator, api }: Processes): NonNullable<AdmissionPolicy['matchConditions']> => [
  { name: 'not-by-bottega', expression: `!(request.userInfo.username in ['${operator}', '${api}'])` },
  {
    name: 'not-by-the-cluster',
    expression:
      "!(request.userInfo.username == 'system:kube-controller-manager' || request.userInfo.username.startsWith('system:serviceaccount:kube-system:'))",
  },
]

const allowed = (resource: string, name: string, verb: string, namespace = 'request.namespace') =>
  `authorizer.group('${GROUP}').resource('${resource}').namespace(${namespace})${name}.check('${verb}').allowed()`

/** Who may change any Account runs the platform, and may do what nobody else may: asked where Accounts are, whoever is who elsewhere. */
const isAdmin = ({ resources }: PlatformPlaces): string => allowed('accounts', '', 'update', `'${resources}'`)

/** What it is about, whether it comes, changes or goes. */
const ACCOUNT = "(request.operation == 'DELETE' ? oldObject : object).spec.account"

/**
 * RBAC knows no fields: without this, whoever may write the invoices of a namespace may write everybody's. That an account is
 * fixed at creation is the schema's to say.
 */
const accountPolicy = (kinds: readonly Kind[], by: Processes): AdmissionPolicy => ({
  name: 'account-of-writer',
  resources: kinds.filter(isTenanted).map(pluralOf),
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  matchConditions: notOurs(by),
  validations: [
    {
      expression: allowed('accounts', `.name(${ACCOUNT})`, USE),
      messageExpression: `'FORBIDDEN: writing for the account ' + ${ACCOUNT} + ' needs the verb ${USE} on it'`,
      message: `FORBIDDEN: writing for an account needs the verb ${USE} on it`,
      reason: 'Forbidden',
    },
  ],
})

const BOUND = "(has(params.data) ? params.data : {'': ''})"
const isOf = (accounts: string) => `${ACCOUNT} in ${accounts}.split(',')`

/**
 * An account that is bound to a namespace has its resources made there and nowhere else, whoever makes them. What stood before it was
 * bound may be changed and go; nobody works on it (kube/tenants/).
 */
const namespacePolicy = (kinds: readonly Kind[], by: Processes, { home }: PlatformPlaces): AdmissionPolicy => ({
  name: 'namespace-of-account',
  resources: kinds.filter(isTenanted).map(pluralOf),
  operations: ['CREATE'],
  matchConditions: notOurs(by),
  params: { name: TENANTS_NAME, namespace: home },
  validations: [
    {
      expression: `request.namespace in ${BOUND} ? ${isOf(`${BOUND}[request.namespace]`)} : !${BOUND}.exists(one, ${isOf(`${BOUND}[one]`)})`,
      messageExpression: `'ACCOUNT_ELSEWHERE: resources of the account ' + ${ACCOUNT} + ' have no place in this namespace'`,
      message: 'ACCOUNT_ELSEWHERE: resources of this account have no place in this namespace',
      reason: 'Forbidden',
    },
  ],
})

const KEPT_FINALIZERS = `!has(oldObject.metadata.finalizers) || oldObject.metadata.finalizers.all(name, !name.startsWith('${GROUP}/') || (has(object.metadata.finalizers) && name in object.metadata.finalizers))`

/** Who pauses what waits in a queue, or is being removed, holds up whoever waits behind it. */
const MARKS = [
  { name: PAUSED, whose: 'is for administrators' },
  { name: CREATED_FROM, whose: 'is written by the api alone' },
] as const

const annotationOf = (object: string, name: string) =>
  `(has(${object}.metadata.annotations) && '${name}' in ${object}.metadata.annotations ? ${object}.metadata.annotations['${name}'] : '')`

/**
 * A finalizer keeps the record of what still stands outside: a machine that costs money, files on a host. An administrator may
 * take it away, for an operator that is gone for good. What a creation asked for is the api's to say.
 */
const marksPolicy = (kinds: readonly Kind[], by: Processes, at: PlatformPlaces): AdmissionPolicy => ({
  name: 'marks-of-bottega',
  resources: kinds.map(pluralOf),
  operations: ['CREATE', 'UPDATE'],
  matchConditions: notOurs(by),
  validations: [
    {
      expression: `request.operation == 'CREATE' || ${KEPT_FINALIZERS} || ${isAdmin(at)}`,
      message: `FORBIDDEN: a finalizer of ${GROUP} goes when nothing is left outside; delete the resource and wait`,
      reason: 'Forbidden',
    },
    ...MARKS.map(({ name, whose }) => ({
      expression: `${annotationOf('object', name)} == (request.operation == 'CREATE' ? '' : ${annotationOf('oldObject', name)}) || ${isAdmin(at)}`,
      message: `FORBIDDEN: the annotation ${name} ${whose}`,
      reason: 'Forbidden',
    })),
  ],
})

/** The built-in role edit may write every lease: who moves this one's marks stops the platform. */
const leasePolicy = (by: Processes, at: PlatformPlaces): AdmissionPolicy => ({
  name: 'lease-of-operator',
  of: { group: 'coordination.k8s.io', version: 'v1', resourceNames: [LEASE_NAME] },
  resources: ['leases'],
  operations: ['UPDATE', 'DELETE'],
  matchConditions: notOurs(by),
  validations: [
    {
      expression: isAdmin(at),
      message: `FORBIDDEN: the lease ${LEASE_NAME} is written by ${by.operator} alone`,
      reason: 'Forbidden',
    },
  ],
})

/** Who writes there decides whose resources may live where. */
const tenantsPolicy = (by: Processes, at: PlatformPlaces): AdmissionPolicy => ({
  name: 'tenants-of-platform',
  of: { group: '', version: 'v1', resourceNames: [TENANTS_NAME] },
  resources: ['configmaps'],
  operations: ['UPDATE', 'DELETE'],
  matchConditions: [
    ...notOurs(by).filter(({ name }) => name === 'not-by-the-cluster'),
    { name: 'at-home', expression: `request.namespace == '${at.home}'` },
  ],
  validations: [
    {
      expression: isAdmin(at),
      message: `FORBIDDEN: ${TENANTS_NAME} is written by administrators, with the chart`,
      reason: 'Forbidden',
    },
  ],
})

const NODES = 'system:nodes'
const accountIn = (username: string): string => username.slice(username.lastIndexOf(':') + 1)

/**
 * The built-in role edit may ask for a token of every service account of its namespace: with one of these it could write every status
 * and read what is sealed. The kubelet asks for those of its pods.
 */
const tokensPolicy = ({ operator, api }: Processes, at: PlatformPlaces): AdmissionPolicy => ({
  name: 'tokens-of-bottega',
  of: { group: '', version: 'v1', resourceNames: [operator, api].map(accountIn) },
  resources: ['serviceaccounts/token'],
  operations: ['CREATE'],
  matchConditions: [
    { name: 'at-home', expression: `request.namespace == '${at.home}'` },
    { name: 'not-by-a-kubelet', expression: `!('${NODES}' in request.userInfo.groups)` },
  ],
  validations: [
    {
      expression: isAdmin(at),
      message: 'FORBIDDEN: tokens of the platform are for its pods; their node asks for them',
      reason: 'Forbidden',
    },
  ],
})

const pluralOf = ({ plural }: Kind): string => plural

const manifestsOf = ({
  name,
  of: { group, version, resourceNames } = { group: GROUP, version: VERSION },
  resources,
  matchConditions,
  validations,
  params,
  operations = ['UPDATE'],
}: AdmissionPolicy): Manifest[] => [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: `${name}.${GROUP}`, labels: LABELS },
    spec: {
      failurePolicy: 'Fail',
      ...(params ? { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } : {}),
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [group],
            apiVersions: [version],
            operations,
            resources,
            ...(resourceNames ? { resourceNames } : {}),
          },
        ],
      },
      ...(matchConditions ? { matchConditions } : {}),
      validations,
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: `${name}.${GROUP}`, labels: LABELS },
    spec: {
      policyName: `${name}.${GROUP}`,
      ...(params ? { paramRef: { ...params, parameterNotFoundAction: 'Deny' } } : {}),
      validationActions: ['Deny'],
    },
  },
]
