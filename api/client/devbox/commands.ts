/** What can be typed: each command with what it takes, and the goal that it stands for. */
import { parseArgs } from 'node:util'
import { AGENT_IDS } from '../../../crds/devinstance/bootstrap/agents.ts'
import { ARCHES, SIZE_CLASSES, type SizeClass } from '../../../crds/devinstance/sizing/sizes.ts'
import { nearest } from '../../../crds/values/nearest.ts'
import { UsageFault } from '../cli/net/outcome.ts'
import type { BoxGoal } from './plan/world.ts'
import { settingLines } from './settings.ts'

const OPTIONS = {
  url: { type: 'string' },
  'token-file': { type: 'string' },
  token: { type: 'string' },
  timeout: { type: 'string' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean' },
  help: { type: 'boolean' },
  'size-class': { type: 'string' },
  'disk-gb': { type: 'string' },
  arch: { type: 'string' },
  agents: { type: 'string' },
  repo: { type: 'string' },
  ref: { type: 'string' },
  every: { type: 'string' },
  'acknowledge-work-at-risk': { type: 'boolean' },
  orphan: { type: 'boolean' },
} as const

export type DevboxFlags = {
  [name in keyof typeof OPTIONS]?: (typeof OPTIONS)[name]['type'] extends 'string' ? string : boolean
}
type FlagName = keyof typeof OPTIONS

const COMMON: readonly FlagName[] = ['url', 'token-file', 'token', 'timeout', 'json', 'quiet', 'help']

type DevboxCommand = {
  words: string
  summary: string
  flags: readonly FlagName[]
  most: number
}

export const DEVBOX_COMMANDS: Readonly<Record<string, DevboxCommand>> = {
  up: {
    words: 'BOX',
    summary: 'Bring it to running; reserve it first where --size-class is given and nothing is called so',
    flags: ['size-class', 'disk-gb', 'arch', 'agents', 'repo', 'ref'],
    most: 1,
  },
  stop: { words: 'BOX', summary: 'Stop it; its disk and its address are kept, and cost', flags: [], most: 1 },
  start: { words: 'BOX', summary: 'Start it, with the address that it has or a new one', flags: [], most: 1 },
  resize: {
    words: 'BOX',
    summary: 'Give it another class or a larger disk',
    flags: ['size-class', 'disk-gb', 'acknowledge-work-at-risk'],
    most: 1,
  },
  rename: { words: 'BOX NAME', summary: 'Give it another name, also in the cloud', flags: [], most: 2 },
  'release-eip': {
    words: 'BOX [ALLOCATION]',
    summary: 'Give its addresses back, or the one that is named',
    flags: [],
    most: 2,
  },
  terminate: {
    words: 'BOX',
    summary: 'Take it down with its disk and its addresses; --orphan: also what has no row any more',
    flags: ['acknowledge-work-at-risk', 'orphan'],
    most: 1,
  },
  repair: {
    words: 'BOX',
    summary:
      'Make row and cloud agree, bring to its end what was begun, and give one that is silent a new report token',
    flags: [],
    most: 1,
  },
  inventory: {
    words: '',
    summary: 'What stands in the cloud, what it costs a month, and what is nobody’s',
    flags: [],
    most: 0,
  },
  run: { words: '', summary: 'Do all that, for all of them, until it is ended', flags: ['every'], most: 0 },
}

export type DevboxTyped = { command: string; words: string[]; flags: DevboxFlags }

/** @throws UsageFault */
export const readDevboxCommand = (argv: readonly string[]): DevboxTyped | null => {
  const { values, positionals } = parsed(argv)
  const [command, ...words] = positionals
  if (command === undefined || command === 'help' || values.help === true) return null
  const known = DEVBOX_COMMANDS[command]
  if (!known) {
    const meant = nearest(command, Object.keys(DEVBOX_COMMANDS))
    throw new UsageFault(`There is no command ${command}.${meant ? ` Did you mean ${meant}?` : ''}`)
  }
  const alien = (Object.keys(values) as FlagName[]).find((name) => ![...COMMON, ...known.flags].includes(name))
  if (alien !== undefined) throw new UsageFault(`${command} takes no --${alien}.`)
  const least = known.words.split(' ').filter((word) => /^[A-Z]/.test(word)).length
  if (words.length < least || words.length > known.most)
    throw new UsageFault(`bottega-devbox ${command} ${known.words}`.trim())
  return { command, words, flags: values }
}

const parsed = (argv: readonly string[]): { values: DevboxFlags; positionals: string[] } => {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageFault((error as Error).message.split('. ')[0] ?? '')
  }
}

const oneOf = <T extends string>(value: string, values: readonly T[], flag: string): T => {
  const found = values.find((one) => one === value)
  if (found === undefined) throw new UsageFault(`--${flag} takes ${values.join(', ')}, not ${value}.`)
  return found
}

const sizeClassOf = ({ 'size-class': value }: DevboxFlags): SizeClass | undefined =>
  value === undefined ? undefined : oneOf(value, SIZE_CLASSES, 'size-class')

const diskGbOf = ({ 'disk-gb': value }: DevboxFlags): { diskGb?: number } => {
  if (value === undefined) return {}
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new UsageFault(`--disk-gb takes a whole number of GB, not ${value}.`)
  return { diskGb: Number(value) }
}

/** The body of a reservation, or null where none is to be made. @throws UsageFault */
export const reservationOf = ({ words, flags }: DevboxTyped): Record<string, unknown> | null => {
  const sizeClass = sizeClassOf(flags)
  if (sizeClass === undefined) return null
  const { arch, agents, repo, ref } = flags
  return {
    name: words[0],
    sizeClass,
    ...diskGbOf(flags),
    ...(arch !== undefined && { arch: oneOf(arch, ARCHES, 'arch') }),
    ...(agents !== undefined && { agents: agents.split(',').map((id) => oneOf(id.trim(), AGENT_IDS, 'agents')) }),
    ...(repo !== undefined && { repo: { url: repo, ...(ref !== undefined && { ref }) } }),
  }
}

/** @param present the class that it has, where another is not asked for @throws UsageFault */
export const goalFor = ({ command, words, flags }: DevboxTyped, present: SizeClass): BoxGoal => {
  const acknowledgeWorkAtRisk = flags['acknowledge-work-at-risk'] === true
  switch (command) {
    case 'up':
    case 'start':
      return { kind: 'running' }
    case 'stop':
      return { kind: 'stopped' }
    case 'resize':
      return { kind: 'resized', sizeClass: sizeClassOf(flags) ?? present, ...diskGbOf(flags), acknowledgeWorkAtRisk }
    case 'rename':
      return { kind: 'renamed', name: words[1] ?? '' }
    case 'release-eip':
      return { kind: 'released', allocationId: words[1] ?? null }
    case 'terminate':
      return { kind: 'terminated', acknowledgeWorkAtRisk }
    default:
      return { kind: 'asIs', mendsReports: true }
  }
}

const line = (left: string, right: string): string => `  ${left.padEnd(32)}${right}`

export const devboxHelp = (): string =>
  [
    'bottega-devbox COMMAND [ARGUMENTS] [FLAGS]: does in the cloud what the registry of dev instances records.',
    '',
    ...Object.entries(DEVBOX_COMMANDS).flatMap(([name, { words, summary, flags }]) => [
      line(`${name} ${words}`, summary),
      ...(flags.length > 0 ? [line('', flags.map((flag) => `--${flag}`).join(' '))] : []),
    ]),
    '',
    'BOX is a name or an id. BOTTEGA_URL is the address of the service, BOTTEGA_TOKEN the token (or --token-file FILE, or --token -).',
    ...settingLines().map(([name, what]) => line(name, what)),
    'Credentials of the cloud are found as its own tools find them.',
    'Exit codes: 0 done, 1 failed, 2 typed wrong, 3 waited too long, 4 not authorised, 5 refused by policy, 130 interrupted',
  ].join('\n')
