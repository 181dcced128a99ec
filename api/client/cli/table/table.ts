/**
 * Commands as a table: a row names an operation of the REST API, and all that the description says of it (path, query, body,
 * answer) is what the command takes and shows. An operation without a row has a command all the same, named after its path, so
 * that a new route is at hand at once and a row only gives it a better name (rules/app.md#the-client, hack/decisions/079).
 */
import { type DescribedField, type DescribedOperation, pathParams, placeOf } from './described.ts'

/** What a command does beside asking its one operation and showing the answer (run/). */
export type CommandDoer =
  | 'deploy'
  | 'plan'
  | 'rollback'
  | 'logs'
  | 'status'
  | 'readiness'
  | 'operation'
  | 'download'
  | 'env-set'
  | 'env-unset'
  | 'env-replace'
  | 'box-show'
  | 'box-ssh'
  | 'box-config'
  | 'box-known-hosts'
  | 'box-ports'
  | 'box-start'
  | 'box-stop'
  | 'box-halt'
  | 'box-resize'
  | 'box-env'
  | 'box-env-replace'
  | 'box-env-send'
  | 'key-add'
  | 'key-remove'

export type CommandRow = {
  /** As it is typed: `hosts approve`. */
  name: string
  /** Its operation: `POST /api/apps/hosts/{id}/approve`. */
  does: string
  /** That of the operation when left out. */
  summary?: string
  /**
   * Positional arguments in their order, beside the subject: parameters of the path and fields of the body; the former when left
   * out. `release?` may be missing, `command...` takes all the rest.
   */
  args?: readonly string[]
  /** Of a list: members of an item, also within others (`release.number`). */
  columns?: readonly string[]
  by?: CommandDoer
  /** Flags beside those of query and body. */
  flags?: readonly DescribedField[]
  /** Fields that are no flags, because an argument or the doer says them. */
  without?: readonly string[]
  examples?: readonly string[]
}

/** What most commands of a surface are about: who says `shop` means the one of that name. */
export type SurfaceSubject = {
  /** Also the flag that names one: `--app`. */
  word: string
  path: string
  list: string
  member: string
  knownBy: string
  short?: string
  /** Ids that the API draws are this, a dash and 32 hexadecimal digits; one of them is not looked for. */
  drawn?: string
  /** The command that lists them; `member` when left out. */
  listedBy?: string
  /** What names the one that is meant where nothing typed does: a variable, and a member of bottega.json. */
  chosenBy?: { variable: string; member: string }
}

export type Surface = {
  /** Key in openapi-commands.json, and the first word of its commands unless `words` is empty. */
  name: string
  words: string
  /** What its paths begin with. */
  under: string
  subject: SurfaceSubject
  rows: readonly CommandRow[]
  /** Fields that no argument holds, where everybody on the machine could read them; they are read from files. */
  secrets: readonly string[]
}

/** One positional argument. */
export type CommandArg = { name: string; optional: boolean; rest: boolean }

export type CliCommand = {
  name: string
  surface: Surface
  row: CommandRow
  operation: DescribedOperation
  /** Its path begins with the one of a subject. */
  hasSubject: boolean
  args: readonly CommandArg[]
}

const VERBS = { GET: 'get', POST: 'create', PUT: 'replace', PATCH: 'set', DELETE: 'delete' } as const

/** The words of a path below its surface, without parameters; and what is done, where the path alone does not say it. */
export const derivedName = (surface: Surface, operation: DescribedOperation, paths: ReadonlySet<string>): string => {
  const { under } = surface
  const below = operation.path.startsWith(under)
    ? operation.path.slice(under.length)
    : operation.path.replace(/^\/api/, '')
  const segments = below.split('/').filter(Boolean)
  const words = segments.filter((segment) => !segment.startsWith('{'))
  const isItem = segments.at(-1)?.startsWith('{') ?? false
  const isDeed = operation.method === 'POST' && !isItem && !paths.has(`GET ${operation.path}`)
  const isList = operation.method === 'GET' && !isItem
  const verb = isDeed || isList ? [] : [VERBS[operation.method]]
  return [surface.words, ...words, ...verb].filter((word) => word !== '').join(' ')
}

const argOf = (written: string): CommandArg => ({
  name: written.replace(/(\?|\.\.\.)$/, ''),
  optional: written.endsWith('?'),
  rest: written.endsWith('...'),
})

const commandOf = (surface: Surface, row: CommandRow, operation: DescribedOperation): CliCommand => {
  const { path } = surface.subject
  const hasSubject = operation.path === path || operation.path.startsWith(`${path}/`)
  const params = pathParams(hasSubject ? operation.path.slice(path.length) : operation.path)
  return { name: row.name, surface, row, operation, hasSubject, args: (row.args ?? params).map(argOf) }
}

/** All commands of a surface: those of its rows, then one for each operation that has none. @throws where a row names no operation */
export const commandsOf = (surface: Surface, operations: readonly DescribedOperation[]): CliCommand[] => {
  const byPlace = new Map(operations.map((operation) => [placeOf(operation), operation]))
  const paths = new Set(byPlace.keys())
  const rows = surface.rows.map((row) => {
    const operation = byPlace.get(row.does)
    if (!operation) throw new Error(`the command ${row.name} does ${row.does}, which is no operation`)
    return commandOf(surface, row, operation)
  })
  const named = new Set(surface.rows.map(({ does }) => does))
  const nameOf = (operation: DescribedOperation) => derivedName(surface, operation, paths)
  const isWithin = (operation: DescribedOperation) => operation.path.startsWith(surface.under)
  const within = new Set(operations.filter(isWithin).map(nameOf))
  // GET /templates is the short path of GET /api/website/templates: one command for both
  const isShortPath = (operation: DescribedOperation) => !isWithin(operation) && within.has(nameOf(operation))
  const rest = operations
    .filter((operation) => !named.has(placeOf(operation)) && !isShortPath(operation))
    .map((operation) => commandOf(surface, { name: nameOf(operation), does: placeOf(operation) }, operation))
  return [...rows, ...rest]
}
