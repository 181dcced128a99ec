/**
 * The roots on the Lease, as they are sealed in the database: links, names and marks on hosts follow from them, and a database that
 * was lost must not take them along (hack/decisions/036, 047).
 */
import { GROUP } from '../../crds/kernel/object.ts'
import { isNotFound } from '../base/errors.ts'
import type { Kube, Ref } from '../kube/kube.ts'
import { type AnyObject, LEASE } from '../kube/objects.ts'
import { type RootRow, readRoots } from '../store/installation/roots.ts'
import type { Pg } from '../store/pg/pg.ts'

/** On the Lease: the rows of `roots` as JSON, what is sealed in base64. */
export const ROOTS = `${GROUP}/roots`

type Kept = Omit<RootRow, 'sealed'> & { sealed: string }

const textOf = (rows: readonly RootRow[]): string =>
  JSON.stringify(rows.map((row) => ({ ...row, sealed: row.sealed?.toString('base64') })))

/** What an annotation says; nothing where it says nothing that we have written. */
export const rootsIn = (text: string | undefined): RootRow[] => {
  if (text === undefined) return []
  const kept = JSON.parse(text) as Kept[]
  return kept.map((row) => ({ ...row, sealed: Buffer.from(row.sealed, 'base64') }))
}

/** @throws KubeError */
export const readKeptRoots = async (kube: Pick<Kube, 'get'>, ref: Ref): Promise<RootRow[]> => {
  const lease = await kube.get<AnyObject>(LEASE, ref).catch((error: unknown) => {
    if (isNotFound(error)) return null
    throw error
  })
  return rootsIn(lease?.metadata.annotations?.[ROOTS])
}

/** Writes them where they are not there as they are now. @throws KubeError, DatabaseUnavailable */
export const keepRoots = async (
  { kube, pg }: { kube: Pick<Kube, 'get' | 'patchMeta'>; pg: Pg },
  ref: Ref,
): Promise<void> => {
  const [rows, lease] = await Promise.all([readRoots(pg), kube.get<AnyObject>(LEASE, ref)])
  const text = textOf(rows)
  if (rows.length === 0 || lease.metadata.annotations?.[ROOTS] === text) return
  await kube.patchMeta(LEASE, ref, { annotations: { [ROOTS]: text } })
}
