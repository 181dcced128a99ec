/** What `hack/test` is asked for. */
import { parseArgs } from 'node:util'
import { CommandRefusal, messageOf } from '../../../hack/lib/refusal.ts'
import { type PartName, partNames } from './parts.ts'

const usage = `Usage: hack/test [--only ${partNames.join(',')}] [--whole] [--minutes N] [--full] [--strict] [FILE…]`

export type Arguments = {
  only: PartName[] | null
  whole: boolean
  full: boolean
  strict: boolean
  /** After which no file begins; null for as long as it takes. */
  minutes: number | null
  files: string[]
}

/** @throws CommandRefusal that says what is wrong, or the usage */
export function readArguments(): Arguments {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        whole: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        minutes: { type: 'string' },
      },
    })
    return {
      only: values.only === undefined ? null : values.only.split(',').map(asPart),
      whole: values.whole,
      full: values.full,
      strict: values.strict,
      minutes: values.minutes === undefined ? null : asMinutes(values.minutes),
      files: positionals,
    }
  } catch (error) {
    throw error instanceof CommandRefusal ? error : new CommandRefusal(`${messageOf(error)}\n${usage}`, { exitCode: 2 })
  }
}

function asMinutes(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new CommandRefusal(`--minutes is a number of minutes, not ${text}.`)
  return Number(text)
}

function asPart(name: string): PartName {
  const part = partNames.find((known) => known === name)
  if (part === undefined)
    throw new CommandRefusal(`There is no part ${name}; known are ${partNames.join(', ')}.`, { exitCode: 2 })
  return part
}
