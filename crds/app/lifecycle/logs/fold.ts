/**
 * The log of a job as it may be shown: piece by piece, in the order in which it came, so that the same pieces give the same lines.
 * Marked lines are ours alone and become what is said of the step (rules/app.md#progress). Pure.
 */
import { trimmedEnd } from '../../../values/trimmed.ts'
import { MARK } from '../../start.ts'
import type { JobStep } from '../../steps.ts'
import { readBuildKit } from './buildkit.ts'
import type { LogFold, ReadLine } from './reading.ts'

export const FOLD_START: LogFold = { service: null, vertices: {}, pull: null, latest: {}, quotes: false, skips: false }

/** Characters of a line; what a program prints beyond that nobody reads in a log. */
export const LINE_MAX = 2_000

/** `note`: what is to be said of the step from here on; null where nothing new is. */
export type FoldedLog = { fold: LogFold; lines: string[]; note: string | null }

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours and moves of the cursor, as terminals take them
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: nothing that a terminal would act on
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f]/g

/** A line as a terminal would show it in the end: what was overwritten by a carriage return is gone. */
export const shownLine = (raw: string): string => {
  const line = trimmedEnd(raw, '\r')
  const shown = line
    .slice(line.lastIndexOf('\r') + 1)
    .replace(ESCAPES, '')
    .replace(CONTROLS, '')
  return shown.length > LINE_MAX ? `${shown.slice(0, LINE_MAX)}…` : shown
}

/** `web-r3-1  | 2026-11-22T02:15:40.123456789Z text`, as Compose and our scripts write what a container says. */
const NAME = /^[a-zA-Z0-9._-]+$/
const PLACE = /^\d{1,4}$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z$/
const RELEASE_MARK = /-r\d{1,10}$/

export type ContainerLine = { container: string; service: string; at: string; text: string }

/** What stands before the bar: a container by its service and its place; null where none does. */
const headOf = (line: string): { name: string; place: string; rest: string } | null => {
  const bar = line.indexOf(' | ')
  const head = trimmedEnd(line.slice(0, Math.max(0, bar)), ' ')
  const cut = head.lastIndexOf('-')
  const [name, place] = [head.slice(0, Math.max(0, cut)), head.slice(cut + 1)]
  return NAME.test(name) && PLACE.test(place) ? { name, place, rest: line.slice(bar + 3) } : null
}

/** Null for a line that no container said. */
export const containerLine = (line: string): ContainerLine | null => {
  const head = headOf(line)
  if (head === null) return null
  const end = head.rest.indexOf(' ')
  const at = end < 0 ? head.rest : head.rest.slice(0, end)
  if (!INSTANT.test(at)) return null
  const { name, place } = head
  const text = end < 0 ? '' : head.rest.slice(end + 1)
  return { container: `${name}-${place}`, service: name.replace(RELEASE_MARK, ''), at, text }
}

const LAYER_WORDS = [
  'Pulling fs layer',
  'Already exists',
  'Pull complete',
  'Waiting',
  'Verifying Checksum',
  'Download complete',
  'Downloading',
  'Extracting',
]
const isPullNoise = (line: string): boolean =>
  line.startsWith('Digest: sha256:') ||
  line.startsWith('Status: ') ||
  line.startsWith('docker.io/') ||
  line.includes(': Pulling from ')

const layerWord = (line: string): string | undefined => {
  const said = line.slice(line.indexOf(': ') + 2)
  return line.includes(': ') ? LAYER_WORDS.find((word) => said.startsWith(word)) : undefined
}

const layersOf = ({ name, layers, done }: NonNullable<LogFold['pull']>): string =>
  layers === 0 ? `pulling ${name}` : `pulling ${name}: ${done} of ${layers} layers`

const readPull = (fold: LogFold, line: string): ReadLine | null => {
  const { pull } = fold
  if (pull === null) return null
  const word = layerWord(line)
  if (word === undefined) return isPullNoise(line) ? { fold, line: null, note: null } : null
  const isNew = word === 'Pulling fs layer' || word === 'Already exists'
  const isDone = word === 'Pull complete' || word === 'Already exists'
  const counted = { ...pull, layers: pull.layers + (isNew ? 1 : 0), done: pull.done + (isDone ? 1 : 0) }
  return { fold: { ...fold, pull: counted }, line: null, note: layersOf(counted) }
}

const readContainer = (fold: LogFold, line: string): ReadLine | null => {
  const found = containerLine(line)
  // Whoever cut it may have cut a secret in two.
  if (found === null) return headOf(line) !== null ? { fold, line: null, note: null } : null
  const { container, service, at, text } = found
  if (at <= (fold.latest[container] ?? '')) return { fold, line: null, note: null }
  return { fold: { ...fold, latest: { ...fold.latest, [container]: at } }, line: `${service} | ${text}`, note: null }
}

/** What our own scripts say in between: `waiting <seconds> <of seconds> <about>`, `pull <service> <image>`. */
const readMark = (fold: LogFold, words: readonly string[]): ReadLine => {
  const [word, first = '', second = '', ...rest] = words
  if (word === 'pull') {
    const pull = { name: second, layers: 0, done: 0 }
    return { fold: { ...fold, pull }, line: `${first}: pulling ${second}`, note: layersOf(pull) }
  }
  if (word === 'waiting') {
    const [subject = '', ...about] = rest
    const what =
      subject === ''
        ? 'waiting'
        : `waiting for ${subject.replace(/:$/, '').replace(RELEASE_MARK, '')}: ${about.join(' ').trim()}`
    return { fold, line: null, note: `${what} (${first} s of ${second})` }
  }
  return { fold, line: null, note: null }
}

const readLine = (fold: LogFold, step: JobStep, line: string): ReadLine => {
  if (line.startsWith(`${MARK} `)) return readMark(fold, line.slice(MARK.length + 1).split(' '))
  const read = step === 'images' ? (readPull(fold, line) ?? readBuildKit(fold, line)) : readContainer(fold, line)
  return read ?? { fold, line: line.trim() === '' ? null : line, note: null }
}

/** @param text a piece of the log, in whole lines, with its secrets taken out */
export const foldLog = (before: LogFold, step: JobStep, text: string): FoldedLog => {
  const end = before.skips ? text.indexOf('\n') : -1
  if (before.skips && end < 0) return { fold: before, lines: [], note: null }
  let fold = { ...before, skips: text !== '' && !text.endsWith('\n') }
  let note: string | null = null
  const lines: string[] = []
  for (const raw of text.slice(end + 1).split('\n')) {
    const read = readLine(fold, step, shownLine(raw))
    fold = read.fold
    note = read.note ?? note
    if (read.line !== null) lines.push(read.line)
  }
  return { fold, lines, note }
}

/** The lines of a log that is there as a whole, as they may be shown. */
export const linesIn = (step: JobStep, log: string): string[] => foldLog(FOLD_START, step, log).lines
