/**
 * POST …/previews: a branch of an app, fetched and judged, becomes an app of its own beside it (rules/app.md#previews). What is asked
 * is written as one resource, which its controller takes up as it takes up a manifest.
 */
import type { MirrorRow } from '../../../../controllers/store/mirror.ts'
import { faultsOf } from '../../../../crds/app/faults.ts'
import { APP } from '../../../../crds/app/kind.ts'
import { budgetOf } from '../../../../crds/app/lifecycle/keeping/budget.ts'
import {
  PREVIEW_DEFAULT_MS,
  PREVIEW_MAX_MS,
  PREVIEW_MIN_MS,
  PREVIEWS_MAX,
  previewSlug,
  ttlMs,
} from '../../../../crds/app/lifecycle/publishing/preview.ts'
import type { PreviewRow } from '../../../../crds/app/lifecycle/publishing/previewed.ts'
import type { AppResource, AppSpec } from '../../../../crds/app/schema.ts'
import type { GitNamed } from '../../../../crds/app/sources/source.ts'
import type { AppView } from '../../../../crds/app/view.ts'
import type { TargetHost } from '../../../../crds/app/world.ts'
import { generationGoal } from '../../../command/command.ts'
import { editSpec } from '../../../command/edit.ts'
import { makeOwn, readOwn, underOwnName } from '../../../command/make.ts'
import { namesFor } from '../../../command/name.ts'
import { sameOwner } from '../../../command/own.ts'
import { settle } from '../../../command/settle.ts'
import { layingReady } from '../../../command/written.ts'
import { Problem, refuseFaults } from '../../../http/problem.ts'
import type { Answer, ApiRequest } from '../../../http/route.ts'
import { refuseLimit } from '../../create.ts'
import { type AcceptedUpload, acceptUpload, storeUpload } from '../../deploy.ts'
import { hostOf, refuseUnfit, reserveRoom } from '../../hosts.ts'
import type { AppNeeds } from '../../needs.ts'
import { apps } from '../../read.ts'
import { faultsOfEnv, refuseLarge } from '../../running/env.ts'
import { gitNamed } from '../../sources/git.ts'
import { storePassword } from '../password.ts'
import { createPreviewCommand } from './commands.ts'
import { giveBack, hasCome } from './laid.ts'
import { previewPath } from './shown.ts'

type PreviewBody = {
  ref: string
  git?: { url: string }
  ttl?: string
  expires_at?: string
  env?: Record<string, string>
  access?: AppSpec['access']
  password?: string
}

const UPLOADS_LOOKED_AT = 50

/** @throws Problem INVALID_FIELD */
const expiryOf = ({ ttl, expires_at }: PreviewBody, now: Date): string => {
  const pointer = expires_at === undefined ? '/ttl' : '/expires_at'
  const refuse = (detail: string) => refuseFaults([{ code: 'INVALID_FIELD', pointer, detail }])
  if (ttl !== undefined && expires_at !== undefined) refuse('Give ttl or expires_at, not both.')
  const askedMs = ttl === undefined ? PREVIEW_DEFAULT_MS : ttlMs(ttl)
  const lastsMs = expires_at === undefined ? askedMs : Date.parse(expires_at) - now.getTime()
  if (lastsMs < PREVIEW_MIN_MS || lastsMs > PREVIEW_MAX_MS)
    refuse('A preview lasts 5 minutes at least and 30 days at most.')
  return new Date(now.getTime() + lastsMs).toISOString()
}

/** The repository that is named, or the one that the app was last fetched from. @throws Problem INVALID_FIELD */
const repositoryOf = async (deps: AppNeeds, app: string, { ref, git }: PreviewBody): Promise<GitNamed> => {
  if (git !== undefined) return gitNamed({ url: git.url, ref })
  const { uploads } = await deps.uploads.list(app, { limit: UPLOADS_LOOKED_AT, offset: 0 })
  const url = uploads.find((upload) => upload.git !== null)?.git?.url
  const detail = 'The app was not deployed from a repository: say which one by git.url.'
  if (url === undefined) refuseFaults([{ code: 'INVALID_FIELD', pointer: '/git/url', detail }])
  return gitNamed({ url, ref })
}

const envOf = async (deps: AppNeeds, app: string, { env }: PreviewBody): Promise<Record<string, string>> => {
  if (env === undefined) return (await deps.apps.env(app))?.env ?? {}
  refuseFaults(faultsOfEnv(env))
  refuseLarge(env)
  return env
}

/**
 * `known`: the preview that the branch has already. `isThere`: that is an app; else whoever asked for it came no further than its row.
 * `isOwn`: its name is what this request would give it, so it is this request that comes again.
 */
type Asked = {
  row: MirrorRow<AppView>
  body: PreviewBody
  host: TargetHost
  parent: AppSpec
  expiresAt: string
  env: Record<string, string>
  git: GitNamed
  known: PreviewRow | null
  isThere: boolean
  isOwn: boolean
}

/**
 * What of its app a preview is like. It is made where that lives, which a wish to move has not changed; it has no schedules, and nobody minds
 * when its volumes stop.
 */
const specOf = ({ row, body, host, parent, expiresAt }: Asked, slug: string): AppSpec => {
  const { account, applicationPolicy, routing } = parent
  const { route, readiness, budget, commands, drainSeconds } = parent
  return {
    ...{ account, hostId: host.name, slug, applicationPolicy, routing, access: body.access ?? 'private', asked: 0 },
    ...(route && { route }),
    ...(readiness && { readiness }),
    ...(budget && { budget }),
    ...(commands && { commands }),
    ...(drainSeconds !== undefined && { drainSeconds }),
    handOver: { downtime: 'allow', trial: 'none' },
    volumesOnDelete: 'delete',
    previewOf: { app: row.name, ref: body.ref, expiresAt },
    ...(body.access !== 'public' && { passwordVersion: 1 }),
  }
}

/** Its own name; where another branch is left with the same one, with a mark. @throws Problem SLUG_TAKEN, INVALID_FIELD */
const takeSlug = async (deps: AppNeeds, asked: Asked, name: string): Promise<string> => {
  const { row, body, host, parent } = asked
  const mark = deps.keys
    .resourceName(JSON.stringify(['preview', row.name, body.ref]))
    .toString('hex')
    .slice(0, 4)
  const slugs = ['', mark].map((one) => previewSlug(parent.slug, body.ref, one))
  for (const slug of slugs) {
    const faults = faultsOf(specOf(asked, slug))
    refuseFaults(faults.map((fault) => ({ ...fault, pointer: '/ref' })))
    const outcome = await deps.apps.takeSlug({ app: name, account: row.account, host: host.name, slug })
    if (outcome !== 'refused') return slug
  }
  throw new Problem('SLUG_TAKEN', `${slugs.join(' and ')} are other apps on ${host.name}.`)
}

/** @throws Problem PREVIEW_LIMIT, PREVIEW_TAKEN, BAD_PREVIEW */
const takePreview = async (deps: AppNeeds, { row, body, expiresAt }: Asked, app: string): Promise<void> => {
  const request = { app, parent: row.name, account: row.account, ref: body.ref, limit: PREVIEWS_MAX, expiresAt }
  const { outcome, held } = await deps.previews.take({ ...request, at: deps.now().toISOString() })
  if (outcome === 'full') throw new Problem('PREVIEW_LIMIT', `${row.name} has ${PREVIEWS_MAX} previews.`)
  if (outcome === 'other') throw new Problem('PREVIEW_TAKEN', `${held} was made the preview of ${body.ref} meanwhile.`)
  if (outcome === 'orphan' || outcome === 'nested') throw new Problem('BAD_PREVIEW', `${row.name} is a preview itself.`)
}

const reserve = async (deps: AppNeeds, asked: Asked, name: string): Promise<string> => {
  const { row, host, parent } = asked
  try {
    await takePreview(deps, asked, name)
    const slug = await takeSlug(deps, asked, name)
    const wanted = budgetOf(parent.budget, host.budget)
    await reserveRoom(deps, { app: name, account: row.account, host, wanted })
    return slug
  } catch (error) {
    await giveBack(deps, name)
    throw error
  }
}

type Ready = { name: string; digest: string; envVersion: number | null }

/** The one that the platform makes is told to whoever made the preview, however often that comes again. */
const toldPassword = ({ body }: Asked): number | null =>
  body.access === 'public' || body.password !== undefined ? null : 1

const makeIt = async (deps: AppNeeds, asked: Asked, ready: Ready) => {
  const { name, digest, envVersion } = ready
  return layingReady({
    lay: () => reserve(deps, asked, name),
    async use(slug) {
      const spec = { ...specOf(asked, slug), source: { digest }, ...(envVersion !== null && { envVersion }) }
      if (spec.access === 'private')
        spec.passwordVersion = await storePassword(deps, name, asked.body.password ?? deps.keys.password(name, 1, 1))
      const { object, outcome } = await makeOwn(deps, APP, { name, spec })
      // somebody else who asked for the same branch was quicker
      if (outcome === 'stood there') return replaceIt(deps, asked, ready)
      return {
        ...generationGoal(object.metadata),
        ...{ parent: asked.row.name, isNew: true, isUnseen: true, password: toldPassword(asked) },
      }
    },
    giveBack: () => giveBack(deps, name),
  })
}

/** The branch as it is now, until another end; name, volumes and password stay. @throws Problem PREVIEW_TAKEN */
const replaceIt = async (deps: AppNeeds, asked: Asked, { name, digest, envVersion }: Ready) => {
  const { row, body, expiresAt } = asked
  const change = {
    source: { digest },
    previewOf: { app: row.name, ref: body.ref, expiresAt },
    ...(envVersion !== null && { envVersion }),
    ...(body.access !== undefined && { access: body.access }),
    ...(body.password !== undefined && { passwordVersion: await storePassword(deps, name, body.password) }),
  }
  // whoever made it may have died before its controller saw it
  const isUnseen = (await deps.mirror.get(APP, name, sameOwner(row))) === undefined
  const object = await editSpec<AppSpec>(deps, { kind: APP, name, whose: sameOwner(row) }, (spec, { metadata }) => {
    if (metadata.deletionTimestamp !== undefined)
      throw new Problem(
        'PREVIEW_TAKEN',
        `${name} is the preview of ${body.ref} and is ending: ask again once it has ended.`,
      )
    refuseFaults(faultsOf({ ...spec, ...change }))
    return change
  })
  await takePreview(deps, asked, name)
  const { isOwn } = asked
  return {
    ...generationGoal(object.metadata),
    ...{ parent: row.name, isNew: isOwn, isUnseen, password: isOwn ? toldPassword(asked) : null },
  }
}

/** Fetched, judged as it would be under its own name, and stored. */
const accept = async (deps: AppNeeds, request: ApiRequest, asked: Asked, name: string): Promise<AcceptedUpload> => {
  const { row, body, git, parent } = asked
  const as = { ...row, name, view: { ...row.view, slug: previewSlug(parent.slug, body.ref, '') } }
  const accepted = await acceptUpload(deps, request, as, { git })
  request.audited = { fields: Object.keys(body) }
  await storeUpload(deps, request.caller, as, accepted.upload)
  return accepted
}

const ask = async (deps: AppNeeds, request: ApiRequest, asked: Asked, name: string): Promise<Answer> => {
  const { row, isThere, env } = asked
  const isEmpty = Object.keys(env).length === 0 && (await deps.apps.envKeys(name)).version === null
  const settled = async (): Promise<Answer> => {
    const { upload, envVersion } = await accept(deps, request, asked, name)
    const ready = { name, digest: upload.digest, envVersion }
    return settle(deps, request, createPreviewCommand, {
      name,
      whose: sameOwner(row),
      resource: previewPath(row.name, name),
      pending: { preview: { id: name } },
      act: () => (isThere ? replaceIt(deps, asked, ready) : makeIt(deps, asked, ready)),
    })
  }
  if (isEmpty) return settled()
  return layingReady({
    lay: () => deps.apps.putEnv(name, () => env),
    use: settled,
    giveBack: async ({ version, isNew }) => isNew && deps.apps.takeBackEnv(name, version),
  })
}

export const createPreview = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await apps.find(deps, request)
  const body = request.body as PreviewBody
  if (row.view.preview_of !== null) throw new Problem('BAD_PREVIEW', `${row.name} is a preview itself.`)
  const expiresAt = expiryOf(body, deps.now())
  const host = await hostOf(deps, row.view.host_id, row.account)
  refuseUnfit(host)
  const [git, env, known, parent] = await Promise.all([
    repositoryOf(deps, row.name, body),
    envOf(deps, row.name, body),
    deps.previews.ofBranch(row.name, body.ref),
    readOwn<AppResource>(deps, { kind: APP, name: row.name, whose: sameOwner(row) }),
  ])
  const isThere = known !== null && (await hasCome(deps, row, known))
  const names = namesFor(deps.keys, 'app', request)
  const isOwn = request.idempotencyKey !== undefined && known?.app === names(0)
  const asked: Asked = { row, body, host, parent: parent.spec, expiresAt, env, git, known, isThere, isOwn }
  if (!isThere) await refuseLimit(deps, row.account)
  return known === null
    ? underOwnName(names, (name) => ask(deps, request, asked, name))
    : ask(deps, request, asked, known.app)
}
