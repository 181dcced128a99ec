/** What hosts are asked again and again beside the passes: who visits their sites, and what their apps use. */
import type { Log } from '../../base/log.ts'
import type { Context } from '../../kinds/context.ts'
import { startUsage } from './usage.ts'
import { startVisits } from './visits.ts'

/** @returns the way to end all of it */
export const startHostLooks = (context: Context, tools: { log: Log }): (() => void) => {
  const ends = [startVisits(context, tools), startUsage(context, tools)]
  return () => {
    for (const end of ends) end()
  }
}
