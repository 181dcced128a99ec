/** Releases between their judgement and their start: judged, sealed, opened again. Values of the env stay in here. */

import type { ComposeFinding } from '../../../crds/app/compose/finding.ts'
import { planRelease, summariseRelease } from '../../../crds/app/compose/printing/plan.ts'
import { printProject } from '../../../crds/app/compose/printing/print.ts'
import type { Budget, Project, ServiceLimits } from '../../../crds/app/compose/project.ts'
import { partsOf } from '../../../crds/app/lifecycle/health/parts.ts'
import { sayDowntime } from '../../../crds/app/lifecycle/keeping/handover.ts'
import type { AppSpec } from '../../../crds/app/schema.ts'
import { imageRequests, recordOf, type SealedRelease } from '../../../crds/app/sealed.ts'
import { dockerConfig, registryOf } from '../../../crds/app/sources/registries.ts'
import type { PinnedImage, Release, ReleaseRecord, TargetHost } from '../../../crds/app/world.ts'
import { digestOf, listingOf } from '../../../crds/files/archive.ts'
import { buildFault } from '../../../crds/host/isolation.ts'
import type { ComposeJudge } from '../../base/judging/judge.ts'
import type { AppStore } from '../../store/app/app.ts'
import type { Registries } from '../../store/app/registries.ts'
import type { AppVault } from '../../store/app/releases.ts'
import type { Blobs } from '../../store/blobs.ts'

export type ReleaseDeps = {
  composeJudge: Pick<ComposeJudge, 'judge'>
  store: Pick<AppStore, 'env' | 'source'>
  vault: AppVault
  registries: Pick<Registries, 'open'>
  blobs: Blobs
}

export type JudgedRelease =
  | { ok: true; sealed: SealedRelease; record: ReleaseRecord }
  | { ok: false; code: Refused; detail: string }

type Refused = 'COMPOSE_REFUSED' | 'UNKNOWN_SOURCE' | 'HOST_UNFIT' | 'HOST_NOT_ISOLATED' | 'DOWNTIME_NOT_CONFIRMED'

const FINDINGS_SHOWN = 8

const sentenceOf = (findings: readonly ComposeFinding[]): string => {
  const shown = findings
    .slice(0, FINDINGS_SHOWN)
    .map(({ pointer, detail, line }) => `${pointer} (line ${line}) ${detail}`)
  const more = findings.length - shown.length
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** Why it is not built on the host; null where it is, or what was built is run again. */
const faultOfBuild = (pinned: PinnedImage[] | null, host: TargetHost, { services }: Project): string | null =>
  pinned === null ? buildFault(host, services) : null

type Given = {
  app: string
  spec: AppSpec
  host: TargetHost
  release: Release
  /** Images to run again; null for a new build. */
  pinned: PinnedImage[] | null
  live: Release | undefined
  confirmed: readonly string[]
  /** What it may use, each of its replicas. */
  budget: Budget
  replicas: number
  /** A service may be stopped for it. */
  mayStop: boolean
}

/** What stands against it beside the live release: volumes that would be left, a service that would stop. */
const refusalOf = async (
  open: AppVault['open'],
  { app, live, confirmed, mayStop }: Given,
  project: Project,
  more: { warnings: readonly ComposeFinding[]; composePath: string },
): Promise<Extract<JudgedRelease, { ok: false }> | null> => {
  const before = live ? summariseRelease((await open(app, live.number)).project) : null
  const plan = planRelease(before, { project, ...more }, confirmed)
  const refused = plan.findings.filter(({ level }) => level === 'refuse')
  if (refused.length > 0) return { ok: false, code: 'COMPOSE_REFUSED', detail: sentenceOf(refused) }
  const isAsked = plan.downtimeSeconds > 0 && !mayStop
  return isAsked ? { ok: false, code: 'DOWNTIME_NOT_CONFIRMED', detail: sayDowntime(plan) } : null
}

/** What opens the registries that its images come from, and which; those of the account where a Dockerfile names them. */
const keysFor = async (
  registries: ReleaseDeps['registries'],
  account: string,
  sealed: SealedRelease,
): Promise<{ keys: string; opened: string[] }> => {
  const wanted = imageRequests(sealed).filter(({ how }) => how !== 'pinned')
  const builds = wanted.some(({ how }) => how === 'build')
  const named = new Set(wanted.map(({ name }) => registryOf(name)))
  const all = wanted.length === 0 ? [] : await registries.open(account)
  const logins = all.filter(({ host }) => builds || named.has(host))
  return { keys: dockerConfig(logins), opened: logins.map(({ host }) => host) }
}

/** What it is made of on its host. */
const namesIn = (project: Project, release: number, app: string): ReleaseRecord => {
  const printed = printProject(project, release, app)
  const { release: stateless, routed } = printed
  const parts = partsOf(printed, project, release)
  return {
    ...{ project: stateless?.project ?? null, listener: routed.service, parts },
    ...(project.replicas !== undefined && { replicas: project.replicas }),
  }
}

export const makeReleases = ({ store, vault, registries, blobs, composeJudge }: ReleaseDeps) => {
  const { seal, open, indexOf } = vault

  const envOf = async (app: string, version: number | null): Promise<Record<string, string>> =>
    version === null ? {} : ((await store.env(app, version))?.env ?? {})

  /** Judges what is about to be released against the host as it is now, with the env that it is to have. */
  const judge = async (given: Given): Promise<JudgedRelease> => {
    const { app, spec, host, release, pinned, budget, replicas } = given
    const index = await indexOf(spec.account, release.source)
    if (!index) return { ok: false, code: 'UNKNOWN_SOURCE', detail: `there is no upload ${release.source}` }
    if (host.arch === null) return { ok: false, code: 'HOST_UNFIT', detail: `${host.name} has not been inspected` }
    const env = await envOf(app, release.envVersion)
    const { slug, route = null } = spec
    const { class: hostClass, arch, remapsUsers } = host
    const deployTarget = { slug, env, route, budget, hostClass, arch, remapsUsers, replicas }
    const verdict = await composeJudge.judge(index, deployTarget, { account: spec.account })
    if (!verdict.ok) return { ok: false, code: 'COMPOSE_REFUSED', detail: sentenceOf(verdict.findings) }
    const { project, warnings, changes } = verdict
    const unfit = faultOfBuild(pinned, host, project)
    if (unfit !== null) return { ok: false, code: 'HOST_NOT_ISOLATED', detail: unfit }
    const refusal = await refusalOf(open, given, project, { warnings, composePath: index.composePath })
    if (refusal) return refusal
    const { source, envVersion } = release
    const sealed = { source, composePath: index.composePath, envVersion, project, images: pinned ?? [] }
    const names = namesIn(project, release.number, app)
    const record = { ...recordOf(project, warnings, changes), ...names, budget, arch: host.arch, host: host.name }
    return { ok: true, sealed, record }
  }

  /**
   * What each service of a release may use out of another budget.
   * @returns why it cannot be divided so: services declare more, or are too many
   */
  const limitsFor = async (
    { spec, host, release, budget }: Pick<Given, 'spec' | 'host' | 'release' | 'budget'>,
    app: string,
  ): Promise<{ limits: Record<string, ServiceLimits> } | { refused: string }> => {
    const index = await indexOf(spec.account, release.source)
    if (!index || host.arch === null) return { refused: `the upload ${release.source} is gone; deploy anew` }
    const env = await envOf(app, release.envVersion)
    const { slug, route = null } = spec
    const { class: hostClass, arch, remapsUsers } = host
    const deployTarget = { slug, env, route, budget, hostClass, arch, remapsUsers }
    const verdict = await composeJudge.judge(index, deployTarget, { account: spec.account })
    if (!verdict.ok) return { refused: sentenceOf(verdict.findings) }
    return { limits: Object.fromEntries(verdict.project.services.map(({ name, limits }) => [name, limits])) }
  }

  /** What a host says that holds the files of an upload, and nothing else. @throws when they are gone */
  const listingFor = async (account: string, digest: string): Promise<string> => {
    const index = await indexOf(account, digest)
    if (!index) throw new Error(`the list of upload ${digest} is gone`)
    if (digestOf(index.entries) !== digest) throw new Error(`the list of upload ${digest} is another's`)
    return listingOf(index.entries)
  }

  const filesOf = async (account: string, digest: string): Promise<Buffer | null> => {
    const row = await store.source(account, digest)
    return row && blobs.get(row.sha256)
  }

  const keys = (account: string, sealed: SealedRelease) => keysFor(registries, account, sealed)
  return { seal, open, keysFor: keys, hasSealed: vault.has, judge, limitsFor, envOf, filesOf, listingFor }
}

export type Releases = ReturnType<typeof makeReleases>
