/** The database was away and is there again: a copy that was put back meanwhile may not have what has changed since. */
import type { Context } from '../../kinds/context.ts'
import type { Passes } from '../../kinds/passes.ts'

export type AgainDeps = Pick<Context, 'desires' | 'log' | 'onReconnected'> & { passes: Pick<Passes, 'wakeAll'> }

/** Whoever leads is told to doubt; views and specs that are missing are written again by the passes. */
export const lookAgain = async ({ desires, passes, log, onReconnected }: AgainDeps): Promise<void> => {
  onReconnected?.()
  try {
    await desires.reread()
    passes.wakeAll()
  } catch (error) {
    log.warn({ err: error }, 'what is kept was not read again')
  }
}
