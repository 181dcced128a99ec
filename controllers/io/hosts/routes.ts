/**
 * The routes of one host: wanted ones in PostgreSQL, served ones in its Caddy. One call after the other; what is applied
 * is what stands in the rows at that moment, so a call that comes late, or from a leader that was replaced, does no harm.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type CertificateUse, caLimitDetail, caLimitOf, certificateNames } from '../../../crds/host/calimits.ts'
import { partsOf, routeConfig, SERVER_ID, withOurs } from '../../../crds/host/proxy.ts'
import type { ProxySettings } from '../../../crds/host/schema.ts'
import { Stalled } from '../../base/errors.ts'
import { sameJson } from '../../runtime/status.ts'
import { type CertificateOrder, NAME_TAKEN, type RouteRow, type RouteRows } from '../../store/host/hosts.ts'
import { DatabaseRefused } from '../../store/pg/pg.ts'
import { type AdminAnswer, type AdminCall, AdminRefused, AdminReset } from './caddy.ts'

/** Somebody changed it in between, or the endpoint restarted: read again, this often. */
const TRIES_MAX = 6
/** The endpoint is back within milliseconds. */
const PAUSE_MS = 50

/** A hostname belongs to another route of the host. */
export class RouteTaken extends Stalled {
  constructor(hostnames: readonly string[]) {
    super('ROUTE_TAKEN', `ROUTE_TAKEN: ${hostnames.join(', ')}: one of them is served by something else on this host`)
    this.name = 'RouteTaken'
  }
}

/** The CA would refuse. It is tried again when there is room. */
export class CaLimitReached extends Stalled {
  constructor(use: CertificateUse, perWeek: number) {
    super('CA_LIMIT', `CA_LIMIT: ${caLimitDetail(use, perWeek)}`, use.freeAt ?? undefined)
    this.name = 'CaLimitReached'
  }
}

/** Names that one who owns a route (`Kind/name`) is about to serve. */
export type AskedNames = Pick<RouteRow, 'owner' | 'hostnames'>

export type RouteDrift = 'none' | 'routes' | 'config'

/**
 * How a route stands in the proxy: just so; as one that was stored before; or otherwise than it was stored, or lost until it was put
 * back a moment ago. `others`: whether more strayed than routes that are wanted, so that what is served may be another's answer.
 */
export type RouteStanding = { route: 'right' | 'outdated' | 'wrong'; others: boolean }

export type RoutesDeps = {
  host: string
  rows: RouteRows
  settings(): ProxySettings
  /** The platform's clock. */
  now(): Date
  /** Where visits of sites are written to; null while nothing is to be written. */
  visits(): string | null
  /** The proxy takes what is wanted only if no visits are written. */
  noVisits(): void
  /** One call to the admin endpoint of the host. */
  admin(call: AdminCall): Promise<AdminAnswer>
}

const callText = ({ method, path }: AdminCall): string => `${method} ${path}`

const refused = (call: AdminCall, { status, text }: AdminAnswer): AdminRefused =>
  new AdminRefused(callText(call), status, text.slice(0, 500))

/** Somebody changed it, or added it, since it was read. */
const isRace = ({ status, text }: AdminAnswer): boolean =>
  status === 412 || (status === 400 && /duplicate ID/i.test(text))

/** Whether it was carried out is not known: null, and the next look finds out. */
const unlessReset = (error: unknown): null => {
  if (error instanceof AdminReset) return null
  throw error
}

/** Does again what only reads, or reads before it writes. */
const afterResets = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let left = TRIES_MAX; left > 1; left--) {
    try {
      return await work()
    } catch (error) {
      unlessReset(error)
      await sleep(PAUSE_MS)
    }
  }
  return work()
}

const read = ({ admin }: RoutesDeps, path: string): Promise<{ value: unknown; etag: string } | null> =>
  afterResets(async () => {
    const call: AdminCall = { method: 'GET', path }
    const answer = await admin(call)
    if (answer.status === 404) return null
    if (answer.status !== 200) throw refused(call, answer)
    return { value: JSON.parse(answer.text), etag: answer.etag }
  })

/** The configuration as it is, and as it is to be: what is ours as the rows say, the rest as it is. */
const seenAndWanted = async (deps: RoutesDeps) => {
  const seen = (await read(deps, '/config/'))?.value ?? {}
  return { seen, wanted: withOurs(seen, deps.settings(), await deps.rows.list(deps.host), deps.visits()) }
}

/** Makes the proxy follow all rows at once. */
const load = (deps: RoutesDeps): Promise<void> =>
  afterResets(async () => {
    const { seen, wanted } = await seenAndWanted(deps)
    if (sameJson(seen, wanted)) return
    const call: AdminCall = { method: 'POST', path: '/load', body: wanted }
    const answer = await deps.admin(call)
    if (answer.status === 200) return
    if (deps.visits() === null) throw refused(call, answer)
    // A log that cannot be written keeps nothing from being served.
    const silent: AdminCall = { ...call, body: withOurs(seen, deps.settings(), await deps.rows.list(deps.host)) }
    if ((await deps.admin(silent)).status !== 200) throw refused(call, answer)
    deps.noVisits()
  })

/** The next call for one route, or null when it is as wanted. */
const nextCall = async (deps: RoutesDeps, id: string, wanted: RouteRow | null): Promise<AdminCall | null> => {
  const path = `/id/${id}`
  const seen = await read(deps, path)
  if (wanted === null) return seen && { method: 'DELETE', path, ifMatch: seen.etag }
  const body = routeConfig(wanted, { visits: deps.visits(), httpsPort: deps.settings().httpsPort })
  // Before the last one, which answers what nobody serves.
  if (!seen) return { method: 'PUT', path: `/id/${SERVER_ID}/routes/0`, body }
  return sameJson(seen.value, body) ? null : { method: 'PATCH', path, body, ifMatch: seen.etag }
}

/** One look, and one call when it is wanted: whether the proxy follows the row now. */
const follow = async (deps: RoutesDeps, id: string): Promise<boolean> => {
  const call = await nextCall(deps, id, await deps.rows.get(deps.host, id))
  if (call === null) return true
  const answer = await deps.admin(call).catch(unlessReset)
  if (answer?.status === 200) return true
  if (answer?.status === 404) {
    // The server is not there at all, or the route went in between.
    await load(deps)
    return true
  }
  if (answer !== null && !isRace(answer)) throw refused(call, answer)
  return false
}

/** Makes the proxy follow one row. */
const apply = async (deps: RoutesDeps, id: string): Promise<void> => {
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    if (await follow(deps, id)) return
    // Somebody else is at it: each wait is longer than the one before.
    await sleep(PAUSE_MS * tries)
  }
  throw new AdminReset(`route ${id} of ${deps.host} was changed by somebody else ${TRIES_MAX} times`)
}

/**
 * `lost`: the ids of wanted routes that are not there, or are others while all else is as it shall be. `others`: whether more strayed
 * than those.
 */
type Reading = { drift: RouteDrift; lost: string[]; others: boolean; wanted: ReadonlyMap<string, unknown> }

const driftOf = async (deps: RoutesDeps): Promise<Reading> => {
  const { seen, wanted } = await seenAndWanted(deps)
  const [is, shall] = [partsOf(seen), partsOf(wanted)]
  const own = [...shall.routes.keys()]
  const of = { wanted: shall.routes }
  // Other settings change every route, and nobody lost one by that.
  if (!sameJson(is.base, shall.base)) {
    return { drift: 'config', lost: own.filter((id) => !is.routes.has(id)), others: true, ...of }
  }
  const lost = own.filter((id) => !sameJson(is.routes.get(id), shall.routes.get(id)))
  // What answers for nobody answers for all that stand after it; the order of the others says nothing.
  const isLast = [...is.routes.keys()].at(-1) === own.at(-1)
  const others = [...is.routes.keys()].some((id) => !shall.routes.has(id)) || !isLast
  return { drift: lost.length > 0 || others ? 'routes' : 'none', lost, others, ...of }
}

/** What the host's CA is asked for, by who owns a route. */
const orderOf = ({ host, settings }: RoutesDeps, { owner, hostnames }: AskedNames): CertificateOrder => {
  return { host, owner, ca: caLimitOf(settings()).ca, names: certificateNames(hostnames) }
}

/** What has a route gets a certificate, whatever was refused before: it is recorded first. @throws RouteTaken */
const store = async (deps: RoutesDeps, route: RouteRow): Promise<void> => {
  const { host, rows } = deps
  await rows.order(orderOf(deps, route), null, deps.now().toISOString())
  await rows.put(host, route).catch((error) => {
    if (error instanceof DatabaseRefused && error.constraint === NAME_TAKEN) throw new RouteTaken(route.hostnames)
    throw error
  })
}

const upstreamsOf = async (deps: RoutesDeps): Promise<{ address: string; requests: number }[]> => {
  const found = (await read(deps, '/reverse_proxy/upstreams'))?.value ?? []
  return (found as { address: string; num_requests: number }[]).map(({ address, num_requests }) => ({
    address,
    requests: num_requests,
  }))
}

export const makeRoutes = (deps: RoutesDeps) => {
  let last: Promise<unknown> = Promise.resolve()
  /** Put back by a look at the host, which tells no owner of it. */
  const putBack = new Set<string>()
  let reading: { atMs: number; found: Promise<Reading> } | null = null
  /** Admin calls are never made in parallel: each change restarts the endpoint under the others. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work)
    last = turn.catch(() => {})
    return turn
  }
  /** Whatever is read after this turn was asked for sees what it did. */
  const changing = <T>(work: () => Promise<T>): Promise<T> => {
    reading = null
    return inTurn(work)
  }
  const readingOf = (ageMaxMs: number): Promise<Reading> => {
    const atMs = performance.now()
    if (reading && atMs - reading.atMs <= ageMaxMs) return reading.found
    const taken = { atMs, found: inTurn(() => driftOf(deps)) }
    reading = taken
    taken.found.catch(() => {
      if (reading === taken) reading = null
    })
    return taken.found
  }

  return {
    order: async (asked: AskedNames): Promise<void> => {
      const { perWeek } = caLimitOf(deps.settings())
      if (perWeek === null) return
      const [refused] = await deps.rows.order(orderOf(deps, asked), perWeek, deps.now().toISOString())
      if (refused) throw new CaLimitReached(refused, perWeek)
    },
    set: async (route: RouteRow): Promise<void> => {
      await store(deps, route)
      await changing(() => apply(deps, route.id))
      putBack.delete(route.id)
    },
    remove: async (id: string): Promise<void> => {
      await deps.rows.remove(deps.host, id)
      await changing(() => apply(deps, id))
      putBack.delete(id)
    },
    read: async (id: string): Promise<unknown> => (await inTurn(() => read(deps, `/id/${id}`)))?.value ?? null,
    stands: (route: RouteRow): Promise<boolean> => inTurn(async () => (await nextCall(deps, route.id, route)) === null),
    standing: async (route: RouteRow, ageMaxMs: number): Promise<RouteStanding> => {
      const { lost, others, wanted } = await readingOf(ageMaxMs)
      const { visits, settings } = deps
      const config = routeConfig(route, { visits: visits(), httpsPort: settings().httpsPort })
      if (!sameJson(wanted.get(route.id), config)) return { route: 'outdated', others }
      return { route: lost.includes(route.id) || putBack.has(route.id) ? 'wrong' : 'right', others }
    },
    upstreams: () => inTurn(() => upstreamsOf(deps)),
    wasPutBack: (id: string): boolean => putBack.has(id),
    drift: () => inTurn(async () => (await driftOf(deps)).drift),
    reconcile: () =>
      changing(async () => {
        const { drift, lost } = await driftOf(deps)
        if (drift !== 'none') await load(deps)
        for (const id of lost) putBack.add(id)
        return drift
      }),
  }
}
