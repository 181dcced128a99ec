/** Reminds reviewers of what waits (controllers/kinds/site/reviewers.ts), also after a jump of the clock. */
import type { Log } from '../../base/log.ts'
import type { Context } from '../../kinds/context.ts'
import { sweepReminders } from '../../kinds/site/reviewers.ts'

/** How late a reminder may be, which is about days. */
const POLL_MS = 5_000

/** @returns the way to end it */
export const startReviewReminders = (context: Context, { log }: { log: Log }): (() => void) => {
  let isOver = false
  let timer: NodeJS.Timeout | undefined
  const turn = async (): Promise<void> => {
    try {
      if (context.isClockTrusted?.() !== false) await sweepReminders(context)
    } catch (error) {
      if (!isOver) log.warn({ err: error }, 'reviewers were not reminded')
    }
    if (!isOver) timer = setTimeout(() => void turn(), POLL_MS)
  }
  timer = setTimeout(() => void turn(), POLL_MS)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}
