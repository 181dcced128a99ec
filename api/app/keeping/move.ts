/**
 * POST …/move: the live release on another host, and visitors with it (rules/app.md#moves). What can be known is told, or refused,
 * before anything is begun; the controllers ask the same again when its turn comes.
 */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { budgetOf, roomFault } from '../../../crds/app/lifecycle/keeping/budget.ts'
import {
  bytesOf,
  type CarryPlan,
  keptVolumes,
  planCarry,
  sayMib,
} from '../../../crds/app/lifecycle/keeping/moving/carry.ts'
import { moveFault } from '../../../crds/app/lifecycle/keeping/moving/move.ts'
import { FORWARD_SECONDS } from '../../../crds/app/lifecycle/keeping/moving/place.ts'
import { hostnameOf, urlOf } from '../../../crds/app/lifecycle/publishing/url.ts'
import type { AppView } from '../../../crds/app/view.ts'
import type { AppPlace, Release, VolumeSeen } from '../../../crds/app/world.ts'
import { viewAmounts } from '../../../crds/host/view.ts'
import { bytesOfAddress } from '../../../crds/values/address.ts'
import { nameFor } from '../../command/name.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { askFor } from '../ask.ts'
import { acceptUpload, confirmedDowntime } from '../deploy.ts'
import { type AppHost, hostOf } from '../hosts.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

type AppRow = MirrorRow<AppView>
type MoveBody = { host_id: string; forward_seconds?: number }

const placesOf = ({ view }: AppRow): AppPlace[] => [
  { host: view.host_id, place: 'home', until: null },
  ...view.left_hosts.map(({ host_id: host, until }): AppPlace => ({ host, place: 'left', until })),
]

/** As far as they were measured. */
const measuredIn = ({ view }: AppRow): VolumeSeen[] =>
  (view.disk?.volumes ?? []).flatMap(({ name, bytes }) => (bytes === null ? [] : [{ name, bytes }]))

/** As many as a pass over an app looks at. */
const RELEASES_SEEN = 50

/** What goes with it, and how much that is as far as it was measured. */
type Keeping = { kept: string[]; volumes: VolumeSeen[]; away: string | null }

const keepingOf = async (deps: AppNeeds, row: AppRow): Promise<Keeping> => {
  const { name, account, view } = row
  const { releases } = await deps.apps.releases(name, { limit: RELEASES_SEEN, offset: 0 })
  const kept = keptVolumes(releases)
  const home = kept.length === 0 ? null : await hostOf(deps, view.host_id, account).catch(() => null)
  const isReadable = kept.length === 0 || home?.approved === true
  return { kept, volumes: measuredIn(row), away: isReadable ? null : `${view.host_id} is not approved` }
}

/** The newest that could be brought there by hand. */
const sayBackup = async ({ backups }: AppNeeds, { name }: AppRow): Promise<string> => {
  const found = (await backups.list(name, null, { limit: RELEASES_SEEN, offset: 0 })).backups
  const newest = found.find(({ state, restores }) => state === 'succeeded' && restores === null)
  return newest
    ? `; its newest backup is ${newest.id}, of ${newest.volume} at ${newest.createdAt}`
    : '; it has no backup'
}

const GIB = 1_073_741_824

/** On the disk itself, whatever its room is: the pack beside what comes out of it. Measured again before anything stops. */
const refuseDisk = ({ name, freeGib }: AppHost, { kept, volumes }: Keeping): void => {
  const bytes = 2 * bytesOf(volumes)
  if (kept.length === 0 || freeGib === null || bytes + GIB <= freeGib * GIB) return
  const detail = `${kept.join(', ')} hold ${sayMib(bytes / 2)}, which it takes twice at first, and ${name} has ${freeGib} GiB free`
  throw new Problem('HOST_FULL', `${detail}.`)
}

export type Movable = { live: Release; room: { wanted: Room; free: Room | null }; keeping: Keeping }
type Room = { cpuMillis: number; memoryMib: number; diskGib: number }

/** @throws Problem with the code of the first thing that stands against it, with figures where there are some */
export const refuseMove = async (deps: AppNeeds, row: AppRow, target: AppHost): Promise<Movable> => {
  const { account, name, view } = row
  const live = await deps.apps.live(name)
  const places = placesOf(row)
  const spec = { account, routing: view.routing }
  const keeping = await keepingOf(deps, row)
  const why = moveFault({ spec, wanted: target.name, home: view.host_id, target, live, places, ...keeping })
  if (why || !live) {
    const { code, detail } = why ?? ({ code: 'NOT_RELEASED', detail: 'nothing of it runs' } as const)
    throw new Problem(code, `${name} stays: ${detail}${code === 'VOLUMES_AWAY' ? await sayBackup(deps, row) : ''}.`)
  }
  refuseDisk(target, keeping)
  const asked = view.budget && {
    ...{ cpuMillis: view.budget.cpu_millis, memoryMib: view.budget.memory_mib, diskGib: view.budget.disk_gib },
  }
  const wanted = budgetOf(asked ?? undefined, target.budget)
  const { used, held } = await deps.apps.rooms(target.name, name)
  const limits = target.capacity
  const less = (unit: keyof Room) => used[unit] - (held?.[unit] ?? 0)
  const others = { cpuMillis: less('cpuMillis'), memoryMib: less('memoryMib'), diskGib: less('diskGib') }
  const full = roomFault(target.name, { wanted, held, others, limits })
  if (full !== null) throw new Problem('HOST_FULL', `${full}.`)
  const free = limits && {
    cpuMillis: limits.cpuMillis - others.cpuMillis,
    memoryMib: limits.memoryMib - others.memoryMib,
    diskGib: limits.diskGib - others.diskGib,
  }
  return { live, room: { wanted, free }, keeping }
}

/** Nothing of it runs while what it keeps is moved. @throws Problem DOWNTIME_NOT_CONFIRMED with the seconds, where they are known */
export const refuseStill = (
  { view }: AppRow,
  { keeping }: Pick<Movable, 'keeping'>,
  given: { isConfirmed: boolean; carry?: CarryPlan },
): void => {
  const { kept, volumes } = keeping
  if (kept.length === 0 || given.isConfirmed || view.hand_over.downtime === 'allow') return
  const seconds = given.carry ? ` for about ${given.carry.downtimeSeconds} s` : ''
  const size = volumes.length > 0 ? ` (${sayMib(bytesOf(volumes))})` : ''
  throw new Problem('DOWNTIME_NOT_CONFIRMED', `The move stops it${seconds}: ${kept.join(', ')}${size} go with it.`)
}

/** @throws Problem OPERATION_RUNNING */
export const refuseBusy = async (deps: AppNeeds, { name }: AppRow): Promise<void> => {
  const [first] = await deps.apps.open(name)
  if (first) throw new Problem('OPERATION_RUNNING', `${first.id} (${first.kind}) of ${name} waits or runs.`)
}

/** What a name has to lead to. */
const recordOf = (name: string, address: string) => {
  const bytes = bytesOfAddress(address)
  const type = bytes === null ? 'CNAME' : bytes.length === 4 ? 'A' : 'AAAA'
  return { type, name, value: address }
}

/** Each name that visitors come by, what becomes of it, and the record that has to change: the other host has another address. */
const domainsOf = ({ view }: AppRow, from: AppHost | null, to: AppHost) => {
  const slug = { slug: view.slug }
  const [before, after] = [hostnameOf(slug, from), hostnameOf(slug, to)]
  const own = view.domains.map(({ hostname }) => hostname).filter((hostname) => hostname !== before)
  const records = (name: string) => (from?.publicAddress === to.publicAddress ? [] : [recordOf(name, to.publicAddress)])
  const kept = (hostname: string, managed: boolean) => ({
    hostname,
    managed,
    becomes: hostname,
    records: records(hostname),
  })
  if (before === after && before !== null) return [kept(before, true), ...own.map((name) => kept(name, false))]
  const managed = before === null ? [] : [{ hostname: before, managed: true, becomes: after, records: [] }]
  return [...managed, ...own.map((name) => kept(name, false))]
}

type Planned = Movable & {
  row: AppRow
  from: AppHost | null
  to: AppHost
  forwardSeconds: number
  carry: CarryPlan
  now: Date
}

const viewPlan = ({ row, from, to, live, room, keeping, carry, forwardSeconds, now }: Planned) => {
  const { kept, volumes } = keeping
  const sizeOf = (name: string) => volumes.find((one) => one.name === name)?.bytes ?? null
  const side = (host: AppHost) => ({
    ...{ host_id: host.name, class: host.class, arch: host.arch },
    ...{ url: urlOf({ slug: row.view.slug }, host), address: host.publicAddress },
  })
  return {
    from: from && side(from),
    to: side(to),
    release: live.number,
    source_digest: live.source,
    // Where nothing is kept both run until visitors are on the other one.
    downtime_seconds: kept.length === 0 ? 0 : carry.downtimeSeconds,
    downtime_seconds_max: kept.length === 0 ? 0 : carry.maxSeconds,
    volumes: kept.map((name) => ({ name, bytes: sizeOf(name) })),
    disk_free_gib: to.freeGib,
    room: { wanted: viewAmounts(room.wanted), free: viewAmounts(room.free) },
    domains: domainsOf(row, from, to),
    forward_seconds: forwardSeconds,
    forward_until: new Date(now.getTime() + forwardSeconds * 1_000).toISOString(),
    is_forwarded: from?.approved === true,
  }
}

/** Enters the move. What it is made of is judged against the other host first. @throws Problem as that is refused */
export const askMove = (
  deps: AppNeeds,
  request: ApiRequest,
  { row, host, forwardSeconds }: { row: AppRow; host: string; forwardSeconds: number },
): Promise<Answer> => {
  const intent = { kind: 'move', host, forwardSeconds, ...confirmedDowntime(request) } as const
  return askFor(deps, request, { row, intent, desire: { hostId: host } })
}

/** By the first try of this very request, whose answer was lost: what stands against another move does not against that. */
const isEntered = async (deps: AppNeeds, request: ApiRequest, { name }: AppRow): Promise<boolean> =>
  request.idempotencyKey !== undefined && (await deps.apps.operation(nameFor('op', request)))?.app === name

export const moveApp = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const { host_id: host, forward_seconds: forwardSeconds = FORWARD_SECONDS } = request.body as MoveBody
  const isDryRun = request.query.dry_run === '1'
  if (!isDryRun && (await isEntered(deps, request, row))) return askMove(deps, request, { row, host, forwardSeconds })
  const to = await hostOf(deps, host, row.account)
  const movable = await refuseMove(deps, row, to)
  const { live } = movable
  const there = { ...row, view: { ...row.view, host_id: host } }
  const { verdict } = await acceptUpload(deps, request, there, { digest: live.source, env: live.envVersion })
  const carry = planCarry(verdict.project, bytesOf(movable.keeping.volumes))
  request.audited = { fields: ['host_id'] }
  if (isDryRun) {
    const from = await hostOf(deps, row.view.host_id, row.account).catch(() => null)
    const plan = viewPlan({ ...movable, row, from, to, forwardSeconds, carry, now: deps.now() })
    return { status: 200, body: { plan } }
  }
  refuseStill(row, movable, { isConfirmed: confirmedDowntime(request).downtime === true, carry })
  await refuseBusy(deps, row)
  return askMove(deps, request, { row, host, forwardSeconds })
}
