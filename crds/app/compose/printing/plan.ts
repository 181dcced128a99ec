/** What a deploy would do, before it does anything (rules/app.md#plan-of-a-deploy). */
import { createHash } from 'node:crypto'
import { pointerSegment } from '../../../values/pointer.ts'
import type { ComposeFinding } from '../finding.ts'
import type { ComposeService, Health, Project, ServiceLimits } from '../project.ts'
import { replicasIn } from '../replicas.ts'
import { serviceBody } from './print.ts'

/**
 * What has to be remembered of a release to plan the next one. The digests are of configuration with values of the env:
 * keep them with the sealed release, not in a status.
 */
export type ReleaseSummary = {
  services: { name: string; stateful: boolean; digest: string }[]
  /** `mounts`: `db:/var/lib/data` for each place that it is mounted at, sorted. */
  volumes: { name: string; mounts: string[] }[]
}

/**
 * `keep`: runs on untouched. `recreate`: stopped, then started anew. `replace`: started beside the old one. `remove`: a
 * stateful service that the project no longer has, or whose data a release will hold no more.
 */
export type ServiceAction = 'keep' | 'recreate' | 'replace' | 'add' | 'remove'

export type ServicePlan = {
  name: string
  stateful: boolean
  action: ServiceAction
  /** At most; 0 for what is started beside the old one. */
  downtimeSeconds: number
  limits: ServiceLimits | null
}

export type VolumePlan = { name: string; action: 'keep' | 'new' | 'left'; detail: string }

export type DeployPlan = {
  /** Sorted by name, as are volumes, images and builds. */
  services: ServicePlan[]
  /** At most so long a service is away while it is handed over; 0 when nothing stops. */
  downtimeSeconds: number
  /** Containers of the routed service side by side. */
  replicas: number
  volumes: VolumePlan[]
  images: string[]
  builds: { service: string; context: string; image: string }[]
  env: Project['env']
  /** A volume that would be left behind is a refusal until it is confirmed by name. */
  findings: ComposeFinding[]
}

/** What Docker waits when the file says nothing. */
const STOP_GRACE_MS = 10_000
const HEALTH_INTERVAL_MS = 30_000
const HEALTH_TIMEOUT_MS = 30_000
/** What a container without a health check is given to come up. */
const START_ALLOWANCE_MS = 5000

const byName = <T extends { name: string }>(a: T, b: T): number => (a.name < b.name ? -1 : 1)

/** What Compose starts a container of the base anew for. The label of the disk is one of these. */
const digestOfService = (service: ComposeService, { diskGib }: Project): string =>
  createHash('sha256')
    .update(JSON.stringify([serviceBody(service, 'base'), service.networks, ...(service.stateful ? [diskGib] : [])]))
    .digest('hex')

const mountsOf = ({ services }: Project, volume: string): string[] =>
  services
    .flatMap(({ name, mounts }) =>
      mounts.flatMap((mount) =>
        mount.type === 'volume' && mount.source === volume ? [`${name}:${mount.target}`] : [],
      ),
    )
    .sort()

export const summariseRelease = (project: Project): ReleaseSummary => ({
  services: project.services.map((service) => ({
    name: service.name,
    stateful: service.stateful,
    digest: digestOfService(service, project),
  })),
  volumes: project.volumes.map((name) => ({ name, mounts: mountsOf(project, name) })),
})

/** How long it may take until a container is found well that is. */
export const startMs = (health: Health | null): number => {
  if (health === null || 'disable' in health) return START_ALLOWANCE_MS
  const { intervalMs = HEALTH_INTERVAL_MS, timeoutMs = HEALTH_TIMEOUT_MS, startPeriodMs = 0 } = health
  return startPeriodMs + intervalMs + timeoutMs
}

/** At most so long is nobody there while a service is handed over stop-first. */
export const handOverSeconds = ({ stopGracePeriodMs = STOP_GRACE_MS, health }: ComposeService): number =>
  Math.ceil((stopGracePeriodMs + startMs(health)) / 1000)

const actionOf = (
  service: ComposeService,
  before: ReleaseSummary['services'][number] | undefined,
  project: Project,
): ServiceAction => {
  if (!before) return 'add'
  if (!service.stateful) return 'replace'
  if (!before.stateful) return 'add'
  return before.digest === digestOfService(service, project) ? 'keep' : 'recreate'
}

/** A stateful service that goes is missed by the release that serves until the switch. */
const GONE_SECONDS = Math.ceil((STOP_GRACE_MS + START_ALLOWANCE_MS) / 1000)

const servicesOf = (previous: ReleaseSummary | null, project: Project): ServicePlan[] => {
  const { services } = project
  const before = new Map((previous?.services ?? []).map((service) => [service.name, service]))
  const now = services.map((service): ServicePlan => {
    const { name, stateful, limits } = service
    const action = actionOf(service, before.get(name), project)
    return { name, stateful, action, downtimeSeconds: action === 'recreate' ? handOverSeconds(service) : 0, limits }
  })
  const names = new Set(services.map(({ name }) => name))
  const gone = [...before.values()].filter(({ name }) => !names.has(name))
  const removed = gone.map(({ name, stateful }): ServicePlan => {
    return { name, stateful, action: 'remove', downtimeSeconds: stateful ? GONE_SECONDS : 0, limits: null }
  })
  return [...now, ...removed].sort(byName)
}

/** The new volume that stands where an old one stood: the old one was renamed. */
const renamedTo = (left: ReleaseSummary['volumes'][number], fresh: ReleaseSummary['volumes']): string | undefined =>
  fresh.find(({ mounts }) => mounts.some((mount) => left.mounts.includes(mount)))?.name

const volumesOf = (previous: ReleaseSummary | null, next: ReleaseSummary): VolumePlan[] => {
  const before = new Map((previous?.volumes ?? []).map((volume) => [volume.name, volume]))
  const names = new Set(next.volumes.map(({ name }) => name))
  const fresh = next.volumes.filter(({ name }) => !before.has(name))
  const now = next.volumes.map(({ name }): VolumePlan => {
    return before.has(name)
      ? { name, action: 'keep', detail: 'Kept.' }
      : { name, action: 'new', detail: 'New and empty.' }
  })
  const left = [...before.values()].filter(({ name }) => !names.has(name))
  const lost = left.map((volume): VolumePlan => {
    const heir = renamedTo(volume, fresh)
    const instead = heir === undefined ? 'No service mounts it any more' : `${heir} takes its place and is empty`
    return { name: volume.name, action: 'left', detail: `${instead}; its data stays on the host, unused.` }
  })
  return [...now, ...lost].sort(byName)
}

const leftBehind = (volumes: readonly VolumePlan[], confirmed: readonly string[], file: string): ComposeFinding[] =>
  volumes.flatMap(({ name, action, detail }): ComposeFinding[] => {
    if (action !== 'left') return []
    return [
      {
        rule: 'volume-left',
        level: confirmed.includes(name) ? 'warn' : 'refuse',
        pointer: `/volumes/${pointerSegment(name)}`,
        file,
        line: 1,
        detail: `The volume ${name} is no longer in the file. ${detail}`,
        next: `Put ${name} back under its old name, or confirm that it is left.`,
      },
    ]
  })

/**
 * The plan of a deploy.
 * @param previous what was remembered of the release that is live; null for the first
 * @param confirmedVolumes names of volumes that may be left behind
 */
export const planRelease = (
  previous: ReleaseSummary | null,
  next: { project: Project; warnings: readonly ComposeFinding[]; composePath: string },
  confirmedVolumes: readonly string[],
): DeployPlan => {
  const { project, warnings, composePath } = next
  const volumes = volumesOf(previous, summariseRelease(project))
  const services = servicesOf(previous, project)
  const pulled = project.services.filter(({ build }) => build === null).map(({ image }) => image)
  return {
    services,
    downtimeSeconds: Math.max(0, ...services.map(({ downtimeSeconds }) => downtimeSeconds)),
    replicas: replicasIn(project),
    volumes,
    images: [...new Set(pulled)].sort(),
    builds: project.services.flatMap(({ name, image, build }) =>
      build ? [{ service: name, context: build.context, image }] : [],
    ),
    env: project.env,
    findings: [...leftBehind(volumes, confirmedVolumes, composePath), ...warnings],
  }
}
