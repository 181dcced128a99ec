/** How the Host is named and shown, who may approve one, and what takes an approval away. */
import { type AdmissionPolicy, AGE, type Kind, READY, REASON } from '../kernel/kind.ts'
import { GROUP } from '../kernel/object.ts'
import { type HostSpec, type HostStatus, spec, status } from './schema.ts'
import type { HostView } from './view.ts'

/** Whoever may approve a host holds this verb on it. */
export const APPROVE = 'approve'

/** What an approval is of: another machine, or another way in, is another host. */
const BOUND = ['address', 'port', 'user', 'hostKey'] as const

const unchanged = BOUND.map((field) => `self.spec.${field} == oldSelf.spec.${field}`).join(' && ')

/** Asked whenever an approval is given, by whatever way: kubectl, GitOps, or the API for an administrator. */
const approval: AdmissionPolicy = {
  name: 'host-approval',
  resources: ['hosts'],
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'approval-is-given',
      expression: "object.spec.approved && (request.operation == 'CREATE' || !oldObject.spec.approved)",
    },
  ],
  validations: [
    {
      expression: `authorizer.group('${GROUP}').resource('hosts').namespace(object.metadata.namespace).name(object.metadata.name).check('${APPROVE}').allowed()`,
      message: `ROLE_REQUIRED: approving a host needs the verb ${APPROVE} on hosts of ${GROUP}`,
      reason: 'Forbidden',
    },
    {
      expression:
        "request.operation == 'CREATE' || (has(object.status) && has(object.status.phase) && object.status.phase == 'inspected' && has(object.status.observedGeneration) && object.status.observedGeneration == oldObject.metadata.generation)",
      message: 'NOT_INSPECTED: a host is approved after a good inspection; see its conditions',
      reason: 'Invalid',
    },
  ],
}

export const HOST: Kind<HostSpec, HostStatus, HostView> = {
  kind: 'Host',
  plural: 'hosts',
  singular: 'host',
  listKind: 'HostList',
  shortNames: ['bhost'],
  description: 'A machine that apps and sites are put on over SSH: pinned, inspected, approved.',
  spec,
  status,
  writers: 'admin',
  apiVerbs: ['create', 'list', 'patch', 'delete', APPROVE],
  guardedVerbs: [APPROVE],
  columns: [
    { name: 'Class', type: 'string', path: '.spec.class', description: 'shared, isolated, owned or platform.' },
    { name: 'Address', type: 'string', path: '.spec.address', description: 'Where it is.' },
    { name: 'State', type: 'string', path: '.status.phase', description: 'registered, inspected, approved, …' },
    { name: 'Arch', type: 'string', path: '.status.arch', description: 'amd64 or arm64.' },
    {
      name: 'Cordoned',
      type: 'boolean',
      path: '.spec.cordoned',
      description: 'It takes nothing new.',
      wide: true,
    },
    READY,
    AGE,
    {
      name: 'Free',
      type: 'integer',
      path: '.status.disk.freeGib',
      description: 'GiB of disk that are free.',
      wide: true,
    },
    { name: 'Domain', type: 'string', path: '.spec.baseDomain', description: 'Names are given under it.', wide: true },
    REASON,
  ],
  selectable: ['.spec.account', '.spec.class', '.status.phase'],
  rules: [
    {
      rule: `(${unchanged}) || !self.spec.approved`,
      message: `HOST_NOT_APPROVED: ${BOUND.join(', ')} are what was approved; set approved to false with this change, and approve it anew`,
      fieldPath: '.spec.approved',
    },
  ],
  policies: [approval],
}
