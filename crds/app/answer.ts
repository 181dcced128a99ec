/** How the answers about apps are described: one schema for each view. */
import { named } from '../kernel/named.ts'
import type { JsonSchema } from '../kernel/rest.ts'
import { NAME_STATES } from '../names/life.ts'
import { operationBackupAnswer } from './lifecycle/keeping/backups/answer.ts'
import { leftHostsAnswer } from './lifecycle/keeping/moving/answer.ts'
import { CERTIFICATE_SEEN } from './lifecycle/publishing/naming.ts'
import { APPLY_STEPS, PLAN_SORTS } from './lifecycle/publishing/plans.ts'
import { previewOfAnswer, previewsAnswer } from './lifecycle/publishing/previewed.ts'
import { replicasAnswer, websocketsAnswer } from './lifecycle/scaling/answer.ts'
import { commandsAnswer, runAnswer, runsAnswer, schedulesAnswer } from './runs/answer.ts'
import { ACCESSES, DOWNTIMES, POLICIES, TRIALS } from './schema.ts'
import { OPERATION_STATES, RELEASE_STATES, STEP_NAMES } from './world.ts'

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
    name: text('What is done.', { enum: [...STEP_NAMES, ...APPLY_STEPS, 'post_release'] }),
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
      exit_code: wholeOrNull('Of a run: the exit code of its command.'),
    }),
  ),
)

export const operationAnswer = named(
  'AppOperation',
  object('An operation.', {
    id: text('Names the operation.'),
    app: text('The app.'),
    kind: text('What was asked for.', {
      enum: ['deploy', 'rollback', 'env', 'scale', 'move', 'run', 'backup', 'restore', ...PLAN_SORTS],
    }),
    state: text('How it stands.', { enum: [...OPERATION_STATES] }),
    steps: list('In their order.', step),
    result,
    run: runAnswer,
    backup: operationBackupAnswer,
    runs: runsAnswer,
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

export const changeAnswer = named(
  'ComposeChange',
  object('A place of the compose file that runs otherwise than it was written, so that the rest can run as it is.', {
    rule: text('Which rule asks for it.'),
    pointer: text('A JSON pointer into the compose file.'),
    file: text('The file, by its path in the upload.'),
    line: whole('The line in it, from 1.'),
    from: text('As it was written; variables by their names.'),
    to: textOrNull('What runs in its place; null: nothing.'),
    reason: text('Why.'),
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
    changes: list('What runs otherwise than the compose file was written.', changeAnswer),
    restorable: object('Whether it can be run again.', {
      image: { type: 'boolean', description: 'By a rollback, from the images that are kept on the host.' },
      source: { type: 'boolean', description: 'By a rollback with rebuild: true, from the upload that is kept.' },
      reason: textOrNull('Why its images are not there, and what to do.'),
    }),
    created_at: text('When it was begun.'),
    live_at: textOrNull('When visitors came to it.'),
    watched_until: textOrNull(
      'Until then it is watched: when it turns out to be bad, visitors go back to the release before.',
    ),
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
        at: textOrNull('When it was looked at; null for what is no look.'),
      }),
    ),
    checked_at: textOrNull('When it was looked at last.'),
  }),
)

export const proofRecordAnswer = named(
  'AppDomainRecord',
  object('A record of the DNS.', {
    type: text('TXT, CNAME, A or AAAA.'),
    name: text('Where it is set.'),
    value: text('What it holds.'),
  }),
)

export const domainCheckAnswer = named(
  'AppDomainCheck',
  object('One record that was looked for.', {
    name: text('Where.'),
    type: text('TXT or CNAME for the proof; A or AAAA for where it leads; CAA for whom it lets issue certificates.'),
    expected: text('What has to be there.'),
    seen: list('What is there.', text('One value.')),
    ok: { type: 'boolean', description: 'Whether it is right.' },
  }),
)

const certificateAnswer = named(
  'DomainCertificate',
  orNull(
    object('As a handshake found it; null before that.', {
      state: text('How it stands.', { enum: [...CERTIFICATE_SEEN] }),
      not_after: textOrNull('When it runs out.'),
    }),
  ),
)

export const domainAnswer = named(
  'AppDomain',
  object('A hostname of the app.', {
    hostname: text('As it stands in the DNS.'),
    unicode: text('The same in the letters that people type.'),
    kind: text('managed: below the base domain of the host.', { enum: ['managed', 'own'] }),
    state: text('Where it is in its life; taken: another site or app of the account has it.', {
      enum: [...NAME_STATES, 'taken'],
    }),
    verified: { type: 'boolean', description: 'Proven, leading to the host, and admitting its CA, at the last look.' },
    served: { type: 'boolean', description: 'Visitors are let in by it.' },
    certificate: certificateAnswer,
    records: list('One of these proves it.', proofRecordAnswer),
    checks: list('What the last look found.', domainCheckAnswer),
    looked_at: textOrNull('When it was looked for last.'),
    next_look_at: textOrNull('When it is looked for next by itself.'),
    missing_since: textOrNull('Since when the proof is missing; it is served for three days more.'),
    kept_until: textOrNull('Until when nobody else may have it.'),
    code: textOrNull('Why it is not served.'),
    reason: textOrNull('The same in words.'),
  }),
)

export const healthAnswer = named(
  'AppHealth',
  object('Whether all of the live release is as it is to be.', {
    state: text('What is known.', { enum: ['healthy', 'unhealthy', 'unknown'] }),
    code: textOrNull('What was found first; null while nothing was.'),
    detail: textOrNull('The same in words.'),
    service: textOrNull('The service that it was found at.'),
    exit_code: wholeOrNull('What it ended with.'),
    log_tail: textOrNull('What it said last; values of the env are blackened.'),
    since: textOrNull('When it was found.'),
    attempts: whole('How often it was tried to put it right.'),
  }),
)

export const appAnswer = named(
  'App',
  object('An app.', {
    id: text('Names the app.'),
    slug: text("Its name under the host's base domain."),
    host_id: text('The host that it runs on.'),
    left_hosts: leftHostsAnswer,
    routing: text('managed: under the certificates and the policy check of its host.', {
      enum: ['managed', 'original'],
    }),
    application_policy: text('What the app itself asks of visitors.', { enum: [...POLICIES] }),
    access: text('Who may see it.', { enum: [...ACCESSES] }),
    url: textOrNull('Where visitors reach it.'),
    domains: list('Its hostnames: the one below the base domain of its host, then its own.', domainAnswer),
    route: orNull(object('Where visitors go.', { service: text('The service.'), port: whole('Its port.') })),
    release: orNull(releaseAnswer),
    releases: list('The newest releases.', releaseAnswer),
    env: envAnswer,
    budget: orNull(budget),
    applied_budget: orNull(budget),
    replicas: replicasAnswer,
    websockets: websocketsAnswer,
    hand_over: object('How a service that keeps something is handed over to the next release.', {
      downtime: text('confirm: a release that stops it is refused until it is confirmed.', { enum: [...DOWNTIMES] }),
      trial: text('copy: the release comes up on copies of the volumes before anything stops.', { enum: [...TRIALS] }),
      seconds: wholeOrNull(
        'Until the new one answers, else the old one is started again; null: 10, or what its health check takes.',
      ),
    }),
    readiness: readinessAnswer,
    health: healthAnswer,
    drain_seconds: whole('How long what began on a release may take to end after the next has taken over.'),
    watch_seconds: whole('How long a release is watched after it has taken over; 0: not at all.'),
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
    disk: orNull(
      object("What it has on the disk of its host, as the host's meter says.", {
        used_mib: whole('All of it: volumes, layers, logs, deleted files that are open.'),
        budget_mib: whole('What it may have.'),
        volumes: list(
          'Named volumes of the live release.',
          object('A volume.', { name: text('Its name.'), bytes: wholeOrNull('On disk; null before it was measured.') }),
        ),
        at: text('When it was looked at.'),
      }),
    ),
    password_version: wholeOrNull('How often a password was set.'),
    domain_plan: textOrNull('The plan of domains that was applied last.'),
    access_plan: textOrNull('The plan of access that was applied last.'),
    host_address: textOrNull('Where its own domains have to lead.'),
    readiness_probe: object('What is asked to tell whether it is ready.', {
      path: text('Path and query.'),
      status: list('Codes and ranges that are well.', text('As 200-399.')),
      timeout_seconds: whole('For an answer.'),
    }),
    commands: commandsAnswer,
    schedules: schedulesAnswer,
    preview_of: previewOfAnswer,
    previews: previewsAnswer,
    operations_ended: list('Operations of the last while that ended.', text('An id.')),
    runs_ended: list('Runs of the last while that ended.', text('An id.')),
    backups_ended: list('Backups of the last while that ended.', text('An id.')),
  }),
)
