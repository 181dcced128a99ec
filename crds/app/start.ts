/** What the jobs on the host say at their end. The last lines are theirs alone: whatever an app prints comes before them. */
import type { ProblemCode } from '../kernel/problem.ts'
import type { JobStep } from './steps.ts'
import type { JobState, PinnedImage } from './world.ts'

/** Begins each line that a script of ours writes for us to read. */
export const MARK = 'bottega:'

/** Exit codes of our scripts; others are those of the container engine. */
export const EXIT = {
  buildFailed: 20,
  pullFailed: 21,
  imageMissing: 22,
  filesDiffer: 23,
  wrongProcessor: 24,
  packageRefused: 25,
  baseFailed: 30,
  startFailed: 31,
  exited: 32,
  unhealthy: 33,
  restarting: 34,
  outOfMemory: 35,
  noAnswer: 36,
  tooLate: 37,
  notGuarded: 38,
  diskExceeded: 39,
  volumeMissing: 40,
  notCopied: 41,
  tooLarge: 42,
  notPacked: 43,
  givenDiffers: 44,
  noRoom: 45,
  notRestored: 46,
  commandLate: 50,
  commandLost: 51,
  commandUnstarted: 52,
} as const

const KILLED = 137

type Ended = Extract<JobState, { state: 'exited' }>

/** The words of the marked lines at the end, in order. A line that an app printed above them does not count. */
export const markedLines = (log: string): string[][] => {
  const lines = log.trimEnd().split('\n')
  const from = lines.findLastIndex((line) => !line.startsWith(`${MARK} `)) + 1
  return lines.slice(from).map((line) => line.slice(MARK.length + 1).split(' '))
}

/** On loopback, or a container's own. */
const ADDRESSES = /^(\d{1,3}\.){3}\d{1,3}:\d{1,5}(,(\d{1,3}\.){3}\d{1,3}:\d{1,5})*$/

/** Of several replicas by commas, in their order. */
export const addressIn = (log: string): string | null => {
  const found = markedLines(log).find(([word]) => word === 'address')?.[1]
  return found !== undefined && ADDRESSES.test(found) ? found : null
}

/** What the job has to say beside that all is well; null for nothing. */
export const noteIn = (log: string): string | null =>
  markedLines(log)
    .find(([word]) => word === 'note')
    ?.slice(1)
    .join(' ') ?? null

/** The user that a container of the image begins as, as JSON; '' is root. */
const userIn = (words: readonly string[]): string => {
  try {
    return String(JSON.parse(words.join(' ')))
  } catch {
    return ''
  }
}

/** Service, id, architecture and user of each image, in the order that they were asked for; null when one is missing. */
export const imagesIn = (
  log: string,
  wanted: readonly { service: string; name: string }[],
): { images: PinnedImage[]; archs: string[]; users: string[] } | null => {
  const lines = markedLines(log).filter(([word]) => word === 'image')
  const last = lines.slice(-wanted.length)
  if (last.length !== wanted.length) return null
  const images = wanted.map(({ service, name }, place) => ({ service, name, id: last[place]?.[1] ?? '' }))
  const isWhole = images.every(({ id }) => /^sha256:[0-9a-f]{64}$/.test(id))
  if (!isWhole) return null
  return { images, archs: last.map((words) => words[2] ?? ''), users: last.map((words) => userIn(words.slice(3))) }
}

/** What a job that did not end well is told as. */
export const reasonOf = (step: JobStep, { code, log, cancelled }: Ended): { code: ProblemCode; detail: string } => {
  const about = markedLines(log)
    .find(([word]) => word === 'reason')
    ?.slice(1)
    .join(' ')
  const behind = about ? `: ${about}` : ''
  const failed = (detail: string) => ({ code: 'RELEASE_FAILED' as const, detail: `${detail}${behind}` })
  switch (code) {
    case EXIT.buildFailed:
      return { code: 'BUILD_FAILED', detail: `the build failed${behind}` }
    case EXIT.packageRefused:
      return { code: 'PACKAGE_REFUSED', detail: `the build failed, refused what it asked for${behind}` }
    case EXIT.pullFailed:
      return { code: 'PULL_FAILED', detail: `an image could not be pulled${behind}` }
    case EXIT.wrongProcessor:
      return {
        code: 'ARCH_MISMATCH',
        detail: `an image is for another processor than the host has${behind}`,
      }
    case EXIT.imageMissing:
      return {
        code: 'IMAGE_MISSING',
        detail: `an image of the release is no longer on the host${behind}`,
      }
    case EXIT.filesDiffer:
      return failed('the files on the host are not those of the upload')
    case EXIT.baseFailed:
      return failed('a service that the release builds on did not come up')
    case EXIT.startFailed:
      return failed('a service did not start')
    case EXIT.exited:
      return failed('a service exited')
    case EXIT.unhealthy:
      return failed('a service is unhealthy')
    case EXIT.restarting:
      return failed('a service restarts again and again')
    case EXIT.outOfMemory:
      return failed('a service ran out of memory')
    case EXIT.noAnswer:
      return failed('the routed service does not answer')
    case EXIT.tooLate:
      return failed('it was not healthy in time')
    case EXIT.notGuarded:
      return { code: 'HOST_NOT_ISOLATED', detail: `the host does not keep its apps apart${behind}` }
    case EXIT.diskExceeded:
      return { code: 'DISK_EXCEEDED', detail: `it was stopped for what it has on disk${behind}` }
    case KILLED:
      return failed(cancelled ? `${step} was cancelled` : `${step} was ended by its limit or by a restart of the host`)
    default:
      return failed(`${step} ended with exit code ${code}`)
  }
}
