/** Releases between their judgement and their start: judged, sealed, opened again. Values of the env stay in here. */

import type { Finding } from '../../crds/app/compose/finding.ts'
import { judgeCompose } from '../../crds/app/compose/judge.ts'
import { planRelease, summariseRelease } from '../../crds/app/compose/plan.ts'
import { printProject } from '../../crds/app/compose/print.ts'
import type { AppSpec } from '../../crds/app/schema.ts'
import { digestOfSealed, recordOf, type SealedRelease } from '../../crds/app/sealed.ts'
import type { SourceIndex } from '../../crds/app/source.ts'
import { budgetOf } from '../../crds/app/view.ts'
import type { HostGround, PinnedImage, Release, ReleaseRecord } from '../../crds/app/world.ts'
import type { AppStore } from '../runtime/appstore.ts'
import type { Blobs } from '../runtime/blobs.ts'
import type { Sealer } from '../runtime/seal.ts'
import type { AppLedger } from './ledger.ts'

export type ReleaseDeps = {
  store: Pick<AppStore, 'env' | 'source'>
  ledger: Pick<AppLedger, 'sealed'>
  blobs: Blobs
  /** For the purpose `app-release`. */
  sealer: Sealer
}

/** JSON has no maps: the texts are pairs. */
export type StoredIndex = Omit<SourceIndex, 'texts'> & { texts: [path: string, text: string][] }

export const readIndex = (bytes: Buffer): SourceIndex => {
  const { texts, ...rest } = JSON.parse(bytes.toString('utf8')) as StoredIndex
  return { ...rest, texts: new Map(texts) }
}

const aadOf = (app: string, release: number): string => JSON.stringify(['app release', app, release])

export type Judged =
  | { ok: true; sealed: SealedRelease; record: ReleaseRecord }
  | { ok: false; code: 'COMPOSE_REFUSED' | 'UNKNOWN_SOURCE' | 'HOST_UNFIT'; detail: string }

const FINDINGS_SHOWN = 8

const told = (findings: readonly Finding[]): string => {
  const shown = findings
    .slice(0, FINDINGS_SHOWN)
    .map(({ pointer, detail, line }) => `${pointer} (line ${line}) ${detail}`)
  const more = findings.length - shown.length
  return `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

export const makeReleases = ({ store, ledger, blobs, sealer }: ReleaseDeps) => {
  const seal = (app: string, release: number, sealed: SealedRelease): { sealed: Buffer; digest: string } => ({
    sealed: sealer.seal(Buffer.from(JSON.stringify(sealed), 'utf8'), aadOf(app, release)),
    digest: digestOfSealed(sealed),
  })

  /** @throws when nothing was sealed */
  const open = async (app: string, release: number): Promise<SealedRelease> => {
    const sealed = await ledger.sealed(app, release)
    if (!sealed) throw new Error(`nothing is sealed of release ${release} of ${app}`)
    return JSON.parse(sealer.open(sealed, aadOf(app, release)).toString('utf8')) as SealedRelease
  }

  const indexOf = async (account: string, digest: string): Promise<SourceIndex | null> => {
    const row = await store.source(account, digest)
    const bytes = row && (await blobs.get(row.indexSha256))
    return bytes ? readIndex(bytes) : null
  }

  const envOf = async (app: string, version: number | null): Promise<Record<string, string>> =>
    version === null ? {} : ((await store.env(app, version))?.env ?? {})

  type Given = {
    app: string
    spec: AppSpec
    host: HostGround
    release: Release
    /** Images to run again; null for a new build. */
    pinned: PinnedImage[] | null
    live: Release | undefined
    confirmed: readonly string[]
  }

  /** Judges what is about to be released against the host as it is now, with the env that it is to have. */
  const judge = async ({ app, spec, host, release, pinned, live, confirmed }: Given): Promise<Judged> => {
    const index = await indexOf(spec.account, release.source)
    if (!index) return { ok: false, code: 'UNKNOWN_SOURCE', detail: `there is no upload ${release.source}` }
    if (host.arch === null) return { ok: false, code: 'HOST_UNFIT', detail: `${host.name} has not been inspected` }
    const env = await envOf(app, release.envVersion)
    const budget = budgetOf(spec.budget, host.budget)
    const verdict = judgeCompose(index, {
      slug: spec.slug,
      env,
      route: spec.route ?? null,
      budget,
      hostClass: host.class,
      arch: host.arch,
    })
    if (!verdict.ok) return { ok: false, code: 'COMPOSE_REFUSED', detail: told(verdict.findings) }
    const { project, warnings } = verdict
    const before = live ? summariseRelease((await open(app, live.number)).project) : null
    const plan = planRelease(before, { project, warnings, composePath: index.composePath }, confirmed)
    const refused = plan.findings.filter(({ level }) => level === 'refuse')
    if (refused.length > 0) return { ok: false, code: 'COMPOSE_REFUSED', detail: told(refused) }
    const { source, envVersion } = release
    const sealed = { source, composePath: index.composePath, envVersion, project, images: pinned ?? [] }
    const stateless = printProject(project, release.number).release
    const record = { ...recordOf(project, warnings), budget, arch: host.arch, project: stateless?.project ?? null }
    return { ok: true, sealed, record }
  }

  const filesOf = async (account: string, digest: string): Promise<Buffer | null> => {
    const row = await store.source(account, digest)
    return row && blobs.get(row.sha256)
  }

  return { seal, open, judge, envOf, filesOf }
}

export type Releases = ReturnType<typeof makeReleases>
