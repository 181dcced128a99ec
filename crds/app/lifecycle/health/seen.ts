/** What one look at a host sees of an app, what is noted of it, and what is done about it. Instants are ISO. */
import type { ServiceLimits } from '../../compose/project.ts'

/** A container that a release is made of, as its compose document says. */
export type ReleasePart = {
  /** As the compose file of the app calls it. */
  service: string
  project: string
  /** What it is called in its project. */
  name: string
  /** As the host calls them. Sorted. */
  networks: string[]
  limits: ServiceLimits
  /** It runs and ends, and others wait for that: a migration. */
  isOneShot: boolean
  /** Its engine starts it again whatever it ended with. */
  isKeptUp: boolean
}

export type ContainerSeen = {
  project: string
  name: string
  service: string
  /** As its engine says: running, exited, restarting, … */
  state: string
  health: string
  restarts: number
  code: number
  isOutOfMemory: boolean
  policy: string
  /** Null where one of them is not set at all. */
  limits: ServiceLimits | null
  networks: string[]
  /** When looks of the last minutes found that its engine had started it again. */
  restartedAt: string[]
}

export const HEALTH_CODES = [
  'SERVICE_MISSING',
  'NETWORK_LOST',
  'SERVICE_STOPPED',
  'CRASH_LOOP',
  'SERVICE_UNHEALTHY',
  'NOT_ANSWERING',
  'ROUTE_LOST',
  'LIMITS_CHANGED',
  'SERVICE_RESTARTED',
] as const
export type HealthCode = (typeof HEALTH_CODES)[number]

/** What puts a container right. `make`: made anew, with its networks, out of the sealed release. */
export type Mend =
  | { do: 'start' | 'make' | 'restart'; project: string; name: string }
  | { do: 'limit'; project: string; name: string; limits: ServiceLimits }

export type Finding = {
  code: HealthCode
  /** Null for what is of the app as a whole. */
  service: string | null
  /** The container that its log is read of; null for none. */
  container: { project: string; name: string } | null
  exitCode: number | null
  detail: string
  /** Visitors are not served as they should be, or may not be the next moment. */
  isDown: boolean
  mend: Mend | null
}

/** A time in which something of the app was not as it is to be. */
export type Episode = {
  /** Counts per app, from 1. */
  n: number
  release: number
  code: HealthCode
  service: string | null
  exitCode: number | null
  detail: string
  /** The last lines of the container's log then; values of the env are blackened. */
  log: string | null
  beganAt: string
  /** How often it was tried to put it right. */
  attempts: number
  attemptedAt: string | null
}

/** How a release is watched after its switch. */
export type ReleaseWatch = {
  until: string
  /** The release that visitors were on, and are sent back to. */
  before: number
}
