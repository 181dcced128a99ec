/**
 * On which hosts an app is: where it lives, where it is on its way to, and which it has left and still has something on
 * (rules/app.md#moves). Pure.
 */
import type { AppResource } from '../../../schema.ts'
import type { AppPlace, AppWorld, Operation, Release } from '../../../world.ts'

/** How long visitors who come to the host of before are sent on, where whoever moves does not say: what a record of the DNS is kept for. */
export const FORWARD_SECONDS = 86_400
export const FORWARD_SECONDS_MAX = 604_800

/** Where it lives: what its spec says counts before it has its name anywhere, and is a wish from then on. */
export const homeOf = ({ spec }: Pick<AppResource, 'spec'>, places: readonly AppPlace[]): string =>
  places.find(({ place }) => place === 'home')?.host ?? spec.hostId

/** The same, as its status says it to whoever has not asked the rows. */
export const livesOn = ({ spec, status }: Pick<AppResource, 'spec' | 'status'>): string => status?.host ?? spec.hostId

/** The app as one of this host: all that is done for an app is done on the host that its spec names. */
export const placedOn = (object: AppResource, host: string): AppResource =>
  object.spec.hostId === host ? object : { ...object, spec: { ...object.spec, hostId: host } }

export const targetOf = ({ intent }: Pick<Operation, 'intent'>): string | null =>
  intent.kind === 'move' ? intent.host : null

/** The move that is under way; undefined while none is. */
export const runningMove = ({ operations }: Pick<AppWorld, 'operations'>): Operation | undefined =>
  operations.find(({ kind, state }) => kind === 'move' && state === 'running')

/** A release of another host than the one where the app lives is that host's matter. */
export const isElsewhere = ({ record }: Release, home: string): boolean => (record?.host ?? home) !== home

/** Hosts that what is left of the app goes from now. An app that is deleted leaves all of them at once. */
export const leftPlaces = (places: readonly AppPlace[], now: Date, isDeleted: boolean): AppPlace[] =>
  places.filter(
    ({ place, until }) =>
      (isDeleted && place !== 'home') || (place === 'left' && until !== null && now.getTime() >= Date.parse(until)),
  )

/** The job that takes what is left off a host. @param uid of the app: a name may come again */
export const leftJobOf = (uid: string): string => `left-${uid}`
