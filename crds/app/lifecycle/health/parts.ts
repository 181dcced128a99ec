/** What has to be there of a release: read out of the very documents that it is started from. */

import type { ComposeDocument, Printed } from '../../compose/printing/print.ts'
import type { ComposeService, Project } from '../../compose/project.ts'
import type { ReleasePart } from './seen.ts'

type ServiceBody = {
  networks?: Record<string, unknown>
  cpus: number
  mem_limit: number
  pids_limit: number
}
type DocumentBody = { services: Record<string, ServiceBody>; networks: Record<string, { name?: string }> }

const MILLIS = 1_000

/** @param mark what a release writes behind the names of its services; '' in the base */
const partsIn = (
  document: ComposeDocument | null,
  services: readonly ComposeService[],
  mark: string,
): ReleasePart[] => {
  if (!document) return []
  const { project, text } = document
  const body = JSON.parse(text) as DocumentBody
  return Object.entries(body.services).map(([name, made]): ReleasePart => {
    const service = name.slice(0, name.length - mark.length)
    const known = services.find((one) => one.name === service)
    const networks = Object.keys(made.networks ?? {}).map((key) => body.networks[key]?.name ?? `${project}_${key}`)
    return {
      service,
      project,
      name,
      networks: networks.sort(),
      limits: {
        cpuMillis: Math.round(made.cpus * MILLIS),
        memoryBytes: made.mem_limit,
        pids: made.pids_limit,
      },
      isOneShot: known?.oneShot ?? false,
      isKeptUp: known?.restart === 'unless-stopped',
    }
  })
}

/** Of the release with this number, printed. Whoever changes the limits of a release that runs keeps them anew with this. */
export const partsOf = (printed: Printed, { services }: Project, release: number): ReleasePart[] => [
  ...partsIn(printed.base, services, ''),
  ...partsIn(printed.release, services, `-r${release}`),
]
