/**
 * GET …/operations/:operationId/output: what a command printed, by its bytes, so that whoever was cut off goes on where it was.
 * With follow as server-sent events, a line each, whose id is the byte behind it (rules/app.md#one-off-commands).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { AppRun, RunCause } from '../../../crds/app/runs/run.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { FOLLOW_MAX_MS } from '../logs/events.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'
import { runOf } from './read.ts'

const POLL_MS = 250
/** A proxy in between shall not take the silence for an end. */
const HEARTBEAT_MS = 15_000

type Part = { from: number; bytes: Buffer; run: AppRun }

/** What is kept from a byte on, or from where it begins. */
const partFrom = async (deps: Pick<AppNeeds, 'runs'>, id: string, from: number): Promise<Part> => {
  const { chunks, run } = await deps.runs.output(id, from)
  if (!run) throw new Problem('NOT_FOUND', `There is no operation ${id}.`)
  const begin = Math.max(from, chunks[0]?.start ?? from)
  const pieces = chunks.map(({ start, content }) => Buffer.from(content, 'utf8').subarray(Math.max(0, begin - start)))
  return { from: begin, bytes: Buffer.concat(pieces), run }
}

const whole = async (deps: Pick<AppNeeds, 'runs'>, id: string, offset: number): Promise<Part> => {
  const first = await partFrom(deps, id, offset)
  const pieces = [first.bytes]
  let part = first
  for (let next = first.from + first.bytes.length; part.bytes.length > 0; next += part.bytes.length) {
    part = await partFrom(deps, id, next)
    pieces.push(part.bytes)
  }
  return { from: first.from, bytes: Buffer.concat(pieces), run: part.run }
}

/** Whole lines, each with the byte behind it; the rest when there is no more to come. */
const linesOf = function* ({ from, bytes }: Part, isLast: boolean): Generator<{ line: string; next: number }> {
  let start = 0
  while (start < bytes.length) {
    const end = bytes.indexOf(0x0a, start)
    if (end < 0 && !isLast) return
    const stop = end < 0 ? bytes.length : end
    const next = end < 0 ? stop : end + 1
    yield { line: bytes.subarray(start, stop).toString('utf8').replaceAll('\r', ' '), next: from + next }
    start = next
  }
}

const ended = ({ state, exitCode, code }: AppRun): string =>
  `event: end\ndata: ${JSON.stringify({ state, exit_code: exitCode, code })}\n\n`

const followed = async function* (deps: AppNeeds, id: string, offset: number): AsyncGenerator<string> {
  const endMs = performance.now() + FOLLOW_MAX_MS
  let from = offset
  let saidMs = performance.now()
  while (performance.now() < endMs && !deps.waiter.isLeaving()) {
    const part = await partFrom(deps, id, from)
    const isOver = part.run.endedAt !== null && part.from + part.bytes.length >= part.run.outputNext
    if (part.from > from) yield `event: gap\ndata: ${JSON.stringify({ from, to: part.from })}\n\n`
    from = part.from
    for (const { line, next } of linesOf(part, isOver)) {
      from = next
      saidMs = performance.now()
      yield `id: ${next}\ndata: ${line}\n\n`
    }
    if (isOver) {
      yield ended(part.run)
      return
    }
    if (performance.now() - saidMs > HEARTBEAT_MS) {
      saidMs = performance.now()
      yield ': still here\n\n'
    }
    await sleep(POLL_MS)
  }
}

const offsetOf = ({ query, headers }: ApiRequest): number => {
  const last = headers['last-event-id']
  const given = query.offset ?? (typeof last === 'string' && /^\d{1,15}$/.test(last) ? last : '0')
  return Number(given)
}

export const getOutput = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name: app } = await apps.find(deps, request)
  const { follow, step } = request.query
  const { id } = await runOf(deps, { app, id: request.params.operationId ?? '', step: step as RunCause | undefined })
  const offset = offsetOf(request)
  if (follow === '1') {
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
      stream: followed(deps, id, offset),
    }
  }
  const { from, bytes, run } = await whole(deps, id, offset)
  return {
    status: 200,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'output-first': String(from),
      'output-next': String(from + bytes.length),
      'output-dropped': String(run.outputFirst + run.lost),
      'output-state': run.state,
    },
    bytes,
  }
}
