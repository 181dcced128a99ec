/**
 * Events of events.k8s.io/v1, for people who run `kubectl describe`. They never block or fail a pass: what cannot be
 * written is dropped and counted. Repeats become a series of one Event; the newest one says how it is.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { GROUP, VERSION } from '../../crds/kernel/object.ts'
import { isNotFound } from '../base/errors.ts'
import { type Log, withoutSecrets } from '../base/log.ts'
import { type KindRef, type Kube, microTime, type NewObject, type Ref } from './kube.ts'
import type { AnyObject } from './objects.ts'

const EVENT: KindRef = { kind: 'Event', plural: 'events', group: 'events.k8s.io', version: 'v1' }
/** The API server refuses a note of 1,024 bytes and more. */
const NOTE_MAX_BYTES = 1_000
const NAME_MAX = 200
/** Same object, reason, action and note within this: one series. What a written Event says cannot be changed: other words are another Event. */
const SERIES_MS = 360_000
/** A running series is written at most this often. */
const SERIES_WRITE_MS = 10_000
const SERIES_MAX = 1_000
/** A burst, then so many a second. */
const BURST = 50
const PER_SECOND = 5

export type EventNote = {
  object: AnyObject
  kind: KindRef
  type: 'Normal' | 'Warning'
  /** CamelCase. */
  reason: string
  /** CamelCase: what the controller did or tried. */
  action?: string
  message: string
}

export type Events = {
  /** Returns at once and never throws. */
  emit(note: EventNote): void
  /** Waits until what was emitted is written or dropped, running series included. */
  flush(): Promise<void>
}

export type EventsOptions = {
  kube: Pick<Kube, 'create' | 'patchMeta' | 'raw'>
  /** `bottega-controllers` */
  reporter: string
  instance?: string
  log?: Log
  now?: () => Date
  onDropped?: () => void
}

type Series = {
  ref: Ref
  count: number
  written: number
  lastAt: Date
  writtenAt: number
  /** Ends when what was written last has arrived, or failed. */
  lastWrite: Promise<void>
}

const clipBytes = (text: string, max: number): string => {
  const bytes = Buffer.from(text)
  // A character cut in half becomes one replacement mark, which goes too.
  return bytes.length <= max
    ? text
    : `${bytes
        .subarray(0, max - 3)
        .toString()
        .replace(/\uFFFD$/, '')}…`
}

const apiVersionOf = ({ group = GROUP, version = VERSION }: KindRef): string =>
  group === '' ? version : `${group}/${version}`

const bodyOf = ({ reporter, instance = hostname() }: EventsOptions, note: EventNote, ref: Ref, at: Date): NewObject => {
  const { name, namespace = '', uid, resourceVersion } = note.object.metadata
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: ref,
    eventTime: microTime(at),
    reportingController: reporter,
    reportingInstance: instance.slice(0, 128),
    action: note.action ?? note.reason,
    reason: note.reason,
    regarding: { apiVersion: apiVersionOf(note.kind), kind: note.kind.kind, name, namespace, uid, resourceVersion },
    note: clipBytes(withoutSecrets(note.message), NOTE_MAX_BYTES),
    type: note.type,
  }
}

/** Tokens that fill up with time. @returns whether one was left */
const makeBucket = (nowMs: () => number) => {
  let tokens = BURST
  let at = nowMs()
  return (): boolean => {
    tokens = Math.min(BURST, tokens + ((nowMs() - at) / 1000) * PER_SECOND)
    at = nowMs()
    if (tokens < 1) return false
    tokens -= 1
    return true
  }
}

type EventsState = {
  options: EventsOptions
  now: () => Date
  allowed: () => boolean
  /** Object, type, reason, action and note → what was written of them. */
  series: Map<string, Series>
  /** Writes under way. */
  pending: Set<Promise<void>>
}

const drop = ({ options }: EventsState, error?: unknown): void => {
  options.onDropped?.()
  options.log?.debug({ ...(error !== undefined && { err: error }) }, 'event dropped')
}

/** After `before`: a series' writes reach the server in their order, or an old count would be the last one. */
const writeLater = (
  state: EventsState,
  write: () => Promise<unknown>,
  before: Promise<void> = Promise.resolve(),
): Promise<void> => {
  const done: Promise<void> = before
    .then(write)
    .then(
      () => {},
      (error) => drop(state, error),
    )
    .finally(() => state.pending.delete(done))
  state.pending.add(done)
  return done
}

const forgetOld = ({ series }: EventsState, nowMs: number): void => {
  for (const [key, { lastAt }] of series) if (nowMs - lastAt.getTime() > SERIES_MS) series.delete(key)
  const [oldest] = series.keys()
  if (series.size >= SERIES_MAX && oldest !== undefined) series.delete(oldest)
}

const writeSeries = (state: EventsState, key: string, known: Series): void => {
  known.written = known.count
  known.writtenAt = known.lastAt.getTime()
  const path = `/apis/events.k8s.io/v1/namespaces/${known.ref.namespace}/events/${known.ref.name}`
  const body = { series: { count: known.count, lastObservedTime: microTime(known.lastAt) } }
  const write = () =>
    state.options.kube.raw('PATCH', path, body, { contentType: 'application/merge-patch+json' }).catch((error) => {
      // Events live for an hour: the next repeat starts anew.
      if (isNotFound(error)) state.series.delete(key)
      throw error
    })
  known.lastWrite = writeLater(state, write, known.lastWrite)
}

const repeat = (state: EventsState, key: string, known: Series, at: Date) => {
  known.count += 1
  known.lastAt = at
  if (at.getTime() - known.writtenAt < SERIES_WRITE_MS) return
  if (!state.allowed()) return drop(state)
  writeSeries(state, key, known)
}

const emit = (state: EventsState, note: EventNote) => {
  const { options, series } = state
  const at = state.now()
  const { uid = '', name, namespace } = note.object.metadata
  const key = [uid, note.type, note.reason, note.action ?? '', note.message].join('\0')
  const known = series.get(key)
  if (known && at.getTime() - known.lastAt.getTime() <= SERIES_MS) return repeat(state, key, known, at)
  if (!state.allowed()) return drop(state)
  forgetOld(state, at.getTime())
  const ref = { name: `${name.slice(0, NAME_MAX)}.${randomUUID().slice(0, 13)}`, namespace: namespace || 'default' }
  const lastWrite = writeLater(state, () => options.kube.create(EVENT, bodyOf(options, note, ref, at)))
  series.set(key, { ref, count: 1, written: 1, lastAt: at, writtenAt: at.getTime(), lastWrite })
}

const flush = async (state: EventsState): Promise<void> => {
  const { pending, series } = state
  while (pending.size > 0) await Promise.all(pending)
  for (const [key, known] of series) if (known.count > known.written) writeSeries(state, key, known)
  while (pending.size > 0) await Promise.all(pending)
}

export const makeEvents = (options: EventsOptions): Events => {
  const now = options.now ?? (() => new Date())
  const allowed = makeBucket(() => now().getTime())
  const state: EventsState = { options, now, allowed, series: new Map(), pending: new Set() }
  return {
    emit: (note) => {
      try {
        emit(state, note)
      } catch (error) {
        drop(state, error)
      }
    },
    flush: () => flush(state),
  }
}
