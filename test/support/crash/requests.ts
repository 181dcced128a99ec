import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Problem } from '../../../api/http/problem.ts'
import type { ProblemCode } from '../../../crds/kernel/problem.ts'
import { assert } from '../runner/spec.ts'
import type { OneProcess } from './process.ts'
import type { Asking, Story } from './story.ts'

/**
 * A story as the requests of one client, each with where it ends. Who comes again repeats what was not answered, and nothing
 * of what was; where nobody does, each request has done nothing or all of it.
 */
export type Request<Stand> = {
  /** As `a second edition is live`. */
  what: string
  ask(process: OneProcess, asking: Asking): Promise<unknown>
  /** What is otherwise once this is decided. */
  leaves(before: Stand): Partial<Stand>
  /** What is otherwise where it came too late; whoever asks again is told so. */
  tooLate?(before: Stand): Partial<Stand>
  /** What is otherwise where only the first of its two writes was made, and nobody repeats it. */
  halfway?(before: Stand): Partial<Stand>
  /** What a repeat is told that finds it done. */
  repeated?: ProblemCode
  /** Asserts what holds outside the database at that end. */
  look?(stand: Stand): Promise<void>
}

type Told<Stand> = {
  /** How it stands before the first request. */
  begun: Stand
  /** In what may not happen twice, and no instant or id among it. */
  standIn(databaseUrl: string): Promise<Stand>
  /** Asks a process for anything: it throws when the process has ended. */
  alive(process: OneProcess): Promise<unknown>
  requests: readonly Request<Stand>[]
}

export type Requests = Pick<Story<unknown>, 'play' | 'isSettled' | 'look' | 'stand'> & {
  /** Of a new world, in which nothing was asked yet. */
  begin(databaseUrl: string): void
  alone(databaseUrl: string): Promise<string>
}

const POLL_MS = 50
const END_MS = 100_000

type End<Stand> = { stand: Stand; answered: number }

/** How it may stand: before, and after each request. */
const endsOf = <Stand extends object>({ begun, requests }: Told<Stand>): End<Stand>[] => {
  const ends: End<Stand>[] = [{ stand: begun, answered: 0 }]
  let before = begun
  for (const [at, { leaves, tooLate }] of requests.entries()) {
    const answered = at + 1
    if (tooLate) ends.push({ stand: { ...before, ...tooLate(before) }, answered })
    before = { ...before, ...leaves(before) }
    ends.push({ stand: before, answered })
  }
  return ends
}

export const makeRequests = <Stand extends object>(told: Told<Stand>): Requests => {
  const { standIn, alive, requests } = told
  const ends = endsOf(told)
  let databaseUrl = ''
  let answered = 0

  /** How many requests were answered, or -1 where none leaves it so. */
  const endOf = (stand: Stand): number => ends.find((end) => isDeepStrictEqual(end.stand, stand))?.answered ?? -1

  /** Which request was left halfway, or -1. */
  const halfOf = (stand: Stand): number =>
    requests.findIndex(({ halfway }, at) => {
      const before = ends.findLast(({ answered }) => answered === at)?.stand
      return before && halfway && isDeepStrictEqual({ ...before, ...halfway(before) }, stand)
    })

  const reached = async (process: OneProcess, at: number): Promise<void> => {
    const endMs = performance.now() + END_MS
    for (;;) {
      const stand = await standIn(databaseUrl)
      if (endOf(stand) >= at) return
      assert.ok(performance.now() < endMs, `${requests[at - 1]?.what}: it stands as ${JSON.stringify(stand)}`)
      await alive(process)
      await sleep(POLL_MS)
    }
  }

  const ask = async (process: OneProcess, asking: Asking, { ask, repeated }: Request<Stand>): Promise<void> => {
    try {
      await ask(process, asking)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== repeated) throw error
    }
  }

  return {
    begin(url) {
      databaseUrl = url
      answered = 0
    },
    async play(process, asking) {
      for (let at = answered; at < requests.length; at++) {
        await ask(process, asking, requests[at] as Request<Stand>)
        await reached(process, at + 1)
        answered = at + 1
      }
    },
    isSettled: async (url) => endOf(await standIn(url)) === requests.length,
    async look(url) {
      const stand = await standIn(url)
      if (endOf(stand) !== requests.length) assert.equal(stand, ends.at(-1)?.stand)
      await requests.at(-1)?.look?.(stand)
    },
    stand: standIn,
    async alone(url) {
      const stand = await standIn(url)
      const half = halfOf(stand)
      if (half >= 0) return `halfway in ${requests[half]?.what}`
      const end = endOf(stand)
      assert.ok(end >= 0, `it stands where no request ends: ${JSON.stringify(stand)}`)
      await requests[end - 1]?.look?.(stand)
      if (end === 0) return 'nothing'
      return end === requests.length ? 'all of it' : `${end} of ${requests.length} requests`
    },
  }
}
