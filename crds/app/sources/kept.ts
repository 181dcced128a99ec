/** Which releases can be run again, and how: from the images that are kept on the host, or by a new build of what was uploaded. */
import { BUILT_HERE } from '../compose/checking/image.ts'
import type { Release } from '../world.ts'

/** Releases whose images stay, the newest, and with them the live one. */
export const KEPT_RELEASES = 6

/** Ids of the images that stay on the host. @param releases newest first */
export const keptImages = (releases: readonly Release[]): string[] =>
  releases
    .filter(({ state }, place) => place < KEPT_RELEASES || state === 'live')
    .flatMap(({ record }) => (record?.images ?? []).map(({ id }) => id))

/** `image`: a rollback runs it as it was. `source`: it can be built again. `reason`: why not the first, and what to do. */
export type Restorable = { image: boolean; source: boolean; reason: string | null }

const reasonOf = (isStarted: boolean, image: boolean, source: boolean): string | null => {
  if (image) return null
  const why = isStarted ? 'Its images are no longer kept on the host' : 'It was never started'
  return source
    ? `${why}; its upload is: roll back with rebuild: true.`
    : `${why}, and its upload is gone: upload it again.`
}

/** @param kept ids of images that stay */
export const restorableOf = ({ record, sourceKept = true }: Release, kept: ReadonlySet<string>): Restorable => {
  const images = record?.images ?? []
  // What came from a registry is not ours to remove.
  const image = images.length > 0 && images.every(({ id, name }) => kept.has(id) || !name.startsWith(`${BUILT_HERE}/`))
  return { image, source: sourceKept, reason: reasonOf(images.length > 0, image, sourceKept) }
}
