/** Steps that make a release: it is checked, its files are uploaded, its images are made and known. */
import { fileTimeOf } from '../../../../crds/app/files.ts'
import { liveOf } from '../../../../crds/app/plan.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { filesFor, wantsFreshBuild } from '../../../../crds/app/sealed.ts'
import { imagesIn } from '../../../../crds/app/start.ts'
import type { PinnedImage } from '../../../../crds/app/world.ts'
import { beginsAsRoot, keepsApart } from '../../../../crds/host/isolation.ts'
import { Stalled } from '../../../base/errors.ts'
import { JOB_WAIT_MS, startJob } from '../jobs.ts'
import { targetHostOf } from '../observe.ts'
import { UPLOAD } from '../scripts.ts'
import { type ActContext, type Apply, end, pass, rowsOf, type StepOf } from './context.ts'

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
  const live = liveOf(row)
  const judged = await releases.judge({ app: metadata.name, spec, host, release, pinned, live, confirmed })
  if (!judged.ok) {
    const { code, detail } = judged
    return end(context, object, { operation, state: 'failed', code, message: detail, log: null })
  }
  const { sealed, digest } = releases.seal(metadata.name, release.number, judged.sealed)
  return pass(context, { operation, step: 'check', known: { record: judged.record, digest }, sealed })
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
  const { code } = await hosts.link(spec.hostId).run({ script: UPLOAD, lines, body, deadlineMs: UPLOAD_DEADLINE_MS })
  if (code !== 0) throw new Error(`the files were not taken: exit code ${code}`)
  return pass(context, { operation, step: 'upload' })
}

/** Starts the job for images, unless the host has all of them: then the job has ended already. */
export const startReleaseJob = async (
  context: ActContext,
  object: AppResource,
  given: StepOf<'startJob'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  const { here, releases, images, hosts } = context
  const log = given.step === 'images' ? here.get(given.operation.id) : undefined
  if (log !== undefined) {
    here.delete(given.operation.id)
    return (world) => ({ ...world, job: { state: 'exited', code: 0, log, cancelled: false } })
  }
  const sealed = await releases.open(metadata.name, given.release.number)
  const isGuarded = keepsApart(hosts.facts(spec.hostId)?.class ?? 'shared')
  const job =
    given.step === 'images'
      ? await images.job(object, sealed, given)
      : startJob(object, sealed, { ...given, isGuarded })
  const state = await hosts.link(spec.hostId).startJob(job, { waitMs: JOB_WAIT_MS })
  if (given.step === 'start') context.observations.noteStart(metadata.name, given.release.number, state)
  return (world) => ({ ...world, job: state })
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
  if (root && host && keepsApart(host.class) && !host.remapsUsers) {
    return fail('ROOT_REFUSED', `${root.name} begins as root, and root in a container is root on ${host.name}`)
  }
  // A repeated release keeps the names under which its images were first known.
  const images = opened.images.length > 0 ? opened.images : found.images
  const { sealed, digest } = releases.seal(name, release.number, { ...opened, images })
  return pass(context, { operation, step: 'images', known: { record: { images }, digest, state: 'starting' }, sealed })
}
