/** The detached jobs of an app, as the host is given them. */
import { cellOf } from '../../../crds/app/compose/printing/bridges.ts'
import { type ComposeDocument, type Printed, printProject } from '../../../crds/app/compose/printing/print.ts'
import type { AppResource, AppSpec } from '../../../crds/app/schema.ts'
import {
  filesFor,
  imageRequests,
  pinnedProject,
  type SealedRelease,
  wantsFreshBuild,
} from '../../../crds/app/sealed.ts'
import { jobIdOf } from '../../../crds/app/steps.ts'
import type { Operation, Release } from '../../../crds/app/world.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import type { Job } from '../../io/hosts/hosts.ts'
import { type BuildCell, cellLines } from './cell.ts'
import { CLEAR, IMAGES, START, TAKE_DOWN } from './scripts.ts'

/** A build may fetch half of a registry. */
const IMAGES_LIMIT_MS = 30 * 60_000
/** Of a job that somebody waits for the host tells the end, rather than be asked again and again. */
export const JOB_WAIT_MS = 1_000
/** How long the base may take to be healthy, and then the release. */
export const START_SECONDS = 180
const START_LIMIT_MS = (2 * START_SECONDS + 60) * 1_000
const DOWN_LIMIT_MS = 120_000

export const baseProjectOf = (slug: string): string => `${slug}-base`

/** A document as one line of stdin: in its strings a line feed is written otherwise. */
const lineOf = (document: ComposeDocument | null | undefined): string => document?.text.replaceAll('\n', ' ') ?? ''

type Given = { operation: Operation; release: Release }
/** `isGuarded`: nothing is started where the guard of the host's apps does not stand. */
type Starting = Given & { isGuarded: boolean }
/** `listing`: of the upload, '' where no file of it is needed. */
type Building = Given & { listing: string; cell: BuildCell }

/** The project of a release's stateless services, whether it has any or not. */
export const projectOf = (printed: Pick<Printed, 'release'>): string => printed.release?.project ?? ''

export const imagesJob = ({ slug }: AppSpec, sealed: SealedRelease, building: Building): Job => {
  const { operation, release, listing, cell } = building
  const requests = imageRequests(sealed)
  const built = requests.filter(({ how }) => how === 'build').map(({ name }) => name)
  const known = wantsFreshBuild(sealed) ? [] : built
  return {
    id: jobIdOf(operation, 'images'),
    script: IMAGES,
    lines: [
      slug,
      String(release.number),
      requests.map(({ name }) => name).join(' '),
      known.join(' '),
      listing,
      filesFor(sealed),
      ...(built.length > 0 ? cellLines(sealed, cell) : ['0']),
      String(requests.length),
      ...requests.flatMap(({ service, name, how }) => [service, name, how]),
    ],
    limitMs: IMAGES_LIMIT_MS,
  }
}

export const startJob = ({ metadata, spec }: AppResource, sealed: SealedRelease, given: Starting): Job => {
  const { operation, release, isGuarded } = given
  const { slug } = spec
  const printed = printProject(pinnedProject(sealed), release.number, originOf(metadata))
  const { base, release: stateless, routed, needs, baseFiles } = printed
  const routedProject = routed.document === 'base' ? base?.project : stateless?.project
  return {
    id: jobIdOf(operation, 'start'),
    script: START,
    lines: [
      slug,
      String(release.number),
      base?.project ?? '',
      lineOf(base),
      projectOf(printed),
      lineOf(stateless),
      routedProject ?? '',
      routed.service,
      String(routed.port),
      String(START_SECONDS),
      isGuarded ? 'guarded' : '',
      String(needs.length),
      ...needs.map(({ service, condition }) => `${service} ${condition}`),
      String(baseFiles.length),
      ...baseFiles.flatMap(({ from, to }) => [from, to]),
    ],
    limitMs: START_LIMIT_MS,
  }
}

/** Releases that can be rolled back to without a build. */
const KEPT_RELEASES = 6

/** Ids of the images that rollbacks may want. @param releases newest first */
const keptImages = (releases: readonly Release[]): string =>
  releases
    .filter(({ state }, place) => place < KEPT_RELEASES || state === 'live')
    .flatMap(({ record }) => (record?.images ?? []).map(({ id }) => id))
    .join(' ')

type Going = {
  id: string
  restoresBase: boolean
  live: { number: number; sealed: SealedRelease } | null
  releases: readonly Release[]
}

/** @param going.live what the base goes back to, if it does; to nothing when nothing is live, or has a base */
export const takeDownJob = ({ metadata, spec }: AppResource, release: Release, going: Going): Job => {
  const { slug } = spec
  const { id, restoresBase, live, releases } = going
  const base = live ? printProject(pinnedProject(live.sealed), live.number, originOf(metadata)).base : null
  return {
    id,
    script: TAKE_DOWN,
    lines: [
      slug,
      String(release.number),
      release.record?.project ?? '',
      restoresBase ? baseProjectOf(slug) : '',
      restoresBase ? lineOf(base) : '',
      keptImages(releases),
    ],
    limitMs: DOWN_LIMIT_MS,
  }
}

type Clearing = { id: string; releases: readonly Release[]; dialFile: string | null }

export const clearJob = ({ metadata, spec }: AppResource, { id, releases, dialFile }: Clearing): Job => {
  const { slug, volumesOnDelete } = spec
  const open = releases.filter(({ retiredAt }) => retiredAt === null)
  const projects = open.flatMap(({ record }) => (record?.project ? [record.project] : []))
  const cell = cellOf(originOf(metadata))
  return {
    id,
    script: CLEAR,
    lines: [
      slug,
      '0',
      volumesOnDelete,
      baseProjectOf(slug),
      dialFile ?? '',
      cell,
      String(projects.length),
      ...projects,
    ],
    limitMs: DOWN_LIMIT_MS,
  }
}
