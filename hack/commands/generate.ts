import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { REPEATED_LINES_MAX, repeatsOf } from '../../api/openapi/repeats.ts'
import { descriptions } from '../../api/wiring/routes.ts'
import { manifestOf } from '../../crds/kernel/manifest.ts'
import { KINDS } from '../../crds/kinds.ts'
import { chartTemplates } from '../generators/chart.ts'
import { coverageModule } from '../generators/coverage.ts'
import { CommandRefusal, runCommand } from '../lib/refusal.ts'

/** Writes what follows from the schemas, routes and font files; `--check` only compares, and names the files that have drifted. */

const usage = 'Usage: hack/generate [--check]'
const root = join(import.meta.dirname, '..', '..')
const header = '# Made by hack/generate from the schema of the kind; edit that.\n'

/** Path from the root → text. */
export function generatedFiles(): Map<string, string> {
  const definitions = KINDS.map((kind): [string, string] => {
    const text = stringify(manifestOf(kind), { lineWidth: 0, aliasDuplicateObjects: false })
    return [`crds/${kind.singular}.yaml`, header + text]
  })
  const described = [...descriptions()].map(([path, document]): [string, string] => [
    path.replace('/api/', 'api/openapi/'),
    describedText(document),
  ])
  return new Map([...definitions, ...described, ...chartTemplates(), ['crds/text/coverage.ts', coverageModule()]])
}

/** @throws CommandRefusal naming what the document holds more than once and no declaration names */
export function describedText(document: object): string {
  const [repeated] = repeatsOf(document)
  if (repeated) {
    const places = repeated.join('\n  ')
    throw new CommandRefusal(
      `A schema of over ${REPEATED_LINES_MAX} lines is repeated; name it (crds/kernel/named.ts):\n  ${places}`,
    )
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

const present = (path: string): string | null => {
  try {
    return readFileSync(join(root, path), 'utf8')
  } catch {
    return null
  }
}

/** The files that are not what they would be if made now. */
export function drifted(): string[] {
  return [...generatedFiles()].filter(([path, text]) => present(path) !== text).map(([path]) => path)
}

async function main(): Promise<number> {
  const args = process.argv.slice(2)
  if (args.length > 1 || (args[0] !== undefined && args[0] !== '--check'))
    throw new CommandRefusal(usage, { exitCode: 2 })
  const files = drifted()
  if (args[0] === '--check') {
    if (files.length > 0) throw new CommandRefusal(`Run hack/generate and commit: ${files.join(', ')}.`)
    console.log('Everything generated is up to date.')
    return 0
  }
  const made = generatedFiles()
  for (const path of files) writeFileSync(join(root, path), made.get(path) ?? '')
  console.log(files.length === 0 ? 'Everything generated is up to date.' : `Wrote ${files.join(', ')}.`)
  return 0
}

if (import.meta.main) await runCommand(main)
