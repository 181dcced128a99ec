/** How the services stand to each other: who waits for whom, what belongs to the app, who takes the visitors. */
import type { At, Desk } from './desk.ts'
import type { Network } from './project.ts'
import type { Draft } from './service.ts'

export type Drafts = ReadonlyMap<string, Draft>

const DEFAULT_NETWORK = 'default'

/** Refuses dependencies on nothing and circles. */
export const checkDependencies = (desk: Desk, drafts: Drafts): void => {
  for (const { dependsOn } of drafts.values()) {
    for (const { name, required, at } of dependsOn) {
      if (drafts.has(name) || !required) continue
      desk.refuse(at, 'value', 'There is no such service.', 'Name a service of the file.')
    }
  }
  for (const draft of drafts.values()) {
    if (!reaches(drafts, draft).has(draft.name)) continue
    desk.refuse(draft.at, 'value', `${draft.name} depends on itself in the end.`, 'Take out one of the dependencies.')
  }
}

/** Names of all services that one depends on, directly or through others. */
const reaches = (drafts: Drafts, from: Draft): Set<string> => {
  const seen = new Set<string>()
  const open = [from]
  for (let draft = open.pop(); draft; draft = open.pop()) {
    for (const { name } of draft.dependsOn) {
      const next = drafts.get(name)
      if (!next || seen.has(name)) continue
      seen.add(name)
      open.push(next)
    }
  }
  return seen
}

/** Names of the services that belong to the app: those that keep something, and what they cannot start without. */
export const statefulNames = (drafts: Drafts): Set<string> => {
  const stateful = new Set<string>()
  for (const draft of drafts.values()) {
    if (!draft.declaredStateful && !draft.mounts.some(({ mount }) => mount.type === 'volume')) continue
    stateful.add(draft.name)
    for (const name of reaches(drafts, draft)) stateful.add(name)
  }
  return stateful
}

/** Names of the services that others wait for to end well. */
export const oneShotNames = (drafts: Drafts): Set<string> =>
  new Set(
    [...drafts.values()].flatMap(({ dependsOn }) =>
      dependsOn.flatMap(({ name, condition }) => (condition === 'service_completed_successfully' ? [name] : [])),
    ),
  )

/** The networks of a service with its further names on each; a service that says nothing is on the default one. */
export const networksOf = (
  desk: Desk,
  draft: Draft,
  networks: ReadonlyMap<string, Network>,
): Record<string, string[]> => {
  if (!draft.networks || draft.networks.length === 0) return { [DEFAULT_NETWORK]: [] }
  const known = draft.networks.filter(({ name, at }) => {
    if (networks.has(name) || name === DEFAULT_NETWORK) return true
    const detail = 'There is no such network in the file.'
    desk.refuse(at, 'outside-network', detail, 'Declare it in networks, or leave it out.')
    return false
  })
  const sorted = [...known].sort((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(sorted.map(({ name, aliases }) => [name, aliases]))
}

/** Refuses volumes that nobody declares and two mounts at one place. */
export const checkMounts = (desk: Desk, draft: Draft, volumes: ReadonlySet<string>): void => {
  const targets = new Set<string>()
  for (const { mount, at } of draft.mounts) {
    if (mount.type === 'volume' && !volumes.has(mount.source)) {
      desk.refuse(at, 'value', 'The volume is not declared.', 'Add its name to volumes.')
    }
    if (targets.has(mount.target))
      desk.refuse(at, 'value', 'Something is mounted there already.', 'Keep one of the two.')
    targets.add(mount.target)
  }
}

export type Route = { service: string; port: number }

const list = (names: readonly (string | number)[]): string => names.slice(0, 10).join(', ')

const portOf = (desk: Desk, { name, ports, at }: Draft): Route | undefined => {
  const port = desk.ground.route?.port ?? ports[0]
  if (port === undefined) {
    return desk.refuse(at, 'route', `${name} does not say on which port it listens.`, 'Add expose with one port.')
  }
  if (desk.ground.route?.port === undefined && ports.length > 1) {
    return desk.refuse(
      at,
      'route',
      `${name} has the ports ${list(ports)}.`,
      'Set route.port of the app to one of them.',
    )
  }
  return { service: name, port }
}

/** Where visitors go: the service that the app names, else the only one with a port (CONTRACT section 10, Apps). */
export const routeOf = (desk: Desk, at: At, drafts: Drafts): Route | undefined => {
  const asked = desk.ground.route?.service
  if (asked !== undefined) {
    const draft = drafts.get(asked)
    if (draft) return portOf(desk, draft)
    const known = list([...drafts.keys()])
    return desk.refuse(
      at,
      'route',
      `The app's route names ${asked.slice(0, 60)}; there is ${known}.`,
      'Correct route.service.',
    )
  }
  const oneShots = oneShotNames(drafts)
  const open = [...drafts.values()].filter(({ name, ports }) => ports.length > 0 && !oneShots.has(name))
  const [only, ...more] = open
  if (only && more.length === 0) return portOf(desk, only)
  const next = 'Set route.service of the app, or leave expose and ports to the service that takes visitors.'
  if (only) return desk.refuse(at, 'route', `Several services have ports: ${list(open.map(({ name }) => name))}.`, next)
  return desk.refuse(
    at,
    'route',
    'No service says on which port it listens.',
    'Add expose to the one that takes visitors.',
  )
}
