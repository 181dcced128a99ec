/** What is known of an app before its pass is planned: rows, the job under way, and what really runs (look.ts). */

import { isOverRest } from '../../../crds/app/desire.ts'
import { isOccupied } from '../../../crds/app/lifecycle/health/mend.ts'
import { heldRelease } from '../../../crds/app/lifecycle/health/watch.ts'
import { type AppBackup, backJobOf, keepJobOf } from '../../../crds/app/lifecycle/keeping/backups/backup.ts'
import { withoutPause } from '../../../crds/app/lifecycle/keeping/backups/pausing.ts'
import { isBackupDue } from '../../../crds/app/lifecycle/keeping/backups/plan.ts'
import {
  homeOf,
  isElsewhere,
  placedOn,
  runningMove,
  targetOf,
} from '../../../crds/app/lifecycle/keeping/moving/place.ts'
import { isOver, mayLeave, wasReached } from '../../../crds/app/lifecycle/retire.ts'
import { routeIdOf, routeOf } from '../../../crds/app/lifecycle/route.ts'
import { leavingIn } from '../../../crds/app/lifecycle/scaling/leaving.ts'
import { liveOf, lookEveryMs } from '../../../crds/app/plan.ts'
import { isRunDue } from '../../../crds/app/runs/plan.ts'
import { runJobOf } from '../../../crds/app/runs/run.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { downJobOf, type JobStep, jobIdOf } from '../../../crds/app/steps.ts'
import type { AppObservation, AppWorld, JobState, Operation, Release, TargetHost } from '../../../crds/app/world.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { Stalled, Waiting } from '../../base/errors.ts'
import type { Keys } from '../../base/keys.ts'
import type { Hosts, LinkedHostFacts } from '../../io/hosts/link.ts'
import type { BackupLedger } from '../../store/app/backups.ts'
import type { AppEpisodes } from '../../store/app/episodes.ts'
import type { AppLedger, AppRows } from '../../store/app/operations.ts'
import type { PreviewLedger } from '../../store/app/publishing/previews.ts'
import type { AppPlaces } from '../../store/app/rooms.ts'
import type { RunLedger } from '../../store/app/runs.ts'
import type { Directory } from '../account-index.ts'
import { type Builds, buildOf } from './acts/builds.ts'
import type { BudgetRefusals } from './acts/refusals.ts'
import { makeElsewhere } from './health/elsewhere.ts'
import type { Observations } from './health/observation.ts'
import { JOB_WAIT_MS } from './jobs.ts'
import type { StepProgress } from './logs/progress.ts'
import { type NamingDeps, namingOf, routedNames } from './naming.ts'

export type ObserveDeps = NamingDeps & {
  ledger: AppLedger
  runs: RunLedger
  backups: Pick<BackupLedger, 'observe'>
  isClockTrusted?: () => boolean
  hosts: Hosts
  observations: Observations
  progress: StepProgress
  builds: Builds
  refusals: Pick<BudgetRefusals, 'at'>
  episodes: Pick<AppEpisodes, 'open'>
  places: Pick<AppPlaces, 'placesOf'>
  previews: Pick<PreviewLedger, 'observe'>
  accounts: Directory
  keys: Keys
  /** When an account sent the files of a digest last. */
  uploadedAt(account: string, digest: string): Promise<string | null>
  publicUrl: string
  now: () => Date
}

export const targetHostOf = (facts: LinkedHostFacts | null): TargetHost | null =>
  facts && {
    name: facts.name,
    account: facts.account,
    class: facts.class,
    approved: facts.approved,
    ready: facts.ready,
    arch: facts.arch,
    baseDomain: facts.baseDomain,
    siteRoot: facts.siteRoot,
    httpsPort: facts.httpsPort,
    budget: facts.budget,
    capacity: facts.capacity,
    remapsUsers: facts.remapsUsers,
    isCordoned: facts.isCordoned,
  }

/** The end of what was begun so lately is waited for on the host; later it is asked for now and then. */
const AWAITED_MS = 20_000

type OnHost = Pick<AppWorld, 'job' | 'retiring' | 'requests' | 'look' | 'before' | 'reach'>
type Runs = Omit<AppWorld['runs'], 'jobs'>
type Known = AppRows & Pick<AppWorld, 'episode' | 'naming' | 'linksEnded' | 'backups' | 'places' | 'previews'>

/** What runs of the live release, and of the one that is kept to be gone back to. */
const makeLooking = ({ hosts, keys, observations, publicUrl, now }: ObserveDeps) => {
  /** What is lost may be another's; and what was not told to the proxy yet is not lost. */
  const hasRoute = async (object: AppResource, rows: Known, look: AppObservation): Promise<boolean | null> => {
    if (look.dial?.split(',').includes('')) return false
    const host = targetHostOf(hosts.facts(object.spec.hostId))
    const address = look.address ?? liveOf(rows)?.address ?? null
    if (!host || address === null) return look.hasRoute
    const routes = hosts.routes(host.name)
    const isLost = routes.wasPutBack(routeIdOf(object.metadata))
    if (look.hasRoute !== false && !isLost) return look.hasRoute
    const given = { ...rows, host, publicUrl, gateToken: keys.gateToken(object.metadata.name) }
    const { route, digest } = routeOf(object, given, address)
    if (rows.route?.digest !== digest) return null
    // Served again by a look at its host or not: it is told, and set by this app.
    return isLost ? false : routes.stands(route)
  }

  return async (object: AppResource, rows: Known): Promise<Pick<OnHost, 'look' | 'before'>> => {
    const live = liveOf(rows)
    if (!live) return { look: null, before: null }
    const before = heldRelease(rows, now())
    const asked = { live, before, isIdle: !isOccupied(rows), everyMs: lookEveryMs(rows, now()) }
    const found = await observations.at(object, asked)
    const { look } = found
    return look && asked.isIdle ? { ...found, look: { ...look, hasRoute: await hasRoute(object, rows, look) } } : found
  }
}

const goneJob = async (hosts: Hosts, { metadata, spec }: AppResource, releases: readonly Release[]) =>
  releases.length === 0 ? null : hosts.link(spec.hostId).jobState(downJobOf(originOf(metadata), 'all'))

/** A scale looks at what it adds alone. */
const isStartOf = ({ kind, steps }: Operation): boolean =>
  kind !== 'scale' && steps.some(({ name, state }) => name === 'start' && state === 'running')

/** The operation whose job is to be looked at, with the step that it is for. */
const jobUnderWay = ({ operations }: Pick<Known, 'operations'>): { running: Operation; step: JobStep } | null => {
  const running = operations.find(({ state }) => state === 'running')
  const step = running?.steps.find(({ state }) => state === 'running')?.name
  return running && (step === 'images' || step === 'start') ? { running, step } : null
}

type JobDeps = Pick<ObserveDeps, 'hosts' | 'observations' | 'progress' | 'builds'>

/** The job of the operation under way, or the one that takes all of it down; null while it waits for its turn. */
export const makeJobOf =
  ({ hosts, observations, progress, builds }: JobDeps) =>
  async (object: AppResource, { operations, releases }: Known): Promise<JobState | null> => {
    if (object.metadata.deletionTimestamp !== undefined) return goneJob(hosts, object, releases)
    const underWay = jobUnderWay({ operations })
    if (!underWay) return null
    const { running, step } = underWay
    // That of a move runs on the host that it goes to, whatever becomes of this one.
    const host = targetOf(running) ?? object.spec.hostId
    const waitMs = running.cancelAt === null ? JOB_WAIT_MS : 0
    if (await builds.waits(running.id, waitMs)) return null
    const link = hosts.link(host)
    const following = { operation: running, release: { number: running.release ?? 0 }, step }
    const after = await progress.wantedFrom(following)
    const state = await link.jobState(jobIdOf(running, step), { waitMs, after })
    const made = releases.find(({ number }) => number === running.release) ?? null
    if (step === 'images') builds.noteJob(buildOf(object, running, hosts.facts(host)), state)
    if (isStartOf(running)) observations.noteStart(object, made, state)
    return progress.due(following, state)
  }

/** Those whose turn it is to be looked at. */
const makeRunJobs =
  ({ hosts, now }: ObserveDeps) =>
  async ({ spec }: AppResource, { runs }: Runs): Promise<AppWorld['runs']['jobs']> => {
    const due = runs.filter((run) => isRunDue(run, now()) || (run.state === 'running' && run.cancelAt !== null))
    const link = hosts.link(spec.hostId)
    const found = await Promise.all(due.map(async (run) => [run.id, await link.jobState(runJobOf(run))] as const))
    return Object.fromEntries(found)
  }

/** Those that pack, or put something into a volume; of a restore that ended otherwise than well, what puts it back. */
const makeBackupJobs =
  ({ hosts, now }: ObserveDeps) =>
  async ({ spec }: AppResource, { backups }: Known): Promise<AppWorld['backupJobs']> => {
    const link = hosts.link(spec.hostId)
    const jobsOf = async (backup: AppBackup): Promise<AppWorld['backupJobs'][string]> => {
      const isFresh = now().getTime() - Date.parse(backup.startedAt ?? backup.createdAt) < AWAITED_MS
      const wait = { waitMs: isFresh && backup.cancelAt === null ? JOB_WAIT_MS : 0 }
      const keep = await link.jobState(keepJobOf(backup), wait)
      const isOver = backup.restores === null || keep.state !== 'exited' || keep.code === 0
      return isOver ? { keep } : { keep, back: await link.jobState(backJobOf(backup), wait) }
    }
    const due = backups.filter(isBackupDue)
    const found = await Promise.all(due.map(async (backup) => [backup.id, await jobsOf(backup)] as const))
    return Object.fromEntries(found)
  }

const makeOnHost = (deps: ObserveDeps) => {
  const { hosts, now } = deps
  const [jobOf, lookAt] = [makeJobOf(deps), makeLooking(deps)]
  return async (object: AppResource, rows: Known): Promise<OnHost> => {
    const { metadata, spec } = object
    const link = hosts.link(spec.hostId)
    const held = heldRelease(rows, now())
    const leaving = rows.releases.filter(
      (one) => isOver(one) && one !== held && mayLeave(one, now()) && !isElsewhere(one, spec.hostId),
    )
    const begun = leaving.filter(({ record }) => record !== null)
    const isAsked =
      leaving.some(wasReached) || leavingIn(rows).length > 0 || (held !== null && spec.websockets === 'cut')
    const stateOf = async ({ number }: Release) =>
      [number, await link.jobState(downJobOf(originOf(metadata), number))] as const
    const [job, retiring, upstreams, found, reach] = await Promise.all([
      runningMove(rows) ? null : jobOf(object, rows),
      Promise.all(begun.map(stateOf)),
      isAsked ? hosts.routes(spec.hostId).upstreams() : null,
      lookAt(object, rows),
      liveOf(rows) && !isOccupied(rows)
        ? deps.reachLooks.at(metadata.name, spec, routedNames(object, rows.naming, hosts))
        : null,
    ])
    const requests = upstreams && Object.fromEntries(upstreams.map(({ address, requests }) => [address, requests]))
    return { job, retiring: Object.fromEntries(retiring), requests, ...found, reach }
  }
}

/** @returns a function that observes one app */
export const makeObserve = (deps: ObserveDeps) => {
  const { ledger, hosts, keys, progress, now } = deps
  const [onHost, runJobsOf, backupJobsOf] = [makeOnHost(deps), makeRunJobs(deps), makeBackupJobs(deps)]
  const jobOf = makeJobOf(deps)
  const elsewhere = makeElsewhere({
    ...{ hosts, now, hostOf: (name) => targetHostOf(hosts.facts(name)) },
    jobOf: (app, rows) => jobOf(app, rows as Known),
  })

  /** Where a manifest asks for another upload than was deployed over REST last. */
  const uploadedAt = async ({ spec }: AppResource, rows: AppRows): Promise<string | null> =>
    spec.source && isOverRest(spec, rows) ? deps.uploadedAt(spec.account, spec.source.digest) : null

  return async (given: AppResource): Promise<AppWorld> => {
    const places = await deps.places.placesOf(given.metadata.name)
    const home = homeOf(given, places)
    const object = placedOn(given, home)
    const { metadata, spec } = object
    const at = now().toISOString()
    const [known, published, runs, backups, episode, previews] = await Promise.all([
      ledger.observe({ app: metadata.name, host: spec.hostId, slug: spec.slug, now: at }),
      namingOf(deps, object),
      deps.runs.observe(metadata.name),
      deps.backups.observe(metadata.name),
      deps.episodes.open(metadata.name),
      deps.previews.observe(metadata.name),
    ])
    const rows = { ...known, ...published, backups, episode, places, previews }
    const host = targetHostOf(hosts.facts(spec.hostId))
    const account = deps.accounts.get(spec.account)
    const unseen: OnHost & Pick<AppWorld['runs'], 'jobs'> & Pick<AppWorld, 'backupJobs'> = {
      ...{ job: null, retiring: {}, requests: null, look: null, before: null, reach: null },
      ...{ jobs: {}, backupJobs: {} },
    }
    let unreachable: string | null = null
    const look = async () => {
      const looks = [onHost(object, rows), runJobsOf(object, runs), backupJobsOf(object, rows)] as const
      const [seen, jobs, backupJobs] = await Promise.all(looks)
      return { ...seen, jobs, backupJobs }
    }
    const there = await elsewhere(object, rows)
    const { jobs, ...onIt } = !host?.approved
      ? unseen
      : await look().catch((error) => {
          // What the database says counts all the same.
          if (!(error instanceof Waiting || error instanceof Stalled)) throw error
          unreachable = error.message
          return unseen
        })
    const running = rows.operations.find(({ state }) => state === 'running')
    return {
      ...rows,
      ...onIt,
      ...{ home, wanted: given.spec.hostId, moving: there.moving, leaving: there.leaving, job: there.job ?? onIt.job },
      look: withoutPause(onIt.look, backups),
      before: withoutPause(onIt.before, backups),
      runs: { ...runs, jobs, isClockTrusted: deps.isClockTrusted?.() ?? true },
      uploadedAt: await uploadedAt(object, rows),
      unreachable,
      progress: running ? progress.said(running) : null,
      budgetRefusal: deps.refusals.at(metadata.name),
      account: account && { name: spec.account, capabilities: account.capabilities },
      host,
      publicUrl: deps.publicUrl,
      gateToken: keys.gateToken(metadata.name),
    }
  }
}
