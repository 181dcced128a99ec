/**
 * What a host's Caddy is configured with. We own two servers, the ports, and the automation policy without subjects;
 * whatever else somebody put there is left alone. Pure.
 * Source: rules/host.md#the-proxy; Caddy 2.11, JSON structure.
 */
import { type ObjectSchema, withDefaults } from '../kernel/schema.ts'
import { CHALLENGES_TO } from '../values/hostname.ts'
import { type HostSpec, type ProxySettings, spec as specSchema } from './schema.ts'
import { loggingConfig, serverLogs, withVisits } from './visits.ts'

/** The `@id` of the server whose routes are ours, and of the route that answers what nobody serves. */
export const SERVER_ID = 'bottega'
const SERVER = 'bottega'
const REDIRECTS = 'bottega-redirects'
/** How long requests under way may take when the configuration is replaced. */
const GRACE = '10s'
const CHALLENGES = '/.well-known/acme-challenge/*'
const NOBODY = { handler: 'static_response', status_code: 404 }

export type ProxyRoute = { id: string; owner: string; hostnames: readonly string[]; handle: readonly unknown[] }
type Json = Record<string, unknown>

const proxySchema: ObjectSchema = specSchema.properties.proxy
const budgetSchema: ObjectSchema = specSchema.properties.budget

/** The settings with their defaults. */
export const proxyOf = ({ proxy }: Pick<HostSpec, 'proxy'>): ProxySettings =>
  withDefaults<ProxySettings>(proxySchema, proxy ?? {})

/** What one app may use, with its defaults. */
export const budgetOf = ({ budget }: Pick<HostSpec, 'budget'>) =>
  withDefaults<NonNullable<HostSpec['budget']>>(budgetSchema, budget ?? {})

const objectIn = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

/** `visits`: the folder that visits of sites are written to; null: nothing is written. */
export type RouteSettings = { visits: string | null; httpsPort: number }

/**
 * No port, or the one of the server. Caddy counts by the Host header as it came, so each other port that a visitor makes
 * up would have counters of its own for as long as the proxy runs.
 */
const withPorts = (match: Json, { httpsPort }: RouteSettings): Json[] => [
  { ...match, not: [{ header: { Host: ['*:*'] } }] },
  { ...match, header: { Host: [`*:${httpsPort}`] } },
]

/** A route as Caddy has it. */
export const routeConfig = ({ id, owner, hostnames, handle }: ProxyRoute, settings: RouteSettings): Json => ({
  '@id': id,
  match: withPorts({ host: [...hostnames] }, settings),
  handle: withVisits(settings.visits, owner, handle),
  terminal: true,
})

/** A name that is served no more and was asked for by its own handshake. What is not even that has no route, and is counted nowhere. */
const nobody = (settings: RouteSettings): Json => ({
  '@id': 'bottega-nobody',
  match: withPorts({ vars: { '{http.request.host}': ['{http.request.tls.server_name}'] } }, settings),
  handle: withVisits(settings.visits, '', [NOBODY]),
})

/** The host that an app has moved to gets its certificates while the DNS still leads here. Ours of before are answered before any route. */
const challengeRoutes = (routes: readonly ProxyRoute[]): Json[] =>
  routes.flatMap(({ hostnames, handle }) => {
    const to = objectIn(handle[0])[CHALLENGES_TO]
    if (typeof to !== 'string') return []
    const onward = { handler: 'reverse_proxy', upstreams: [{ dial: to }] }
    return [{ match: [{ host: [...hostnames], path: [CHALLENGES] }], handle: [onward], terminal: true }]
  })

const listenOn = (bind: string | undefined, port: number): string[] => [
  `${bind?.includes(':') ? `[${bind}]` : (bind ?? '')}:${port}`,
]

const redirectTo = (httpsPort: number): string =>
  `https://{http.request.host}${httpsPort === 443 ? '' : `:${httpsPort}`}{http.request.uri}`

/** Names are taken from the routes, so exactly those that we serve are asked certificates for. */
const policyOf = ({ acme, httpPort, httpsPort }: ProxySettings): Json | null => {
  if (!acme) return null
  const issuer = {
    module: 'acme',
    ca: acme.directory,
    ...(acme.email !== undefined && { email: acme.email }),
    ...(acme.rootsFile !== undefined && { trusted_roots_pem_files: [acme.rootsFile] }),
    challenges: { http: { alternate_port: httpPort }, 'tls-alpn': { alternate_port: httpsPort } },
  }
  return { '@id': 'bottega-tls', issuers: [issuer] }
}

const isForAll = (policy: unknown): boolean => !Array.isArray(objectIn(policy).subjects)

/** What is there, with what is ours as it should be: equal to what is there when nothing strayed. */
export const withOurs = (
  seen: unknown,
  settings: ProxySettings,
  routes: readonly ProxyRoute[],
  visits: string | null = null,
): Json => {
  const config = objectIn(seen)
  const apps = objectIn(config.apps)
  const http = objectIn(apps.http)
  const tls = objectIn(apps.tls)
  const automation = objectIn(tls.automation)
  const { bind, httpPort, httpsPort } = settings
  const policy = policyOf(settings)
  const others = (Array.isArray(automation.policies) ? automation.policies : []).filter((one) => !isForAll(one))
  const policies = policy ? { tls: { ...tls, automation: { ...automation, policies: [...others, policy] } } } : {}
  const { logging, ...unlogged } = config
  return {
    ...unlogged,
    ...loggingConfig(logging, visits),
    apps: {
      ...apps,
      http: {
        ...http,
        http_port: httpPort,
        https_port: httpsPort,
        grace_period: http.grace_period ?? GRACE,
        // Requests by hostname, which graphs of apps are made of.
        metrics: { ...objectIn(http.metrics), per_host: true },
        servers: {
          ...objectIn(http.servers),
          [SERVER]: {
            '@id': SERVER_ID,
            listen: listenOn(bind, httpsPort),
            protocols: ['h1', 'h2'],
            automatic_https: { disable_redirects: true },
            tls_connection_policies: [{}],
            ...serverLogs(visits),
            routes: [
              ...routes.map((route) => routeConfig(route, { visits, httpsPort })),
              nobody({ visits, httpsPort }),
            ],
          },
          [REDIRECTS]: {
            listen: listenOn(bind, httpPort),
            automatic_https: { disable: true },
            routes: [
              ...challengeRoutes(routes),
              {
                handle: [
                  { handler: 'static_response', status_code: 308, headers: { Location: [redirectTo(httpsPort)] } },
                ],
              },
            ],
          },
        },
      },
      ...policies,
    },
  }
}

/** The configuration without our routes, and those by their ids; to tell what strayed. */
export const partsOf = (config: unknown): { base: Json; routes: Map<string, unknown> } => {
  const base = structuredClone(objectIn(config))
  const server = objectIn(objectIn(objectIn(objectIn(base.apps).http).servers)[SERVER])
  const routes = new Map<string, unknown>()
  for (const route of Array.isArray(server.routes) ? server.routes : [])
    routes.set(String(objectIn(route)['@id']), route)
  delete server.routes
  return { base, routes }
}
