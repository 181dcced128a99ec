/**
 * What really runs of an app. Its host is looked at now and then, for all of its apps at once (health/hostlook.ts), and tells it too
 * when a release has been started; in between what was seen last counts.
 */

import { joinedAddress } from '../../../../crds/app/compose/replicas.ts'
import { isAnswering } from '../../../../crds/app/lifecycle/health/findings.ts'
import type { ContainerSeen } from '../../../../crds/app/lifecycle/health/seen.ts'
import { volumeOnHost } from '../../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { probeOf } from '../../../../crds/app/lifecycle/publishing/probe.ts'
import { dialFileOf } from '../../../../crds/app/lifecycle/route.ts'
import { isReplica, isSingle, listenersOf } from '../../../../crds/app/lifecycle/scaling/replicas.ts'
import { slotFile } from '../../../../crds/app/lifecycle/scaling/streams.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppObservation, JobState, Release, ReplicaSeen, VolumeSeen } from '../../../../crds/app/world.ts'
import { originOf } from '../../../../crds/kernel/desire/desire.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import { baseProjectOf } from '../jobs.ts'
import { type HostSeen, keyOf, makeHostLooks, type RoutedPort } from './hostlook.ts'
import { type LookedContainer, type LookLines, type PortAnswer, parseLook } from './lookparse.ts'

export type AppSeen = {
  look: AppObservation | null
  /** Of the release that is kept to be gone back to. */
  before: AppObservation | null
}

export type LookAsked = {
  live: Release
  before: Release | null
  /** While another release is started the host has enough to do: what was seen last has to do then. */
  isIdle: boolean
  /** How old what was seen may be. */
  everyMs: number
}

export type Observations = {
  /** What was not seen is null, and what was seen stays while the engine of the host does not answer. @throws what HostLink.run throws */
  at(object: AppResource, asked: LookAsked): Promise<AppSeen>
  /** How the job stands that starts a release: one that ended well has just looked. */
  noteStart(object: AppResource, release: Release | null, state: JobState): void
  /** The proxy was told to dial this address; null when no file tells it. */
  noteDial(app: string, dial: string | null): void
  /** Something was done about it: what was seen before says nothing any more. */
  lookAgain(app: string): void
  forget(app: string): void
}

/** So long a restart is remembered. */
const REMEMBERED_MS = 5 * 60_000

type Kept = { release: number; seen: AppSeen }
type Count = { restarts: number; at: string[]; seenMs: number }

/** Of the look before: what it takes to tell since when something holds. */
type Memory = { restartedAt(line: LookedContainer): string[]; badSince: string | null }
/** `places`: of what takes visitors, replica by replica. */
type Subject = {
  slug: string
  release: Release
  places: readonly (number | undefined)[]
  at: string
  proxy: boolean | null
}

const isDone = ({ state, code, policy }: ContainerSeen): boolean =>
  state === 'exited' && code === 0 && (policy === 'no' || policy === 'on-failure')

const projectsOf = (slug: string, { record }: Release): (string | null)[] => [
  record?.project ?? null,
  (record?.stateful ?? []).length > 0 ? baseProjectOf(slug) : null,
]

/** Those of the release that the meter has measured. */
const volumesOf = ({ volumes }: LookLines, slug: string, { record }: Release): VolumeSeen[] => {
  const held = volumes.get(slug)
  return (record?.volumes ?? []).flatMap((name) => {
    const bytes = held?.get(volumeOnHost(slug, name))
    return bytes === undefined ? [] : [{ name, bytes }]
  })
}

const replicaSeen = (
  name: string,
  containers: readonly ContainerSeen[],
  answer: PortAnswer | undefined,
): ReplicaSeen => {
  const seen = containers.find((one) => one.name === name && one.state === 'running')
  const isAnswered = answer !== undefined && isAnswering(answer)
  const isWell = seen !== undefined && seen.health !== 'unhealthy' && seen.health !== 'starting'
  return { name, address: answer?.address ?? null, isReady: isAnswered && isWell }
}

/**
 * Where visitors are to be led: to each replica that is well, and in the place of another to one that is, so that nobody is
 * led to what may have become another's port. Where none is well they stay where they are looked for.
 */
const answeredBy = (
  replicas: readonly ReplicaSeen[],
  answers: readonly (PortAnswer | undefined)[],
): Pick<AppObservation, 'address' | 'http'> => {
  const best = answers.find((one) => one !== undefined && isAnswering(one)) ?? answers.find((one) => one !== undefined)
  const http = best?.http ?? null
  const well = replicas.filter(({ isReady }) => isReady).flatMap(({ address }) => address ?? [])
  const [first = replicas.find(({ address }) => address !== null)?.address] = well
  if (!first) return { address: null, http }
  const slots = replicas.map(({ address }) =>
    address !== null && (well.length === 0 || well.includes(address)) ? address : first,
  )
  return { address: joinedAddress(slots), http }
}

/** What the files say, replica by replica; null where there are none. */
const dialledIn = ({ dials }: LookLines, places: Subject['places']): string | null => {
  const found = places.map((place) => (place === undefined ? undefined : dials.get(place)))
  return found.every((one) => one === undefined) ? null : joinedAddress(found.map((one) => one ?? ''))
}

const observed = (lines: LookLines, { slug, release, places, at, proxy }: Subject, memory: Memory): AppObservation => {
  const projects = projectsOf(slug, release)
  const { record, number } = release
  const listeners = listenersOf(record, number)
  const isStray = ({ project, name }: LookedContainer) =>
    project === record?.project && isReplica(record, name) && !listeners.includes(name)
  const all = lines.containers.filter(({ project }) => projects.includes(project))
  const containers = all
    .filter((one) => !isStray(one))
    .map(({ id, ...line }): ContainerSeen => ({ ...line, restartedAt: memory.restartedAt({ id, ...line }) }))
  const running = containers.filter(({ state }) => state === 'running').map(({ service }) => service)
  // A migration that ended well is not missed, however often it was tried.
  const stopped = containers.filter((one) => one.state !== 'running' && !isDone(one))
  const answers = places.map((place) => (place === undefined ? undefined : lines.answers.get(place)))
  const replicas = listeners.map((name, index) => replicaSeen(name, containers, answers[index]))
  const { address, http } = answeredBy(replicas, answers)
  const disk = lines.disks.get(slug) ?? null
  const look: AppObservation = {
    ...{ at, address, http, running, containers, replicas, strays: all.filter(isStray).map(({ name }) => name) },
    dial: dialledIn(lines, places),
    stopped: stopped.map(({ service, code }) => ({ service, code })),
    // What runs was started since.
    disk: disk && { ...disk, isStopped: disk.isStopped && running.length === 0 },
    volumes: volumesOf(lines, slug, release),
    hasRoute: proxy,
    badSince: null,
  }
  return { ...look, badSince: isAnswering(look) ? null : (memory.badSince ?? at) }
}

/** When each container was found to have been started again, for as long as it is remembered. */
const makeRestarts = () => {
  const counts = new Map<string, Count>()
  return {
    of: ({ id, restarts }: LookedContainer, at: string): string[] => {
      const seenMs = Date.parse(at)
      const before = counts.get(id)
      if (before && seenMs < before.seenMs) return before.at
      const more = before ? Math.max(0, restarts - before.restarts) : 0
      const times = [...(before?.at ?? []), ...Array.from({ length: Math.min(more, 10) }, () => at)]
      const kept = times.filter((one) => seenMs - Date.parse(one) < REMEMBERED_MS)
      counts.set(id, { restarts, at: kept, seenMs })
      return kept
    },
    prune: (nowMs: number): void => {
      for (const [id, { seenMs }] of counts) if (nowMs - seenMs > REMEMBERED_MS) counts.delete(id)
    },
  }
}

/** What takes visitors of a release, replica by replica. */
const targetsIn = (
  hosts: Pick<Hosts, 'facts'>,
  { metadata, spec }: AppResource,
  { record, number }: Release,
  hasDial: boolean,
): RoutedPort[] => {
  const { project = null, route } = record ?? {}
  if (!route) return []
  const routed = isSingle(record) ? baseProjectOf(spec.slug) : project
  const facts = hosts.facts(spec.hostId)
  const dialFile = hasDial && facts ? dialFileOf(originOf(metadata), facts) : null
  if (!routed) return []
  const { path, timeoutSeconds } = probeOf(spec)
  return listenersOf(record, number).map((service, index) => ({
    ...{ project: routed, service, port: route.port, path, timeoutSeconds },
    dialFile: dialFile === null ? '' : slotFile(dialFile, index + 1),
  }))
}

const targetsOf = (hosts: Pick<Hosts, 'facts'>, object: AppResource, { live, before }: LookAsked): RoutedPort[] => {
  const own = targetsIn(hosts, object, live, true)
  const known = new Set(own.map(keyOf))
  const past = before ? targetsIn(hosts, object, before, false) : []
  return [...own, ...past.filter((one) => !known.has(keyOf(one)))]
}

export const makeObservations = ({ hosts, now }: { hosts: Hosts; now: () => Date }): Observations => {
  const looks = makeHostLooks({ hosts, now })
  const last = new Map<string, Kept>()
  /** What was seen earlier does not count. */
  const since = new Map<string, number>()
  const restarts = makeRestarts()

  const observe = (object: AppResource, release: Release, seen: HostSeen, before: AppObservation | null) => {
    const targets = targetsIn(hosts, object, release, release.state === 'live')
    const at = seen.at.toISOString()
    const places = targets.map((target) => seen.places.get(keyOf(target)))
    const memory = { restartedAt: (line: LookedContainer) => restarts.of(line, at), badSince: before?.badSince ?? null }
    return observed(seen.lines, { slug: object.spec.slug, release, places, at, proxy: seen.proxy }, memory)
  }

  const isFresh = (app: string, { look }: AppSeen, everyMs: number): boolean => {
    const [atMs, nowMs] = [Date.parse(look?.at ?? ''), now().getTime()]
    // What was seen later than now was seen before the clock was set back.
    return atMs <= nowMs && atMs >= Math.max(since.get(app) ?? 0, nowMs - everyMs)
  }

  const lookNow = async (object: AppResource, asked: LookAsked, seen: AppSeen): Promise<AppSeen> => {
    const { live, before, everyMs } = asked
    const { name } = object.metadata
    const sinceMs = Math.max(since.get(name) ?? 0, now().getTime() - everyMs)
    const host = await looks.at(object.spec.hostId, targetsOf(hosts, object, asked), sinceMs)
    if (!host) return seen
    restarts.prune(host.at.getTime())
    const fresh = {
      look: observe(object, live, host, seen.look),
      before: before && observe(object, before, host, seen.before),
    }
    last.set(name, { release: live.number, seen: fresh })
    return fresh
  }

  return {
    async at(object, asked) {
      const { live, before, isIdle, everyMs } = asked
      const { name } = object.metadata
      const kept = last.get(name)
      const seen = kept?.release === live.number ? kept.seen : { look: null, before: null }
      const isKnown = isFresh(name, seen, everyMs) && (before === null || seen.before !== null)
      return isIdle && !isKnown ? lookNow(object, asked, seen) : { ...seen, before: before && seen.before }
    },
    noteStart({ metadata, spec }, release, state) {
      if (!release || state.state !== 'exited' || state.code !== 0) return
      const at = now().toISOString()
      const memory = { restartedAt: (line: LookedContainer) => restarts.of(line, at), badSince: null }
      const places = listenersOf(release.record, release.number).map((_, place) => place)
      const subject = { slug: spec.slug, release, places, at, proxy: null }
      const look = observed(parseLook(state.log, true), subject, memory)
      last.set(metadata.name, { release: release.number, seen: { look, before: null } })
    },
    noteDial(app, dial) {
      const kept = last.get(app)
      if (!kept?.seen.look) return
      const look = { ...kept.seen.look, dial, hasRoute: true }
      last.set(app, { ...kept, seen: { ...kept.seen, look } })
    },
    lookAgain: (app) => void since.set(app, now().getTime() + 1),
    forget(app) {
      last.delete(app)
      since.delete(app)
    },
  }
}
