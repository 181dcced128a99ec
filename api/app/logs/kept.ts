/**
 * GET …/operations/:operationId/logs, and GET …/logs of a release that does not run any more: what is kept of it, by the number of its
 * lines, so that one goes on where one was (rules/app.md#kept-logs).
 */
import { ENDED } from '../../../crds/app/lifecycle/transitions.ts'
import type { Operation } from '../../../crds/app/world.ts'
import { Problem } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import type { AppNeeds } from '../needs.ts'
import { apps, ownOperation } from '../read.ts'
import { followedAnswer, type LogEvent, lastIdOf, textAnswer } from './events.ts'

/** A line and its number. `step`: build, start or run. */
type KeptLine = { n: number; step: string; text: string }

/** Of one answer that is no stream. */
const LOOKS_MAX = 200

/** The lines behind the `after`th, with a word where some are missing. */
const linesBehind = async (deps: AppNeeds, app: string, release: number, after: number): Promise<KeptLine[]> => {
  const parts = await deps.apps.keptLines(app, release, after)
  const lines: KeptLine[] = []
  let last = after
  for (const { n, step, lines: texts } of parts) {
    if (n > last + 1) lines.push({ n: n - 1, step, text: `… lines ${last + 1} to ${n - 1} were not kept` })
    for (const [place, text] of texts.entries()) lines.push({ n: n + place, step, text })
    last = n + texts.length - 1
  }
  return lines
}

type Wanted = { app: string; release: number; step?: string | undefined; service?: string | undefined }

/** `web 3/5 | text`, `web | text`, `<instant> web | text`: of which service it tells. */
const tellsOf = (text: string, service: string): boolean =>
  text.replace(/^\d{4}-\d\d-\d\dT\S{1,40} /, '').startsWith(`${service} `) || text.startsWith(`${service}:`)

const isWanted =
  ({ step, service }: Wanted) =>
  (line: KeptLine): boolean =>
    (step === undefined || line.step === step) && (service === undefined || tellsOf(line.text, service))

/** All that is kept, as text. @param tail the last lines alone */
export const keptText = async (deps: AppNeeds, wanted: Wanted, after: number, tail?: number): Promise<Answer> => {
  const { app, release } = wanted
  const all: KeptLine[] = []
  for (let left = LOOKS_MAX; left > 0; left--) {
    const found = await linesBehind(deps, app, release, all.at(-1)?.n ?? after)
    if (found.length === 0) break
    all.push(...found)
  }
  const texts = all.filter(isWanted(wanted)).map(({ text }) => text)
  return textAnswer(tail === undefined ? texts : texts.slice(-tail))
}

const eventOf = ({ n, step, text }: KeptLine): LogEvent => ({ id: String(n), event: step, text })

const isOver = ({ state }: Operation): boolean => (ENDED as readonly string[]).includes(state)

const followOperation = (deps: AppNeeds, operation: Operation, after: number): Answer => {
  let at = after
  let present = operation
  return followedAnswer(deps, {
    async next() {
      // Looked at before the lines are: what was kept until it ended is there then.
      if (!isOver(present)) present = (await deps.apps.operation(operation.id)) ?? present
      const ended = isOver(present)
      const { release } = present
      const lines = release === null ? [] : await linesBehind(deps, operation.app, release, at)
      at = lines.at(-1)?.n ?? at
      // What it said when it was taken down, long after, is no part of it.
      const events = lines.filter(({ step }) => step !== 'run').map(eventOf)
      return { events, isOver: ended && lines.length === 0 }
    },
    last: async () => ({ id: String(at), event: 'end', text: present.state }),
  })
}

const placeIn = (id: string | undefined): number => (id !== undefined && /^\d{1,9}$/.test(id) ? Number(id) : 0)

export const getOperationLogs = async (deps: AppNeeds, request: ApiRequest): Promise<Answer> => {
  const { name } = await apps.find(deps, request)
  const operation = await ownOperation(deps, request)
  if (operation.app !== name) throw new Problem('NOT_FOUND', `There is no operation ${operation.id} of this app.`)
  const { follow, after } = request.query
  const place = placeIn(lastIdOf(request) ?? after)
  if (follow === '1') return followOperation(deps, operation, place)
  const { release } = operation
  if (release === null) return textAnswer([])
  return keptText(deps, { app: operation.app, release }, place)
}
