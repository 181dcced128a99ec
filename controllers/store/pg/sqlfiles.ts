/**
 * The SQL of the house as files: `schema/NNN_subject.sql`, each applied once, in the order of their numbers; and
 * `functions/<name>.sql`, one function each, made anew when its text changes, after those that it calls.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'

/** `name` as it is recorded: `schema/002_register.sql`, `functions/claim_numbers.sql`. */
export type SqlFile = { name: string; sha256: string; text: string }

const SCHEMA_NAME = /^\d{3}_[a-z0-9_]+\.sql$/
const MADE_HERE = /^create (or replace )?function (\w+)/gm
const COMMENT = /--.*$/gm
const CALL = /\b(\w+)\s*\(/g

export const functionOf = (file: SqlFile): string => basename(file.name, '.sql')

const readFolder = async (folder: URL, room: string): Promise<SqlFile[]> => {
  const names = (await readdir(new URL(`${room}/`, folder))).filter((name) => name.endsWith('.sql')).sort()
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(`${room}/${name}`, folder), 'utf8')
      return { name: `${room}/${name}`, sha256: createHash('sha256').update(text).digest('hex'), text }
    }),
  )
}

/** @returns the files of the schema, in the order of their numbers */
export const readSchema = async (folder: URL): Promise<SqlFile[]> => {
  const files = await readFolder(folder, 'schema')
  for (const { name } of files) {
    if (!SCHEMA_NAME.test(basename(name))) throw new Error(`${name} must be named like schema/002_register.sql`)
  }
  return files
}

/** The body of a function is parsed when it is made (`return`, `begin atomic`): what it calls stands before it. */
const inOrder = (files: readonly SqlFile[]): SqlFile[] => {
  const byFunction = new Map(files.map((file) => [functionOf(file), file]))
  const ordered = new Set<SqlFile>()
  const place = (file: SqlFile, callers: readonly string[]): void => {
    if (ordered.has(file)) return
    const own = functionOf(file)
    const chain = [...callers, own]
    if (callers.includes(own)) {
      throw new Error(`Functions call each other in a circle: ${chain.slice(chain.indexOf(own)).join(' → ')}`)
    }
    for (const [, called = ''] of file.text.replace(COMMENT, '').matchAll(CALL)) {
      const needed = byFunction.get(called)
      if (needed !== undefined && needed !== file) place(needed, chain)
    }
    ordered.add(file)
  }
  for (const file of files) place(file, [])
  return [...ordered]
}

/** @returns the files of the functions, each after all that it calls */
export const readFunctions = async (folder: URL): Promise<SqlFile[]> => {
  const files = await readFolder(folder, 'functions')
  for (const file of files) {
    const made = [...file.text.matchAll(MADE_HERE)]
    if (made.length !== 1 || made[0]?.[1] === undefined || made[0][2] !== functionOf(file)) {
      throw new Error(`${file.name} must hold one \`create or replace function ${functionOf(file)}\`, and no other`)
    }
  }
  return inOrder(files)
}
