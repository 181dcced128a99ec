/**
 * GET …/logs: controllers fetch, this hands on. With follow the lines go out as they come, as server-sent events, until the
 * client leaves or the time is up; the request is renewed while somebody reads.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { APP } from '../../crds/app/kind.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import type { AppNeeds } from './needs.ts'
import { apps } from './read.ts'

export const TAIL_DEFAULT = 100
export const TAIL_MAX = 1_000
const FETCH_LIMIT_MS = 15_000
/** Longest that one request follows; a client that wants more asks again. */
export const FOLLOW_MAX_MS = 10 * 60_000
const POLL_MS = 250
/** How long a request lives without being renewed. */
const LOG_REQUEST_MS = 10_000
/** A proxy in between shall not take the silence for an end. */
const HEARTBEAT_MS = 15_000

type LogRequest = { id: string; app: string; tail: number; follow: boolean }

const want = (deps: AppNeeds, logRequest: LogRequest): Promise<void> =>
  deps.apps.wantLogs({ ...logRequest, until: new Date(deps.now().getTime() + LOG_REQUEST_MS).toISOString() })

const whole = async (deps: AppNeeds, logRequest: LogRequest): Promise<string> => {
  const endMs = performance.now() + FETCH_LIMIT_MS
  for (;;) {
    const { chunks, ended } = await deps.apps.logChunks(logRequest.id, 0)
    if (ended) return chunks.map(({ content }) => content).join('')
    if (performance.now() > endMs || deps.waiter.isLeaving()) {
      throw new Problem('UNAVAILABLE', 'The host did not hand out the log in time.')
    }
    await want(deps, logRequest)
    await sleep(POLL_MS)
  }
}

/** One event per line; an empty line cannot end one early. */
const eventsOf = (content: string): string =>
  content
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .map((line) => `data: ${line.replaceAll('\r', ' ')}\n\n`)
    .join('')

const followed = async function* (deps: AppNeeds, logRequest: LogRequest): AsyncGenerator<string> {
  const endMs = performance.now() + FOLLOW_MAX_MS
  let after = 0
  let saidMs = performance.now()
  let renewedMs = performance.now()
  try {
    while (performance.now() < endMs) {
      const { chunks, ended } = await deps.apps.logChunks(logRequest.id, after)
      for (const { n, content } of chunks) {
        after = n
        saidMs = performance.now()
        yield eventsOf(content)
      }
      if (ended || deps.waiter.isLeaving()) return
      if (performance.now() - saidMs > HEARTBEAT_MS) {
        saidMs = performance.now()
        yield ': still here\n\n'
      }
      if (performance.now() - renewedMs > LOG_REQUEST_MS / 3) {
        renewedMs = performance.now()
        await want(deps, logRequest)
      }
      await sleep(POLL_MS)
    }
  } finally {
    await deps.apps.stopLogs(logRequest.id)
  }
}

export const getLogs = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  if (!row.view.release) throw new Problem('NOT_RELEASED', 'Nothing of this app runs yet.')
  const { tail, follow } = request.query
  const logRequest = { id: randomUUID(), app: row.name, tail: Number(tail ?? TAIL_DEFAULT), follow: follow === '1' }
  await want(deps, logRequest)
  await deps.wake(APP, row.name)
  if (logRequest.follow) {
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
      stream: followed(deps, logRequest),
    }
  }
  try {
    const bytes = Buffer.from(await whole(deps, logRequest), 'utf8')
    return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, bytes }
  } finally {
    await deps.apps.stopLogs(logRequest.id)
  }
}
