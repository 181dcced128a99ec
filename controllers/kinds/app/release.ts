/** Releases between their judgement and their start: judged, sealed, opened again. Values of the env stay in here. */

import type { ComposeFinding } from '../../../crds/app/compose/finding.ts'
import { planRelease, summariseRelease } from '../../../crds/app/compose/printing/plan.ts'
import { printProject } from '../../../crds/app/compose/printing/print.ts'
import type { Project } from '../../../crds/app/compose/project.ts'
import type { AppSpec } from '../../../crds/app/schema.ts'
import { recordOf, type SealedRelease } from '../../../crds/app/sealed.ts'
import { budgetOf } from '../../../crds/app/view.ts'
import type { PinnedImage, Release, ReleaseRecord, TargetHost } from '../../../crds/app/world.ts'
import { digestOf, listingOf } from '../../../crds/files/archive.ts'
import { buildFault } from '../../../crds/host/isolation.ts'
import type { ComposeJudge } from '../../base/judging/judge.ts'
import type { AppStore } from '../../store/app/app.ts'
import type { AppVault } from '../../store/app/releases.ts'
import type { Blobs } from '../../store/blobs.ts'

export type ReleaseDeps = {
  composeJudge: Pick<ComposeJudge, 'judge'>
  store: Pick<AppStore, 'env' | 'source'>
  vault: AppVault
  blobs: Blobs
}

export type JudgedRelease =
  | { ok: true; sealed: SealedRelease; record: ReleaseRecord }
  | { ok: false; code: 'COMPOSE_REFUSED' | 'UNKNOWN_SOURCE' | 'HOST_UNFIT' | 'HOST_NOT_ISOLATED'; detail: string }

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

export const makeReleases = ({ store, vault, blobs, composeJudge }: ReleaseDeps) => {
  const { seal, open, indexOf } = vault

  const envOf = async (app: string, version: number | null): Promise<Record<string, string>> =>
    version === null ? {} : ((await store.env(app, version))?.env ?? {})

  type Given = {
    app: string
    spec: AppSpec
    host: TargetHost
    release: Release
    /** Images to run again; null for a new build. */
    pinned: PinnedImage[] | null
    live: Release | undefined
    confirmed: readonly string[]
  }

  /** Judges what is about to be released against the host as it is now, with the env that it is to have. */
  const judge = async ({ app, spec, host, release, pinned, live, confirmed }: Given): Promise<JudgedRelease> => {
    const index = await indexOf(spec.account, release.source)
    if (!index) return { ok: false, code: 'UNKNOWN_SOURCE', detail: `there is no upload ${release.source}` }
    if (host.arch === null) return { ok: false, code: 'HOST_UNFIT', detail: `${host.name} has not been inspected` }
    const env = await envOf(app, release.envVersion)
    const budget = budgetOf(spec.budget, host.budget)
    const { slug, route = null } = spec
    const deployTarget = { slug, env, route, budget, hostClass: host.class, arch: host.arch }
    const verdict = await composeJudge.judge(index, deployTarget, { account: spec.account })
    if (!verdict.ok) return { ok: false, code: 'COMPOSE_REFUSED', detail: sentenceOf(verdict.findings) }
    const { project, warnings } = verdict
    const unfit = faultOfBuild(pinned, host, project)
    if (unfit !== null) return { ok: false, code: 'HOST_NOT_ISOLATED', detail: unfit }
    const before = live ? summariseRelease((await open(app, live.number)).project) : null
    const plan = planRelease(before, { project, warnings, composePath: index.composePath }, confirmed)
    const refused = plan.findings.filter(({ level }) => level === 'refuse')
    if (refused.length > 0) return { ok: false, code: 'COMPOSE_REFUSED', detail: sentenceOf(refused) }
    const { source, envVersion } = release
    const sealed = { source, composePath: index.composePath, envVersion, project, images: pinned ?? [] }
    const { release: stateless, routed } = printProject(project, release.number, app)
    const names = { project: stateless?.project ?? null, listener: routed.service }
    const record = { ...recordOf(project, warnings), ...names, budget, arch: host.arch }
    return { ok: true, sealed, record }
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

  return { seal, open, hasSealed: vault.has, judge, envOf, filesOf, listingFor }
}

export type Releases = ReturnType<typeof makeReleases>
