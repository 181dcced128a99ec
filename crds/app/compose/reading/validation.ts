/** The validation context of a compose file: its bundle, the target host, and the findings so far. */
import { followed } from '../../../files/links.ts'
import type { SourceEntry, SourceIndex } from '../../sources/source.ts'
import type { ComposeChange, ComposeFinding, ComposeRule } from '../finding.ts'
import type { DeployTarget } from '../project.ts'

/** More would only repeat, or be made on purpose. */
const FINDINGS_MAX = 100
const CHANGES_MAX = 200
/** Of a place, as much as one line shows. */
const FROM_MAX_CHARS = 200
/** Characters that variables may bring into one project, env files included. */
export const RESOLVED_MAX_CHARS = 1_000_000

/** A place in the compose file, or in the file that it names there. `line` from 1. */
export type At = { pointer: string; line: number; file?: string }

/** Names of the app's env, by what the file does with them. */
export type EnvNames = { used: Set<string>; missing: Set<string> }

export type ValidationContext = {
  readonly deployTarget: DeployTarget
  readonly bundle: Bundle
  readonly env: EnvNames
  /** Characters that variables may still bring in (interpolate.ts). */
  readonly room: { left: number }
  readonly findings: readonly ComposeFinding[]
  readonly changes: readonly ComposeChange[]
  /** Texts that hold values of variables, and how they stand in the file. */
  readonly written: Map<string, string>
  /** The project will not run. Gives undefined, for "nothing was read here". */
  refuse(at: At, rule: ComposeRule, detail: string, next: string): undefined
  /** It runs, but otherwise than written. */
  warn(at: At, rule: ComposeRule, detail: string, next: string): void
  /** It runs with something else in its place, or (`to` null) without it. */
  rewrite(at: At, rule: ComposeRule, change: Pick<ComposeChange, 'from' | 'to' | 'reason'>): void
  /** Refused where the rules are enforced; on the platform's own host a warning, and true: it may stand. */
  allows(at: At, rule: ComposeRule, detail: string, next: string): boolean
}

/** What the bundle holds, for questions about paths in it; a path may lead through links of the bundle. */
export type Bundle = {
  /** The path without links; undefined when there is nothing. */
  real(path: string): string | undefined
  file(path: string): SourceEntry | undefined
  /** Whether something lies under it; `.` is the root. */
  hasFolder(path: string): boolean
  /** The files of a folder, sorted by path; `.` for all. */
  filesUnder(path: string): SourceEntry[]
  text(path: string): string | undefined
}

const foldersOf = (path: string): string[] => {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

export const makeBundle = ({ entries, texts }: SourceIndex): Bundle => {
  const files = new Map(entries.map((entry) => [entry.path, entry]))
  const folders = new Set(['.', ...entries.flatMap(({ path }) => foldersOf(path))])
  const links = new Map(entries.flatMap(({ path, link }) => (link === undefined ? [] : [[path, link]])))
  const real = (path: string): string | undefined => {
    const end = path === '.' ? path : followed(path, links)
    return end !== null && (files.has(end) || folders.has(end)) ? end : undefined
  }
  const under = (path: string) =>
    path === '.' ? [...entries] : entries.filter((entry) => entry.path.startsWith(`${path}/`))
  return {
    real,
    file: (path) => files.get(real(path) ?? path),
    hasFolder: (path) => folders.has(real(path) ?? path),
    filesUnder: (path) => under(real(path) ?? path),
    text: (path) => texts.get(real(path) ?? path),
  }
}

export const makeValidationContext = (source: SourceIndex, deployTarget: DeployTarget): ValidationContext => {
  const findings: ComposeFinding[] = []
  const add = (level: ComposeFinding['level'], at: At, [rule, detail, next]: [ComposeRule, string, string]): void => {
    const { pointer, line, file = source.composePath } = at
    const said = findings.some((known) => known.rule === rule && known.pointer === pointer && known.detail === detail)
    // What keeps it from running is never left out for the sake of warnings.
    if (said || (findings.length >= FINDINGS_MAX && (level === 'warn' || findings.some((f) => f.level === 'refuse')))) {
      return
    }
    findings.push({ rule, level, pointer, file, line, detail, next })
  }
  const changes: ComposeChange[] = []
  return {
    deployTarget,
    bundle: makeBundle(source),
    env: { used: new Set(), missing: new Set() },
    room: { left: RESOLVED_MAX_CHARS },
    findings,
    changes,
    written: new Map(),
    rewrite({ pointer, line, file = source.composePath }, rule, { from, to, reason }) {
      const said = changes.some((known) => known.rule === rule && known.pointer === pointer && known.to === to)
      if (said || changes.length >= CHANGES_MAX) return
      changes.push({ rule, pointer, file, line, from: from.slice(0, FROM_MAX_CHARS), to, reason })
    },
    refuse(at, ...said) {
      add('refuse', at, said)
      return undefined
    },
    warn: (at, ...said) => add('warn', at, said),
    allows(at, ...said) {
      const may = deployTarget.hostClass === 'platform'
      add(may ? 'warn' : 'refuse', at, said)
      return may
    },
  }
}

/**
 * A path as written, from the root of the bundle: `./a//b/../c` is `a/c`, the root is `.`. Null when it leads out or could
 * mean another place to another reader. @param base folder in the bundle that it starts from
 */
export const insideBundle = (written: string, base = '.'): string | null => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  if (/^[~/]|^[a-z]:|[\\\u0000-\u001f]/i.test(written)) return null
  const parts: string[] = base === '.' ? [] : base.split('/')
  for (const part of written.split('/')) {
    if (part === '..' && parts.length === 0) return null
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.length === 0 ? '.' : parts.join('/')
}
