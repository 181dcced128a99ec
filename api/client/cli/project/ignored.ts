/**
 * What of a folder is not sent: what git ignores, by every .gitignore from the root of the repository down, and what .dockerignore
 * names. The patterns are read by the libraries that others use for them (rules/app.md#what-is-sent).
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import dockerignore from '@balena/dockerignore'
import gitignore, { type Ignore } from 'ignore'

/** Never sent, wherever they lie: histories and secrets. */
const NEVER = /^(\.git|\.env|\.env\.local|\.env\.[\w-]+\.local)$/
/** A .dockerignore names them because a container has no use for them; the platform has. */
const COMPOSE_FILE = /^(?:docker-)?compose/
const isProjectFile = (base: string): boolean =>
  base === '.dockerignore' ||
  (COMPOSE_FILE.test(base) && (base.endsWith('.yaml') || base.endsWith('.yml'))) ||
  base.split('.').includes('Dockerfile')
const isCaseBlind = process.platform === 'darwin' || process.platform === 'win32'

/** Why something stays here, as it is told: the name of the file that says so. */
export type LeftBy = '.gitignore' | '.dockerignore' | 'never sent' | 'no plain file'

/** The patterns of one .gitignore, which hold below its folder. */
export type IgnoreLevel = { folder: string; patterns: Ignore }

const noPatterns = (): Ignore => gitignore({ ignorecase: isCaseBlind, allowRelativePaths: false })

const readLevel = (folder: string, path = join(folder, '.gitignore')): IgnoreLevel[] => {
  if (!existsSync(path) || !statSync(path).isFile()) return []
  return [{ folder, patterns: noPatterns().add(readFileSync(path, 'utf8')) }]
}

/** The folder that the repository begins in; null outside of one. */
const repositoryOf = (folder: string): string | null => {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

const slashed = (path: string): string => (sep === '/' ? path : path.replaceAll(sep, '/'))

/** The nearest file that has something to say decides, and in it the last line (gitignore, "pattern format"). */
const isGitIgnored = (levels: readonly IgnoreLevel[], path: string, isFolder: boolean): boolean => {
  for (const { folder, patterns } of [...levels].reverse()) {
    const below = slashed(relative(folder, path))
    const { ignored, unignored } = patterns.test(isFolder ? `${below}/` : below)
    if (ignored || unignored) return ignored
  }
  return false
}

/**
 * A folder that a farther file leaves and a nearer one takes back is left by none: what lies in it is judged by itself. The library
 * judges it by its folder, so the farther file is told.
 */
const withTakenBack = (level: IgnoreLevel, folder: string): IgnoreLevel => {
  const below = slashed(relative(level.folder, folder))
  if (below.includes('\n') || !level.patterns.test(`${below}/`).ignored) return level
  const patterns = noPatterns()
    .add(level.patterns)
    .add(`!/${below.replace(/[\\*?[\]]/g, '\\$&')}/`)
  return { ...level, patterns }
}

/** The levels that hold in a folder that is entered: one that is itself left is entered for what was asked for by name. */
const levelsIn = (levels: readonly IgnoreLevel[], folder: string): readonly IgnoreLevel[] =>
  isGitIgnored(levels, folder, true) ? levels : levels.map((level) => withTakenBack(level, folder))

/** From the root of the repository down to the folder that is sent, without the folder's own. */
const levelsAbove = (folder: string): IgnoreLevel[] => {
  const top = repositoryOf(folder)
  if (top === null || top === folder) return top === null ? [] : readLevel(top, join(top, '.git', 'info', 'exclude'))
  const folders: string[] = []
  for (let at = dirname(folder); ; at = dirname(at)) {
    folders.unshift(at)
    if (at === top) break
  }
  const levels = [...readLevel(top, join(top, '.git', 'info', 'exclude')), ...folders.flatMap((one) => readLevel(one))]
  // Who names a folder that git ignores, as one that a build made, means it.
  return isGitIgnored(levels, folder, true) ? [] : levels
}

export type Leaving = {
  /** The levels that hold in a folder below one whose levels are known. */
  enter(levels: readonly IgnoreLevel[], folder: string): readonly IgnoreLevel[]
  above: readonly IgnoreLevel[]
  /** @param path from the folder that is sent, with slashes */
  leftBy(levels: readonly IgnoreLevel[], path: string, isFolder: boolean): LeftBy | null
  /** Something below a folder that is left may be sent all the same. */
  mayHold(path: string): boolean
}

/** @param include paths that are sent although a file says otherwise */
export const makeLeaving = (root: string, include: readonly string[]): Leaving => {
  const wanted = include.map((path) =>
    slashed(path)
      .replace(/^(\.\/)+/, '')
      .replace(/\/$/, ''),
  )
  const path = join(root, '.dockerignore')
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const docker = dockerignore.default({ ignorecase: false }).add(text)
  const hasExceptions = text.split('\n').some((line) => line.trimStart().startsWith('!'))
  const isIncluded = (name: string) => wanted.some((one) => name === one || name.startsWith(`${one}/`))
  const leadsToIncluded = (name: string) => wanted.some((one) => one.startsWith(`${name}/`))
  return {
    above: levelsAbove(root),
    enter: (levels, folder) => [
      ...(relative(root, folder) === '' ? levels : levelsIn(levels, folder)),
      ...readLevel(folder),
    ],
    leftBy(levels, name, isFolder) {
      const base = name.slice(name.lastIndexOf('/') + 1)
      if (NEVER.test(base)) return 'never sent'
      if (isIncluded(name)) return null
      if (isGitIgnored(levels, join(root, name), isFolder)) return '.gitignore'
      if (text !== '' && !isProjectFile(base) && docker.ignores(name)) return '.dockerignore'
      return null
    },
    mayHold: (name) => leadsToIncluded(name) || (hasExceptions && docker.ignores(name)),
  }
}
