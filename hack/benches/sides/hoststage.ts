import { endStaleStages, startStage } from '../../stage/stage.ts'
import type { BenchContext } from './figure.ts'

/** On what tests of hosts run on: sshd, a Docker of its own, a proxy with an ACME test CA, DNS. It ends with the work. */
export const onHostStage = async <R>({ progress }: BenchContext, work: () => Promise<R>): Promise<R> => {
  await endStaleStages()
  const abort = new AbortController()
  const given = await startStage({ owner: `bench-${process.pid}`, progress, signal: abort.signal })
  try {
    Object.assign(process.env, given.env, await given.openDocker())
    return await work()
  } finally {
    await given.end()
  }
}
