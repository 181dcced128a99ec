/**
 * What BuildKit prints of a build (`--progress plain`), as people read it: which step begins, what it says, how it ends. What BuildKit
 * does for itself is left out. Source: BuildKit 0.25, util/progress/progressui.
 */
import type { LogFold, ReadLine } from './reading.ts'

/** Steps of one build that are told apart; older ones are over by then. */
const VERTICES_MAX = 100
/** Of a Dockerfile's instruction, as it is told. */
const INSTRUCTION_MAX = 160

const DIGEST_LENGTH = 64

const LINE = /^#(\d{1,5}) (.*)$/
/** `[3/5] RUN npm ci`, `[builder 3/5] RUN npm ci`: the stage, where it has a name, and the step of how many. */
const STEP = /^\[(?:([^\] ]{1,60}) )?(\d{1,4}\/\d{1,4})\] (.*)$/
const SAID = /^\d{1,6}\.\d{1,3} (.*)$/
const DONE = /^DONE (\d{1,6}\.\d)s$/
const IMAGE = /^([a-zA-Z0-9._-]{1,63}): bottega\.local\/\S{1,200}$/

const clipped = (text: string): string => (text.length > INSTRUCTION_MAX ? `${text.slice(0, INSTRUCTION_MAX)}…` : text)

/** `node:20@sha256:…`: the digest tells nobody anything. */
const withoutDigest = (text: string): string =>
  text
    .split('@sha256:')
    .map((part, place) => (place === 0 ? part : part.slice(DIGEST_LENGTH)))
    .join('')

const remembered = (fold: LogFold, id: string, label: string): LogFold => {
  const known = Object.entries(fold.vertices).slice(-(VERTICES_MAX - 1))
  return { ...fold, vertices: { ...Object.fromEntries(known), [id]: label } }
}

const begun = (fold: LogFold, id: string, rest: string): ReadLine => {
  const [, stage, place = '', instruction = ''] = STEP.exec(rest) ?? []
  // `[internal] load build definition`, and the like.
  if (place === '') return { fold, line: null, note: null }
  const label = [fold.service, stage, place].filter(Boolean).join(' ')
  const told = clipped(withoutDigest(instruction))
  const note = `building ${fold.service ?? 'an image'}: ${[stage, place].filter(Boolean).join(' ')} ${told}`
  // Told again each time that BuildKit comes back to it.
  if (fold.vertices[id] === label) return { fold, line: null, note }
  return { fold: remembered(fold, id, label), line: `${label} ${told}`, note }
}

/** How one step goes on, or ended. */
const wentOn = (fold: LogFold, id: string, rest: string): ReadLine => {
  const label = fold.vertices[id]
  const only = (line: string | null, note: string | null = null): ReadLine => ({ fold, line, note })
  if (rest.startsWith('ERROR: ')) return only(`${label ?? fold.service ?? 'the build'} failed: ${rest.slice(7)}`)
  if (rest.startsWith('exporting to ')) return only(null, `building ${fold.service ?? 'an image'}: writing the image`)
  if (label === undefined) return only(null)
  if (rest === 'CACHED') return only(`${label} kept from before`)
  const seconds = DONE.exec(rest)?.[1]
  if (seconds !== undefined) return only(`${label} done in ${seconds} s`)
  const said = SAID.exec(rest)?.[1]
  return only(said === undefined ? null : `${label} | ${said}`)
}

/** @returns null for a line that is not BuildKit's */
export const readBuildKit = (fold: LogFold, line: string): ReadLine | null => {
  const service = IMAGE.exec(line)?.[1]
  if (service !== undefined) {
    return {
      fold: { ...fold, service, vertices: {} },
      line: `${service}: the build begins`,
      note: `building ${service}`,
    }
  }
  // What failed is shown once more between two such lines.
  if (line === '------') return { fold: { ...fold, quotes: !fold.quotes }, line: null, note: null }
  if (fold.quotes) return { fold, line: null, note: null }
  const [, id = '', rest = ''] = LINE.exec(line) ?? []
  if (id === '') return null
  return rest.startsWith('[') ? begun(fold, id, rest) : wentOn(fold, id, rest)
}
