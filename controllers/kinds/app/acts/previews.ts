/** What a preview is besides an app: an entry with an end, and the deletion that comes with that (rules/app.md#previews). */
import { APP } from '../../../../crds/app/kind.ts'
import { PREVIEWS_MAX } from '../../../../crds/app/lifecycle/publishing/preview.ts'
import type { PreviewRow } from '../../../../crds/app/lifecycle/publishing/previewed.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppWorld } from '../../../../crds/app/world.ts'
import { isConflict, isNotFound, Stalled } from '../../../base/errors.ts'
import type { Kube } from '../../../kube/kube.ts'
import type { PreviewLedger, PreviewOutcome } from '../../../store/app/publishing/previews.ts'
import { type ActContext, type Apply, eventAbout, instantOf, type StepOf } from './context.ts'

export type PreviewDeps = { previews: PreviewLedger; kube: Pick<Kube, 'get' | 'delete'> }
type Context = ActContext & PreviewDeps

/** @throws Stalled with the code that REST would have answered */
const refuse = ({ outcome, held }: PreviewOutcome, { app, ref }: { app: string; ref: string }): void => {
  const stop = (code: 'PREVIEW_LIMIT' | 'PREVIEW_TAKEN' | 'BAD_PREVIEW', detail: string) =>
    new Stalled(code, `${code}: /previewOf ${detail}`)
  if (outcome === 'full') throw stop('PREVIEW_LIMIT', `${app} has ${PREVIEWS_MAX} previews, as many as it may`)
  if (outcome === 'other') throw stop('PREVIEW_TAKEN', `${held} is the preview of ${ref} already`)
  if (outcome === 'orphan') throw stop('BAD_PREVIEW', `there is no app ${app} of this account`)
  if (outcome === 'nested') throw stop('BAD_PREVIEW', `${app} is a preview itself, or this app has previews`)
}

const withOwn = (own: PreviewRow) => (world: AppWorld) => ({ ...world, previews: { ...world.previews, own } })

const take = async (context: Context, { metadata, spec }: AppResource): Promise<Apply> => {
  const { previewOf } = spec
  if (previewOf === undefined) throw new Error(`${metadata.name} is no preview`)
  const { app: parent, ref, expiresAt } = previewOf
  const at = instantOf(context)
  const request = { app: metadata.name, parent, account: spec.account, ref, limit: PREVIEWS_MAX, expiresAt, at }
  refuse(await context.previews.take(request), previewOf)
  return withOwn({ app: metadata.name, parent, ref, createdAt: at, expiresAt, endedAt: null, reason: null })
}

const end = async (context: Context, object: AppResource, { reason }: StepOf<'endPreview'>): Promise<Apply> => {
  const told = eventAbout('app.preview_ended', object, context.hosts, { reason })
  const at = instantOf(context)
  await context.previews.end(object.metadata.name, reason, told, at)
  return (world) => {
    const { own } = world.previews
    return own === null ? world : withOwn({ ...own, endedAt: at, reason })(world)
  }
}

/** This very life of it, and only while it is one of this app. One that is not there any more has ended. */
const remove = async (context: Context, object: AppResource, { app }: StepOf<'deletePreview'>): Promise<Apply> => {
  const { namespace = '' } = object.metadata
  const ref = { namespace, name: app }
  const isOwn = app === object.metadata.name
  const asked: Apply = (world) => ({
    ...world,
    previews: { ...world.previews, asked: [...(world.previews.asked ?? []), app] },
  })
  try {
    const found = isOwn ? object : await context.kube.get<AppResource>(APP, ref)
    if (!isOwn && found.spec.previewOf?.app !== object.metadata.name) return asked
    const { uid = '', resourceVersion } = found.metadata
    // its own end is what it was seen with: somebody may have given it another one since
    await context.kube.delete(APP, ref, { uid, ...(isOwn && resourceVersion !== undefined && { resourceVersion }) })
    return asked
  } catch (error) {
    // gone, or another one by now
    if (isConflict(error)) return asked
    if (!isNotFound(error)) throw error
    if (isOwn) return asked
  }
  const told = eventAbout('app.preview_ended', object, context.hosts, {
    ...{ id: app, slug: null, url: null },
    preview_of: { app: object.metadata.name },
  })
  await context.previews.end(app, 'deleted', told, instantOf(context))
  return (world) => ({
    ...world,
    previews: { ...world.previews, open: world.previews.open.filter((one) => one.app !== app) },
  })
}

export const makePreviewActs = (context: Context) => ({
  takePreview: (_step: StepOf<'takePreview'>, object: AppResource) => take(context, object),
  endPreview: (step: StepOf<'endPreview'>, object: AppResource) => end(context, object, step),
  deletePreview: (step: StepOf<'deletePreview'>, object: AppResource) => remove(context, object, step),
})
