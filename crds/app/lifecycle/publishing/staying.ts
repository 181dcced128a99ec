/**
 * What a host cannot end stays open for people who may not see the app any more, until they close it or the containers of then
 * are gone: it is a condition for as long (rules/app.md#what-is-open). Pure.
 */
import type { OwnCondition } from '../../../kernel/plan.ts'
import type { AppSpec } from '../../schema.ts'
import type { AppWorld, Release } from '../../world.ts'
import { addressesOf, wasReached } from '../retire.ts'
import { isSingle } from '../scaling/replicas.ts'
import type { LetInNote, Opener, StaysOpen } from './letin.ts'

type Seen = Pick<AppWorld, 'releases' | 'home'>

const reachedOf = ({ releases }: Seen): Release[] =>
  releases.filter((release) => release.retiredAt === null && wasReached(release))

const placesOf = (release: Release, home: string): string[] =>
  addressesOf(release).map((address) => `${release.record?.host ?? home}/${address}`)

/** Where anything can be open now, each `HOST/ADDRESS:PORT`: at all releases that visitors were on and that are not gone. */
export const openPlaces = (world: Seen): string[] => [
  ...new Set(reachedOf(world).flatMap((release) => placesOf(release, world.home))),
]

const hostOf = (place: string): string => place.slice(0, place.indexOf('/'))

export const placesOn = (places: readonly string[], hosts: readonly string[]): string[] =>
  places.filter((place) => hosts.includes(hostOf(place)))

/** Whether something stays open there. */
export const isOpenOn = (host: string, stays: StaysOpen | undefined): boolean =>
  placesOn(stays?.places ?? [], [host]).length > 0

/** Hosts that the app has left and where anything can be open yet. */
export const leftOpen = (world: Seen & Pick<AppWorld, 'places'>): string[] =>
  world.places.flatMap(({ host, place }) =>
    place === 'left' && placesOn(openPlaces(world), [host]).length > 0 ? [host] : [],
  )

/**
 * Whether a container of then still takes visitors. A release that went live later has others, be it at the same port; one
 * that keeps something may go on with the same.
 */
const isThere = ({ places, since, last = since }: StaysOpen, world: Seen): boolean =>
  reachedOf(world).some((release) => {
    const mayBeSame = Date.parse(release.liveAt ?? last) <= Date.parse(last) || isSingle(release.record)
    return mayBeSame && placesOf(release, world.home).some((place) => places.includes(place))
  })

/** What still stays open; undefined once nothing does. */
export const stayingIn = (note: Pick<LetInNote, 'stays'>, world: Seen): StaysOpen | undefined =>
  note.stays && isThere(note.stays, world) ? note.stays : undefined

const withStays = ({ stays: _before, ...note }: LetInNote, stays: StaysOpen | null): LetInNote =>
  stays === null ? note : { ...note, stays }

/**
 * What to keep on record once what `whose` opened was ended on these hosts: one that can do it again has ended what it could not before, too.
 * Where others stay there, and elsewhere all, more is kept than is so.
 */
export const noteEnded = (note: LetInNote, whose: readonly Opener[], hosts: readonly string[]): LetInNote => {
  if (note.stays === undefined) return note
  const { stays } = note
  const left = stays.whose.filter((one) => !whose.includes(one))
  const ended = placesOn(stays.places, hosts)
  const places = stays.places.filter((place) => !ended.includes(place))
  if (places.length > 0) return left.length > 0 ? note : withStays(note, { ...stays, places })
  return withStays(note, left.length > 0 ? { ...stays, whose: left } : null)
}

/** Of what it could not end before either it is said since when that is so. */
const stillOpen = ({ stays: before }: LetInNote, failed: StaysOpen): StaysOpen => {
  const whose = [...new Set([...(before?.whose ?? []), ...failed.whose])]
  const isNoNews = before !== undefined && whose.length === before.whose.length
  const hosts = failed.places.map(hostOf)
  const elsewhere = (before?.places ?? []).filter((place) => !hosts.includes(hostOf(place)))
  const places = [...elsewhere, ...failed.places]
  return { ...failed, whose, places, ...(isNoNews && { since: before.since, last: failed.since }) }
}

/** What to keep on record once a host that the app has left could not: that holds up nothing, and is not tried again by itself. */
export const noteStaying = (note: LetInNote, failed: StaysOpen): LetInNote => withStays(note, stillOpen(note, failed))

/** What to keep on record once its host could not: that is not tried again by itself. */
export const noteUnable = ({ tries: _tries, ...note }: LetInNote, failed: StaysOpen): LetInNote =>
  withStays({ ...note, again: [] }, stillOpen(note, failed))

/**
 * What to keep on record where its host failed at it, as while its guard is started anew: it is tried again soon, later each time, and holds up
 * nothing else.
 */
export const notePutOff = (note: LetInNote, failed: StaysOpen): LetInNote => ({
  ...noteUnable(note, failed),
  again: [...new Set([...note.again, ...failed.whose])],
  at: null,
  tries: (note.tries ?? 0) + 1,
})

const OPENERS: Readonly<Record<Opener, string>> = {
  other: 'whoever was let in before by password or while it was public',
  link: 'whoever came by a link that is over',
}

/** When it is over, where it lives and where it has been. */
const overOn = (places: readonly string[], world: Seen & Pick<AppWorld, 'places'>, deploy: string): string => {
  const left = world.places.filter(({ host, place }) => place === 'left' && placesOn(places, [host]).length > 0)
  const hosts = left.map(({ host }) => host)
  const goes = `goes by itself, at ${left.map(({ until }) => until).join(', ')}`
  if (left.length === 0) return deploy
  const isAll = placesOn(places, hosts).length === places.length
  const on = hosts.join(', ')
  return isAll ? `what is left of it on ${on} ${goes}` : `${deploy}; on ${on}, until what is left of it there ${goes}`
}

const say = ({ whose, since, why, places }: StaysOpen, isTried: boolean, world: AppWorld): string => {
  const live = world.releases.find(({ state }) => state === 'live')
  const change = isSingle(live?.record) ? ' with another image or env, for else its container stays,' : ''
  const who = whose.map((one) => OPENERS[one]).join(', and ')
  const tried = isTried ? ', and tries again' : ''
  const deploy = `its containers are replaced: deploy again${change} and it ends as the release of now drains`
  return (
    `since ${since} ${who} keeps what they have open (WebSockets, streams), though they would be refused now: the host could not end it ` +
    `(${why})${tried}. It lasts until they close it, or ${overOn(places, world, deploy)}. hack/host-setup says whether a host can end it`
  )
}

/** Nobody is refused by an app that is public. */
export const openConditions = ({ access }: Pick<AppSpec, 'access'>, world: AppWorld): OwnCondition[] => {
  const stays = access === 'public' || !world.route?.letIn ? undefined : stayingIn(world.route.letIn, world)
  if (!stays) return []
  const isTried = world.route?.letIn?.tries !== undefined
  return [{ type: 'OpenConnectionsStay', status: 'True', reason: 'HostCannotEnd', message: say(stays, isTried, world) }]
}
