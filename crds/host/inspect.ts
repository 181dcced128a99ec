/** What an inspection found, and what is wrong with it. */
import type { GuardFinding } from './isolation.ts'
import type { RestartFinding } from './restart.ts'
import type { HostCertificate } from './schema.ts'

/** Oldest versions that serve. Caddy before 2.11.5 lets visitors forge identity headers (rules/host.md#inspection). */
export const OLDEST = { docker: '20.10.0', compose: '2.20.0', caddy: '2.11.5' } as const
/** Below it an image can hardly be built. */
export const FREE_GIB_MIN = 2

export type Versions = { kernel: string; docker: string; compose: string; caddy: string }

/** What a host said of itself. Versions are empty where the program is missing. */
export type Findings = {
  arch: string
  versions: Versions
  disk: { totalGib: number; freeGib: number }
  processors: number
  memoryMib: number
  /** Programs that scripts need and that are missing. */
  missing: string[]
  /** The folder of the sites can be written; true when none is asked for. */
  siteRootOk: boolean
  /** Empty when the admin endpoint answers, else why not. */
  proxyFault: string
  guard: GuardFinding
  /** Whether uid 0 of a container is somebody else on the host (`userns-remap` of Docker). */
  users: 'remapped' | 'plain'
  restart: RestartFinding
}

export type Inspection =
  | { reach: 'ok'; findings: Findings }
  /** Another key than the pinned one, by its fingerprint, or none of that type: nothing was said to it. */
  | { reach: 'key'; shown: string | null }
  | { reach: 'login' }
  | { reach: 'unreachable'; detail: string }

/** `x86_64` → `amd64`. Null for what no image is built for. */
export const archOf = (machine: string): 'amd64' | 'arm64' | null => {
  if (machine === 'x86_64' || machine === 'amd64') return 'amd64'
  return machine === 'aarch64' || machine === 'arm64' ? 'arm64' : null
}

const numbersOf = (version: string): number[] => (version.match(/\d+/g) ?? []).slice(0, 3).map(Number)

const isOlder = (version: string, than: string): boolean => {
  const [a, b] = [numbersOf(version), numbersOf(than)]
  const at = [0, 1, 2].find((index) => (a[index] ?? 0) !== (b[index] ?? 0))
  return at !== undefined && (a[at] ?? 0) < (b[at] ?? 0)
}

/** Sentences that name what is to be repaired; empty when the host is fit. */
export const problemsOf = ({ arch, versions, disk, missing, siteRootOk, proxyFault }: Findings): string[] => {
  const problems: string[] = []
  if (archOf(arch) === null) problems.push(`its processor is ${arch}; amd64 or arm64 is needed`)
  for (const [name, oldest] of Object.entries(OLDEST) as [keyof typeof OLDEST, string][]) {
    const found = versions[name]
    if (found === '') problems.push(`${name} is missing or may not be used; ${oldest} or later is needed`)
    else if (isOlder(found, oldest)) problems.push(`${name} is ${found}; ${oldest} or later is needed`)
  }
  if (missing.length > 0) problems.push(`missing programs: ${missing.join(', ')}`)
  if (!siteRootOk) problems.push('the user may not write the folder of the sites')
  if (proxyFault !== '') problems.push(`the admin endpoint of Caddy does not answer (${proxyFault})`)
  if (disk.freeGib < FREE_GIB_MIN) problems.push(`its disk has ${disk.freeGib} GiB left; ${FREE_GIB_MIN} are needed`)
  return problems
}

/** Certificates in the order in which they are shown: what needs a person first, then what runs out first. */
export const worstFirst = (certificates: readonly HostCertificate[]): HostCertificate[] => {
  const order = ['missing', 'mismatch', 'expired', 'expiring', 'valid']
  const rank = ({ state }: HostCertificate) => order.indexOf(state)
  const text = ({ notAfter, hostname }: HostCertificate) => `${notAfter ?? ''} ${hostname}`
  return [...certificates].sort((a, b) => rank(a) - rank(b) || (text(a) < text(b) ? -1 : 1))
}
