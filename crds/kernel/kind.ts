/** What a kind of resource is: its names, its shape, and how kubectl shows it. One record per resource, listed in kinds.ts. */
import type { CommonStatus } from './object.ts'
import type { CelRule, ObjectSchema, Schema } from './schema.ts'

/** A printer column. `path` is a JSON path from the root. `wide` columns show with `-o wide` only. */
export type PrinterColumn = {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'date'
  path: string
  description: string
  wide?: true
}

/** A ValidatingAdmissionPolicy over updates (or other operations), bound with the action Deny. */
export type AdmissionPolicy = {
  name: string
  /** Of resources that are not ours. */
  of?: { group: string; version: string; resourceNames?: readonly string[] }
  /** Plurals, or `plural/subresource`. */
  resources: readonly string[]
  /** UPDATE when left out. */
  operations?: readonly ('CREATE' | 'UPDATE' | 'DELETE')[]
  matchConditions?: readonly { name: string; expression: string }[]
  /** A ConfigMap that the expressions see as `params`; without it everything is refused. */
  params?: { name: string; namespace: string }
  /** Messages start with the REST code. */
  validations: readonly { expression: string; message?: string; messageExpression?: string; reason: string }[]
}

/**
 * @typeParam Spec what `Infer` gives for `spec`
 * @typeParam Status what `Infer` gives for `status`
 * @typeParam View what the mirror keeps of it: the one declaration of that shape, for who writes it and who reads it
 */
export type Kind<Spec = unknown, Status extends CommonStatus = CommonStatus, View = unknown> = {
  kind: string
  plural: string
  singular: string
  listKind: string
  shortNames: readonly string[]
  description: string
  spec: ObjectSchema
  status: ObjectSchema
  /** JSON paths of how many are wanted and are there, for `kubectl scale`; absent where nothing is counted. */
  scale?: { spec: string; status: string }
  columns: readonly PrinterColumn[]
  /** JSON paths for `--field-selector`. */
  selectable: readonly string[]
  /** Rules over the whole object, where status is seen beside spec. */
  rules: readonly CelRule[]
  /** Qualified; absent when deletion needs no work outside. */
  finalizer?: string
  /** Which built-in role may write it: `edit` for who works in a namespace, `admin` for who runs the platform. */
  writers: 'edit' | 'admin'
  /** What the api's own account may do with it, beside looking at one; also guarded verbs that a policy asks it for. */
  apiVerbs: readonly string[]
  /** What the controllers' own account may do with the object itself, beside reading; nothing when left out. */
  controllerVerbs?: readonly ('create' | 'delete')[]
  /** Verbs of the kind's own that admission policies ask for; whoever has the role `admin` holds them. */
  guardedVerbs?: readonly string[]
  /** What neither a schema nor RBAC can say. */
  policies?: readonly AdmissionPolicy[]
  /** Carries the types along; never set. */
  types?: { spec: Spec; status: Status; view: View }
}

/** A kind as far as its views are typed by it. */
export type KindOf<View> = { kind: string; types?: { view: View } }

const REASON_MAX = 128
const MESSAGE_MAX = 1024
const CONDITIONS_MAX = 8

const condition = {
  type: 'object',
  description: 'One statement about the resource.',
  required: ['type', 'status', 'reason', 'message', 'observedGeneration', 'lastTransitionTime'],
  properties: {
    type: { type: 'string', description: 'What is stated: Ready, Reconciling, Stalled.', maxLength: REASON_MAX },
    status: { type: 'string', description: 'Whether it holds.', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string', description: 'One CamelCase word for machines.', minLength: 1, maxLength: REASON_MAX },
    message: { type: 'string', description: 'A sentence for people, with the next step.', maxLength: MESSAGE_MAX },
    observedGeneration: { type: 'integer', description: 'The generation of the spec that was judged.', minimum: 0 },
    lastTransitionTime: {
      type: 'string',
      description: 'When status last changed.',
      format: 'date-time',
      maxLength: 64,
    },
  },
} as const satisfies Schema

/** The properties that every status has; a kind spreads them and adds its own facts. */
export const COMMON_STATUS = {
  observedGeneration: {
    type: 'integer',
    description: 'The generation of the spec that this status speaks of.',
    minimum: 0,
  },
  factSeq: { type: 'integer', description: 'How many recorded facts this status has taken in.', minimum: 0 },
  conditions: {
    type: 'array',
    description: 'Ready, Reconciling and Stalled in the sense of kstatus.',
    maxItems: CONDITIONS_MAX,
    'x-list': { map: 'type' },
    items: condition,
  },
} as const satisfies Record<string, Schema>

const conditionPath = (type: string, field: string) => `.status.conditions[?(@.type=="${type}")].${field}`

/** The columns that end every table. A declared column takes the default AGE away, so it is declared too. */
export const READY: PrinterColumn = {
  name: 'Ready',
  type: 'string',
  path: conditionPath('Ready', 'status'),
  description: 'Whether the resource is as its spec asks.',
}
export const REASON: PrinterColumn = {
  name: 'Reason',
  type: 'string',
  path: conditionPath('Ready', 'reason'),
  description: 'Why it is ready or not.',
  wide: true,
}
export const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  path: '.metadata.creationTimestamp',
  description: 'Time since creation.',
}
