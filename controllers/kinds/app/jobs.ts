/** The detached jobs of an app, as the host is given them. */
import { cellOf, originOn } from '../../../crds/app/compose/printing/bridges.ts'
import type { Placed } from '../../../crds/app/compose/printing/placed.ts'
import { type ComposeDocument, type Printed, printProject } from '../../../crds/app/compose/printing/print.ts'
import { scaledProject } from '../../../crds/app/lifecycle/scaling/replicas.ts'
import { addedKeys } from '../../../crds/app/lifecycle/scaling/scale.ts'
import type { AppResource, AppSpec } from '../../../crds/app/schema.ts'
import {
  filesFor,
  imageRequests,
  pinnedProject,
  type SealedRelease,
  wantsFreshBuild,
} from '../../../crds/app/sealed.ts'
import { keptImages } from '../../../crds/app/sources/kept.ts'
import { jobIdOf } from '../../../crds/app/steps.ts'
import type { Operation, Release } from '../../../crds/app/world.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import type { Job } from '../../io/hosts/hosts.ts'
import { type HandOver, handOverLines } from './acts/keeping/handover.ts'
import { type BuildCell, cellLines } from './cell.ts'
import { CLEAR, directLine, IMAGES, SCALE, START, TAKE_DOWN } from './scripts.ts'

/** A build may fetch half of a registry. */
const IMAGES_LIMIT_MS = 30 * 60_000
/**
 * Of a job that somebody waits for the host tells the end, rather than be asked again and again. Until then it is asked as often as
 * progress is written (logs/progress.ts): who cancels waits no longer than that for his turn.
 */
export const JOB_WAIT_MS = 2_000
/** How long the base may take to be healthy, and then the release. */
export const START_SECONDS = 180
/** A trial takes as long, after its copies were made; a hand-over at most 600 s and the stop before it. */
const START_LIMIT_MS = (3 * START_SECONDS + 120) * 1_000
const HANDED_LIMIT_MS = START_LIMIT_MS + 1_200_000
const DOWN_LIMIT_MS = 120_000

export const baseProjectOf = (slug: string): string => `${slug}-base`

/** A document as one line of stdin: in its strings a line feed is written otherwise. */
export const lineOf = (document: Pick<ComposeDocument, 'text'> | null | undefined): string =>
  document?.text.replaceAll('\n', ' ') ?? ''

type Given = { operation: Operation; release: Release }
/** `isGuarded`: nothing is started where the guard of the host's apps does not stand. */
/** `isDirect`: visitors are led by files, so that containers can be dialled at their own addresses. `diskMib`: what the meter is told, where it was told before what runs may have; null where labels say it. */
type Starting = Given & {
  isGuarded: boolean
  handOver: HandOver | null
  dialFile: string | null
  diskMib: number | null
  isDirect: boolean
  /** Until when it may run unless it is told to stay (parts/handing/lease.sh); null where nothing ends it. */
  leaseUntil: string | null
}
/** `listing`: of the upload, '' where no file of it is needed. `keys`: what opens registries (crds/app/sources/registries.ts). */
type Building = Given & { listing: string; keys: string; cell: BuildCell }

/** The project of a release's stateless services, whether it has any or not. */
export const projectOf = (printed: Pick<Printed, 'release'>): string => printed.release?.project ?? ''

export const imagesJob = ({ slug }: AppSpec, sealed: SealedRelease, building: Building): Job => {
  const { operation, release, listing, keys, cell } = building
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
      keys,
      ...(built.length > 0 ? cellLines(sealed, cell) : ['0']),
      String(requests.length),
      ...requests.flatMap(({ service, name, how }) => [service, name, how]),
    ],
    limitMs: IMAGES_LIMIT_MS,
  }
}

/** What place.sh reads of one thing that is placed. */
export const placeLines = (placed: Placed): string[] => {
  const { sort, path } = placed
  return placed.sort === 'text' ? [sort, path, Buffer.from(placed.text).toString('base64')] : [sort, path]
}

export const startJob = ({ metadata, spec }: AppResource, sealed: SealedRelease, given: Starting): Job => {
  const { operation, release, isGuarded, handOver, dialFile, diskMib, isDirect, leaseUntil } = given
  const { slug } = spec
  const printed = printProject(pinnedProject(sealed), release.number, originOn({ metadata, spec }))
  const { base, release: stateless, routed, needs, baseFiles, placed } = printed
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
      routed.services.join(' '),
      String(routed.port),
      String(START_SECONDS),
      isGuarded ? 'guarded' : '',
      String(needs.length),
      ...needs.map(({ service, condition }) => `${service} ${condition}`),
      String(baseFiles.length),
      ...baseFiles.flatMap(({ from, to }) => [from, to]),
      String(placed.length),
      ...placed.flatMap(placeLines),
      ...handOverLines(handOver, dialFile),
      String(diskMib ?? ''),
      directLine(isDirect),
      ...(leaseUntil === null ? ['', ''] : [leaseUntil, operation.id]),
    ],
    limitMs: handOver ? HANDED_LIMIT_MS : START_LIMIT_MS,
  }
}

/** Beside what is waited for: a guard may have to be waited for. */
const SCALE_LIMIT_MS = (START_SECONDS + 240) * 1_000

/** Starts what a scale adds beside what runs of the release. */
export const scaleJob = (
  { metadata, spec }: AppResource,
  sealed: SealedRelease,
  {
    operation,
    release,
    isGuarded,
    isDirect,
    replicas,
  }: Given & Pick<Starting, 'isGuarded' | 'isDirect'> & { replicas: number },
): Job => {
  const project = scaledProject(pinnedProject(sealed), release.record, replicas)
  const printed = printProject(project, release.number, originOn({ metadata, spec }))
  return {
    id: jobIdOf(operation, 'start'),
    script: SCALE,
    lines: [
      ...[spec.slug, String(release.number), projectOf(printed), lineOf(printed.release)],
      ...[addedKeys(release, replicas).join(' '), String(printed.routed.port), String(START_SECONDS)],
      isGuarded ? 'guarded' : '',
      directLine(isDirect),
    ],
    limitMs: SCALE_LIMIT_MS,
  }
}

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
  const base = live ? printProject(pinnedProject(live.sealed), live.number, originOn({ metadata, spec })).base : null
  return {
    id,
    script: TAKE_DOWN,
    lines: [
      slug,
      String(release.number),
      release.record?.project ?? '',
      restoresBase ? baseProjectOf(slug) : '',
      restoresBase ? lineOf(base) : '',
      keptImages(releases).join(' '),
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
