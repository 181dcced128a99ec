/** What a restore would do, before it does anything. */
import { handOverSeconds } from '../../../compose/printing/plan.ts'
import type { Project } from '../../../compose/project.ts'

/** `downtimeSeconds`: about so long it is away, however large the volume is by then. */
export type RestorePlan = { services: { name: string; downtimeSeconds: number }[]; downtimeSeconds: number }

/** Of what is packed, both ways, on a disk that is slow. */
const BYTES_PER_SECOND = 20_000_000

/** Services that mount it stop. @param bytes of the archive that is put into it */
export const planRestore = ({ services }: Pick<Project, 'services'>, volume: string, bytes: number): RestorePlan => {
  const copySeconds = 2 * Math.ceil(bytes / BYTES_PER_SECOND)
  const stops = services
    .filter(({ mounts }) => mounts.some((mount) => mount.type === 'volume' && mount.source === volume))
    .map((service) => ({ name: service.name, downtimeSeconds: handOverSeconds(service) + copySeconds }))
  return { services: stops, downtimeSeconds: Math.max(0, ...stops.map(({ downtimeSeconds }) => downtimeSeconds)) }
}

export const sayRestoreDowntime = ({ services }: RestorePlan): string =>
  `The restore stops ${services.map(({ name, downtimeSeconds }) => `${name} for about ${downtimeSeconds} s`).join(', ')}.`
