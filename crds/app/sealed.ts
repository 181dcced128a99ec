/** A release as it is sealed: everything that it takes to run it again, under one digest. It holds values of the env. */
import { createHash } from 'node:crypto'
import type { ComposeChange, ComposeFinding } from './compose/finding.ts'
import type { Project } from './compose/project.ts'
import type { PinnedImage, ReleaseRecord } from './world.ts'

export type SealedRelease = {
  source: string
  composePath: string
  envVersion: number | null
  project: Project
  /** Empty until they are there; then they run, whatever becomes of the names. */
  images: PinnedImage[]
}

export const digestOfSealed = (release: SealedRelease): string =>
  createHash('sha256').update(JSON.stringify(release)).digest('hex')

/** The project with every image by its id. @throws when one is missing */
export const pinnedProject = ({ project, images }: SealedRelease): Project => {
  const ids = new Map(images.map(({ service, id }) => [service, id]))
  const services = project.services.map((service) => {
    const image = ids.get(service.name)
    if (image === undefined) throw new Error(`no image is known for service ${service.name}`)
    return { ...service, image }
  })
  return { ...project, services }
}

const warningOf = ({ pointer, detail }: ComposeFinding): string => `${pointer}: ${detail}`

/** What may be shown of it. */
export const recordOf = (
  project: Project,
  warnings: readonly ComposeFinding[],
  changes: readonly ComposeChange[],
): ReleaseRecord => ({
  route: project.route,
  stateful: project.services.filter(({ stateful }) => stateful).map(({ name }) => name),
  services: project.services.map(({ name }) => name),
  volumes: project.volumes,
  warnings: warnings.map(warningOf),
  changes: [...changes],
})

export type ImageRequest = { service: string; name: string; how: 'build' | 'pull' | 'pinned' }

/** Which images the release needs, and how each is had. */
export const imageRequests = ({ project, images }: SealedRelease): ImageRequest[] => {
  const ids = new Map(images.map(({ service, id }) => [service, id]))
  return project.services.map(({ name, image, build }) => {
    const id = ids.get(name)
    if (id !== undefined) return { service: name, name: id, how: 'pinned' }
    return { service: name, name: image, how: build ? 'build' : 'pull' }
  })
}

/** Which files of the source the host needs: what is mounted, what may be built, or none. */
export const filesFor = ({ project, images }: SealedRelease): 'mounts' | 'build' | 'none' => {
  if (project.services.some(({ mounts }) => mounts.some(({ type }) => type === 'bind'))) return 'mounts'
  return images.length === 0 && project.services.some(({ build }) => build !== null) ? 'build' : 'none'
}

/** Somebody wants what is built to be built again, whatever is there. */
export const wantsFreshBuild = ({ project, images }: SealedRelease): boolean =>
  images.length === 0 && project.services.some(({ build }) => build?.noCache || build?.pull)
