import { Session } from 'node:inspector'
import { getCompileCacheDir } from 'node:module'

/**
 * Work as a count, which a busy machine does not change as it changes a time. Import it in a file that does little else:
 * V8 counts blocks only in what it compiles after the counting began, and runs it several times slower.
 */

type Coverage = { result: { functions: { ranges: { count: number }[] }[] }[] }

// What comes compiled out of a cache would not be counted, and any bound would hold.
if (getCompileCacheDir() !== undefined)
  throw new Error('work is counted without NODE_COMPILE_CACHE: move this file to the unit part')

const session = new Session()
session.connect()
const ask = (method: string, params = {}): unknown => {
  let answer: unknown
  session.post(method, params, (error, result) => {
    if (error) throw error
    answer = result
  })
  return answer
}
ask('Profiler.enable')
ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true })

/**
 * How many blocks of JavaScript `run` enters: functions, turns of loops, branches. Regular expressions and copies of
 * strings are not counted; `test/patterns.test.ts` judges the former.
 */
export const workOf = (run: () => void): number => {
  ask('Profiler.takePreciseCoverage') // begins again from 0
  run()
  const { result } = ask('Profiler.takePreciseCoverage') as Coverage
  const ranges = result.flatMap(({ functions }) => functions).flatMap((one) => one.ranges)
  return ranges.reduce((sum, { count }) => sum + count, 0)
}
