/** How the answers about apps are described: one schema for each view. */
import { named } from '../kernel/named.ts'
import type { JsonSchema } from '../kernel/rest.ts'
import { ACCESSES, POLICIES } from './schema.ts'
import { DEPLOY_STEPS, OPERATION_STATES, RELEASE_STATES } from './world.ts'

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
const whole = (description: string): JsonSchema => ({ type: 'integer', description })
const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description })
const list = (description: string, items: JsonSchema): JsonSchema => ({ type: 'array', description, items })
const object = (description: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  description,
  properties,
})
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'] })

const STEP_STATES = ['pending', 'running', 'succeeded', 'failed', 'skipped']

const step = named(
  'OperationStep',
  object('One step.', {
    name: text('What is done.', { enum: [...DEPLOY_STEPS] }),
    state: text('How it stands.', { enum: STEP_STATES }),
    started_at: textOrNull('When it began.'),
    ended_at: textOrNull('When it ended.'),
    message: textOrNull('What there is to say.'),
  }),
)

const result = named(
  'OperationResult',
  orNull(
    object('What came of it; null until it has ended.', {
      release: wholeOrNull('The number of the release that it made.'),
      code: textOrNull('Why it failed.'),
      detail: textOrNull('The same in words.'),
    }),
  ),
)

export const operationAnswer = named(
  'AppOperation',
  object('An operation.', {
    id: text('Names the operation.'),
    app: text('The app.'),
    kind: text('What was asked for.', { enum: ['deploy', 'rollback', 'env'] }),
    state: text('How it stands.', { enum: [...OPERATION_STATES] }),
    steps: list('In their order.', step),
    result,
    cancel_requested: { type: 'boolean', description: 'Whether somebody asked it to stop.' },
    created_at: text('When it was asked for.'),
    started_at: textOrNull('When its turn came.'),
    ended_at: textOrNull('When it ended.'),
  }),
)

const image = named(
  'AppImage',
  object('An image, as it runs.', {
    service: text('The service.'),
    name: text('Its name when it was built or pulled.'),
    id: text('The digest that is run.'),
  }),
)

export const releaseAnswer = named(
  'AppRelease',
  object('A release.', {
    id: text('Names the release.'),
    number: whole('Counts per app, from 1.'),
    state: text('How it stands.', { enum: [...RELEASE_STATES] }),
    reason: textOrNull('Why it failed.'),
    log_tail: textOrNull('The last lines of its log when it failed; values of the env are blackened.'),
    restored_from: wholeOrNull('The release that it repeats.'),
    source_digest: text('The upload that it was made from.'),
    env_version: wholeOrNull('The version of the env that it runs with.'),
    digest: textOrNull('Names everything that it was sealed with.'),
    images: list('What it runs.', image),
    warnings: list('What the compose policy had to say.', text('A sentence.')),
    created_at: text('When it was begun.'),
    live_at: textOrNull('When visitors came to it.'),
  }),
)

const budget = named(
  'AppBudget',
  object('What all services together may use.', {
    cpu_millis: whole('Thousandths of a processor.'),
    memory_mib: whole('Memory in MiB.'),
    disk_gib: whole('Disk in GiB.'),
  }),
)

export const envAnswer = named(
  'AppEnv',
  object('The env: names and versions, never values.', {
    stored_version: wholeOrNull('The newest version.'),
    applied_version: wholeOrNull('The version that the live release runs with.'),
    keys: list('The names in the newest version.', text('A name.')),
  }),
)

export const readinessAnswer = named(
  'Readiness',
  object('Whether it answers over HTTP.', {
    state: text('What is known.', { enum: ['ready', 'not_ready', 'unknown'] }),
    checks: list(
      'What was looked at.',
      object('One check.', {
        name: text('What is looked at.'),
        ok: { type: ['boolean', 'null'], description: 'null: it cannot be told.' },
        detail: text('What was seen.'),
      }),
    ),
    checked_at: textOrNull('When it was looked at last.'),
  }),
)

export const appAnswer = named(
  'App',
  object('An app.', {
    id: text('Names the app.'),
    slug: text("Its name under the host's base domain."),
    host_id: text('The host that it runs on.'),
    routing: text('managed: under the certificates and the policy check of its host.', {
      enum: ['managed', 'original'],
    }),
    application_policy: text('What the app itself asks of visitors.', { enum: [...POLICIES] }),
    access: text('Who may see it.', { enum: [...ACCESSES] }),
    url: textOrNull('Where visitors reach it.'),
    domains: list('Its hostnames.', text('A hostname.')),
    route: orNull(object('Where visitors go.', { service: text('The service.'), port: whole('Its port.') })),
    release: orNull(releaseAnswer),
    releases: list('The newest releases.', releaseAnswer),
    env: envAnswer,
    budget: orNull(budget),
    readiness: readinessAnswer,
    operation: orNull(operationAnswer),
    status: text('One word: empty, deploying, live, failed.'),
    stalled: orNull(
      object('Why nothing more happens until a person acts.', {
        code: text('The code that a request would have been refused with.'),
        detail: text('The rule and the figures.'),
      }),
    ),
    created_at: text('When it was created.'),
    version: whole('Rises with every edit.'),
    volumes: list('Named volumes of the live release.', text('A name.')),
    password_version: wholeOrNull('How often a password was set.'),
    operations_ended: list('Operations of the last while that ended.', text('An id.')),
  }),
)
