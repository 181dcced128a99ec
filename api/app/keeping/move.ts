/**
 * POST …/move: the live release on another host, and visitors with it (rules/app.md#moves). What can be known is told, or refused,
 * before anything is begun; the controllers ask the same again when its turn comes.
 */
import type { MirrorRow } from '../../../controllers/store/mirror.ts'
import { budgetOf, roomFault } from '../../../crds/app/lifecycle/keeping/budget.ts'
import { moveFault } from '../../../crds/app/lifecycle/keeping/moving/move.ts'
import { FORWARD_SECONDS } from '../../../crds/app/lifecycle/keeping/moving/place.ts'
import { hostnameOf, urlOf } from '../../../crds/app/lifecycle/publishing/url.ts'
import type { AppView } from '../../../crds/app/view.ts'
import type { AppPlace, Release } from '../../../crds/app/world.ts'
import { viewAmounts } from '../../../crds/host/view.ts'
import { bytesOfAddress } from '../../../crds/values/address.ts'
import { nameFor } from '../../command/name.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { askFor } from '../ask.ts'
import { acceptUpload } from '../deploy.ts'
import { type AppHost, hostOf } from '../hosts.ts'
import type { AppNeeds } from '../needs.ts'
import { apps } from '../read.ts'

type AppRow = MirrorRow<AppView>
type MoveBody = { host_id: string; forward_seconds?: number }

const placesOf = ({ view }: AppRow): AppPlace[] => [
  { host: view.host_id, place: 'home', until: null },
  ...view.left_hosts.map(({ host_id: host, until }): AppPlace => ({ host, place: 'left', until })),
]

/** With how much each holds, as far as it was measured. */
const sayVolumes = ({ view }: AppRow): string => {
  const sizes = (view.disk?.volumes ?? []).flatMap(({ name, bytes }) =>
    bytes === null ? [] : [`${name} has ${Math.ceil(bytes / 1_048_576)} MiB`],
  )
  return sizes.length === 0 ? '' : ` (${sizes.join(', ')})`
}

export type Movable = { live: Release; room: { wanted: Room; free: Room | null } }
type Room = { cpuMillis: number; memoryMib: number; diskGib: number }

/** @throws Problem with the code of the first thing that stands against it, with figures where there are some */
export const refuseMove = async (deps: AppNeeds, row: AppRow, target: AppHost): Promise<Movable> => {
  const { account, name, view } = row
  const live = await deps.apps.live(name)
  const places = placesOf(row)
  const spec = { account, routing: view.routing }
  const why = moveFault({ spec, wanted: target.name, home: view.host_id, target, live, places })
  if (why || !live) {
    const { code, detail } = why ?? ({ code: 'NOT_RELEASED', detail: 'nothing of it runs' } as const)
    throw new Problem(code, `${name} stays: ${detail}${code === 'VOLUMES_STAY' ? sayVolumes(row) : ''}.`)
  }
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
  return { live, room: { wanted, free } }
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

type Planned = Movable & { row: AppRow; from: AppHost | null; to: AppHost; forwardSeconds: number; now: Date }

const viewPlan = ({ row, from, to, live, room, forwardSeconds, now }: Planned) => {
  const side = (host: AppHost) => ({
    ...{ host_id: host.name, class: host.class, arch: host.arch },
    ...{ url: urlOf({ slug: row.view.slug }, host), address: host.publicAddress },
  })
  return {
    from: from && side(from),
    to: side(to),
    release: live.number,
    source_digest: live.source,
    // Both run until visitors are on the other one.
    downtime_seconds: 0,
    volumes: [],
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
): Promise<Answer> =>
  askFor(deps, request, { row, intent: { kind: 'move', host, forwardSeconds }, desire: { hostId: host } })

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
  await acceptUpload(deps, request, there, { digest: live.source, env: live.envVersion })
  request.audited = { fields: ['host_id'] }
  if (isDryRun) {
    const from = await hostOf(deps, row.view.host_id, row.account).catch(() => null)
    const plan = viewPlan({ ...movable, row, from, to, forwardSeconds, now: deps.now() })
    return { status: 200, body: { plan } }
  }
  await refuseBusy(deps, row)
  return askMove(deps, request, { row, host, forwardSeconds })
}
