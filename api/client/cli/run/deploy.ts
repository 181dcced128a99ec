/** deploy and plan: pack a folder, send it with its bytes counted, and follow what becomes of it. */
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import type { CommandContext } from '../context.ts'
import type { ApiAnswer } from '../net/api.ts'
import type { ExitCode } from '../net/outcome.ts'
import { type PackedProject, packProject } from '../project/pack.ts'
import { oneLine, type Terminal } from '../show/terminal.ts'
import { bytesWords, countWords, secondsWords } from '../show/words.ts'
import { showEnded } from './ended.ts'
import { settled } from './follow.ts'
import { queryOf } from './generic.ts'
import { showPlan } from './plan.ts'

const NAMES_TOLD = 5

const tellLeft = (terminal: Terminal, { left }: PackedProject): void => {
  for (const { by, count, paths } of left) {
    const names = paths.length === 0 ? '' : `: ${oneLine(paths.slice(0, NAMES_TOLD).join(', '), 300)}`
    terminal.say(`  left out, ${by}: ${countWords(count, 'entry').replace(/ys$/, 'ies')}${names}`)
    if (paths.some((path) => /(^|\/)\.env/.test(path)))
      terminal.say('  What .env holds reaches the app by: bottega env set --file .env')
  }
}

/** What was sent, for scripts. */
export const sentOf = ({ file, files, sourceBytes, left }: PackedProject) => ({
  files,
  bytes: sourceBytes,
  packed_bytes: file.bytes,
  left_out: left.map(({ by, count, paths }) => ({ by, count, ...(paths.length > 0 && { paths }) })),
})

const includeOf = ({ flags }: CommandContext): string[] => (Array.isArray(flags.include) ? flags.include : [])

/** @throws UsageFault */
export const packFor = async (context: CommandContext, folder: string): Promise<PackedProject> => {
  const { terminal, surroundings } = context
  const root = resolve(surroundings.cwd, folder)
  const packed = await packProject(root, {
    include: includeOf(context),
    onFile: (done, of) => terminal.passing(`packing ${done} of ${countWords(of, 'file')}`),
  })
  const { files, sourceBytes, file } = packed
  terminal.say(`packed ${countWords(files, 'file')}, ${bytesWords(sourceBytes)} as ${bytesWords(file.bytes)}`)
  tellLeft(terminal, packed)
  return packed
}

/** Sends a packed project. @param query with the question mark */
export const sendProject = async (
  { api, terminal, flags }: Pick<CommandContext, 'api' | 'terminal' | 'flags'>,
  { id, packed, query }: { id: string; packed: PackedProject; query: string },
): Promise<ApiAnswer> => {
  const { file } = packed
  const beganMs = performance.now()
  let sent = 0
  const answer = await api.call({
    method: 'POST',
    path: `/api/apps/${encodeURIComponent(id)}/deploy${query}`,
    file,
    key: typeof flags.idempotency_key === 'string' ? flags.idempotency_key : randomUUID(),
    headers: { 'content-type': 'application/gzip', prefer: 'respond-async' },
    onSent(bytes) {
      sent = bytes
      const percent = Math.floor((bytes / file.bytes) * 100)
      terminal.passing(
        bytes < file.bytes
          ? `uploading ${bytesWords(bytes)} of ${bytesWords(file.bytes)}, ${percent} %`
          : `uploaded ${bytesWords(bytes)}; it is being checked`,
      )
    },
  })
  terminal.say(`uploaded ${bytesWords(sent)} in ${secondsWords(performance.now() - beganMs)}`)
  return answer
}

/** What a deploy would do, as a document; nothing is done. */
export const planFor = async (context: CommandContext): Promise<{ plan: unknown; sent: object }> => {
  const id = await context.subject()
  const packed = await packFor(context, context.words[0] ?? '.')
  try {
    const query = queryOf(context, { dry_run: '1' })
    const { body } = await sendProject(context, { id, packed, query })
    return { plan: body?.plan ?? {}, sent: sentOf(packed) }
  } finally {
    await packed.drop()
  }
}

export const runPlan = async (context: CommandContext): Promise<ExitCode> => {
  const { plan, sent } = await planFor(context)
  if (context.terminal.isJson) context.terminal.json({ plan, sent })
  else showPlan(context.terminal, plan)
  return 0
}

export const runDeploy = async (context: CommandContext): Promise<ExitCode> => {
  if (context.flags.dry_run === true) return runPlan(context)
  const id = await context.subject()
  const packed = await packFor(context, context.words[0] ?? '.')
  try {
    context.goesOn(`status ${id}`)
    const answer = await sendProject(context, { id, packed, query: queryOf(context) })
    for (const warning of (answer.body?.warnings ?? []) as string[])
      context.terminal.say(`${context.terminal.paint('yellow', 'warning')} ${oneLine(warning, 500)}`)
    const end = await settled(context, answer)
    return await showEnded(context, { id, end, more: { sent: sentOf(packed) } })
  } finally {
    await packed.drop()
  }
}
