/** Lines of logs as server-sent events, and how those who follow them are served. Source: HTML Living Standard, server-sent events. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'

/** Longest that one request follows; a client that wants more asks again, from the id of the last line that it has. */
export const FOLLOW_MAX_MS = 10 * 60_000
/** A proxy in between shall not take the silence for an end. */
const HEARTBEAT_MS = 15_000
const POLL_MS = 250

/** `id`: where one goes on from, behind this line. */
export type LogEvent = { id: string; event?: string; text: string }

/** One event; a line feed cannot end it early. */
const written = ({ id, event, text }: LogEvent): string => {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `id: ${id}\n${name}data: ${text.replaceAll(/[\r\n]/g, ' ')}\n\n`
}

/** The id that a client begins behind: the header of an EventSource that comes again, or what the query says. */
export const lastIdOf = ({ headers }: ApiRequest): string | undefined => {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : undefined
}

type Followed = {
  /** What has come since it was asked last, and whether that is all. */
  next(): Promise<{ events: LogEvent[]; isOver: boolean }>
  /** Said in the end where all was told. */
  last?(): Promise<LogEvent>
  /** The reader is there still. */
  renew?(): Promise<void>
  renewEveryMs?: number
  over?(): Promise<void>
}

/** What is to be done now and then while somebody follows. */
const makeEvery = (everyMs: number) => {
  let doneMs = performance.now()
  return {
    isDue: () => performance.now() - doneMs > everyMs,
    done: () => {
      doneMs = performance.now()
    },
  }
}

/** Looks once. @returns what is to be written now, '' for nothing, and whether it is the last */
const look = async (followed: Followed, isSilent: boolean): Promise<{ text: string; isOver: boolean }> => {
  const { events, isOver } = await followed.next()
  const last = isOver ? await followed.last?.() : undefined
  const text = [...events, ...(last ? [last] : [])].map(written).join('')
  return { text: text === '' && isSilent ? ': still here\n\n' : text, isOver }
}

/** Tells what comes until there is no more, the client leaves, the process ends or the time is up. */
const follow = async function* (deps: Pick<AppNeeds, 'waiter'>, followed: Followed): AsyncGenerator<string> {
  const [beat, renewal] = [makeEvery(HEARTBEAT_MS), makeEvery(followed.renewEveryMs ?? HEARTBEAT_MS)]
  const endMs = performance.now() + FOLLOW_MAX_MS
  try {
    for (let isOver = false; !isOver && performance.now() < endMs && !deps.waiter.isLeaving(); ) {
      const seen = await look(followed, beat.isDue())
      isOver = seen.isOver
      if (seen.text !== '') {
        beat.done()
        yield seen.text
      } else await sleep(POLL_MS)
      if (renewal.isDue()) {
        renewal.done()
        await followed.renew?.()
      }
    }
  } finally {
    await followed.over?.()
  }
}

export const followedAnswer = (deps: Pick<AppNeeds, 'waiter'>, followed: Followed): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
  stream: follow(deps, followed),
})

export const textAnswer = (lines: readonly string[]): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  bytes: Buffer.from(lines.map((line) => `${line}\n`).join(''), 'utf8'),
})
