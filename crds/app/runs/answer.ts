/** How the answers about runs and schedules are described. */
import { named } from '../../kernel/named.ts'
import { type JsonSchema, restSchema } from '../../kernel/rest.ts'
import { spec } from '../schema.ts'
import { RUN_CAUSES, RUN_STATES } from './run.ts'

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({ type: 'string', description, ...more })
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description })
const whole = (description: string): JsonSchema => ({ type: 'integer', description })
const wholeOrNull = (description: string): JsonSchema => ({ type: ['integer', 'null'], description })
const words = (description: string): JsonSchema => ({ type: 'array', description, items: text('A word.') })
const object = (description: string, properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  description,
  properties,
})
const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'] })

/** What is run, in an operation of kind run. */
export const runAnswer = named(
  'Run',
  orNull(
    object('Of an operation of kind run: what is run. null for all others.', {
      cause: text('Why it is run.', { enum: [...RUN_CAUSES] }),
      service: text('The service whose image, env, networks and limits it has.'),
      command: words('The command with its arguments.'),
      env_keys: words('Names of the env that was given with it.'),
      timeout_seconds: whole('After so many seconds it is stopped.'),
      release: wholeOrNull('The release that it runs in.'),
      operation_id: textOrNull('The operation whose release it comes before or after.'),
      schedule: textOrNull('The schedule by which it fell due.'),
      due_at: textOrNull('When it fell due.'),
      output: object('Of its output, in bytes.', {
        first: whole('Where what is kept begins.'),
        next: whole('Where it ends so far.'),
        dropped: whole('How many are not kept any more.'),
      }),
    }),
  ),
)

/** The commands of an operation's release. */
export const runsAnswer: JsonSchema = {
  type: 'array',
  description: 'The commands that were run before and after its release.',
  items: named(
    'ReleaseRun',
    object('One of them.', {
      id: text('Names it: its output is read by that.'),
      step: text('Which step it is.', { enum: [...RUN_CAUSES] }),
      state: text('How it stands.', { enum: [...RUN_STATES] }),
    }),
  ),
}

const shown = restSchema(spec).properties as Record<string, JsonSchema & { properties: Record<string, JsonSchema> }>

const commandAnswer = named('ReleaseCommand', {
  ...orNull(shown.commands?.properties.pre_release ?? {}),
  description: 'A command; null where there is none.',
})

export const commandsAnswer = object('What is run before and after a release.', {
  pre_release: commandAnswer,
  post_release: commandAnswer,
})

export const schedulesAnswer: JsonSchema = shown.schedules ?? {}

const scheduledRun = object('One run of a schedule.', {
  operation_id: text('Names the run.'),
  due_at: textOrNull('When it fell due.'),
  state: text('How it stands. skipped: it was never begun, and code says why.', { enum: [...RUN_STATES] }),
  exit_code: wholeOrNull('With which code it ended.'),
  code: textOrNull('Why it failed or was skipped: OVERLAP, MISSED, NOT_RELEASED among others.'),
  detail: textOrNull('The same in words.'),
  started_at: textOrNull('When it began.'),
  ended_at: textOrNull('When it ended.'),
  duration_ms: wholeOrNull('How long it took.'),
  log_tail: textOrNull('The last lines of its output; values of the env are blackened.'),
})

const item = schedulesAnswer.items as { properties: Record<string, JsonSchema> }

/** A schedule with what became of it. */
export const scheduleAnswer = named(
  'ScheduleWithRuns',
  object('A schedule, and its last runs.', {
    ...item.properties,
    next_at: textOrNull('When it is due next.'),
    runs: { type: 'array', description: 'Newest first.', items: scheduledRun },
  }),
)
