/** What the six tools do. Each asks the same routes as the commands do; none changes anything but app_deploy with apply. */
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve, sep } from 'node:path'
import { type CommandContext, subjectId } from '../context.ts'
import type { AnswerBody } from '../net/api.ts'
import { GaveUp, UsageFault } from '../net/outcome.ts'
import { packFor, planFor, sendProject, sentOf } from '../run/deploy.ts'
import { followOperation, isEnded, settled } from '../run/follow.ts'
import { queryOf } from '../run/generic.ts'
import { boundedText, type ToolAnswer, toolAnswer } from './bounded.ts'
import type { ToolName } from './definitions.ts'

const TAIL_DEFAULT = 50
const LOG_LINES_MAX = 400
const LOG_CHARS_MAX = 40_000
const LINE_MAX_CHARS = 500
const WAIT_SECONDS_DEFAULT = 120

/** A context for one call of a tool, with its own time. */
export type ToolCall = {
  // biome-ignore lint/suspicious/noExplicitAny: checked against the tool's schema (arguments.ts)
  args: any
  /** @param waitMs of what is waited for; requests have their own bounds */
  open(more: { waitMs?: number; flags?: Record<string, string | string[]>; words?: readonly string[] }): CommandContext
  /** The folder that this server may send from. */
  root: string
  /** Deploys are refused. */
  isReadOnly: boolean
}

const pathOf = async (context: CommandContext, app: string, more = ''): Promise<string> =>
  `/api/apps/${encodeURIComponent(await subjectId(context.api, context.command.surface, app))}${more}`

const get = async (call: ToolCall, more: string): Promise<AnswerBody> => {
  const context = call.open({})
  const { body } = await context.api.call({ method: 'GET', path: await pathOf(context, call.args.app, more) })
  return body ?? {}
}

const shortRelease = (release: AnswerBody) =>
  release && {
    number: release.number,
    state: release.state,
    reason: release.reason ?? null,
    created_at: release.created_at ?? null,
    live_at: release.live_at ?? null,
  }

const shortOperation = (operation: AnswerBody) =>
  operation && {
    id: operation.id,
    kind: operation.kind,
    state: operation.state,
    steps: ((operation.steps ?? []) as AnswerBody[]).map(({ name, state, message }) => ({ name, state, message })),
    result: operation.result ?? null,
  }

const listApps = async (call: ToolCall): Promise<ToolAnswer> => {
  const { api } = call.open({})
  const { body } = await api.call({ method: 'GET', path: `/api/apps?limit=${call.args.limit ?? 50}` })
  const apps = ((body?.apps ?? []) as AnswerBody[]).map(
    ({ id, slug, status, url, access, host_id, release, readiness }) => ({
      id,
      slug,
      status,
      url,
      access,
      host_id,
      release: release?.number ?? null,
      readiness: readiness?.state ?? 'unknown',
    }),
  )
  return toolAnswer(`${apps.length} of ${body?.total ?? apps.length} apps.`, {
    apps,
    total: body?.total ?? apps.length,
  })
}

const appStatus = async (call: ToolCall): Promise<ToolAnswer> => {
  const { app } = await get(call, '')
  return toolAnswer('How the app stands.', {
    id: app.id,
    slug: app.slug,
    status: app.status,
    access: app.access,
    url: app.url ?? null,
    host_id: app.host_id,
    release: shortRelease(app.release ?? null),
    operation: shortOperation(app.operation ?? null),
    env_keys: app.env?.keys ?? [],
    readiness: app.readiness ?? { state: 'unknown', checks: [] },
    stalled: app.stalled ?? null,
  })
}

const appLogs = async (call: ToolCall): Promise<ToolAnswer> => {
  const context = call.open({})
  const path = await pathOf(context, call.args.app, `/logs?tail=${call.args.tail ?? TAIL_DEFAULT}`)
  const { text } = await context.api.call({ method: 'GET', path, headers: { accept: 'text/plain' } })
  const all = text.replace(/\n$/, '').split('\n')
  const lines: string[] = []
  let chars = 0
  // the newest count most
  for (const line of all.slice(-LOG_LINES_MAX).reverse()) {
    const shown = boundedText(line, LINE_MAX_CHARS)
    chars += shown.length
    if (chars > LOG_CHARS_MAX) break
    lines.unshift(shown)
  }
  const isCut = lines.length < all.length || all.some((line) => line.length > LINE_MAX_CHARS)
  const structured = { lines: text === '' ? [] : lines, truncated: isCut, untrusted: true }
  const { content } = toolAnswer('Lines that the app wrote, as strings of a JSON list.', structured)
  return { content, structuredContent: structured }
}

const appReadiness = async (call: ToolCall): Promise<ToolAnswer> => {
  const { readiness } = await get(call, '/readiness')
  return toolAnswer('What was seen of the app.', { checks: [], ...(readiness ?? { state: 'unknown' }) })
}

const waitMsOf = ({ args }: ToolCall): number => (args.wait_seconds ?? WAIT_SECONDS_DEFAULT) * 1_000

/** The operation once it has ended, or as it stands when the time to wait is up. */
const endOrNow = async (call: ToolCall, id: string, waitMs: number): Promise<AnswerBody> => {
  const path = `/api/apps/operations/${encodeURIComponent(id)}`
  const reading = call.open({})
  const look = async () => (await reading.api.call({ method: 'GET', path })).body?.operation ?? {}
  const seen = await look()
  if (isEnded(seen) || waitMs <= 0) return seen
  try {
    return await followOperation(call.open({ waitMs }), path)
  } catch (error) {
    if (error instanceof GaveUp) return look()
    throw error
  }
}

const releaseOf = async ({ api }: CommandContext, operation: AnswerBody): Promise<AnswerBody> => {
  const number = operation.result?.release
  if (number === undefined || number === null) return null
  const path = `/api/apps/${encodeURIComponent(operation.app)}/releases?limit=50`
  const { body } = await api.call({ method: 'GET', path })
  const found = ((body?.releases ?? []) as AnswerBody[]).find((one) => one.number === number)
  if (!found) return null
  const lines = (found.log_tail ?? '')
    .trimEnd()
    .split('\n')
    .slice(-LOG_LINES_MAX / 10)
  return { ...shortRelease(found), ...(found.log_tail && { log_tail: lines }) }
}

const appOperation = async (call: ToolCall): Promise<ToolAnswer> => {
  const operation = await endOrNow(call, call.args.operation, (call.args.wait_seconds ?? 0) * 1_000)
  const reading = call.open({})
  return toolAnswer(`The operation is ${boundedText(String(operation.state), 40)}.`, {
    operation: shortOperation(operation),
    release: await releaseOf(reading, operation),
  })
}

/** @throws UsageFault for a folder that this server may not send from */
const folderOf = ({ root, args }: ToolCall): string => {
  const top = realpathSync(root)
  let folder: string
  try {
    folder = realpathSync(resolve(top, args.dir ?? '.'))
  } catch {
    throw new UsageFault(
      `There is no folder ${JSON.stringify(args.dir)} below the one that this server was started in.`,
    )
  }
  if (folder !== top && !folder.startsWith(top.endsWith(sep) ? top : `${top}${sep}`)) {
    throw new UsageFault('The folder lies outside of the one that this server was started in.')
  }
  if (folder === realpathSync(homedir()) || folder === resolve(folder, '/')) {
    throw new UsageFault('A home folder, or a whole disk, is no project.')
  }
  return folder
}

const appDeploy = async (call: ToolCall): Promise<ToolAnswer> => {
  const { args, isReadOnly } = call
  const folder = folderOf(call)
  const flags = {
    app: args.app,
    ...(args.include && { include: args.include }),
    ...(args.confirm_volumes && { confirm_volumes: args.confirm_volumes.join(',') }),
  }
  if (args.apply !== true) {
    const { plan, sent } = await planFor(call.open({ flags, words: [folder] }))
    const said = 'Nothing was deployed: this is the plan. Show it to the person you work for; apply: true deploys it.'
    return toolAnswer(said, { applied: false, plan, operation: null, release: null, url: null, sent })
  }
  if (isReadOnly) throw new UsageFault('This server was started with --read-only: it plans, and deploys nothing.')
  const context = call.open({ flags, words: [folder] })
  const id = await context.subject()
  const packed = await packFor(context, folder)
  try {
    const answer = await sendProject(context, { id, packed, query: queryOf(context) })
    const begun = answer.body?.operation ?? null
    const operation = begun
      ? await endOrNow(call, begun.id, waitMsOf(call))
      : (await settled(context, answer)).operation
    const reading = call.open({})
    const release = operation ? await releaseOf(reading, operation) : null
    const { body } = await reading.api.call({ method: 'GET', path: `/api/apps/${encodeURIComponent(id)}` })
    const state = boundedText(String(operation?.state ?? 'unknown'), 40)
    const said = `A deploy was begun; its operation is ${state}.`
    const url = body?.app?.url ?? null
    return toolAnswer(said, {
      applied: true,
      plan: null,
      operation: shortOperation(operation),
      release,
      url,
      sent: sentOf(packed),
    })
  } finally {
    await packed.drop()
  }
}

export const RUN_TOOL: Readonly<Record<ToolName, (call: ToolCall) => Promise<ToolAnswer>>> = {
  app_list: listApps,
  app_status: appStatus,
  app_logs: appLogs,
  app_deploy: appDeploy,
  app_operation: appOperation,
  app_readiness: appReadiness,
}
