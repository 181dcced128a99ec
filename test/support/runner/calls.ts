import { createReadStream, globSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { callOf, makeRightsJudge } from '../judges/rights.ts'
import type { FileResult } from './result.ts'
import { openRunFolder } from './runfolder.ts'

/**
 * What the API servers of a run were asked by the identities of the chart. Each writes it into one folder, and at the end it is
 * compared with what the chart's Roles give.
 */

const variable = 'BOTTEGA_TEST_CALLS'
const prefix = '/tmp/bottega-test-calls-'

/** The option of a control plane that a test starts for itself. @param name of its file */
export const callsOf = (name: string): { calls?: string } => {
  const folder = process.env[variable]
  return folder === undefined ? {} : { calls: join(folder, `${name}.jsonl`) }
}

export type Calls = {
  /** For the test files. */
  env: Record<string, string>
  /** Of the shared control plane. */
  stageFile: string
  /** @param isWhole everything was run, so that a right that was not used is not needed */
  judge(isWhole: boolean): Promise<FileResult>
  remove(): void
}

export const openCalls = (write: (line: string) => void = console.log): Calls => {
  const { folder, remove } = openRunFolder(prefix)
  return {
    env: { [variable]: folder },
    stageFile: join(folder, 'stage.jsonl'),
    judge: (isWhole) => judgeCalls(folder, isWhole, write),
    remove,
  }
}

/** @returns one test, or as many failures as there are faults; nothing where nothing was asked */
export async function judgeCalls(folder: string, isWhole: boolean, write: (line: string) => void): Promise<FileResult> {
  const judge = makeRightsJudge()
  let calls = 0
  // a server that was full turned its file over, under another name of the same ending
  for (const file of globSync(join(folder, '*.jsonl')))
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const call = callOf(line)
      if (call === null) continue
      calls += 1
      judge.take(call)
    }
  if (calls === 0 && !isWhole) return { passed: 0, failed: 0, skipped: 0 }
  const faults = [...judge.refused(), ...(isWhole ? judge.idle() : [])]
  const what = isWhole ? 'rights given are those used' : 'rights used are given'
  write(`${faults.length === 0 ? '✓' : '✗'} ${what}: ${calls} calls, ${judge.count()} that differ`)
  for (const fault of faults) write(`    ${fault}`)
  const bad = faults.length === 0 ? {} : { bad: [what] }
  return { passed: faults.length === 0 ? 1 : 0, failed: faults.length, skipped: 0, ...bad }
}
