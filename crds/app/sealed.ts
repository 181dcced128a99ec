/** A release as it is sealed: everything that it takes to run it again, under one digest. It holds values of the env. */
import { createHash } from 'node:crypto'
import type { Finding } from './compose/finding.ts'
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

const warningOf = ({ pointer, detail }: Finding): string => `${pointer}: ${detail}`

/** What may be shown of it. */
export const recordOf = (project: Project, warnings: readonly Finding[]): ReleaseRecord => ({
  route: project.route,
  stateful: project.services.filter(({ stateful }) => stateful).map(({ name }) => name),
  services: project.services.map(({ name }) => name),
  volumes: project.volumes,
  warnings: warnings.map(warningOf),
})

export type ImageWish = { service: string; name: string; how: 'build' | 'pull' | 'pinned' }

/** Which images the release needs, and how each is had. */
export const imageWishes = ({ project, images }: SealedRelease): ImageWish[] => {
  const ids = new Map(images.map(({ service, id }) => [service, id]))
  return project.services.map(({ name, image, build }) => {
    const id = ids.get(name)
    if (id !== undefined) return { service: name, name: id, how: 'pinned' }
    return { service: name, name: image, how: build ? 'build' : 'pull' }
  })
}

/** Whether the host needs the files of the source at all. */
export const needsFiles = ({ project, images }: SealedRelease): boolean =>
  project.services.some(
    ({ build, mounts }) => (build !== null && images.length === 0) || mounts.some(({ type }) => type === 'bind'),
  )
