/**
 * The route of an app as handlers of Caddy: what visitors may not send is taken away, a private app asks the platform on
 * each request, then the live release gets it (rules/app.md#route, #private-apps).
 */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { originOf } from '../../kernel/desire/desire.ts'
import { addressesIn } from '../compose/replicas.ts'
import type { AppResource } from '../schema.ts'
import type { AppRoute, AppStep } from '../steps.ts'
import type { AppWorld, Release, TargetHost } from '../world.ts'
import { isNewlyServed, servedDomains } from './publishing/domains.ts'
import { hostnameOf } from './publishing/url.ts'
import { stripHeaders } from './publishing/visitorheaders.ts'
import { isSingle } from './scaling/replicas.ts'
import { slotFile, streamAddressOf, streamName, streamNaming } from './scaling/streams.ts'

/** Names the app to the platform, under a MAC of the platform's own, so that its proxy is believed and nobody else. */
export const GATE_HEADER = 'X-Bottega-Gate'
/** On the app's own host: the sign-in page, and what the proxy asks. */
export const ACCESS_PATH = '/_bottega/access'
export const VERIFY_PATH = '/_bottega/verify'

/** In the platform's answer to the proxy: the visitor came by a link. */
export const VIA_HEADER = 'X-Bottega-Via'
export const VIA_LINK = 'link'
const VIA_VAR = 'bottega_via'

/**
 * A release that is just being restarted by its engine is waited for, and one that turned out to be bad until it is left for
 * the one before: BAD_MS, two looks, and what it takes to send visitors back (health/watch.ts).
 */
const TRY_DURATION = '15s'
const TRY_INTERVAL = '100ms'
/**
 * Open WebSockets survive a change of the proxy's configuration for so long: most changes are of other apps and sites of
 * the host. Not for ever, because each keeps the configuration that it began under.
 */
const STREAM_CLOSE_DELAY = '1h'

const json = (handler: string, rest: object) => ({ handler, ...rest })

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

/** How the platform let a visitor in, for what follows in the same request. */
const noteVia = () => json('vars', { [VIA_VAR]: `{http.reverse_proxy.header.${VIA_HEADER}}` })

/** A GET without a body for each request; any answer but 2xx is the visitor's. No answer is a refusal (502). */
const forwardAuth = (given: Given) => {
  const asked = {
    'X-Forwarded-Method': ['{http.request.method}'],
    'X-Forwarded-Uri': ['{http.request.uri}'],
  }
  return json('reverse_proxy', {
    ...toPlatform(given, asked),
    rewrite: { method: 'GET', uri: `${VERIFY_PATH}?` },
    handle_response: [{ match: { status_code: [2] }, routes: [{ handle: [noteVia()] }] }],
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

/** How long a replica that did not answer gets no visitors, but for one now and then that finds it back. */
const FAIL_DURATION = '5s'

/** One alone is never taken for dead: its visitors wait for it, for they have nowhere else to go. */
const amongst = (count: number) =>
  count === 1
    ? { load_balancing: { try_duration: TRY_DURATION, try_interval: TRY_INTERVAL } }
    : {
        load_balancing: {
          selection_policy: { policy: 'least_conn' },
          try_duration: TRY_DURATION,
          try_interval: TRY_INTERVAL,
        },
        health_checks: { passive: { fail_duration: FAIL_DURATION, max_fails: 1 } },
      }

const proxyTo = (dials: readonly string[], more: object = {}) =>
  json('reverse_proxy', { upstreams: dials.map((dial) => ({ dial })), ...amongst(dials.length), ...more })

/** Where the proxy dials, replica by replica. `streams`: WebSockets, where they are counted apart; `names`: what has to come before. */
type Dials = { all: string[]; streams: string[] | null; names: object[] }

const isUpgrade = [{ header: { Upgrade: ['*'] } }]

const toRelease = ({ all, streams, names }: Dials) => {
  const kept = { stream_close_delay: STREAM_CLOSE_DELAY }
  if (streams === null) return proxyTo(all, kept)
  return json('subroute', {
    routes: [
      { match: isUpgrade, handle: [...names, proxyTo(streams, kept)], terminal: true },
      { handle: [proxyTo(all, kept)] },
    ],
  })
}

const dialsOf = (addresses: readonly string[], dialFile: string | null, isCut: boolean): Dials => {
  const slots = addresses.map((_, place) => (dialFile === null ? null : slotFile(dialFile, place + 1)))
  const read = (file: string) => `{file.${file}}`
  const streamOf = (address: string, place: number) => (slots[place] ? streamName(place + 1) : streamAddressOf(address))
  return {
    all: addresses.map((address, place) => (slots[place] ? read(slots[place]) : address)),
    streams: isCut ? addresses.map(streamOf) : null,
    names: isCut ? slots.flatMap((slot, place) => (slot === null ? [] : streamNaming(slot, place + 1))) : [],
  }
}

/** The routed service is stopped at a hand-over, with whatever is open on it: there is nothing to cut. */
const cutsStreams = (
  { websockets }: AppResource['spec'],
  { releases }: Pick<AppWorld, 'releases'>,
  address: string,
): boolean => {
  const led = releases.find((one) => one.address === address) ?? releases.find(({ state }) => state === 'live')
  return websockets === 'cut' && !isSingle(led?.record)
}

/** The mark of connections that links opened: the kernel never asks whether the container is still there (scripts/switch/sever.sh). */
const UNASKED = { transport: { protocol: 'http', keep_alive: { probe_interval: -1 } } }

/**
 * A WebSocket that a link opened is cut by every change of the proxy's configuration, and the end of a link is one, also where no guard
 * could end it: the proxy asks only at its start, and has no way to end one connection alone. Whoever still may come in does so again.
 */
const toVisitors = (dials: Dials, linksEnded: number) => {
  const isByLink = { vars: { [VIA_VAR]: [VIA_LINK] } }
  return json('subroute', {
    routes: [
      {
        match: [{ ...isByLink, header: { Upgrade: ['*'] } }],
        handle: [
          json('vars', { bottega_links_ended: String(linksEnded) }),
          ...dials.names,
          proxyTo(dials.streams ?? dials.all, UNASKED),
        ],
        terminal: true,
      },
      { match: [isByLink], handle: [proxyTo(dials.all, UNASKED)], terminal: true },
      { handle: [toRelease(dials)] },
    ],
  })
}

/** Whatever the app says itself: no search engine keeps a preview. */
const unlisted = () => json('headers', { response: { deferred: true, set: { 'X-Robots-Tag': ['noindex, nofollow'] } } })

type Given = Pick<AppWorld, 'publicUrl' | 'gateToken' | 'naming' | 'linksEnded' | 'releases'> & { host: TargetHost }

/** `isOriginal`: it stands already, as an app of before has it, and is not the platform's to change. */
export type WantedRoute = {
  route: AppRoute
  dialFile: string | null
  address: string
  digest: string
  isOriginal: boolean
}

/** The `@id` of the app's route at the proxy of its host. */
export const routeIdOf = (metadata: AppResource['metadata']): string => `app-${originOf(metadata)}`

/** What is to be served for an app, and the digest that tells whether the proxy was already told so. */
export const routeOf = ({ metadata, spec }: AppResource, given: Given, address: string): WantedRoute => {
  const hostname = hostnameOf(spec, given.host)
  assert(hostname !== null, 'an app is not released to a host without a base domain')
  const dialFile = dialFileOf(originOf(metadata), given.host)
  const isCut = cutsStreams(spec, given, address)
  const dials = dialsOf(addressesIn(address), dialFile, isCut)
  const isPrivate = spec.access === 'private'
  const route = {
    id: routeIdOf(metadata),
    owner: `App/${metadata.name}`,
    hostnames: [hostname, ...servedDomains(spec, given)],
    handle: [
      ...(spec.previewOf ? [unlisted()] : []),
      ...(isPrivate
        ? [stripHeaders(), gate(given), stripCookies(), toVisitors(dials, given.linksEnded)]
        : [stripHeaders(), stripCookies(), toRelease(dials)]),
    ],
  }
  return {
    route,
    dialFile,
    address,
    isOriginal: spec.routing === 'original',
    digest: createHash('sha256')
      .update(JSON.stringify([given.host.name, route, ...(spec.routing === 'original' ? [spec.routing] : [])]))
      .digest('hex'),
  }
}

export const isSet = ({ route }: AppWorld, { digest, address }: WantedRoute): boolean =>
  route?.digest === digest && route.address === address

/** @param release where the route leads: the live one, or the one that is about to be */
export const setRoute = (world: AppWorld, wanted: WantedRoute, { number }: Release): AppStep => ({
  do: 'setRoute',
  ...wanted,
  release: number,
  isFirst: world.releases.every(({ state }) => state !== 'live') || isNewlyServed(world, wanted.route.hostnames),
  isSet: wanted.isOriginal || world.route?.digest === wanted.digest,
})

/** What a look says of a file that leads to a link which is not there any more (scripts/parts/handing/dial.sh). */
const GONE = 'gone'

/** The live release's route, when another is set: access changed, its port did, or its file was changed on the host. */
export const routeStep = (object: AppResource, world: AppWorld): AppStep[] => {
  const live = world.releases.find(({ state }) => state === 'live')
  if (!live || live.address === null || !world.host || world.unreachable !== null) return []
  const address = world.look?.address ?? live.address
  const wanted = routeOf(object, { ...world, host: world.host }, address)
  const { look } = world
  // Where nobody listens there is nothing that a file could say.
  const isGone = look?.address === null && addressesIn(look.dial).every((one) => one === GONE)
  const isAstray = wanted.dialFile !== null && look !== null && look.dial !== address && !isGone
  // Told anew, though nothing has changed of what is wanted.
  if (world.look?.hasRoute === false) return [setRoute({ ...world, route: null }, wanted, live)]
  return isSet(world, wanted) && !isAstray ? [] : [setRoute(world, wanted, live)]
}
