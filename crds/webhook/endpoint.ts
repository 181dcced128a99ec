/** An endpoint: where an account is told of what, and how that goes (rules/webhook.md#endpoints). */
import { createHash } from 'node:crypto'
import type { Fault } from '../kernel/problem.ts'
import { isLoopbackAddress } from '../values/address.ts'

export const URL_MAX = 2048
/** For so long the secret before a rotation signs as well. */
export const ROTATION_MS = 24 * 60 * 60 * 1000

/** An endpoint as it is stored, without its secrets. Instants are ISO. */
export type EndpointRow = {
  id: string
  account: string
  url: string
  events: string[]
  disabledAt: string | null
  disabledReason: string | null
  failingSince: string | null
  lastError: string | null
  /** Until then the secret before the last rotation signs as well. */
  previousUntil: string | null
  createdAt: string
  updatedAt: string
}

export type EndpointView = {
  id: string
  url: string
  events: string[]
  status: 'enabled' | 'disabled'
  disabled_reason: string | null
  failing_since: string | null
  last_error: string | null
  previous_secret_until: string | null
  created_at: string
  updated_at: string
}

export const viewEndpoint = (row: EndpointRow): EndpointView => ({
  id: row.id,
  url: row.url,
  events: row.events,
  status: row.disabledAt === null ? 'enabled' : 'disabled',
  disabled_reason: row.disabledReason,
  failing_since: row.failingSince,
  last_error: row.lastError,
  previous_secret_until: row.previousUntil,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
})

/** The same events, once each and in one order. */
export const eventsOf = (events: readonly string[]): string[] => [...new Set(events)].sort()

/** The same for the same address and events, in whatever order they were given. */
export const fingerprintOf = (url: string, events: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([url, events]))
    .digest('hex')

const urlFault = (detail: string): Fault[] => [{ code: 'BAD_URL', pointer: '/url', detail }]

/** This machine, by a name or an address that can mean nothing else. */
const isLoopbackHost = (hostname: string): boolean =>
  /(^|\.)localhost\.?$/.test(hostname) || isLoopbackAddress(hostname.replace(/^\[|\]$/g, ''))

/**
 * What is wrong with the form of an address; where its name leads is judged by whoever connects.
 * @param allowLoopback the development exception: without TLS, loopback alone
 */
export const urlFaults = (text: string, { allowLoopback }: { allowLoopback: boolean }): Fault[] => {
  if (!URL.canParse(text)) return urlFault('url is not an absolute address, such as https://example.com/hooks')
  const { protocol, hostname, username, password, hash } = new URL(text)
  const isHttp = protocol === 'http:' && allowLoopback && isLoopbackHost(hostname)
  if (protocol !== 'https:' && !isHttp) return urlFault(`url begins with ${protocol}//, not https://`)
  if (username !== '' || password !== '')
    return urlFault('url holds a user name or a password; deliveries are signed instead')
  return hash === '' ? [] : urlFault('url holds a fragment, which no server is sent')
}

export const WEBHOOKS_PAGE = '/account/webhooks'
