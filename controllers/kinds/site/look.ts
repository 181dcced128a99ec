/**
 * The look at what is live: its files by one command on the host, its pages as visitors get them, and its route, by a reading of the
 * proxy that the sites of a host share (hack/decisions/113). Between two whole looks (all sums) a quick one asks whether any entry changed: by size, inode and both times, of which
 * no user can set the one of the last change (hack/decisions/061).
 */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { RECONCILE_REQUESTED_AT } from '../../../crds/kernel/object.ts'
import { LOOK_AGAIN_MS, LOOK_MS, type LookTarget, lookTarget, wantedPages } from '../../../crds/site/publishing/look.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import type { SiteLook } from '../../../crds/site/world.ts'
import { StaleEpoch, Stalled, Waiting } from '../../base/errors.ts'
import { lookAt, type Served } from '../../io/hosts/tls/served.ts'
import type { SiteDeps, SiteLooks, VerifiedSite } from './deps.ts'
import { filesOn, folderOf, liveRoute, wrongPages } from './publish.ts'

/** All sums are taken again after so long, whatever the quick looks say. */
const WHOLE_MS = 600_000
/** A host that answers late is no news: the look of before holds for so long. */
const GRACE_MS = 120_000
/** What was put back longer ago than this is put back again: also what is changed once more is right within a minute. */
const TRIES_MS = 20_000
/** A proxy that takes on another configuration cuts what is under way. */
const PAUSE_MS = 500
/** All sites of a host are looked at by one reading of its proxy in so long. */
const READING_MS = 10_000

type Deps = Omit<SiteDeps, 'looks'>

/** What is remembered of one site: another process looks at everything first. */
type Remembered = {
  /** What the look was of: the spec and who asked for it, bytes and name. */
  mark: string
  /** What was expected to be found. */
  expected: string
  look: SiteLook
  /** Of the last look that found all right, and of the last whole one. */
  goodMs: number
  wholeMs: number
  print: string | null
}
type Tries = { count: number; atMs: number }

const isGood = (look: SiteLook): boolean =>
  look.state === 'seen' &&
  look.strayed.length === 0 &&
  look.pages.length === 0 &&
  look.unserved === null &&
  look.route === 'right'

const markOf = ({ metadata }: SiteResource, { digest, hostname, hsts, aliases }: VerifiedSite): string =>
  [metadata.generation, metadata.annotations?.[RECONCILE_REQUESTED_AT], digest, hostname, hsts, ...aliases].join(' ')

/** @returns what a visitor gets; asked twice before anything bad is said */
const served = async (
  deps: Deps,
  { host, hostname }: LookTarget,
  paths: string[],
  isWrong: (seen: Served) => boolean,
) => {
  const seen = await lookAt(() => deps.hosts.tls(host), hostname, paths)
  if (!isWrong(seen)) return seen
  await sleep(PAUSE_MS)
  return lookAt(() => deps.hosts.tls(host), hostname, paths)
}

type Seen = SiteLook & { state: 'seen' }
type Found = {
  look: Omit<Seen, 'state' | 'tries' | 'nextAt'>
  /** More of the proxy strayed than routes. */
  others: boolean
  expected: string
  print: string | null
  isWhole: boolean
}

/** @param before what a quick look may rest on; null for a whole one */
const lookNow = async (
  deps: Deps,
  site: string,
  target: LookTarget,
  before: { expected: string; print: string } | null,
  signal: AbortSignal,
): Promise<Found> => {
  const { host, rendering, attested } = target
  const beganMs = performance.now()
  const folder = await folderOf(deps, site, { ...rendering, attested })
  const route = liveRoute(deps, site, target, folder.approved)
  const expected = createHash('sha256')
    .update(JSON.stringify([folder.digest, folder.files.map(({ path, sha256 }) => [path, sha256]), route]))
    .digest('hex')
  const known = before?.expected === expected ? before.print : null
  const wanted = wantedPages(folder.files)
  const wrong = (seen: Served) => (seen.state === 'answered' ? wrongPages(wanted, seen.pages) : ['none'])
  const files = await filesOn(deps, host).look(folder, known, signal)
  const paths = wanted.map(({ path }) => path)
  const seen = await served(deps, target, paths, (one) => files.strayed.length === 0 && wrong(one).length > 0)
  const isOff = wrong(seen).length > 0
  // what is wrong now is not explained by a proxy of before
  const ageMaxMs = isOff ? performance.now() - beganMs : READING_MS
  const standing = await deps.hosts.routes(host).standing(route, ageMaxMs)
  // our own that is right and serves other pages: another may answer before it
  const isCovered = standing.route === 'right' && standing.others && isOff && files.strayed.length === 0
  const look = {
    strayed: files.strayed,
    unserved: seen.state === 'none' ? seen.detail : null,
    pages: seen.state === 'answered' ? wrong(seen) : [],
    route: isCovered ? ('wrong' as const) : standing.route,
  }
  return { look, others: standing.others, expected, print: files.print, isWhole: known === null }
}

/** Why a host could not be looked at. @throws what is no matter of the host */
const unseen = (error: unknown, signal: AbortSignal): { reason: string; message: string } => {
  if (signal.aborted || error instanceof StaleEpoch) throw error
  if (error instanceof Waiting) return { reason: error.reason, message: error.message }
  if (error instanceof Stalled) return { reason: 'HostNotReady', message: error.message }
  return { reason: 'NotSeen', message: 'its files could not be looked at; the log says more, it is tried again' }
}

/** `strays`: hosts that were woken, for their proxy strayed when it was last read. */
type State = { deps: Deps; known: Map<string, Remembered>; tries: Map<string, Tries>; strays: Set<string> }

/** What no site owns is the host's to put back: it looks at once, and once only. */
const tellHost = ({ deps, strays }: State, host: string, others: boolean): void => {
  if (!others) strays.delete(host)
  else if (!strays.has(host)) {
    strays.add(host)
    deps.wake('Host', host)
  }
}

/** How often it was put back lately without being right since. */
const triesOf = ({ deps, tries }: State, site: string): number => {
  const found = tries.get(site)
  return found && deps.now().getTime() - found.atMs < TRIES_MS ? found.count : 0
}

const inMs = (deps: Deps, ms: number): string => new Date(deps.now().getTime() + ms).toISOString()

const lookAnew = async (
  state: State,
  { site, mark, target }: { site: string; mark: string; target: LookTarget },
  before: Remembered | undefined,
  signal: AbortSignal,
): Promise<SiteLook> => {
  const { deps, known, tries } = state
  const nowMs = deps.now().getTime()
  const print = before && nowMs - before.wholeMs < WHOLE_MS ? before.print : null
  const quick = before && print !== null ? { expected: before.expected, print } : null
  try {
    const found = await lookNow(deps, site, target, quick, signal)
    tellHost(state, target.host, found.others)
    const seen: Seen = { state: 'seen', ...found.look, tries: triesOf(state, site), nextAt: inMs(deps, LOOK_MS) }
    const good = isGood(seen)
    if (good) tries.delete(site)
    const look = good ? seen : { ...seen, nextAt: inMs(deps, LOOK_AGAIN_MS) }
    const wholeMs = found.isWhole || !before ? nowMs : before.wholeMs
    const goodMs = good ? nowMs : (before?.goodMs ?? 0)
    known.set(site, { mark, expected: found.expected, look, goodMs, wholeMs, print: found.print })
    return look
  } catch (error) {
    const said = unseen(error, signal)
    deps.log.debug({ err: error, site }, 'a live site could not be looked at')
    // what was seen to be right a moment ago is no worse for a host that is slow to answer
    if (before && before.mark === mark && isGood(before.look) && nowMs - before.goodMs < GRACE_MS) {
      return { ...before.look, nextAt: inMs(deps, LOOK_AGAIN_MS) }
    }
    return { state: 'unseen', ...said, nextAt: inMs(deps, LOOK_AGAIN_MS) }
  }
}

const GOOD = { state: 'seen', strayed: [], unserved: null, pages: [], route: 'right', tries: 0 } as const

export const makeSiteLooks = (deps: Deps): SiteLooks => {
  const state: State = { deps, known: new Map(), tries: new Map(), strays: new Set() }
  const { known, tries } = state
  return {
    look: async (object, world, signal) => {
      const site = object.metadata.name
      const target = lookTarget(object, world)
      if (!target) {
        known.delete(site)
        return null
      }
      const mark = markOf(object, { ...target, digest: target.rendering.digest })
      const before = known.get(site)
      const isFresh = before?.mark === mark && isGood(before.look)
      if (isFresh && Date.parse(before.look.nextAt) > deps.now().getTime()) return before.look
      return lookAnew(state, { site, mark, target }, before, signal)
    },
    restoring: (site) => {
      tries.set(site, { count: triesOf(state, site) + 1, atMs: deps.now().getTime() })
    },
    touched: (site) => known.delete(site),
    verified: (object, of) => {
      const look: SiteLook = { ...GOOD, strayed: [], pages: [], nextAt: inMs(deps, LOOK_MS) }
      const mark = markOf(object, of)
      const goodMs = deps.now().getTime()
      known.set(object.metadata.name, { mark, expected: '', look, goodMs, wholeMs: 0, print: null })
    },
    forget: (site) => {
      known.delete(site)
      tries.delete(site)
    },
  }
}
