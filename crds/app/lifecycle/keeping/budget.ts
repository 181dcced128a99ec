/**
 * What an app may use: what it asks for, within what its host gives one, within the room that is reserved for it; and what of
 * that its live release was given (rules/app.md#budget).
 */
import type { Budget } from '../../compose/project.ts'
import type { AppBudget, AppResource, AppSpec } from '../../schema.ts'
import type { AppStep } from '../../steps.ts'
import type { AppWorld, Release, TargetHost } from '../../world.ts'
import { replicasOf, wantedReplicas } from '../scaling/replicas.ts'

type Choose = (a: number, b: number) => number
const each = (a: Budget, b: Budget, choose: Choose): Budget => ({
  cpuMillis: choose(a.cpuMillis, b.cpuMillis),
  memoryMib: choose(a.memoryMib, b.memoryMib),
  diskGib: choose(a.diskGib, b.diskGib),
})

/** What the app may use: its own request, within what its host gives. */
export const budgetOf = (requested: AppBudget | undefined, given: AppBudget): AppBudget => ({
  cpuMillis: Math.min(requested?.cpuMillis ?? given.cpuMillis, given.cpuMillis),
  memoryMib: Math.min(requested?.memoryMib ?? given.memoryMib, given.memoryMib),
  diskGib: Math.min(requested?.diskGib ?? given.diskGib, given.diskGib),
})

export const sameBudget = (a: Budget, b: Budget): boolean =>
  a.cpuMillis === b.cpuMillis && a.memoryMib === b.memoryMib && a.diskGib === b.diskGib

const liveIn = ({ releases }: Pick<AppWorld, 'releases'>): Release | undefined =>
  releases.find(({ state }) => state === 'live')

/** What an app takes of its host: the meter holds its replicas to one disk, and nothing holds them to one processor and one memory. */
export const roomFor = ({ cpuMillis, memoryMib, diskGib }: Budget, replicas: number): Budget => ({
  cpuMillis: cpuMillis * replicas,
  memoryMib: memoryMib * replicas,
  diskGib,
})

const isWithin = (a: Budget, b: Budget): boolean =>
  a.cpuMillis <= b.cpuMillis && a.memoryMib <= b.memoryMib && a.diskGib <= b.diskGib

type Granting = Pick<AppWorld, 'room' | 'releases'> & { host: Pick<TargetHost, 'budget'> }

/** How many replicas may run now. Who asks for more than there is room for keeps as many as run. */
export const grantedReplicas = (spec: Pick<AppSpec, 'budget' | 'replicas'>, world: Granting): number => {
  const wanted = wantedReplicas(spec)
  const record = liveIn(world)?.record
  const applied = replicasOf(record)
  const { held } = world.room
  if (held === null || wanted <= applied) return wanted
  const asked = budgetOf(spec.budget, world.host.budget)
  const least = record?.budget ? each(asked, record.budget, Math.min) : asked
  return isWithin(roomFor(least, wanted), held) ? wanted : applied
}

/** What a release may be given now, each of its replicas. What asks for more than there is room for keeps to what it had. */
export const grantedBudget = (spec: Pick<AppSpec, 'budget' | 'replicas'>, world: Granting): Budget => {
  const wanted = budgetOf(spec.budget, world.host.budget)
  const { held } = world.room
  if (held === null) return wanted
  const replicas = grantedReplicas(spec, world)
  const share = (part: number) => Math.floor(part / replicas)
  const ofEach = { cpuMillis: share(held.cpuMillis), memoryMib: share(held.memoryMib), diskGib: held.diskGib }
  return each(wanted, ofEach, Math.min)
}

const UNITS: readonly [keyof Budget, string][] = [
  ['cpuMillis', 'thousandths of a processor'],
  ['memoryMib', 'MiB of memory'],
  ['diskGib', 'GiB of disk'],
]

/**
 * Why an app does not fit beside the others, with figures; null where it does. What it holds already it keeps.
 * @param limits null: nobody knows what the host has
 */
export const roomFault = (
  host: string,
  { wanted, held, others, limits }: { wanted: Budget; held: Budget | null; others: Budget; limits: Budget | null },
): string | null => {
  if (limits === null) return null
  const short = UNITS.filter(
    ([unit]) => wanted[unit] > (held?.[unit] ?? 0) && others[unit] + wanted[unit] > limits[unit],
  )
  if (short.length === 0) return null
  const figures = short.map(
    ([unit, words]) =>
      `${wanted[unit]} ${words} are asked for, ${Math.max(0, limits[unit] - others[unit])} of ${limits[unit]} are left`,
  )
  return `${host} is full: ${figures.join('; ')}`
}

type Placed = AppWorld & { host: TargetHost }

/** What runs goes on counting until it was given less. */
const roomWanted = ({ spec }: AppResource, world: Placed): Budget => {
  const wanted = roomFor(budgetOf(spec.budget, world.host.budget), wantedReplicas(spec))
  const record = liveIn(world)?.record
  return record?.budget ? each(wanted, roomFor(record.budget, replicasOf(record)), Math.max) : wanted
}

/** Why the host has no room for what is asked; null where it has. */
export const fullness = (object: AppResource, world: Placed): string | null => {
  const { host, room } = world
  // What runs already is counted, whether it fits or not.
  if (room.held === null && liveIn(world)) return null
  return roomFault(host.name, { wanted: roomWanted(object, world), ...room, limits: host.capacity })
}

/** The step that takes the room that is asked for, or gives some back; none where it is held, or there is none. */
export const roomSteps = (object: AppResource, world: Placed): AppStep[] => {
  const wanted = roomWanted(object, world)
  const { held } = world.room
  if ((held && sameBudget(held, wanted)) || fullness(object, world) !== null) return []
  return [{ do: 'takeRoom', budget: wanted, limits: world.host.capacity }]
}

/** Why what runs was not given what is wanted now; null where it was, or something else is wanted meanwhile. */
export const budgetRefusalOf = ({ spec }: AppResource, world: AppWorld): string | null => {
  const { budgetRefusal, host } = world
  if (!budgetRefusal || !host || !sameBudget(budgetRefusal.budget, grantedBudget(spec, { ...world, host }))) return null
  return budgetRefusal.detail
}

/** What runs is given its budget as it is now, without another release. */
export const budgetSteps = (object: AppResource, world: Placed): AppStep[] => {
  const live = liveIn(world)
  const applied = live?.record?.budget
  if (!live || !applied || world.unreachable !== null) return []
  const budget = grantedBudget(object.spec, world)
  if (sameBudget(applied, budget)) return []
  return budgetRefusalOf(object, world) !== null ? [] : [{ do: 'applyBudget', release: live, budget }]
}
