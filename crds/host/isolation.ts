/**
 * What keeps the apps of a host apart from each other and from the host: the guard of their network, and users that are not
 * those of the host (rules/host.md#isolation). Pure.
 */
import { NOT_PUBLIC_RANGES } from '../values/address.ts'
import type { BUILDS, HostSpecClass, USERS } from './schema.ts'

/** No app reaches these, whoever asks: other apps, the host, its neighbours, and the metadata services of clouds. */
export const CLOSED_RANGES: readonly string[] = NOT_PUBLIC_RANGES

/** As the host tells it: `ok <times put back>`, `absent`, `late`, `fault <why>`, `fault meter: <why>`, or `unable` where a program is missing. */
export type GuardFinding = { says: string; digest: string }

/** `missing`: to be started. `faulty`: it runs, and cannot do what it is for. */
export type HostGuard = { state: 'stands' | 'missing' } | { state: 'faulty'; detail: string }

/** @param digest of the guard that is to be there: another one is as none */
export const guardOf = ({ says, digest: found }: GuardFinding, digest: string): HostGuard => {
  if (says === 'unable') {
    return { state: 'faulty', detail: 'iptables is missing; install it, so that apps can be kept from the host' }
  }
  if (found !== digest || says === 'absent' || says === 'late') return { state: 'missing' }
  if (says.startsWith('ok ')) return { state: 'stands' }
  const metering = says.match(/^fault meter: (.*)/)?.[1]
  if (metering !== undefined) {
    return { state: 'faulty', detail: `what its apps have on disk cannot be measured (${metering})` }
  }
  return { state: 'faulty', detail: `the packet filter refuses the rules (${says.replace(/^fault /, '')})` }
}

/**
 * Where apps must be kept apart: wherever those of a second account may stand, and where an owner is to be kept from the host. On a host
 * of the class platform that is one account's alone, what is missing is told, and no more. Of a host that is not known it is asked.
 */
export const keepsApart = (host: { class: HostSpecClass; account?: string | null } | null): boolean =>
  host === null || host.class !== 'platform' || (host.account ?? null) === null

type Users = (typeof USERS)[number]

/** Builds run in cells whose root is nobody on the host; where it would be root, nothing is built. */
export const buildsOf = (users: Users): (typeof BUILDS)[number] => (users === 'remapped' ? 'cells' : 'refused')

const REMAP = 'put "userns-remap": "default" into /etc/docker/daemon.json and restart Docker, before it has apps'

/** Why a release is not built on a host; null where it may be. @param host.remapsUsers as the last inspection found */
export const buildFault = (
  host: { name: string; remapsUsers: boolean },
  services: readonly { build: unknown }[],
): string | null =>
  host.remapsUsers || services.every(({ build }) => build === null)
    ? null
    : `${host.name} cannot keep builds apart: its Docker does not remap users; ${REMAP}, or name images that are built elsewhere`

/** What a condition says of builds. */
export const sayBuilds = (users: Users): string =>
  users === 'remapped'
    ? 'Each app is built in a container of its own, whose root is nobody on the host.'
    : `Nothing is built here: Docker does not remap users; ${REMAP}.`

/** Whether a container begins as root: by its image's user, unless the service names another. '' is root. */
export const beginsAsRoot = (imageUser: string, serviceUser?: string): boolean =>
  /^(0+|root)?(:.*)?$/.test(serviceUser ?? imageUser)
