/** Who may look into which room, circles of imports, and how crowded a folder may be. */
import { KINDS } from '../../../crds/kinds.ts'
import { importsOf, ours, type Tree } from './tree.ts'

export const kindNames = KINDS.map((kind) => kind.singular)

/** Floors from the ground up: a room sees those below its own, and of its own floor itself alone. */
const FLOORS = [
  ['crds'],
  ['base'],
  ['net', 'store', 'kube'],
  ['runtime'],
  ['ops'],
  ['io'],
  ['kinds'],
  ['workers'],
  ['wiring'],
] as const
/** The provisioner is a program of its own, with the credentials of a cloud: the processes of the service never load it. */
const PROVISIONER = 'provisioner'
const API_SEES = ['crds', 'base', 'net', 'store', 'kube', 'ops', 'api']

const roomOf = (path: string): string => {
  const [top = '', room = '', ...more] = path.split('/')
  if (path.startsWith('api/client/devbox/')) return PROVISIONER
  if (top !== 'controllers') return top
  return more.length === 0 ? 'wiring' : room
}
const floorOf = (room: string): number => FLOORS.findIndex((rooms) => rooms.some((one) => one === room))

/** What every process of Bottega says of itself in the same way. */
const PROVISIONER_BORROWS = ['controllers/base/log.ts', 'controllers/base/version.ts']

/** A room that nobody declared is wrong, too: it has no floor. */
const maySee = (from: string, to: string): boolean => {
  // it has a port for operators and logs, as the processes have
  if (from === PROVISIONER) return [PROVISIONER, 'crds', 'api', 'ops'].includes(to)
  if (from === 'api') return API_SEES.includes(to)
  if (floorOf(from) < 0) return false
  return from === to || (floorOf(to) >= 0 && floorOf(to) < floorOf(from))
}

/** Of the api the provisioner uses what the client is made of, and nothing that serves. */
const isPastClient = (path: string, to: string): boolean =>
  roomOf(path) === PROVISIONER && roomOf(to) === 'api' && !to.startsWith('api/client/cli/')

const isBorrowed = (path: string, to: string): boolean =>
  roomOf(path) === PROVISIONER && PROVISIONER_BORROWS.includes(to)

export const wrongRooms = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (!/^(crds|controllers|api)\//.test(path)) return []
    const targets = importsOf(path, text).filter(ours)
    return targets
      .filter((to) => !isBorrowed(path, to) && (!maySee(roomOf(path), roomOf(to)) || isPastClient(path, to)))
      .map((to) => `${path} imports ${to}`)
  })

const kindOf = (path: string): string | undefined => {
  const name = /^(?:crds|controllers\/kinds|controllers\/store|api)\/([a-z]+)\//.exec(path)?.[1]
  return name !== undefined && kindNames.includes(name) ? name : undefined
}
const hallOf = (path: string): string =>
  path
    .split('/')
    .slice(0, path.startsWith('controllers/') ? 2 : 1)
    .join('/')

/** Kinds meet through resources. A controller may know the shape of another kind, never its controller. */
export const kindsThatMeet = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    const own = kindOf(path)
    if (own === undefined) return []
    const others = importsOf(path, text).filter((target) => {
      const other = kindOf(target)
      return other !== undefined && other !== own && hallOf(target) === hallOf(path)
    })
    return others.map((target) => `${path} imports ${target}`)
  })

/** Each circle as one line, types included: a reader who opens one of its files has to open all. */
export const circles = (tree: Tree): string[] => {
  const edges = new Map([...tree].map(([path, text]) => [path, importsOf(path, text).filter((to) => tree.has(to))]))
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[] = []
  const close = (path: string): void => {
    const circle: string[] = []
    for (let last = stack.pop(); last !== undefined; last = last === path ? undefined : stack.pop()) {
      circle.push(last)
      index.set(last, Number.POSITIVE_INFINITY)
    }
    if (circle.length > 1) found.push(circle.sort().join(' ↔ '))
  }
  // Tarjan, "Depth-first search and linear graph algorithms" (1972): a closed component is no longer on the stack
  const visit = (path: string): void => {
    const own = index.size
    index.set(path, own)
    low.set(path, own)
    stack.push(path)
    for (const to of edges.get(path) ?? []) {
      if (!index.has(to)) visit(to)
      const reached = Math.min(low.get(to) ?? own, index.get(to) ?? own)
      if (index.get(to) !== Number.POSITIVE_INFINITY) low.set(path, Math.min(low.get(path) ?? own, reached))
    }
    if (low.get(path) === own) close(path)
  }
  for (const path of tree.keys()) if (!index.has(path)) visit(path)
  return found
}

/** Lists of like things, one a file, found by their names: not rooms. */
const REGISTERS = ['', 'hack/decisions', 'controllers/store/sql/functions', 'controllers/store/sql/schema']
const ENTRIES_MAX = 16
/** A folder that holds something of each kind, or each command: so many entries of its own, and one for each. */
const OWN_ENTRIES_MAX = 10

/** Files of the folder, and folders in it. What belongs to a kind counts once: `invoice.yaml` beside `invoice/`. */
type Folder = { files: Set<string>; folders: Set<string> }

const mostOf = (path: string, { files, folders }: Folder): number => {
  const kinds = kindNames.filter((name) => folders.has(name)).length
  // the account has no folder in every hall
  if (kinds >= kindNames.length - 1) return Math.max(ENTRIES_MAX, OWN_ENTRIES_MAX + kinds)
  if (path !== 'hack') return ENTRIES_MAX
  return OWN_ENTRIES_MAX + [...files].filter((name) => /^[a-z-]+$/.test(name)).length
}

const entriesOf = ({ files, folders }: Folder): number => {
  const rooms = [...files].filter((name) => name !== 'README.md' && !folders.has(name.replace(/\.yaml$/, '')))
  return rooms.length + folders.size
}

/** @param paths of all files that are kept, from the root */
export const crowded = (paths: readonly string[]): string[] => {
  const found = new Map<string, Folder>()
  const folderAt = (path: string): Folder => {
    const known = found.get(path) ?? { files: new Set<string>(), folders: new Set<string>() }
    found.set(path, known)
    return known
  }
  for (const path of paths) {
    const parts = path.split('/')
    folderAt(parts.slice(0, -1).join('/')).files.add(parts.at(-1) ?? '')
    for (let depth = 1; depth < parts.length - 1; depth += 1)
      folderAt(parts.slice(0, depth).join('/')).folders.add(parts[depth] ?? '')
  }
  return [...found].flatMap(([path, folder]) => {
    const [entries, most] = [entriesOf(folder), mostOf(path, folder)]
    return !REGISTERS.includes(path) && entries > most ? [`${path} has ${entries} entries, at most ${most}`] : []
  })
}
