/** Looks for the records of names as they fall due (controllers/kinds/names/sweep.ts). */
import type { Log } from '../../base/log.ts'
import type { Context } from '../../kinds/context.ts'
import { makeNameSweep, sweepNames } from '../../kinds/names/sweep.ts'

/** How late a look may be: somebody has just set a record, and waits. */
const POLL_MS = 1_000

/** @returns the way to end it */
export const startNameLooks = (context: Context, { log }: { log: Log }): (() => void) => {
  const sweep = makeNameSweep(context)
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const turn = async (): Promise<void> => {
    try {
      if (context.isClockTrusted?.() !== false) await sweepNames(sweep)
    } catch (error) {
      if (!isOver) log.warn({ err: error }, 'the names of sites were not looked at')
    }
    if (!isOver) timer = setTimeout(() => void turn(), POLL_MS)
  }
  timer = setTimeout(() => void turn(), POLL_MS)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
