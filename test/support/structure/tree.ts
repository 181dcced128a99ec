/** The tree as text, and what its files import: read from import lines, so that no lint package is needed for it. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'

export const root = join(import.meta.dirname, '..', '..', '..')

/** Path from the root → text. */
export type Tree = ReadonlyMap<string, string>

export const readTree = (): Tree =>
  new Map(
    globSync('{crds,controllers,api,hack,test}/**/*.ts', { cwd: root })
      .sort()
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  )

export const ours = (target: string) => /^(crds|controllers|api|hack|test)\//.test(target)

/** What a file imports: paths from the root for files (`/package.json` outside our folders), else names of packages. */
export const importsOf = (path: string, text: string): string[] => {
  const found = text.matchAll(/^(?:import|export)\s(?:[^'"`;]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm)
  return [...found].map(([, fixed, dynamic]) => {
    const target = fixed ?? dynamic ?? ''
    if (!target.startsWith('.')) return target
    const file = posix.join(dirname(path), target)
    return ours(file) ? file : `/${file}`
  })
}

export const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

export const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
