/** Shapes of bodies that are no kind's, and of answers (rules/devinstance.md#over-rest). */
import { AGENT_IDS } from '../../crds/devinstance/bootstrap/agents.ts'
import { REPO_CHANGE } from '../../crds/devinstance/protocol.ts'
import { POLICY, STATES } from '../../crds/devinstance/schema.ts'
import { CONCURRENCY_MAX, OVERRIDES } from '../../crds/devinstance/sizing/need.ts'
import { MEASUREMENTS, PROFILE } from '../../crds/devinstance/sizing/profile.ts'
import { ARCHES, SIZE_CLASSES } from '../../crds/devinstance/sizing/sizes.ts'
import { named } from '../../crds/kernel/named.ts'
import { type JsonSchema, restSchema } from '../../crds/kernel/rest.ts'
import type { Infer, ObjectSchema } from '../../crds/kernel/schema.ts'
import { paging } from '../openapi/paging.ts'
import { flag, list, object, text, textOrNull, whole } from '../openapi/schemas.ts'
import { authorizedKeys } from './machine/shapes.ts'

/** Names stay as they are: this surface is in camelCase. */
export const bodyOf = (schema: ObjectSchema): JsonSchema => restSchema(schema, { names: 'camel' })

export const SIZE_REQUEST = {
  type: 'object',
  description: 'A repository to find the size for.',
  required: ['profile'],
  properties: {
    profile: PROFILE,
    measurements: MEASUREMENTS,
    concurrency: {
      type: 'integer',
      description: 'How many pieces of work go on at a time.',
      minimum: 1,
      maximum: CONCURRENCY_MAX,
      default: 1,
    },
    agents: {
      type: 'array',
      description: 'The agents of the box; one of the heaviest when left out.',
      maxItems: AGENT_IDS.length,
      items: { type: 'string', description: 'One profile.', enum: AGENT_IDS },
    },
    overrides: OVERRIDES,
  },
} as const satisfies ObjectSchema
export type SizeRequest = Infer<typeof SIZE_REQUEST>

export const POLICY_CHANGE = {
  type: 'object',
  description: 'The policy; nothing else changes this way.',
  properties: { policy: POLICY },
} as const satisfies ObjectSchema

/** What a caller believes is needed: taken and ignored, for the server computes it (rules/devinstance.md#repository). */
const IGNORED: JsonSchema = { description: 'Ignored: the server computes class and disk.' }

export const repoBody = (): JsonSchema => {
  const body = bodyOf(REPO_CHANGE)
  const properties = body.properties as Record<string, JsonSchema>
  const profile = properties.profile as JsonSchema & { properties: object }
  return {
    ...body,
    properties: {
      ...properties,
      profile: { ...profile, properties: { ...profile.properties, requiredClass: IGNORED } },
      requiredClass: IGNORED,
    },
  }
}

const usd = (description: string): JsonSchema => ({ type: 'number', description })
const nullable = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'] })
const open = (description: string): JsonSchema => ({ type: ['object', 'null'], description })
const oneOf = (description: string, words: readonly string[]): JsonSchema => ({
  type: 'string',
  description,
  enum: words,
})

const price = named(
  'DevboxPrice',
  object('All-in, in US dollars a month; stopped with the address kept.', {
    pricingVersion: text('The table of prices.'),
    runningMonthlyUsd: usd('While it runs.'),
    stoppedMonthlyUsd: usd('While it is stopped.'),
    parts: object('What it is made of.', {
      computeUsd: usd('Compute.'),
      storageUsd: usd('Storage.'),
      ipv4Usd: usd('Public IPv4 address.'),
    }),
  }),
)
const size = named(
  'DevboxSize',
  object('A size.', {
    sizeClass: oneOf('The size class.', SIZE_CLASSES),
    arch: oneOf('The architecture.', ARCHES),
    instanceType: text('The instance type.'),
    vcpu: whole('Processors.'),
    memoryGib: whole('Memory.'),
    diskGb: whole('Disk.'),
    fallbackTypes: list('Types of equal shape, should there be no capacity.', text('One type.')),
  }),
)
export const sizingAnswer = named(
  'Sizing',
  object('What is needed, what is taken, its price, and why.', {
    proposal: size,
    chosen: size,
    price,
    reasons: list(
      'Each with its figures.',
      object('One reason.', { code: text('Its code.'), detail: text('In words.') }),
    ),
  }),
)

const item: Record<string, JsonSchema> = {
  id: text('Names the instance.'),
  name: text('Its name.'),
  owner: text('The account that it belongs to.'),
  state: oneOf('The state that was last confirmed.', STATES),
  version: whole('Row version for compare-and-set.'),
  sizeClass: oneOf('The size class.', SIZE_CLASSES),
  arch: oneOf('The architecture.', ARCHES),
  instanceType: text('The instance type: as it was launched, where that was told.'),
  diskGb: whole('Disk in GB.'),
  agents: list('Agent profiles.', text('One profile.')),
  repo: open('The repository that it holds.'),
  policy: bodyOf(POLICY),
  instanceId: textOrNull("The cloud's id."),
  publicIp: textOrNull('Its address.'),
  eipAllocId: textOrNull('Allocation of the address.'),
  targetLabel: text('What the provisioner labels it with.'),
  teams: list('The teams that may see it.', text('Id of a team.')),
  price,
  costToDateUsd: usd('What it has cost until now.'),
  wanted: open(
    'What the spec of its resource wishes and the provisioner is to do: power, sizeClass, diskGb, since when, by which generation (null: a stop that was asked for by halting). Null: nothing.',
  ),
  createdAt: text('When it was asked for.'),
  stateSince: text('Since when it is in this state.'),
  deletedAt: textOrNull('When it was deleted.'),
}
export const itemAnswer = named('ListedDevbox', object('An instance.', item))

const entry = named(
  'DevboxEvent',
  object('One entry.', {
    kind: text('What happened.'),
    at: text('When.'),
    by: textOrNull('Which account said so.'),
    version: whole('Row version after it.'),
    data: open('The figures.'),
  }),
)

const detail = named(
  'Devbox',
  object('The instance.', {
    ...item,
    sizing: sizingAnswer,
    currentMonthlyUsd: usd('What a month costs as it stands.'),
    addresses: list(
      'Every address that it holds.',
      object('One.', {
        eipAllocId: text('Allocation.'),
        publicIp: text('Address.'),
        heldFrom: text('Since when.'),
        inUse: flag('Whether it is the present one.'),
      }),
    ),
    hostKeys: list('Fingerprints of its host keys.', text('One.')),
    attestation: open(
      'How it attested itself again, since it was finalized: at, when it first said that, and faults in words. Null: it has not.',
    ),
    launched: open('What was launched, as it was told last; by that it is priced. Null before.'),
    measurements: open('What a warm-up measured.'),
    authorizedKeys,
    envKeys: list('Names in its environment.', text('One name.')),
    lease: open('The provisioning lease.'),
    reservationExpiresAt: textOrNull('When the reservation lapses.'),
    bootstrapSha256: text('Of the user data as served.'),
    intent: open('The resize that is under way.'),
    capOverride: flag('Whether the next resize may exceed the cap.'),
    capOverrideUntil: textOrNull('When that runs out.'),
    asked: object('What was asked for and is not confirmed yet.', {
      starting: open('A start.'),
      terminating: open('Its end.'),
    }),
    machine: open(
      'What the machine does, by whoever spoke of it last: up, down or gone; null before one was reported.',
    ),
    otherInstances: list(
      'Instances that were reported beside the attached one; each costs as that does.',
      object('One.', { instanceId: text("The cloud's id."), seenAt: text('When it was reported.') }),
    ),
    startedAt: textOrNull('The latest start.'),
    terminatedAt: textOrNull('When it was confirmed gone.'),
    conditions: list(
      'What is wrong with it.',
      object('One.', {
        type: text('Which.'),
        reason: text('In a word.'),
        message: text('In words.'),
        since: text('Since when.'),
      }),
    ),
    lastReport: open('What it said last.'),
    events: list('The latest of its history, newest first.', entry),
    allowedActions: list('What may be called now, by the last words of the endpoints.', text('One.')),
  }),
)
export const wrapped = object('The instance.', { devbox: detail })
export const historyAnswer = object('One page.', { events: list('Newest first.', entry), ...paging })
export const requestedAnswer = named(
  'DevboxOrDryRun',
  object('The instance, or what would become of it.', {
    devbox: detail,
    dryRun: object('With dryRun: how it would stand.', {
      state: oneOf('The state.', STATES),
      version: whole('The row version.'),
      committedMonthlyUsd: usd('What it would be committed to.'),
      ownerCommittedMonthlyUsd: usd('What all instances of the owner would be.'),
      capMonthlyUsd: usd('The most that they may be.'),
    }),
  }),
)
export const reservationAnswer = named(
  'Reservation',
  object('What was reserved.', {
    devbox: detail,
    bootstrapUrl: text('Where the user data is served.'),
    reservationExpiresAt: text('When the reservation lapses, unless an instance is reported.'),
    clientToken: text('For the launch: the cloud makes one instance of it, however often it is repeated.'),
  }),
)
export const listAnswer = object('One page.', {
  devboxes: list('Newest first.', itemAnswer),
  ...paging,
  committedMonthlyUsd: usd("What the caller's own instances are committed to."),
  capMonthlyUsd: usd('The most that they may be.'),
})
export const sizesShape = object('The catalogue.', {
  pricingVersion: text('The table of prices.'),
  region: text('Where these are the prices.'),
  sizes: list(
    'Every class on every architecture.',
    object('One size.', {
      sizeClass: text('Class.'),
      arch: text('Architecture.'),
      instanceType: text('Type.'),
      vcpu: whole('Processors.'),
      memoryGib: whole('Memory.'),
      diskGb: whole('Disk.'),
      runningMonthlyUsd: usd('While it runs.'),
      stoppedMonthlyUsd: usd('While it is stopped.'),
      parts: open('What it is made of.'),
      fallbacks: list(
        'Types of equal shape, should there be no capacity; the cheapest first.',
        object('One type.', {
          instanceType: text('Type.'),
          runningMonthlyUsd: nullable(usd('While it runs; null: not reviewed in this region.')),
        }),
      ),
    }),
  ),
})
export const agentsShape = object('The agents.', {
  agents: list(
    'Each with its pinned version.',
    object('One.', {
      id: text('Id.'),
      package: text('Package.'),
      version: text('Version.'),
      loginHint: text('How to log in.'),
    }),
  ),
})
export const proposalShape = object('The open proposal, or null.', {
  proposal: nullable(
    object('The proposal.', {
      sizeClass: text('Class.'),
      diskGb: whole('Disk in GB.'),
      reason: text('Why.'),
      command: text('The exact command.'),
      apply: flag('Whether the provisioner takes it by itself.'),
    }),
  ),
})
export const keysShape = object('Names only.', { keys: list('In the order of the alphabet.', text('One name.')) })
export const envShape = object('The environment.', {
  env: { type: 'object', description: 'Values by name.', additionalProperties: text('A value.') },
})
export const tokenShape = object('The token, shown this once.', {
  token: text('The report token, to be sent as bearer.'),
  devbox: detail,
})
