/**
 * The gate: reads a compose file with everything resolved and gives either the project that we run or every reason why not.
 * Pure and total: bad input is a finding, never a throw.
 */
import type { SourceIndex } from '../source.ts'
import type { Finding } from './finding.ts'
import type { Ground, Project } from './project.ts'

export type Verdict = { ok: true; project: Project; warnings: Finding[] } | { ok: false; findings: Finding[] }

export type Judge = (source: SourceIndex, ground: Ground) => Verdict
