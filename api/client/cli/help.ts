/** What there is to be typed, from the table. */
import { flagName, flagsOf, isSwitch } from './args.ts'
import type { CliCommand } from './table/table.ts'

const WIDTH = 26

const line = (left: string, right: string): string =>
  left.length < WIDTH ? `  ${left.padEnd(WIDTH)}${right}` : `  ${left}\n  ${' '.repeat(WIDTH)}${right}`

export const summaryOf = ({ row, operation }: CliCommand): string => row.summary ?? operation.summary

export const OWN_COMMANDS: readonly { name: string; summary: string }[] = [
  { name: 'mcp', summary: 'Serve six tools to an agent over stdin and stdout (Model Context Protocol)' },
  { name: 'help', summary: 'This list, or what a command takes' },
  { name: 'version', summary: 'The version of this file, and its sha256' },
]

const EXITS =
  '0 done, 1 failed, 2 typed wrong, 3 waited too long, 4 not authorised, 5 refused by policy, 130 interrupted'

export const overview = (commands: readonly CliCommand[]): string =>
  [
    'bottega COMMAND [ARGUMENTS] [FLAGS]',
    '',
    ...[...commands.map((one) => ({ name: one.name, summary: summaryOf(one) })), ...OWN_COMMANDS].map((one) =>
      line(one.name, one.summary),
    ),
    '',
    'BOTTEGA_URL is the address, BOTTEGA_TOKEN the token (or --token-file FILE, or --token - for what comes in).',
    `Exit codes: ${EXITS}.`,
    'bottega COMMAND --help says what a command takes.',
  ].join('\n')

const argWords = ({ args, hasSubject, surface }: CliCommand): string => {
  const words = args.map(({ name, optional, rest }) =>
    rest ? `[${name} …]` : optional ? `[${name}]` : name.toUpperCase(),
  )
  return [...(hasSubject ? [`[${surface.subject.word}]`] : []), ...words].join(' ')
}

export const helpOf = (command: CliCommand): string => {
  const { row, operation, name } = command
  const flags = flagsOf(command).map((field) => {
    const value = isSwitch(field) ? '' : ` ${(field.enum ?? ['…']).join('|')}`
    const short = field.short === undefined ? '' : `-${field.short}, `
    return line(`${short}--${flagName(field.name)}${value}`, field.description)
  })
  return [
    `bottega ${[name, argWords(command)].join(' ').trim()}`,
    '',
    `${summaryOf(command)}.`,
    ...(operation.description && row.summary === undefined ? [operation.description] : []),
    '',
    ...flags,
    ...(row.examples ? ['', ...row.examples.map((one) => `  bottega ${one}`)] : []),
    '',
    `It does ${row.does}${operation.scope ? `; the token needs ${operation.scope}` : ''}${operation.capability ? ` and the account ${operation.capability}` : ''}.`,
  ].join('\n')
}
