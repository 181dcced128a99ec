/** From words on the command line to a command, its flags and its arguments; what does not fit is said before anything is sent. */
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { nearest } from '../../../crds/values/nearest.ts'
import { UsageFault } from './net/outcome.ts'
import type { DescribedField } from './table/described.ts'
import { SURFACES } from './table/surfaces.ts'
import type { CliCommand, Surface } from './table/table.ts'

type Option = NonNullable<ParseArgsConfig['options']>[string]

/** Flags of every command. */
export const GLOBAL_FLAGS: readonly (DescribedField & { short?: string })[] = [
  { name: 'url', type: 'string', description: 'Address of the installation; BOTTEGA_URL when left out.' },
  {
    name: 'token_file',
    type: 'string',
    description: 'File that holds the token; BOTTEGA_TOKEN when left out.',
  },
  { name: 'token', type: 'string', description: 'Only -: the token is the first line of what comes in.' },
  { name: 'json', type: 'boolean', description: 'One JSON document on stdout, of a stream one a line.' },
  { name: 'quiet', type: 'boolean', description: 'Nothing about the way there.' },
  { name: 'timeout', type: 'string', description: 'How long to wait, as 90s or 15m; 30m when left out.' },
  { name: 'help', short: 'h', type: 'boolean', description: 'What the command takes.' },
]
/** Of commands about an app, or whatever the surface is about. */
const subjectFlag = ({ word, short, chosenBy }: Surface['subject']): DescribedField & { short?: string } => {
  const more = chosenBy ? `, ${chosenBy.variable}, or "${chosenBy.member}" in bottega.json` : ''
  return {
    name: word,
    ...(short !== undefined && { short }),
    type: 'string',
    description: `Name or id of the ${word}; else the first argument${more}.`,
  }
}
const CHANGE_FLAGS: readonly DescribedField[] = [
  { name: 'no_wait', type: 'boolean', description: 'Answer as soon as it is taken; it goes on by itself.' },
  { name: 'idempotency_key', type: 'string', description: 'Names this change: the same one again is not done twice.' },
]
const BODY_FLAG: DescribedField = {
  name: 'body',
  type: 'string',
  description: 'A JSON file with the body, - for what comes in; flags win over it.',
}
const YES_FLAG: DescribedField = { name: 'yes', type: 'boolean', description: 'Really.' }

/** `memory_mib` of `budget` is `--budget-memory-mib`, and `sizeClass` is `--size-class`. */
export const flagName = (name: string): string =>
  name
    .replace(/[._]/g, '-')
    .replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `-${letter}`)
    .toLowerCase()

/** Fields of the body that are flags: not what an argument says, or what a file has to say. */
export const bodyFlags = ({ operation, args, row, surface }: CliCommand): DescribedField[] =>
  (operation.body ?? [])
    .filter(({ name }) => !row.without?.includes(name) && !args.some((arg) => arg.name === name))
    .map((field) =>
      surface.secrets.includes(field.name)
        ? {
            ...field,
            name: `${field.name}_file`,
            description: `File that holds it, - for what comes in. ${field.description}`,
          }
        : field,
    )
    .map(({ required: _, ...field }) => field)

/** Everything that a command takes as a flag, its own first. */
export const flagsOf = (command: CliCommand): readonly (DescribedField & { short?: string })[] => {
  const { row, operation, hasSubject, surface } = command
  const isChange = operation.method !== 'GET'
  const takesBody = operation.body !== undefined && row.by === undefined
  const follow =
    operation.query.some(({ name }) => name === 'follow') || row.flags?.some(({ name }) => name === 'follow')
  const all: (DescribedField & { short?: string })[] = [
    ...(row.flags ?? []),
    ...operation.query.filter(({ name }) => !row.without?.includes(name)),
    ...bodyFlags(command),
    ...(takesBody ? [BODY_FLAG] : []),
    ...(hasSubject ? [subjectFlag(surface.subject)] : []),
    ...(isChange && row.by !== 'plan' ? CHANGE_FLAGS : []),
    ...(operation.method === 'DELETE' ? [YES_FLAG] : []),
    ...GLOBAL_FLAGS,
  ]
  const first = all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at)
  return follow ? first.map((one) => (one.name === 'follow' ? { ...one, short: 'f' } : one)) : first
}

/** Of two words of which the API knows one as "do it" it is a switch. */
export const isSwitch = ({ type, enum: values }: DescribedField): boolean =>
  type === 'boolean' || (values?.every((value) => value === '0' || value === '1') ?? false)

const optionOf = (field: DescribedField & { short?: string }): Option => ({
  type: isSwitch(field) ? 'boolean' : 'string',
  ...(field.type === 'strings' && { multiple: true }),
  ...(field.short !== undefined && { short: field.short }),
})

export type Flags = Readonly<Record<string, string | boolean | string[] | undefined>>
export type Typed = { flags: Flags; words: readonly string[] }

const readAll = (argv: readonly string[], fields: readonly DescribedField[], strict: boolean) =>
  parseArgs({
    args: [...argv],
    options: Object.fromEntries(fields.map((field) => [flagName(field.name), optionOf(field)])),
    allowPositionals: true,
    strict,
    tokens: true,
  })

const TOKEN_IN_ARGUMENTS =
  'A token in the arguments can be read by others on this machine. Use BOTTEGA_TOKEN, --token-file FILE, or --token - for what comes in.'

/** What is meant for the client: what stands behind `--` is somebody else's, also where it looks like a flag of ours. */
export const ownWords = (argv: readonly string[]): readonly string[] => {
  const end = argv.indexOf('--')
  return end < 0 ? argv : argv.slice(0, end)
}

/** @throws UsageFault, without the value */
const refuseToken = (argv: readonly string[]): void => {
  const isGiven = argv.some((word, at) => {
    if (word.startsWith('--token=')) return word !== '--token=-'
    return word === '--token' && argv[at + 1] !== '-'
  })
  if (isGiven || argv.some((word) => /^(?:btg|dbr)_/.test(word))) throw new UsageFault(TOKEN_IN_ARGUMENTS)
}

/** The longest name that the words begin with. */
export const findCommand = <T extends { name: string }>(words: readonly string[], commands: readonly T[]): T | null => {
  for (let count = Math.min(4, words.length); count > 0; count -= 1) {
    const name = words.slice(0, count).join(' ')
    const found = commands.find((command) => command.name === name)
    if (found) return found
  }
  return null
}

/** Words alone, wherever flags stand between them. */
export const wordsOf = (argv: readonly string[], known: readonly DescribedField[] = []): string[] => {
  refuseToken(argv)
  return readAll(argv, [...GLOBAL_FLAGS, ...SURFACES.map(({ subject }) => subjectFlag(subject)), ...known], false)
    .positionals
}

/** @throws UsageFault naming the nearest command */
export const unknownCommand = (words: readonly string[], names: readonly string[]): UsageFault => {
  const typed = words.slice(0, 2).join(' ')
  const meant = nearest(typed, names) ?? nearest(words[0] ?? '', names)
  const below = names.filter((name) => name.startsWith(`${words[0]} `))
  const hint = below.length > 0 ? ` There is ${below.join(', ')}.` : meant ? ` Did you mean ${meant}?` : ''
  return new UsageFault(`There is no command ${JSON.stringify(typed.slice(0, 60))}.${hint} bottega help lists them.`)
}

const faultOf = (error: unknown, command: CliCommand): UsageFault => {
  const message = (error as Error).message
  const [, flag = ''] = /Unknown option '(--?[\w-]+)'/.exec(message) ?? []
  const names = flagsOf(command).map(({ name }) => `--${flagName(name)}`)
  const meant = flag === '' ? undefined : nearest(flag, names)
  const what = flag === '' ? message.split('\n')[0] : `${command.name} has no flag ${flag}.`
  return new UsageFault(`${what}${meant ? ` Did you mean ${meant}?` : ''} bottega ${command.name} --help lists them.`)
}

/** @returns flags by their names in the API, and what is left behind the words of the command. @throws UsageFault */
export const readFlags = (argv: readonly string[], command: CliCommand): Typed => {
  const fields = flagsOf(command)
  try {
    const { values, positionals } = readAll(argv, fields, true)
    const flags = Object.fromEntries(fields.map(({ name }) => [name, values[flagName(name)]])) as Flags
    return { flags, words: positionals.slice(command.name.split(' ').length) }
  } catch (error) {
    if (error instanceof UsageFault) throw error
    throw faultOf(error, command)
  }
}
