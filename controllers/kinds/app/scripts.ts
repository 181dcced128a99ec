/**
 * What is run on a host for an app: fixed scripts for a POSIX sh (`scripts/`), data on stdin as each says at its head. Each
 * may be run again. What we read of them are the marked lines at their end (crds/app/start.ts).
 */
import { EXIT, MARK } from '../../../crds/app/start.ts'
import type { RemoteScript } from '../../io/hosts/hosts.ts'
import { readScripts, textOf as sharedTextOf } from '../../io/hosts/scripts.ts'

const textOf = readScripts(new URL('scripts/', import.meta.url))

type Part =
  | 'building/cell'
  | 'building/gate'
  | 'folder'
  | 'compose'
  | 'guard'
  | 'listing'
  | 'notes'
  | 'place'
  | 'inspect'
  | 'judge'
  | 'disk'
  | 'base'
  | 'collect'
  | 'begin'
  | 'command'
  | 'handing/copy'
  | 'handing/trial'
  | 'handing/handover'
  | 'handing/dial'
  | 'handing/volume'
  | 'handing/users'
  | 'handing/carry'
  | 'handing/lease'
  | 'keys'

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** What both sides know by the same name: `mark`, and `exit_<name>` for each exit code. */
const SHARED = [`mark='${MARK}'`, ...Object.entries(EXIT).map(([name, code]) => `exit_${snakeCase(name)}=${code}`)]
  .join('\n')
  .concat('\n')

const scriptOf = (name: string, parts: readonly Part[]): RemoteScript => ({
  name: `app-${name.replaceAll('/', '-')}`,
  text: [SHARED, ...parts.map((part) => textOf(`parts/${part}`)), textOf(name)].join(''),
})

/** What is read where containers may be dialled at their own addresses (scripts/parts/inspect.sh). */
export const directLine = (isDirect: boolean): string => (isDirect ? 'direct' : '')

/** Whole or not at all. */
export const UPLOAD = scriptOf('upload', ['folder', 'listing'])
/** What runs inside of a cell, of its gate and, for that, of the guard is a text to the script that makes the cell. */
const within = (name: string, text: string): string => `${name}=$(cat <<'WITHIN'\n${text}WITHIN\n)\n`
const WITHIN = [
  within('cell', textOf('cell')),
  within('gated', textOf('parts/building/gated')),
  within('lead', textOf('parts/building/lead')),
].join('')
const BUILDING = ['building/cell', 'building/gate'] as const
const IMAGES_PARTS = scriptOf('images', ['folder', 'compose', 'guard', 'listing', 'notes', 'keys', ...BUILDING])
export const IMAGES: RemoteScript = { ...IMAGES_PARTS, text: WITHIN + sharedTextOf('guarded') + IMAGES_PARTS.text }
export const IMAGES_HERE = scriptOf('images-here', ['folder', 'compose', 'notes'])
/** What runs where volumes are copied is a text to the script that starts it. */
const COPIER = `copier=$(cat <<'COPIER'\n${textOf('copier')}COPIER\n)\n`
/** And what runs in the guard, to the script that leads visitors. */
const BIND = `bind_link=$(cat <<'BIND'\n${textOf('switch/bind')}BIND\n)\n`
const withBind = (script: RemoteScript): RemoteScript => ({ ...script, text: BIND + script.text })
const STARTING = [
  ...(['folder', 'place', 'compose', 'guard', 'inspect', 'judge', 'disk', 'base', 'begin'] as const),
  ...(['handing/copy', 'handing/trial', 'handing/dial', 'handing/handover', 'handing/lease'] as const),
] as const
const withGuarded = (script: RemoteScript): RemoteScript => ({ ...script, text: sharedTextOf('guarded') + script.text })
const withCopier = (script: RemoteScript): RemoteScript => ({ ...script, text: COPIER + BIND + script.text })
const guarded = (script: RemoteScript): RemoteScript => withCopier(withGuarded(script))
/** What runs beside what a move starts is a text to the script that starts it. */
const LAPSE = `lapse=$(cat <<'LAPSE'\n${textOf('keeping/carry/lapse')}LAPSE\n)\n`
const STARTED = guarded(scriptOf('start', STARTING))
export const START: RemoteScript = { ...STARTED, text: LAPSE + STARTED.text }
export const RUN = scriptOf('runs/run', ['folder', 'compose', 'command'])
export const RUN_BEFORE = guarded(scriptOf('runs/run-before', [...STARTING, 'command']))
export const RUN_OUTPUT = scriptOf('runs/run-output', [])
export const RUN_DROP = scriptOf('runs/run-drop', [])
export const RUN_STOP = scriptOf('runs/run-stop', [])
export const BUDGET = scriptOf('keeping/budget', ['compose', 'disk'])
const KEEPING = [
  'folder',
  'compose',
  'inspect',
  'handing/copy',
  'handing/dial',
  'handing/handover',
  'handing/volume',
] as const
export const BACKUP = withCopier(scriptOf('keeping/backup', KEEPING))
export const RESTORE = withCopier(scriptOf('keeping/restore', [...KEEPING, 'handing/users']))
export const RESTORE_BACK = withCopier(scriptOf('keeping/back', [...KEEPING, 'handing/users']))
export const BACKUP_LAY = scriptOf('keeping/lay', ['folder'])
export const BACKUP_TAKE = scriptOf('keeping/take', ['folder'])
export const BACKUP_DROP = scriptOf('keeping/drop', ['folder'])
const CARRYING = ['folder', 'compose', 'handing/copy', 'handing/carry'] as const
const carrying = (name: string): RemoteScript => withCopier(scriptOf(`keeping/carry/${name}`, CARRYING))
/** Seconds since the host was started, which nobody sets, and which start that was. */
const UPTIME = 'echo "$(cut -d . -f 1 /proc/uptime) $(cat /proc/sys/kernel/random/boot_id)"\n'
export const CARRY = {
  watch: withBind(scriptOf('keeping/carry/watch', ['folder', 'compose', 'inspect', 'handing/dial', 'handing/carry'])),
  hold: carrying('hold'),
  look: carrying('look'),
  leave: carrying('leave'),
  room: carrying('room'),
  place: carrying('place'),
  end: carrying('end'),
  keep: carrying('keep'),
  clock: { name: 'app-keeping-carry-clock', text: UPTIME },
} satisfies Record<string, RemoteScript>
export const DIAL = withBind(scriptOf('switch/dial', ['handing/dial']))
/** What ends connections runs in the guard, too. */
const SEVER = `sever=$(cat <<'SEVER'\n${textOf('switch/sever')}SEVER\n)\n`
const END_OPEN_PARTS = scriptOf('switch/end-open', [])
export const END_OPEN: RemoteScript = { ...END_OPEN_PARTS, text: SEVER + END_OPEN_PARTS.text }
export const SCALE = withGuarded(
  scriptOf('switch/scale', ['folder', 'compose', 'guard', 'inspect', 'disk', 'begin', 'judge']),
)
export const LEAVE = scriptOf('switch/leave', ['compose'])
export const CUT = scriptOf('switch/cut', ['compose'])
export const LOOK = scriptOf('look', ['compose', 'inspect'])
export const EVIDENCE = scriptOf('health/evidence', ['compose'])
export const MEND: RemoteScript = withGuarded(scriptOf('health/mend', ['folder', 'compose']))
export const TAKE_DOWN = scriptOf('take-down', ['folder', 'compose', 'notes', 'collect', 'handing/trial'])
export const CLEAR = scriptOf('clear', ['folder', 'compose', 'notes', 'collect', 'handing/trial'])
export const LOGS = scriptOf('logs', ['compose'])
export const USAGE = scriptOf('usage', [])
