/**
 * What can be told, and the body in which it is told. Kinds name their events in their catalogues (crds/catalogue/),
 * and nothing else has to be done for one to be delivered (rules/webhook.md#events, #payload).
 */

import { CATALOGUED_EVENTS, type CataloguedEvent } from '../catalogue/list.ts'

/** Sent on demand to one endpoint alone; nobody subscribes to it. */
export const PING = 'ping'

export const EVENT_TYPES: readonly EventType[] = CATALOGUED_EVENTS
export type EventType = CataloguedEvent

/**
 * What is told to whoever listens, written in the transaction of what it follows from. `kind`: of the resource that it
 * happened to. `account`: whose endpoints hear it.
 * `data` holds the object under its name, with its id, state and amounts, and never what stands on a document.
 */
export type NewEvent = {
  kind: string
  account: string
  type: EventType
  test?: boolean
  data: Record<string, unknown>
}

/** What an endpoint may ask for: events by name, all of one object, or all. */
export const EVENT_FILTERS: readonly string[] = [
  '*',
  ...new Set(EVENT_TYPES.map((type) => `${type.split('.', 1)[0]}.*`)),
  ...EVENT_TYPES,
]

/** One event as it is kept. `sequence` counts per account, `objectSequence` per object, both from 1 and without a gap. */
export type StoredEvent = {
  id: string
  type: string
  /** ISO, with milliseconds. */
  createdAt: string
  sequence: number
  objectSequence: number
  test: boolean
  data: Record<string, unknown>
}

/** As it is shown and sent: ids, states and amounts, never what stands on a document. */
export type EventView = {
  id: string
  type: string
  created_at: string
  sequence: number
  object_sequence: number
  test: boolean
  data: Record<string, unknown>
}

export const viewEvent = ({ id, type, createdAt, sequence, objectSequence, test, data }: StoredEvent): EventView => ({
  id,
  type,
  created_at: createdAt,
  sequence,
  object_sequence: objectSequence,
  test,
  data,
})

/** The body of every delivery of an event: the same bytes in each attempt, so that one signature scheme fits all of them. */
export const bodyOf = (event: StoredEvent): string => JSON.stringify(viewEvent(event))
