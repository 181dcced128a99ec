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

const withStays = ({ stays: _before, tries: _tries, ...note }: LetInNote, stays: StaysOpen | null): LetInNote =>
  stays === null ? note : { ...note, stays }

/** What to keep on record once what `whose` opened was ended: a host that can do it again has ended what it could not before, too. */
export const noteEnded = (note: LetInNote, whose: readonly Opener[]): LetInNote => {
  const left = (note.stays?.whose ?? []).filter((one) => !whose.includes(one))
  return withStays(note, note.stays && left.length > 0 ? { ...note.stays, whose: left } : null)
}

/** Of what it could not end before either it is said since when that is so. */
const stillOpen = ({ stays: before }: LetInNote, failed: StaysOpen): StaysOpen => {
  const whose = [...new Set([...(before?.whose ?? []), ...failed.whose])]
  const isNoNews = before !== undefined && whose.length === before.whose.length
  return { ...failed, whose, ...(isNoNews && { since: before.since, last: failed.since }) }
}

/** What to keep on record once its host could not: that is not tried again by itself. */
export const noteUnable = (note: LetInNote, failed: StaysOpen): LetInNote =>
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

const say = ({ whose, since, why }: StaysOpen, isTried: boolean, { releases }: Seen): string => {
  const live = releases.find(({ state }) => state === 'live')
  const change = isSingle(live?.record) ? ' with another image or env, for else its container stays,' : ''
  const who = whose.map((one) => OPENERS[one]).join(', and ')
  const tried = isTried ? ', and tries again' : ''
  return (
    `since ${since} ${who} keeps what they have open (WebSockets, streams), though they would be refused now: the host could not end it ` +
    `(${why})${tried}. It lasts until they close it, or its containers are replaced: deploy again${change} and it ends as the release of ` +
    'now drains. hack/host-setup says whether a host can end it'
  )
}

/** Nobody is refused by an app that is public. */
export const openConditions = ({ access }: Pick<AppSpec, 'access'>, world: AppWorld): OwnCondition[] => {
  const stays = access === 'public' || !world.route?.letIn ? undefined : stayingIn(world.route.letIn, world)
  if (!stays) return []
  const isTried = stays.whose.some((one) => world.route?.letIn?.again.includes(one))
  return [{ type: 'OpenConnectionsStay', status: 'True', reason: 'HostCannotEnd', message: say(stays, isTried, world) }]
}
