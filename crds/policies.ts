/**
 * ValidatingAdmissionPolicies: what neither a schema nor RBAC can say. They bind cluster administrators too, so the rules
 * that REST keeps are kept for kubectl before anything is stored, without a webhook server.
 */
import type { Kind } from './kind.ts'
import type { Manifest } from './manifest.ts'
import { GROUP, VERSION } from './object.ts'

type Validation = { expression: string; message?: string; messageExpression?: string; reason: string }
type Policy = {
  name: string
  resources: string[]
  matchConditions?: { name: string; expression: string }[]
  validations: Validation[]
}

const LABELS = { 'app.kubernetes.io/part-of': 'bottega' }

/** The policies and their bindings. @param operator the user name that alone may write a status */
export const policiesOf = (kinds: readonly Kind[], operator: string): Manifest[] =>
  [statusPolicy(kinds, operator), lockedPolicy].flatMap(manifestsOf)

/** A status is a promise of the operator: numbers, amounts and readiness are nobody else's to state. */
const statusPolicy = (kinds: readonly Kind[], operator: string): Policy => ({
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

/** Money that came in, by the status that only the operator writes. */
const PAID = 'oldObject.status.paidCents >= oldObject.status.totalCents'

/** A paid invoice is a record (spec/1: LOCKED_PAID, LOCKED_PARTIAL). */
const lockedPolicy: Policy = {
  name: 'invoice-locked',
  resources: ['invoices'],
  matchConditions: [
    {
      name: 'money-came-in',
      expression:
        'has(oldObject.status) && has(oldObject.status.paidCents) && oldObject.status.paidCents > 0 && has(oldObject.status.totalCents)',
    },
  ],
  validations: [
    {
      expression: 'object.spec == oldObject.spec',
      messageExpression: `(${PAID} ? 'LOCKED_PAID: a paid' : 'LOCKED_PARTIAL: a partly paid') + ' invoice is a record; correct it by a credit note'`,
      message: 'LOCKED_PAID: a paid invoice is a record; correct it by a credit note',
      reason: 'Invalid',
    },
  ],
}

const manifestsOf = ({ name, resources, matchConditions, validations }: Policy): Manifest[] => [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: `${name}.${GROUP}`, labels: LABELS },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{ apiGroups: [GROUP], apiVersions: [VERSION], operations: ['UPDATE'], resources }],
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
