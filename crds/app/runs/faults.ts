/** The rules of commands and schedules that no schema says (rules/app.md#commands, #schedules). */
import type { Fault } from '../../kernel/problem.ts'
import { isTimeZone } from '../../values/calendar.ts'
import type { AppSpec } from '../schema.ts'
import { parseCron } from './cron.ts'
import type { AppSchedule } from './schema.ts'

const invalid = (pointer: string, detail: string): Fault => ({ code: 'INVALID_FIELD', pointer, detail })

/** Bytes of a command with all its arguments. */
const COMMAND_BYTES_MAX = 32_768

/** @param pointer where the command stands */
export const faultsOfCommand = (command: readonly string[], pointer: string): Fault[] => {
  if (command[0] === '') return [invalid(`${pointer}/0`, 'names no command')]
  const bytes = command.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0)
  if (bytes <= COMMAND_BYTES_MAX) return []
  return [invalid(pointer, `has ${bytes} bytes; ${COMMAND_BYTES_MAX} are allowed`)]
}

const faultsOfSchedule = ({ schedule, timeZone, command }: AppSchedule, place: number): Fault[] => {
  const at = `/schedules/${place}`
  const parsed = parseCron(schedule)
  return [
    ...('fault' in parsed ? [invalid(`${at}/schedule`, parsed.fault)] : []),
    ...(isTimeZone(timeZone) ? [] : [invalid(`${at}/timeZone`, `${timeZone} is no time zone of the IANA list`)]),
    ...faultsOfCommand(command, `${at}/command`),
  ]
}

const faultsOfNames = (schedules: readonly AppSchedule[]): Fault[] =>
  schedules.flatMap(({ name }, place) =>
    schedules.findIndex((other) => other.name === name) === place
      ? []
      : [invalid(`/schedules/${place}/name`, `${name} is the name of another one`)],
  )

export const commandFaults = ({ commands = {}, schedules = [] }: Pick<AppSpec, 'commands' | 'schedules'>): Fault[] => [
  ...Object.entries(commands).flatMap(([when, one]) =>
    one === undefined ? [] : faultsOfCommand(one.command, `/commands/${when}/command`),
  ),
  ...faultsOfNames(schedules),
  ...schedules.flatMap(faultsOfSchedule),
]
