/** Where functions of the database stand. */
import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root, type Tree } from './tree.ts'

const FUNCTIONS = 'controllers/store/sql/functions'
const CREATED = /\bcreate (?:or replace )?function (\w+)/gi

export const readSql = (): Tree =>
  new Map(
    globSync('{crds,controllers,api}/**/*.sql', { cwd: root })
      .sort()
      .map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  )

/** A function stands in the file that bears its name, and nowhere else: what is read there is what runs. */
export const strayFunctions = (sql: Tree): string[] =>
  [...sql].flatMap(([path, text]) =>
    [...text.matchAll(CREATED)].flatMap(([, name = '']) =>
      path === posix.join(FUNCTIONS, `${name}.sql`) ? [] : [`${path} makes ${name}`],
    ),
  )

/** From the arguments on, without what stands about it. */
const bodyOf = (text: string): string | undefined =>
  /\bfunction \w+([\s\S]*)/.exec(text.replace(/--.*$/gm, ''))?.[1]?.replace(/\s+/g, ' ').trim()

/** One text under two names would be mended once. */
export const functionsTwice = (sql: Tree): string[] => {
  const made = [...sql].filter(([path]) => path.startsWith(`${FUNCTIONS}/`))
  const alike = Map.groupBy(made, ([, text]) => bodyOf(text))
  return [...alike.values()].filter((same) => same.length > 1).map((same) => same.map(([path]) => path).join(' = '))
}
