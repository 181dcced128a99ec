/**
 * What is run on a host for an app: fixed scripts for a POSIX sh (`scripts/`), data on stdin as each says at its head. Each
 * may be run again. What we read of them are the marked lines at their end (crds/app/start.ts).
 */
import { EXIT, MARK } from '../../../crds/app/start.ts'
import type { RemoteScript } from '../../io/hosts/hosts.ts'
import { readScripts, textOf as sharedTextOf } from '../../io/hosts/scripts.ts'

const textOf = readScripts(new URL('scripts/', import.meta.url))

type Part =
  | 'cell'
  | 'folder'
  | 'compose'
  | 'guard'
  | 'listing'
  | 'notes'
  | 'inspect'
  | 'judge'
  | 'disk'
  | 'base'
  | 'collect'

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** What both sides know by the same name: `mark`, and `exit_<name>` for each exit code. */
const SHARED = [`mark='${MARK}'`, ...Object.entries(EXIT).map(([name, code]) => `exit_${snakeCase(name)}=${code}`)]
  .join('\n')
  .concat('\n')

const scriptOf = (name: string, parts: readonly Part[]): RemoteScript => ({
  name: `app-${name}`,
  text: [SHARED, ...parts.map((part) => textOf(`parts/${part}`)), textOf(name)].join(''),
})

/** Whole or not at all. */
export const UPLOAD = scriptOf('upload', ['folder', 'listing'])
/** What runs inside of a cell is a text to the script that makes the cell. */
const CELL = `cell=$(cat <<'CELL'\n${textOf('cell')}CELL\n)\n`
const IMAGES_PARTS = scriptOf('images', ['folder', 'compose', 'guard', 'listing', 'notes', 'cell'])
export const IMAGES: RemoteScript = { ...IMAGES_PARTS, text: CELL + sharedTextOf('guarded') + IMAGES_PARTS.text }
export const IMAGES_HERE = scriptOf('images-here', ['folder', 'compose', 'notes'])
const START_PARTS = scriptOf('start', ['folder', 'compose', 'guard', 'inspect', 'judge', 'disk', 'base'])
export const START: RemoteScript = { ...START_PARTS, text: sharedTextOf('guarded') + START_PARTS.text }
export const DIAL = scriptOf('dial', [])
export const LOOK = scriptOf('look', ['compose', 'inspect', 'disk'])
export const TAKE_DOWN = scriptOf('take-down', ['folder', 'compose', 'notes', 'collect'])
export const CLEAR = scriptOf('clear', ['folder', 'compose', 'notes', 'collect'])
export const LOGS = scriptOf('logs', ['compose'])
