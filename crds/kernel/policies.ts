/**
 * ValidatingAdmissionPolicies: what neither a schema nor RBAC can say. They bind cluster administrators too, so the rules
 * that REST keeps are kept for kubectl before anything is stored, without a webhook server.
 */
import type { AdmissionPolicy, Kind } from './kind.ts'
import type { Manifest } from './manifest.ts'
import { GROUP, VERSION } from './object.ts'

const LABELS = { 'app.kubernetes.io/part-of': 'bottega' }

/** The policies and their bindings. @param operator the user name that alone may write a status */
export const policiesOf = (kinds: readonly Kind[], operator: string): Manifest[] =>
  [statusPolicy(kinds, operator), ...kinds.flatMap((kind) => kind.policies ?? [])].flatMap(manifestsOf)

/** A status is a promise of the operator: numbers, amounts and readiness are nobody else's to state. */
const statusPolicy = (kinds: readonly Kind[], operator: string): AdmissionPolicy => ({
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

const manifestsOf = ({
  name,
  resources,
  matchConditions,
  validations,
  operations = ['UPDATE'],
}: AdmissionPolicy): Manifest[] => [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: `${name}.${GROUP}`, labels: LABELS },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [GROUP], apiVersions: [VERSION], operations, resources }],
      },
      ...(matchConditions ? { matchConditions } : {}),
      validations,
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: `${name}.${GROUP}`, labels: LABELS },
    spec: { policyName: `${name}.${GROUP}`, validationActions: ['Deny'] },
  },
]
