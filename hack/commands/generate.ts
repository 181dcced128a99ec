import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { commandsFor, SURFACES } from '../../api/client/cli/table/surfaces.ts'
import { REPEATED_LINES_MAX, repeatsOf } from '../../api/openapi/repeats.ts'
import { descriptions } from '../../api/wiring/routes.ts'
import { manifestOf } from '../../crds/kernel/manifest.ts'
import { KINDS } from '../../crds/kinds.ts'
import { chartTemplates } from '../generators/chart.ts'
import { CLIENT_PATH, clientText, OPERATIONS_PATH, operationsText } from '../generators/client.ts'
import { coverageModule } from '../generators/coverage.ts'
import { LIFE_PATH, lifeText } from '../generators/life.ts'
import { skillText } from '../generators/skill.ts'
import { CommandRefusal, runCommand } from '../lib/refusal.ts'

/** Writes what follows from the schemas, tables, routes and font files; `--check` only compares, and names the files that have drifted. */

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
  const own = new Map([
    ...definitions,
    ...described,
    ...chartTemplates(),
    ['crds/text/coverage.ts', coverageModule()],
    [LIFE_PATH, lifeText()],
  ])
  const client = clientText()
  // as the routes are now: a command of a new one is in no file yet
  const operations = clientOperations()
  const served: [string, string][] = [
    [CLIENT_PATH, client],
    ['api/client/SKILL.md', skillText(client, commandsFor(JSON.parse(operations)))],
  ]
  return new Map([...own, [OPERATIONS_PATH, operations], ...served])
}

/** What the client knows of each surface that it has a table of. */
const clientOperations = (): string => {
  const documentOf = (surface: string): [string, object] => {
    const document = descriptions().get(`/api/openapi-${surface}.json`)
    if (!document) throw new Error(`${surface} are not described`)
    return [surface, document]
  }
  return operationsText(Object.fromEntries(SURFACES.map(({ name }) => documentOf(name))))
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

function writeGenerated(): string[] {
  const made = generatedFiles()
  const files = [...made].filter(([path, text]) => present(path) !== text).map(([path]) => path)
  for (const path of files) writeFileSync(join(root, path), made.get(path) ?? '')
  return files
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
  writeGenerated()
  // the client is made from what was just written for it
  const again = writeGenerated()
  const wrote = [...new Set([...files, ...again])]
  console.log(wrote.length === 0 ? 'Everything generated is up to date.' : `Wrote ${wrote.join(', ')}.`)
  return 0
}

if (import.meta.main) await runCommand(main)
