/**
 * What the proxy of a host answers of an app that has left it: everything is sent on to where it lives, for as long as the DNS
 * may lead here (rules/app.md#moves). Pure.
 */

import { CHALLENGES_TO } from '../../../../values/hostname.ts'
import type { AppResource } from '../../../schema.ts'
import type { AppRoute } from '../../../steps.ts'
import type { AppWorld, TargetHost } from '../../../world.ts'
import { servedDomains } from '../../publishing/domains.ts'
import { hostnameOf } from '../../publishing/url.ts'
import { routeIdOf } from '../../route.ts'

const HTTPS_PORT = 443
const TRY_DURATION = '15s'
const TRY_INTERVAL = '100ms'
const STREAM_CLOSE_DELAY = '1h'
/** As the visitor named it. With its port where that is the one of the proxy there, which has routes for no other. */
const asAsked = ({ from, to }: ForwardTo): string => {
  if (from.httpsPort === to.httpsPort) return '{http.request.hostport}'
  return to.httpsPort === HTTPS_PORT ? '{http.request.host}' : `{http.request.host}:${to.httpsPort}`
}

export type ForwardTo = {
  from: TargetHost
  to: TargetHost
  /** Where visitors reach it, and the port of its proxy where challenges of a CA are answered. */
  address: string
  httpPort: number
  /** @see Moving */
  authority: string | null
}

const at = (address: string, port: number): string => `${address.includes(':') ? `[${address}]` : address}:${port}`

/**
 * By TLS, under the name that is certified there whatever DNS says of the others. Headers of a visitor pass as they came: the proxy
 * there takes away what he may not send.
 * @param host what the app is asked for; as the visitor asked when left out
 */
const onward = (given: ForwardTo, name: string, host = asAsked(given)) => ({
  handler: 'reverse_proxy',
  upstreams: [{ dial: at(given.address, given.to.httpsPort) }],
  load_balancing: { try_duration: TRY_DURATION, try_interval: TRY_INTERVAL },
  stream_close_delay: STREAM_CLOSE_DELAY,
  transport: {
    protocol: 'http',
    // A WebSocket is opened by 1.1 alone.
    versions: ['1.1'],
    tls: {
      server_name: name,
      ...(given.authority !== null && { ca: { provider: 'inline', trusted_ca_certs: [given.authority] } }),
    },
  },
  // Of its own accord the proxy asks an upstream with TLS for the upstream's address.
  headers: { request: { set: { Host: [host] } } },
})

/** @returns the route of the host that is left, under the id that it had */
export const forwardRoute = (
  { metadata, spec }: AppResource,
  world: Pick<AppWorld, 'naming'>,
  given: ForwardTo,
): AppRoute => {
  const { from, to, address, httpPort } = given
  const [before, after] = [hostnameOf(spec, from), hostnameOf(spec, to)]
  if (before === null || after === null) throw new Error('an app has a name on both hosts')
  const isOther = before !== after
  const named = to.httpsPort === HTTPS_PORT ? after : `${after}:${to.httpsPort}`
  const renamed = { match: [{ host: [before] }], handle: [onward(given, after, named)], terminal: true }
  return {
    id: routeIdOf(metadata),
    owner: `App/${metadata.name}`,
    hostnames: [before, ...servedDomains(spec, world)],
    handle: [
      { handler: 'vars', [CHALLENGES_TO]: at(address, httpPort) },
      { handler: 'subroute', routes: [...(isOther ? [renamed] : []), { handle: [onward(given, after)] }] },
    ],
  }
}
