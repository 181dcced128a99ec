/** Who may take all parts of the api, or say of an object that it is all of them. */
import { type Tree, withoutComments } from './tree.ts'

/** Where the parts are declared, wired and handed to the list of all routes. */
const isWhole = (path: string): boolean => path === 'api/main.ts' || path.startsWith('api/wiring/')

/** Whose objects are cast still. */
export const CAST_PARTS: readonly string[] = ['test/api/command/commands.test.ts']

const IMPORT = /^import\b[\s\S]*?\bfrom '[^']*'$/gm
const PICKED = /\bPick<\s*Deps\b|\bDeps\[/g

/** A cast compiles whatever the handler needs, and dies when it is called. */
export const castParts = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => (/\bas Deps\b/.test(withoutComments(text)) ? [`${path} casts to all parts`] : []))

/** Who takes all parts says nothing of what it needs. */
export const wholeParts = (tree: Tree): string[] =>
  [...tree].flatMap(([path, text]) => {
    if (isWhole(path) || CAST_PARTS.includes(path) || !/\/wiring\/deps\.ts'/.test(text)) return []
    const rest = withoutComments(text).replace(IMPORT, '').replace(PICKED, '')
    return /\bDeps\b/.test(rest) ? [`${path} takes all parts`] : []
  })
