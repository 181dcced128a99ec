/**
 * GET …/logs: of the live release controllers fetch, this hands on. With follow the lines go out as they come, as server-sent events, until
 * the client leaves or the time is up; the request is renewed while somebody reads. Of other releases what is kept is told.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { APP } from '../../../crds/app/kind.ts'
import type { LogRequest } from '../../../crds/app/world.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'
import { followedAnswer, lastIdOf, textAnswer } from './events.ts'
import { keptText } from './kept.ts'

export const TAIL_DEFAULT = 100
export const TAIL_MAX = 1_000
/** Of an app, at once: each has lines of its own that wait for it. */
const READERS_MAX = 20
const FETCH_LIMIT_MS = 15_000
const POLL_MS = 250
/** How long a request lives without being renewed. */
const LOG_REQUEST_MS = 10_000
/** An instant, as lines begin with it and `since` takes it. */
export const SINCE_PATTERN = '^(\\d{1,4}[smhd]|\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?Z)$'
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

type Wish = Omit<LogRequest, 'fetchedAt'> & { app: string }

const want = (deps: AppNeeds, wish: Wish): Promise<void> =>
  deps.apps.wantLogs({ ...wish, until: new Date(deps.now().getTime() + LOG_REQUEST_MS).toISOString() })

/** @throws Problem where it is no instant */
const instantOf = (deps: AppNeeds, since: string): string => {
  const unitMs = UNIT_MS[since.at(-1) ?? '']
  if (unitMs !== undefined) return new Date(deps.now().getTime() - Number(since.slice(0, -1)) * unitMs).toISOString()
  if (Number.isNaN(Date.parse(since)))
    throw new Problem('INVALID_FIELD', 'since is no instant: give it as 2026-11-22T10:00:00Z.')
  return since
}

const whole = async (deps: AppNeeds, wish: Wish): Promise<string[]> => {
  const endMs = performance.now() + FETCH_LIMIT_MS
  for (;;) {
    const { chunks, ended } = await deps.apps.logChunks(wish.id, 0)
    if (ended) return linesIn(chunks)
    if (performance.now() > endMs || deps.waiter.isLeaving()) {
      throw new Problem('UNAVAILABLE', 'The host did not hand out the log in time.')
    }
    await want(deps, wish)
    await sleep(POLL_MS)
  }
}

const linesIn = (chunks: readonly { content: string }[]): string[] =>
  chunks.flatMap(({ content }) => content.split('\n')).filter((line) => line !== '')

const followRunning = (deps: AppNeeds, wish: Wish): Answer => {
  let after = 0
  return followedAnswer(deps, {
    async next() {
      const { chunks, ended } = await deps.apps.logChunks(wish.id, after)
      after = chunks.at(-1)?.n ?? after
      // Each begins with its instant, from which one goes on.
      const events = linesIn(chunks).map((text) => ({ id: text.slice(0, text.indexOf(' ')), text }))
      return { events, isOver: ended }
    },
    renew: () => want(deps, wish),
    renewEveryMs: LOG_REQUEST_MS / 3,
    over: () => deps.apps.stopLogs(wish.id),
  })
}

const running = async (deps: AppNeeds, request: ApiRequest, app: string): Promise<Answer> => {
  const { tail, follow, service, since: asked } = request.query
  const from = lastIdOf(request) ?? asked
  const since = from === undefined ? null : instantOf(deps, from)
  const wish: Wish = {
    id: randomUUID(),
    app,
    tail: Number(tail ?? TAIL_DEFAULT),
    follow: follow === '1',
    since,
    service: service ?? null,
  }
  if ((await deps.apps.logReaders(app, deps.now().toISOString())) >= READERS_MAX) {
    throw new Problem('TOO_MANY_REQUESTS', `${READERS_MAX} read the log of this app already.`)
  }
  await want(deps, wish)
  await deps.wake(APP, app)
  if (wish.follow) return followRunning(deps, wish)
  try {
    const lines = await whole(deps, wish)
    return textAnswer(tail === undefined ? lines : lines.slice(-TAIL_MAX))
  } finally {
    await deps.apps.stopLogs(wish.id)
  }
}

export const getLogs = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name, view } = await apps.find(deps, request)
  const { release, step, tail, service } = request.query
  const number = release === undefined ? view.release?.number : Number(release)
  if (number === undefined) throw new Problem('NOT_RELEASED', 'Nothing of this app runs yet.')
  const runs = number === view.release?.number && (step ?? 'run') === 'run'
  if (runs) return running(deps, request, name)
  if (!(await deps.apps.release(name, number)))
    throw new Problem('UNKNOWN_RELEASE', `There is no release ${number} of this app.`)
  return keptText(deps, { app: name, release: number, step, service }, 0, tail === undefined ? undefined : Number(tail))
}
