/** How the DevInstance is named and shown, and what may not be deleted. */
import { type AdmissionPolicy, AGE, type Kind, READY, REASON } from '../kernel/kind.ts'
import { GROUP } from '../kernel/object.ts'
import { type DevInstanceSpec, type DevInstanceStatus, spec, status } from './schema.ts'
import type { StoredDevInstance } from './view.ts'

const FINALIZER = `${GROUP}/devinstance`

/**
 * A machine that still costs money must not lose its record (rules/devinstance.md#live-instances-are-not-deleted). The
 * administrator who takes the finalizer away has taken that upon himself (kernel/rights/policies.ts).
 */
const livePolicy: AdmissionPolicy = {
  name: 'devinstance-live',
  resources: ['devinstances'],
  operations: ['DELETE'],
  matchConditions: [
    {
      name: 'an-instance-is-attached',
      expression: 'has(oldObject.status) && has(oldObject.status.instanceId) && has(oldObject.status.state)',
    },
    {
      name: 'its-record-is-kept-by-the-finalizer',
      expression: `has(oldObject.metadata.finalizers) && '${FINALIZER}' in oldObject.metadata.finalizers`,
    },
  ],
  validations: [
    {
      expression: "oldObject.status.state == 'terminated'",
      messageExpression:
        "'INSTANCE_LIVE: ' + oldObject.status.instanceId + ' is attached; confirm it terminated before deleting'",
      message: 'INSTANCE_LIVE: an instance is attached; confirm it terminated before deleting',
      reason: 'Invalid',
    },
  ],
}

export const DEVINSTANCE: Kind<DevInstanceSpec, DevInstanceStatus, StoredDevInstance> = {
  kind: 'DevInstance',
  plural: 'devinstances',
  singular: 'devinstance',
  listKind: 'DevInstanceList',
  shortNames: ['dbx'],
  description: 'A dev instance: reserved under a cost cap, and followed through what its provisioner confirms.',
  spec,
  status,
  // Its record outlives the machine: name, address and cost are freed only once nothing is left of it.
  finalizer: FINALIZER,
  writers: 'edit',
  // What was reserved and deleted goes, whether or not whoever asked for it waits.
  controllerVerbs: ['delete'],
  apiVerbs: ['create', 'patch'],
  policies: [livePolicy],
  columns: [
    { name: 'Owner', type: 'string', path: '.spec.account', description: 'The account that it belongs to.' },
    { name: 'State', type: 'string', path: '.status.phase', description: 'The state that was last confirmed.' },
    { name: 'Class', type: 'string', path: '.status.sizeClass', description: 'The size class.' },
    { name: 'Idle', type: 'date', path: '.status.idleSince', description: 'For how long it was not used.' },
    { name: 'USD', type: 'string', path: '.status.monthUsd', description: 'What it has cost in this month.' },
    AGE,
    { name: 'IP', type: 'string', path: '.status.publicIp', description: 'Its address.', wide: true },
    { ...READY, wide: true },
    { name: 'Name', type: 'string', path: '.status.name', description: 'Its name.', wide: true },
    { name: 'Instance', type: 'string', path: '.status.instanceId', description: "The cloud's id.", wide: true },
    REASON,
  ],
  selectable: ['.spec.account', '.spec.arch', '.status.state', '.status.name', '.status.instanceId'],
  rules: [
    // beside what is: what was wished and refused may be taken back. A report of a larger disk changes no spec
    {
      rule: '!has(self.spec.diskGb) || (has(oldSelf.spec.diskGb) && self.spec.diskGb == oldSelf.spec.diskGb) || !has(self.status) || !has(self.status.diskGb) || self.spec.diskGb >= self.status.diskGb',
      message: 'DISK_SHRINK: the disk is larger already, and never shrinks',
      fieldPath: '.spec.diskGb',
    },
  ],
}
