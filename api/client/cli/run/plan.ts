/** A plan for people: what would run, what would stop and for how long, what stays, and what was found. */
import type { AnswerBody } from '../net/api.ts'
import { tableLines } from '../show/show.ts'
import { oneLine, type Terminal, visible } from '../show/terminal.ts'
import { bytesWords } from '../show/words.ts'

const limitsWords = (limits: AnswerBody): string =>
  limits ? `${limits.cpu_millis / 1000} CPU, ${bytesWords(limits.memory_bytes)}, ${limits.pids} pids` : '-'

const serviceRow = ({ name, action, downtime_seconds: seconds, stateful, limits }: AnswerBody) => ({
  service: name,
  action,
  downtime: seconds > 0 ? `up to ${seconds} s` : 'none',
  keeps: stateful ? 'data' : '-',
  limits: limitsWords(limits),
})

const listed = (terminal: Terminal, title: string, lines: readonly string[]): void => {
  if (lines.length === 0) return
  terminal.out(terminal.paint('bold', title))
  for (const line of lines) terminal.out(`  ${line}`)
}

/** Names that come, go or change; or where each value comes from. */
const envLines = (env: AnswerBody): string[] =>
  Object.entries((env ?? {}) as Record<string, unknown>).map(([name, value]) =>
    oneLine(`${name}: ${Array.isArray(value) ? value.join(', ') || '-' : JSON.stringify(value)}`, 300),
  )

const findingLines = (findings: AnswerBody): string[] =>
  ((findings ?? []) as AnswerBody[]).flatMap(({ level, pointer, line, detail, next }) => [
    oneLine(`${level ?? ''} ${pointer ?? ''}${line ? ` (line ${line})` : ''}: ${detail ?? ''}`.trim(), 1_000),
    ...(next ? [`  → ${oneLine(next, 1_000)}`] : []),
  ])

/** What is written otherwise than it came (a service's port, a name): the place, from, to, and why. */
const changeLines = (changes: AnswerBody): string[] =>
  ((changes ?? []) as AnswerBody[]).map(({ pointer, line, from, to, reason }) =>
    oneLine(
      `${pointer ?? ''}${line ? ` (line ${line})` : ''}: ${JSON.stringify(from ?? null)} → ${JSON.stringify(to ?? null)}: ${reason ?? ''}`,
      1_000,
    ),
  )

const memberKeys = [
  'source_digest',
  'files',
  'bytes',
  'arch',
  'host_class',
  'budget',
  'services',
  'volumes',
  'images',
  'builds',
  'env',
  'findings',
  'changes',
  'compose',
]

/** What a newer server says beside it is shown as it comes. */
const restLines = (plan: AnswerBody): string[] =>
  Object.entries(plan as Record<string, unknown>)
    .filter(([name]) => !memberKeys.includes(name))
    .map(([name, value]) => oneLine(`${name}: ${JSON.stringify(value)}`, 1_000))

export const showPlan = (terminal: Terminal, plan: AnswerBody): void => {
  const { services = [], volumes = [], images = [], builds = [] } = plan
  terminal.out(`source ${oneLine(plan.source_digest ?? '-', 80)}, ${plan.files} files, ${bytesWords(plan.bytes ?? 0)}`)
  if (services.length > 0) {
    const columns = ['service', 'action', 'downtime', 'keeps', 'limits']
    for (const line of tableLines(services.map(serviceRow), columns)) terminal.out(line)
  }
  listed(
    terminal,
    'Volumes',
    volumes.map(({ name, action, detail }: AnswerBody) => oneLine(`${name}: ${action}. ${detail ?? ''}`, 500)),
  )
  listed(
    terminal,
    'Builds',
    builds.map(({ service, context }: AnswerBody) => oneLine(`${service} from ${context}`, 300)),
  )
  listed(
    terminal,
    'Images',
    images.map((image: unknown) => oneLine(typeof image === 'string' ? image : JSON.stringify(image), 300)),
  )
  listed(terminal, 'Env', envLines(plan.env))
  listed(terminal, 'Changed in the compose file', changeLines(plan.changes))
  if (typeof plan.compose?.runs === 'string') listed(terminal, 'As it will run', visible(plan.compose.runs).split('\n'))
  listed(terminal, 'Found', findingLines(plan.findings))
  listed(terminal, 'And', restLines(plan))
  terminal.say('Nothing was done. bottega deploy does it.')
}
