/**
 * Lines as they come, by server-sent events. A connection that breaks is opened again behind the last line that had an id; where the
 * server gives none, what was shown is recognised by its text.
 */
import type { IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandContext } from '../context.ts'
import { RefusedByApi } from '../net/outcome.ts'

const AGAIN_MS = 1_000
/** How long an ended log may take for its last lines. */
const LAST_MS = 1_500

export type StreamedEvent = { data: string; id: string | null; event: string | null }

/** Name and value of a line; a line without a colon is a name. */
const fieldOf = (line: string): [name: string, value: string] => {
  const colon = line.indexOf(':')
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}

/** The events of one answer (WHATWG HTML, "Server-sent events"). */
export const eventsIn = async function* (answer: IncomingMessage): AsyncGenerator<StreamedEvent> {
  let data: string[] = []
  let said: Record<string, string> = {}
  let id: string | null = null
  for await (const line of createInterface({ input: answer, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line !== '') {
      const [name, value] = fieldOf(line)
      if (name === 'data') data.push(value)
      else said[name] = value
      continue
    }
    id = said.id ?? id
    if (data.length > 0) yield { data: data.join('\n'), id, event: said.event ?? null }
    data = []
    said = {}
  }
}

export type FollowedStream = {
  path: string
  onEvent(event: StreamedEvent): void
  /** The way there after a break, when no event had an id. */
  againPath?: string
  isStopped(): boolean
  onOpen?(answer: IncomingMessage): void
}

/** Where a reader stands: behind this event, if any. */
type Place = { id: string | null; data: string | null }

const headersFor = ({ id }: Place) => ({
  accept: 'text/event-stream',
  ...(id !== null && { 'last-event-id': id }),
})

/**
 * The events of one connection, until it ends or breaks. What was shown last comes again where no id says that it was.
 * @returns whether the server said that nothing more comes
 */
const readOnce = async (
  answer: IncomingMessage,
  place: Place,
  onEvent: FollowedStream['onEvent'],
): Promise<boolean> => {
  let seen = place.id === null ? place.data : null
  for await (const event of eventsIn(answer)) {
    if (event.event === 'end') return true
    if (event.data !== seen) onEvent(event)
    seen = null
    place.id = event.id ?? place.id
    place.data = event.data
  }
  return false
}

/** Until it is stopped, or the server says that nothing more comes. @throws RefusedByApi, GaveUp */
export const followEvents = async (context: CommandContext, following: FollowedStream): Promise<void> => {
  const { api, surroundings } = context
  const { path, againPath = path, onEvent, isStopped, onOpen } = following
  const place: Place = { id: null, data: null }
  while (!isStopped()) {
    const isAgain = place.data !== null && place.id === null
    const answer = await api.stream({ method: 'GET', path: isAgain ? againPath : path, headers: headersFor(place) })
    onOpen?.(answer)
    const isEnd = await readOnce(answer, place, onEvent).catch(() => false)
    if (isEnd) return
    if (!isStopped()) await sleep(AGAIN_MS, undefined, { signal: surroundings.signal })
  }
}

/** Follows a log beside something else. A server that has no such log is not asked again. */
export const followLog = (
  context: CommandContext,
  path: string,
  onLine: (line: string) => void,
): { end(): Promise<void> } => {
  let isStopped = false
  let open: IncomingMessage | undefined
  const reading = followEvents(context, {
    path: `${path}?follow=1`,
    isStopped: () => isStopped,
    onEvent: ({ data }) => onLine(data),
    onOpen: (answer) => {
      open = answer
    },
  }).catch((error: unknown) => {
    // The end of the operation is what counts; its log is told as far as there is one.
    if (!(error instanceof RefusedByApi)) return
  })
  return {
    async end() {
      isStopped = true
      const timer = setTimeout(() => open?.destroy(), LAST_MS)
      if (open !== undefined) await reading
      clearTimeout(timer)
    },
  }
}
