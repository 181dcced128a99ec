/**
 * Whether the definitions that the cluster serves are those of this version. It is asked of what the API server publishes of
 * itself, which everybody may read: no right to the definitions is needed.
 */
import type { Kind } from '../../crds/kernel/kind.ts'
import { manifestOf } from '../../crds/kernel/manifest.ts'
import { GROUP, VERSION } from '../../crds/kernel/object.ts'
import { KINDS } from '../../crds/kinds.ts'
import { isKindUnknown, isNotFound } from '../base/errors.ts'
import type { VersionStanding } from '../base/standing.ts'
import type { Kube } from './kube.ts'

const PUBLISHED = `/openapi/v3/apis/${GROUP}/${VERSION}`
/** So many fields are named in one line. */
const NAMED_MAX = 5

type Node = { properties?: Record<string, Node>; items?: Node }
type Published = { components?: { schemas?: Record<string, Node> } }

const fieldsOf = (node: Node | undefined, path: string): string[] => [
  ...Object.entries(node?.properties ?? {}).flatMap(([name, child]) => [
    `${path}.${name}`,
    ...fieldsOf(child, `${path}.${name}`),
  ]),
  ...(node?.items ? fieldsOf(node.items, path) : []),
]

type Versions = { versions: { schema: { openAPIV3Schema: Node } }[] }
const ownRoot = (kind: Kind): Node | undefined =>
  (manifestOf(kind).spec as Versions).versions[0]?.schema.openAPIV3Schema

const PARTS = ['spec', 'status'] as const
const allFields = (kind: string, root: Node | undefined): Set<string> =>
  new Set(PARTS.flatMap((part) => fieldsOf(root?.properties?.[part], `${kind}.${part}`)))

const some = (fields: readonly string[]): string =>
  [...fields.slice(0, NAMED_MAX), ...(fields.length > NAMED_MAX ? [`${fields.length - NAMED_MAX} more`] : [])].join(
    ', ',
  )

/** @param published by the API server; null where it knows nothing of the group */
export const standingOfPublished = (published: Published | null): VersionStanding => {
  const schemas = new Map(Object.entries(published?.components?.schemas ?? {}))
  const rootOf = (kind: string): Node | undefined =>
    [...schemas].find(([name]) => name.split('.').at(-1) === kind && name.includes(VERSION))?.[1]
  const there = KINDS.filter(({ kind }) => rootOf(kind) !== undefined)
  const missing = KINDS.filter((kind) => !there.includes(kind)).map(({ kind }) => kind)
  const none = `no definition of ${missing.join(', ')}`
  if (there.length === 0) return { state: 'older', detail: none }
  const pairs = there.map((kind) => ({
    own: allFields(kind.kind, ownRoot(kind)),
    served: allFields(kind.kind, rootOf(kind.kind)),
  }))
  const lacking = pairs.flatMap(({ own, served }) => [...own].filter((field) => !served.has(field)))
  if (lacking.length > 0) return { state: 'older', detail: `the definitions lack ${some(lacking)}` }
  // the other kinds are served meanwhile
  if (missing.length > 0) return { state: 'partial', detail: none }
  const beyond = pairs.flatMap(({ own, served }) => [...served].filter((field) => !own.has(field)))
  if (beyond.length > 0) return { state: 'newer', detail: `the definitions have ${some(beyond)}` }
  return { state: 'same' }
}

/** @throws KubeError while the API server is away */
export const standingOfDefinitions = async ({ raw }: Pick<Kube, 'raw'>): Promise<VersionStanding> => {
  try {
    return standingOfPublished(await raw<Published>('GET', PUBLISHED))
  } catch (error) {
    if (isNotFound(error) || isKindUnknown(error)) return standingOfPublished(null)
    throw error
  }
}
