import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** In the order in which they follow each other; the last line of the last one begins. */
export const PARTS = ['begin', 'look', 'programs', 'files', 'end'] as const

/** What a machine is sent: one script for a POSIX sh. */
export const hostSetupScript = (): string =>
  PARTS.map((part) => readFileSync(join(import.meta.dirname, `${part}.sh`), 'utf8')).join('\n')
