/**
 * One look at a host for all apps on it. Whoever comes first and finds the last one too old has it taken for all that are
 * known by then; whoever comes meanwhile waits for it. So its cost goes with the host, and not with the number of passes.
 */
import type { ReadinessProbe } from '../../../../crds/app/lifecycle/publishing/probe.ts'
import type { Hosts, RunInput } from '../../../io/hosts/link.ts'
import { directLine, LOOK } from '../scripts.ts'
import { type LookLines, parseLook } from './lookparse.ts'

/** A release as it is asked for. `dialFile`: '' for none. */
export type RoutedPort = { project: string; service: string; port: number; dialFile: string } & Pick<
  ReadinessProbe,
  'path' | 'timeoutSeconds'
>

/** `proxy`: whether it has all that it was told; null where that was not looked at. */
export type HostSeen = { at: Date; lines: LookLines; places: ReadonlyMap<string, number>; proxy: boolean | null }

/** For the engine to tell of all, and slow apps to answer. */
const DEADLINE_MS = 20_000
/** An app that nobody asked for so long has gone elsewhere. */
const FORGOTTEN_MS = 120_000

export const keyOf = ({ project, service }: Pick<RoutedPort, 'project' | 'service'>): string => `${project} ${service}`

type Known = {
  targets: Map<string, { target: RoutedPort; at: number }>
  last: HostSeen | null
  running: Promise<HostSeen | null> | null
}

const linesOf = (targets: readonly RoutedPort[], isDirect: boolean): string[] => [
  `${targets.length} ${directLine(isDirect)}`,
  ...targets.flatMap(({ project, service, port, dialFile, path, timeoutSeconds }) => [
    ...[`${project} ${service} ${port}`, dialFile, path, String(timeoutSeconds)],
  ]),
]

export const makeHostLooks = ({ hosts, now }: { hosts: Hosts; now: () => Date }) => {
  const known = new Map<string, Known>()
  const of = (host: string): Known => {
    const found = known.get(host) ?? { targets: new Map(), last: null, running: null }
    known.set(host, found)
    return found
  }

  const take = async (host: string, { targets }: Known): Promise<HostSeen | null> => {
    const at = now()
    for (const [key, { at: asked }] of targets) if (at.getTime() - asked > FORGOTTEN_MS) targets.delete(key)
    const all = [...targets.values()].map(({ target }) => target)
    const isDirect = (hosts.facts(host)?.siteRoot ?? null) !== null
    const input: RunInput = { script: LOOK, lines: linesOf(all, isDirect), deadlineMs: DEADLINE_MS, lane: 'status' }
    const drift = hosts
      .routes(host)
      .drift()
      .catch(() => null)
    const { code, stdout } = await hosts.link(host).run(input)
    if (code !== 0) return null
    const places = new Map(all.map((target, place) => [keyOf(target), place]))
    const found = await drift
    return { at, lines: parseLook(stdout.toString('utf8')), places, proxy: found === null ? null : found === 'none' }
  }

  const isGood = (seen: HostSeen | null, keys: readonly string[], sinceMs: number): boolean =>
    seen !== null && seen.at.getTime() >= sinceMs && seen.at <= now() && keys.every((key) => seen.places.has(key))

  /**
   * @param sinceMs what was seen earlier does not count
   * @returns null when the engine of the host does not answer @throws what HostLink.run throws
   */
  const at = async (host: string, targets: readonly RoutedPort[], sinceMs: number): Promise<HostSeen | null> => {
    const place = of(host)
    const keys = targets.map(keyOf)
    for (const target of targets) place.targets.set(keyOf(target), { target, at: now().getTime() })
    if (isGood(place.last, keys, sinceMs)) return place.last
    // One that began before we asked may know nothing of us: the next one does.
    const under = place.running && (await place.running.catch(() => null))
    if (under && isGood(under, keys, sinceMs)) return under
    place.running ??= take(host, place).finally(() => {
      place.running = null
    })
    const seen = await place.running
    if (seen) place.last = seen
    return seen && keys.every((key) => seen.places.has(key)) ? seen : null
  }

  return { at }
}

export type HostLooks = ReturnType<typeof makeHostLooks>
