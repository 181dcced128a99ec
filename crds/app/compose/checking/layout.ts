/** How the services stand to each other: who waits for whom, what belongs to the app, who takes the visitors. */

import type { Network } from '../project.ts'
import type { ValidationContext } from '../reading/validation.ts'
import type { ParsedService } from './service.ts'

export type ParsedServices = ReadonlyMap<string, ParsedService>

const DEFAULT_NETWORK = 'default'

/** Refuses dependencies on nothing and circles. */
export const checkDependencies = (validation: ValidationContext, parsedServices: ParsedServices): void => {
  for (const { dependsOn } of parsedServices.values()) {
    for (const { name, required, at } of dependsOn) {
      if (parsedServices.has(name) || !required) continue
      validation.refuse(at, 'value', 'There is no such service.', 'Name a service of the file.')
    }
  }
  for (const parsed of parsedServices.values()) {
    if (!reaches(parsedServices, parsed).has(parsed.name)) continue
    validation.refuse(
      parsed.at,
      'value',
      `${parsed.name} depends on itself in the end.`,
      'Take out one of the dependencies.',
    )
  }
}

/** Names of all services that one depends on, directly or through others. */
export const reaches = (parsedServices: ParsedServices, from: ParsedService): Set<string> => {
  const seen = new Set<string>()
  const open = [from]
  for (let parsed = open.pop(); parsed; parsed = open.pop()) {
    for (const { name } of parsed.dependsOn) {
      const next = parsedServices.get(name)
      if (!next || seen.has(name)) continue
      seen.add(name)
      open.push(next)
    }
  }
  return seen
}

/** Names of the services that belong to the app: those that keep something, and what they cannot start without. */
export const statefulNames = (parsedServices: ParsedServices): Set<string> => {
  const stateful = new Set<string>()
  for (const parsed of parsedServices.values()) {
    if (!parsed.declaredStateful && !parsed.mounts.some(({ mount }) => mount.type === 'volume')) continue
    stateful.add(parsed.name)
    for (const name of reaches(parsedServices, parsed)) stateful.add(name)
  }
  return stateful
}

/** Names of the services that others wait for to end well. */
export const oneShotNames = (parsedServices: ParsedServices): Set<string> =>
  new Set(
    [...parsedServices.values()].flatMap(({ dependsOn }) =>
      dependsOn.flatMap(({ name, condition }) => (condition === 'service_completed_successfully' ? [name] : [])),
    ),
  )

/** The networks of a service with its further names on each; a service that says nothing is on the default one. */
export const networksOf = (
  validation: ValidationContext,
  parsed: ParsedService,
  networks: ReadonlyMap<string, Network>,
): Record<string, string[]> => {
  const { aliases: further } = parsed
  if (!parsed.networks || parsed.networks.length === 0) return { [DEFAULT_NETWORK]: further }
  const known = parsed.networks.filter(({ name, at }) => {
    if (networks.has(name) || name === DEFAULT_NETWORK) return true
    const detail = 'There is no such network in the file.'
    validation.refuse(at, 'outside-network', detail, 'Declare it in networks, or leave it out.')
    return false
  })
  const sorted = [...known].sort((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(sorted.map(({ name, aliases }) => [name, [...new Set([...aliases, ...further])]]))
}

/** Refuses volumes that nobody declares and two mounts at one place. */
export const checkMounts = (
  validation: ValidationContext,
  parsed: ParsedService,
  volumes: ReadonlySet<string>,
): void => {
  const targets = new Set<string>()
  for (const { mount, at, isMade = false } of parsed.mounts) {
    if (isMade && mount.type === 'volume' && volumes.has(mount.source)) {
      const next = `Mount the volume, ${mount.source}, or rename one of the two.`
      validation.refuse(at, 'value', 'A volume of the file has the name that the folder would have.', next)
    }
    if (mount.type === 'volume' && !isMade && !volumes.has(mount.source)) {
      validation.refuse(at, 'value', 'The volume is not declared.', 'Add its name to volumes.')
    }
    if (targets.has(mount.target))
      validation.refuse(at, 'value', 'Something is mounted there already.', 'Keep one of the two.')
    targets.add(mount.target)
  }
}
