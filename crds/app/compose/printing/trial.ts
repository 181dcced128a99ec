/**
 * A release as it is tried before anything stops: all of its services in one project of their own, on copies of the app's
 * volumes and on networks that nothing else of the app is on (rules/app.md#trial).
 */
import { type ComposeService, MIB_PER_GIB, type Project } from '../project.ts'
import { bridgeOf } from './bridges.ts'
import { type ComposeDocument, type Json, LABEL, print, serviceBody } from './print.ts'

type DocumentParts = { services: Json; networks: Json }

/**
 * All services of a project under their own names, on networks of their own: for a project that nothing else joins.
 * Files are mounted from the folder of the release. @param as.app what its containers are labelled with
 */
const documentParts = (project: Project, as: { name: string; app: string; origin: string }): DocumentParts => {
  const { services, networks } = project
  const conditions = ({ dependsOn: on }: ComposeService): Json =>
    Object.fromEntries(Object.entries(on).map(([name, one]) => [name, { ...one, required: true }]))
  const serviceOf = (service: ComposeService): Json => ({
    ...serviceBody(service, 'release'),
    depends_on: conditions(service),
    networks: Object.fromEntries(
      Object.entries(service.networks).map(([name, aliases]) => [name, aliases.length > 0 ? { aliases } : {}]),
    ),
    ...(service.name === project.route.service && { ports: [`127.0.0.1::${project.route.port}`] }),
    labels: {
      [`${LABEL}.app`]: as.app,
      ...(project.diskGib !== undefined && { [`${LABEL}.disk`]: String(project.diskGib * MIB_PER_GIB) }),
    },
  })
  const used = networks.filter(({ name }) => services.some((service) => Object.hasOwn(service.networks, name)))
  const networkOf = ({ name, internal }: Project['networks'][number]): Json => ({
    driver: 'bridge',
    internal,
    driver_opts: { 'com.docker.network.bridge.name': bridgeOf(as.origin, `${as.name}_${name}`) },
    labels: { [`${LABEL}.app`]: as.app },
  })
  return {
    services: Object.fromEntries(services.map((service) => [service.name, serviceOf(service)])),
    networks: Object.fromEntries(used.map((network) => [network.name, networkOf(network)])),
  }
}

/** `volumes`: which is copied to which. `service` is what the routed one is called in the document. */
export type Trial = { document: ComposeDocument; volumes: { from: string; to: string }[]; service: string }

/** No app is called so, nor has a project of this name (`NAMED_HERE` in crds/app/faults.ts). */
export const trialProjectOf = (slug: string, release: number): string => `${slug}-r${release}-try`

/** What the host's meter knows it by: a copy does not count against the app. */
const meteredAs = (slug: string, release: number): string => `${slug}-r${release}`

/**
 * One document, so that Compose itself holds each condition, between what belongs to the app and what to the release as well.
 * @param release the number of the release, from 1 @param origin of the app (`originOf`)
 */
export const printTrial = (project: Project, release: number, origin: string): Trial => {
  const { slug } = project
  const name = trialProjectOf(slug, release)
  const parts: DocumentParts = documentParts(project, { name, app: meteredAs(slug, release), origin })
  const volumes = project.volumes.map((volume) => ({ from: `${slug}-base_${volume}`, to: `${name}_${volume}` }))
  const external = project.volumes.map((volume) => [volume, { external: true, name: `${name}_${volume}` }])
  const text = print({ name, ...parts, volumes: Object.fromEntries(external) })
  return { document: { project: name, text }, volumes, service: project.route.service }
}
