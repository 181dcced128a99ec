/**
 * The route of an app as handlers of Caddy: what visitors may not send is taken away, a private app asks the platform on
 * each request, then the live release gets it (rules/app.md#route, #private-apps).
 */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { originOf } from '../../kernel/desire/desire.ts'
import type { AppResource } from '../schema.ts'
import type { AppStep } from '../steps.ts'
import { hostnameOf } from '../url.ts'
import type { AppRoute, AppWorld, Release, TargetHost } from '../world.ts'
import { STRIPPED_HEADERS } from './visitorheaders.ts'

/** Names the app to the platform, under a MAC of the platform's own, so that its proxy is believed and nobody else. */
export const GATE_HEADER = 'X-Bottega-Gate'
/** On the app's own host: the sign-in page, and what the proxy asks. */
export const ACCESS_PATH = '/_bottega/access'
export const VERIFY_PATH = '/_bottega/verify'

/** A release that is just being restarted by its engine is waited for. */
const TRY_DURATION = '5s'
const TRY_INTERVAL = '100ms'
/**
 * Open WebSockets survive a change of the proxy's configuration for so long: most changes are of other apps and sites of
 * the host. Not for ever, because each keeps the configuration that it began under.
 */
const STREAM_CLOSE_DELAY = '1h'

const json = (handler: string, rest: object) => ({ handler, ...rest })

const stripHeaders = () => json('headers', { request: { delete: [...STRIPPED_HEADERS] } })

/** Whatever cookie is the platform's stays with the platform. */
const stripCookies = () =>
  json('headers', {
    request: {
      replace: {
        Cookie: [
          { search_regexp: '(^|;\\s*)[A-Za-z0-9_-]*bottega[A-Za-z0-9_-]*=[^;]*', replace: '' },
          { search_regexp: '^;\\s*', replace: '' },
        ],
      },
    },
  })

type Platform = { upstreams: { dial: string }[]; transport?: object; host: string }

const platformOf = (publicUrl: string): Platform => {
  const { protocol, hostname, port, host } = new URL(publicUrl)
  const isTls = protocol === 'https:'
  return {
    host,
    upstreams: [{ dial: `${hostname}:${port || (isTls ? '443' : '80')}` }],
    ...(isTls && { transport: { protocol: 'http', tls: { server_name: hostname } } }),
  }
}

const toPlatform = ({ publicUrl, gateToken }: Given, set: Record<string, string[]> = {}) => {
  const { host, ...where } = platformOf(publicUrl)
  return { ...where, headers: { request: { set: { Host: [host], [GATE_HEADER]: [gateToken], ...set } } } }
}

/** A GET without a body for each request; any answer but 2xx is the visitor's. No answer is a refusal (502). */
const forwardAuth = (given: Given) => {
  const asked = {
    'X-Forwarded-Method': ['{http.request.method}'],
    'X-Forwarded-Uri': ['{http.request.uri}'],
  }
  return json('reverse_proxy', {
    ...toPlatform(given, asked),
    rewrite: { method: 'GET', uri: `${VERIFY_PATH}?` },
    handle_response: [{ match: { status_code: [2] }, routes: [] }],
  })
}

/** No path is open but the page to sign in: the proxy answers the challenges of its own certificates before any route. */
const gate = (given: Given) =>
  json('subroute', {
    routes: [
      { match: [{ path: [ACCESS_PATH] }], handle: [json('reverse_proxy', toPlatform(given))], terminal: true },
      { handle: [forwardAuth(given)] },
    ],
  })

/**
 * Where the proxy reads the address of the live release, at each request: a change of it is a file that is replaced, and no
 * change of the proxy's configuration, which would end every idle connection of the host. Null where no folder is in reach
 * of both the host's user and its proxy.
 */
export const dialFileOf = (uid: string, { siteRoot }: Pick<TargetHost, 'siteRoot'>): string | null =>
  siteRoot === null ? null : `${siteRoot}/dial/app-${uid}`

const toRelease = (dial: string) =>
  json('reverse_proxy', {
    upstreams: [{ dial }],
    load_balancing: { try_duration: TRY_DURATION, try_interval: TRY_INTERVAL },
    stream_close_delay: STREAM_CLOSE_DELAY,
  })

type Given = { host: TargetHost; publicUrl: string; gateToken: string }

export type WantedRoute = { route: AppRoute; dialFile: string | null; address: string; digest: string }

/** What is to be served for an app, and the digest that tells whether the proxy was already told so. */
export const routeOf = ({ metadata, spec }: AppResource, given: Given, address: string): WantedRoute => {
  const hostname = hostnameOf(spec, given.host)
  assert(hostname !== null, 'an app is not released to a host without a base domain')
  const dialFile = dialFileOf(originOf(metadata), given.host)
  const dial = dialFile === null ? address : `{file.${dialFile}}`
  const route = {
    id: `app-${originOf(metadata)}`,
    owner: `App/${metadata.name}`,
    hostnames: [hostname],
    handle: [stripHeaders(), ...(spec.access === 'private' ? [gate(given)] : []), stripCookies(), toRelease(dial)],
  }
  return {
    route,
    dialFile,
    address,
    digest: createHash('sha256').update(JSON.stringify(route)).digest('hex'),
  }
}

export const isSet = ({ route }: AppWorld, { digest, address }: WantedRoute): boolean =>
  route?.digest === digest && route.address === address

/** @param release where the route leads: the live one, or the one that is about to be */
export const setRoute = ({ route, releases }: AppWorld, wanted: WantedRoute, { number }: Release): AppStep => ({
  do: 'setRoute',
  ...wanted,
  release: number,
  isFirst: releases.every(({ state }) => state !== 'live'),
  isSet: route?.digest === wanted.digest,
})

/** The live release's route, when another is set: access changed, its port did, or its file was changed on the host. */
export const routeStep = (object: AppResource, world: AppWorld): AppStep[] => {
  const live = world.releases.find(({ state }) => state === 'live')
  if (!live || live.address === null || !world.host || world.unreachable !== null) return []
  const address = world.look?.address ?? live.address
  const wanted = routeOf(object, { ...world, host: world.host }, address)
  const isAstray = wanted.dialFile !== null && world.look !== null && world.look.dial !== address
  return isSet(world, wanted) && !isAstray ? [] : [setRoute(world, wanted, live)]
}
