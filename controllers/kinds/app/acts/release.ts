/** Steps that make a release: it is checked, its files are uploaded, its images are made and known. */
import { MIB_PER_GIB } from '../../../../crds/app/compose/project.ts'
import { grantedBudget, grantedReplicas } from '../../../../crds/app/lifecycle/keeping/budget.ts'
import { allowsDowntime } from '../../../../crds/app/lifecycle/keeping/handover.ts'
import { dialFileOf } from '../../../../crds/app/lifecycle/route.ts'
import { liveOf } from '../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { filesFor, imageRequests, type SealedRelease, wantsFreshBuild } from '../../../../crds/app/sealed.ts'
import { fileTimeOf } from '../../../../crds/app/sources/files.ts'
import { imagesIn } from '../../../../crds/app/start.ts'
import type { Operation, PinnedImage } from '../../../../crds/app/world.ts'
import { beginsAsRoot, keepsApart } from '../../../../crds/host/isolation.ts'
import { originOf } from '../../../../crds/kernel/desire/desire.ts'
import { Stalled } from '../../../base/errors.ts'
import type { Job } from '../../../io/hosts/hosts.ts'
import { JOB_WAIT_MS, scaleJob, startJob } from '../jobs.ts'
import { targetHostOf } from '../observe.ts'
import { UPLOAD } from '../scripts.ts'
import { buildOf, sayFull } from './builds.ts'
import { type ActContext, type Apply, end, pass, rowsOf, type StepOf } from './context.ts'
import { handOverFor } from './keeping/handover.ts'
import { counted } from './sending.ts'
import { checkedWords, imagesWords, uploadedWords } from './words.ts'

/** Files of an app, over the network. */
const UPLOAD_DEADLINE_MS = 110_000

export const check = async (
  context: ActContext,
  object: AppResource,
  { operation, release, pinned }: StepOf<'check'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  const { hosts, releases } = context
  const host = targetHostOf(hosts.facts(spec.hostId))
  if (!host) throw new Stalled('HOST_MISSING', `HOST_MISSING: there is no host ${spec.hostId}`)
  const row = await rowsOf(context, object)
  const confirmed = operation.intent.kind === 'deploy' ? operation.intent.volumes : []
  // What a move stops was confirmed before it began, and is another host's.
  const mayStop = operation.kind === 'move' || allowsDowntime(spec, operation.intent)
  const live = liveOf(row)
  const granting = { ...row, host }
  const budget = grantedBudget(spec, granting)
  const replicas = grantedReplicas(spec, granting)
  const given = { app: metadata.name, spec, host, release, pinned, live, confirmed, mayStop, budget, replicas }
  const judged = await releases.judge(given)
  if (!judged.ok) {
    const { code, detail } = judged
    return end(context, object, { operation, state: 'failed', code, message: detail, log: null })
  }
  const { sealed, digest } = releases.seal(metadata.name, release.number, judged.sealed)
  const message = checkedWords(judged.sealed)
  return pass(context, { operation, step: 'check', known: { record: judged.record, digest }, sealed, message })
}

export const upload = async (
  context: ActContext,
  object: AppResource,
  { operation, release }: StepOf<'upload'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  const { hosts, releases, images } = context
  const sealed = await releases.open(metadata.name, release.number)
  const needed = filesFor(sealed)
  const found = needed === 'mounts' || wantsFreshBuild(sealed) ? null : await images.here(object, sealed, release)
  if (found !== null) context.here.set(operation.id, found)
  if (needed === 'none' || found !== null) {
    return pass(context, { operation, step: 'upload', message: 'no file is needed on the host' })
  }
  const body = await releases.filesOf(spec.account, release.source)
  if (!body) throw new Error(`the files of upload ${release.source} are gone`)
  const listing = await releases.listingFor(spec.account, release.source)
  const lines = [spec.slug, String(release.number), listing, fileTimeOf(release)]
  const sent = counted(body, (bytes) => context.progress.note(operation, uploadedWords(bytes, body.length)))
  const run = { script: UPLOAD, lines, body: sent.body, deadlineMs: UPLOAD_DEADLINE_MS }
  const { code } = await hosts.link(spec.hostId).run(run)
  await sent.told()
  if (code !== 0) throw new Error(`the files were not taken: exit code ${code}`)
  return pass(context, { operation, step: 'upload', message: uploadedWords(body.length, body.length) })
}

/** Until when what a move starts may run unless it is told to stay, in seconds of its host; null where nothing ends it. */
export type LeaseOf = (object: AppResource, operation: Operation) => Promise<string | null>

type Starting = StepOf<'startJob'> & { leaseOf: LeaseOf }

/** The job that starts a release, with what it is told of a hand-over. */
const startingJob = async (
  context: ActContext,
  object: AppResource,
  sealed: SealedRelease,
  { leaseOf, ...given }: Starting,
): Promise<Job> => {
  const { metadata, spec } = object
  const facts = context.hosts.facts(spec.hostId)
  const isGuarded = keepsApart(facts)
  const isDirect = (facts?.siteRoot ?? null) !== null
  if (given.operation.intent.kind === 'scale') {
    return scaleJob(object, sealed, { ...given, isGuarded, isDirect, replicas: given.operation.intent.replicas })
  }
  const isHeld = sealed.project.services.some(({ stateful }) => stateful)
  const rows = await rowsOf(context, object)
  // What is live is on another host than what a move starts: nothing is handed over there.
  const release = isHeld && given.operation.kind !== 'move' ? liveOf(rows) : undefined
  const isTold = rows.releases.some(({ record }) => record?.limits !== undefined)
  const { diskGib } = sealed.project
  const live = release ? { release, sealed: await context.releases.open(metadata.name, release.number) } : null
  return startJob(object, sealed, {
    ...given,
    isGuarded,
    isDirect,
    handOver: handOverFor(object, sealed, given.release, live),
    dialFile: facts && dialFileOf(originOf(metadata), facts),
    diskMib: isTold && diskGib !== undefined ? diskGib * MIB_PER_GIB : null,
    leaseUntil: await leaseOf(object, given.operation),
  })
}

const buildFor = ({ hosts }: ActContext, object: AppResource, operation: Operation) =>
  buildOf(object, operation, hosts.facts(object.spec.hostId))

/** Whose turn it is not yet waits for it, and says so. @returns whether it may be begun */
const takesTurn = async (context: ActContext, object: AppResource, sealed: SealedRelease, operation: Operation) => {
  if (imageRequests(sealed).every(({ how }) => how !== 'build')) {
    context.builds.notePull(operation.id)
    return true
  }
  const { hostId } = object.spec
  if (context.builds.take(buildFor(context, object, operation))) return true
  await context.progress.note(operation, sayFull(hostId))
  return false
}

/** Starts the job for images, unless the host has all of them: then the job has ended already. */
export const startReleaseJob = async (
  context: ActContext,
  object: AppResource,
  given: StepOf<'startJob'>,
  leaseOf: LeaseOf,
): Promise<Apply> => {
  const { metadata, spec } = object
  const { here, releases, images, hosts } = context
  const log = given.step === 'images' ? here.get(given.operation.id) : undefined
  if (log !== undefined) {
    here.delete(given.operation.id)
    return (world) => ({ ...world, job: { state: 'exited', code: 0, log, cancelled: false } })
  }
  const sealed = await releases.open(metadata.name, given.release.number)
  if (given.step === 'images' && !(await takesTurn(context, object, sealed, given.operation))) {
    return (world) => ({ ...world, job: null })
  }
  const job =
    given.step === 'images'
      ? await images.job(object, sealed, given)
      : await startingJob(context, object, sealed, { ...given, leaseOf })
  const after = await context.progress.wantedFrom(given)
  const state = await hosts.link(spec.hostId).startJob(job, { waitMs: JOB_WAIT_MS, after })
  if (given.step === 'images') context.builds.noteJob(buildFor(context, object, given.operation), state)
  if (given.step === 'start' && given.operation.kind !== 'scale')
    context.observations.noteStart(object, given.release, state)
  const due = context.progress.due(given, state)
  return (world) => ({ ...world, job: due })
}

export const takeImages = async (
  context: ActContext,
  object: AppResource,
  { operation, release, log }: StepOf<'takeImages'>,
): Promise<Apply> => {
  const { releases } = context
  const { name } = object.metadata
  const opened = await releases.open(name, release.number)
  const wanted = opened.project.services.map(({ name, image }) => ({ service: name, name: image }))
  const found = imagesIn(log, wanted)
  const fail = (code: 'RELEASE_FAILED' | 'ARCH_MISMATCH' | 'ROOT_REFUSED', detail: string) =>
    end(context, object, { operation, state: 'failed', code, message: detail, log })
  if (!found) return fail('RELEASE_FAILED', 'the host did not say which images it has')
  const { arch } = release.record ?? {}
  const strange = found.archs.findIndex((one) => one !== arch)
  if (strange >= 0) {
    const which = found.images[strange] as PinnedImage
    return fail('ARCH_MISMATCH', `the image of ${which.service} is for ${found.archs[strange]}, the host is ${arch}`)
  }
  const root = opened.project.services.find(({ user }, place) => beginsAsRoot(found.users[place] ?? '', user))
  const host = targetHostOf(context.hosts.facts(object.spec.hostId))
  if (root && host && keepsApart(host) && !host.remapsUsers) {
    return fail('ROOT_REFUSED', `${root.name} begins as root, and root in a container is root on ${host.name}`)
  }
  // A repeated release keeps the names under which its images were first known.
  const images = opened.images.length > 0 ? opened.images : found.images
  const { sealed, digest } = releases.seal(name, release.number, { ...opened, images })
  const known = { record: { images }, digest, state: 'starting' as const }
  return pass(context, { operation, step: 'images', known, sealed, message: imagesWords(opened) })
}
