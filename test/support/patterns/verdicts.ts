import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readJson, writeWhole } from '../../../hack/lib/files.ts'
import type { Pattern } from './collect.ts'

/**
 * What was proved stays proved: a pattern that the judge found linear is not judged again until the pattern, the judge or
 * what runs it has changed. Only that is kept; a fault is looked for anew each time.
 */
export type Verdicts = {
  isKnown(pattern: Judged): boolean
  keep(pattern: Judged): void
  /** What was kept or asked for since `openVerdicts`, and no more, so that the file does not grow. */
  write(): void
}
type Judged = Pick<Pattern, 'source' | 'flags'>
type Kept = { judge: string; linear: string[] }

const sha256 = (...parts: readonly string[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('hex')
const keyOf = ({ source, flags }: Judged): string => sha256(source, flags)

/** All that a verdict follows from beside its pattern: the code of this folder, the checker, and Node. */
export const judgeDigest = (): string => {
  const own = globSync('*.ts', { cwd: import.meta.dirname }).sort()
  const checker = join(import.meta.dirname, '../../../node_modules/recheck/package.json')
  const texts = [...own.map((name) => join(import.meta.dirname, name)), checker]
  return sha256(process.version, ...texts.map((path) => readFileSync(path, 'utf8')))
}

/** @param file where they are kept; one that is absent, damaged or of another judge holds none */
export const openVerdicts = (file: string, judge: string): Verdicts => {
  const kept = readJson<Partial<Kept> | null>(file)
  const known = new Set(kept?.judge === judge && Array.isArray(kept.linear) ? kept.linear : [])
  const asked = new Set<string>()
  return {
    isKnown(pattern) {
      const key = keyOf(pattern)
      if (!known.has(key)) return false
      asked.add(key)
      return true
    },
    keep: (pattern) => void asked.add(keyOf(pattern)),
    write() {
      mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
      const now: Kept = { judge, linear: [...asked].sort() }
      writeWhole(file, JSON.stringify(now))
    },
  }
}
