/** What stands at the top of a file beside its services: networks and volumes, each a mapping or nothing. */
import { VOLUME_NAME } from '../checking/mounts.ts'
import { REFUSED_IN_NETWORK, REFUSED_IN_VOLUME } from '../checking/refused.ts'
import type { Network } from '../project.ts'
import type { MapTree, Tree } from '../reading/parse.ts'
import { asMap, isNothing, readBoolean, readFields, readMatching, wrong } from '../reading/read.ts'
import type { ValidationContext } from '../reading/validation.ts'

const VOLUMES_MAX = 20
/** Each takes a subnet of the host for every release. */
const NETWORKS_MAX = 4

const NETWORK = { driver: readMatching(/^(bridge|default)$/, 'bridge'), internal: readBoolean }
const VOLUME = { driver: readMatching(/^(local|default)$/, 'local') }

export const tooMany = (validation: ValidationContext, { entries, ...at }: MapTree, max: number): undefined =>
  validation.refuse(at, 'size', `There are ${entries.size} here, at most ${max}.`, 'Leave some out.')

const entriesOf = (validation: ValidationContext, tree: Tree | undefined, max: number): [string, Tree][] => {
  if (!tree || isNothing(tree)) return []
  const map = asMap(validation, tree)
  if (!map) return []
  if (map.entries.size > max) tooMany(validation, map, max)
  return [...map.entries].filter(([name, entry]) => {
    if (!VOLUME_NAME.test(name)) return wrong(validation, entry, 'under a name of letters, digits, - and _') ?? false
    return entry.kind === 'map' || isNothing(entry) || (wrong(validation, entry, 'a mapping') ?? false)
  })
}

export const readNetworks = (validation: ValidationContext, tree: Tree | undefined): Map<string, Network> =>
  new Map(
    entriesOf(validation, tree, NETWORKS_MAX).map(([name, entry]) => {
      const rules = { of: 'a network', known: NETWORK, refused: REFUSED_IN_NETWORK }
      const { internal = false } = entry.kind === 'map' ? readFields(validation, entry, rules).fields : {}
      return [name, { name, internal }]
    }),
  )

export const readVolumes = (validation: ValidationContext, tree: Tree | undefined): Set<string> =>
  new Set(
    entriesOf(validation, tree, VOLUMES_MAX).map(([name, entry]) => {
      if (entry.kind === 'map')
        readFields(validation, entry, { of: 'a volume', known: VOLUME, refused: REFUSED_IN_VOLUME })
      return name
    }),
  )
