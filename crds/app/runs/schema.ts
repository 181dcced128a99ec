/** What of an App's spec is run beside what serves: before and after a release, and at times of day (rules/app.md#commands). */
import type { ArraySchema, Infer, IntegerSchema, ObjectSchema, StringSchema } from '../../kernel/schema.ts'

export const ARGUMENTS_MAX = 64
export const ARGUMENT_MAX = 4_096
export const SCHEDULES_MAX = 20
const DAY_SECONDS = 86_400
/** A command is given so long when nobody says otherwise. */
export const TIMEOUT_SECONDS = 600
/** A release waits for what comes before it, so that it is bounded more closely. */
export const RELEASE_TIMEOUT_MAX_SECONDS = 3_600
export const TIMEOUT_MAX_SECONDS = DAY_SECONDS
/** How late what fell due while nobody was there may still begin. */
export const DEADLINE_SECONDS = 300

export const service = {
  type: 'string',
  description: 'A service of the compose file: its image, env, networks and limits are those of the command.',
  minLength: 1,
  maxLength: 63,
  pattern: '^[a-zA-Z0-9._-]+$',
} as const satisfies StringSchema

export const command = {
  type: 'array',
  description: "The command and its arguments, in place of the service's own; an entrypoint stays. No shell reads it.",
  minItems: 1,
  maxItems: ARGUMENTS_MAX,
  'x-list': 'atomic',
  items: { type: 'string', description: 'One word.', maxLength: ARGUMENT_MAX, 'x-text': 'block' },
} as const satisfies ArraySchema

export const timeoutOf = <Max extends number>(maximum: Max) =>
  ({
    type: 'integer',
    description: 'Seconds after which it is stopped, and has failed.',
    minimum: 1,
    maximum,
    default: TIMEOUT_SECONDS,
  }) as const satisfies IntegerSchema

const repeatable = {
  type: 'boolean',
  description:
    'Whether it may run twice: then it is run again where nobody knows how it ended, as after a restart of its host.',
  default: false,
} as const

const releaseCommand = {
  type: 'object',
  title: 'AppCommand',
  description: 'A command that is run with a release.',
  required: ['service', 'command'],
  properties: { service, command, timeoutSeconds: timeoutOf(RELEASE_TIMEOUT_MAX_SECONDS), repeatable },
} as const satisfies ObjectSchema

export const commands = {
  type: 'object',
  description:
    'What is run with each deploy and each change of the env; a rollback runs neither. preRelease is run with the new release before anything of it is started, as a migration, and its failure ends the release; postRelease once visitors are on it, and its failure is told and undoes nothing.',
  properties: { preRelease: releaseCommand, postRelease: releaseCommand },
} as const satisfies ObjectSchema

const schedule = {
  type: 'object',
  title: 'AppSchedule',
  description: 'A command that is run at times of day.',
  required: ['name', 'service', 'command', 'schedule'],
  properties: {
    name: {
      type: 'string',
      description: 'Its name, once in an app.',
      minLength: 1,
      maxLength: 40,
      pattern: '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$',
    },
    service,
    command,
    schedule: {
      type: 'string',
      description: 'When, in the five fields of cron: minute, hour, day of the month, month, day of the week.',
      minLength: 1,
      maxLength: 200,
      'x-text': 'line',
    },
    timeZone: {
      type: 'string',
      description: 'Whose clock that is, by its name in the IANA list.',
      minLength: 1,
      maxLength: 64,
      pattern: '^[A-Za-z0-9+_/-]+$',
      default: 'UTC',
    },
    timeoutSeconds: timeoutOf(TIMEOUT_MAX_SECONDS),
    overlap: {
      type: 'string',
      description: 'Whether it begins while its last run still goes: skip leaves this one out.',
      enum: ['skip', 'allow'],
      default: 'skip',
    },
    startingDeadlineSeconds: {
      type: 'integer',
      description:
        'How late it may begin. Of several that were missed the last one is run, if it is not later than that.',
      minimum: 10,
      maximum: DAY_SECONDS,
      default: DEADLINE_SECONDS,
    },
    suspended: { type: 'boolean', description: 'Whether it rests.', default: false },
  },
} as const satisfies ObjectSchema

export const schedules = {
  type: 'array',
  description: 'Commands that are run at times of day, in the release that is live then.',
  maxItems: SCHEDULES_MAX,
  'x-list': { map: 'name' },
  items: schedule,
} as const satisfies ArraySchema

export type ReleaseCommands = Infer<typeof commands>
export type ReleaseCommand = NonNullable<ReleaseCommands['preRelease']>
export type AppSchedule = Infer<typeof schedule>
