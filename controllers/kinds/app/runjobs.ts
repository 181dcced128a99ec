/** What is run on a host for one run: its job, and what it has printed. */

import { originOn } from '../../../crds/app/compose/printing/bridges.ts'
import { printProject } from '../../../crds/app/compose/printing/print.ts'
import { printRun } from '../../../crds/app/compose/printing/printrun.ts'
import { type AppRun, runJobOf, runNameOf } from '../../../crds/app/runs/run.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { pinnedProject, type SealedRelease } from '../../../crds/app/sealed.ts'
import type { Job } from '../../io/hosts/hosts.ts'
import type { HostLink } from '../../io/hosts/link.ts'
import { lineOf, placeLines, START_SECONDS } from './jobs.ts'
import { RUN, RUN_BEFORE, RUN_OUTPUT } from './scripts.ts'

/** Beside the command: its container is made and taken away, an engine that is away is waited for. */
const ROOM_SECONDS = 240
/** Until the guard of the host answers. */
const GUARD_SECONDS = 90

type Running = {
  run: AppRun
  release: number
  sealed: SealedRelease
  env: Readonly<Record<string, string>>
  isGuarded: boolean
}

const baseLines = (app: AppResource, { sealed, release, isGuarded }: Running): string[] => {
  const { base, needs, baseFiles, placed } = printProject(pinnedProject(sealed), release, originOn(app))
  return [
    base?.project ?? '',
    lineOf(base),
    String(START_SECONDS),
    isGuarded ? 'guarded' : '',
    String(needs.length),
    ...needs.map(({ service, condition }) => `${service} ${condition}`),
    String(baseFiles.length),
    ...baseFiles.flatMap(({ from, to }) => [from, to]),
    String(placed.length),
    ...placed.flatMap(placeLines),
  ]
}

/** @returns null where the release has no such service */
export const runJob = (app: AppResource, running: Running): Job | null => {
  const { run, release, sealed, env } = running
  const { slug } = app.spec
  const { service, command, timeoutSeconds, id } = run
  const isBefore = run.cause === 'pre_release'
  const name = runNameOf(slug, run)
  const given = { service, command, name, id, release, origin: originOn(app), env, isBefore }
  const printed = printRun(pinnedProject(sealed), given)
  if (!printed) return null
  const lines = [slug, String(release), name, printed.owner, printed.project, lineOf(printed), String(timeoutSeconds)]
  const beforeSeconds = isBefore ? START_SECONDS + GUARD_SECONDS : 0
  return {
    id: runJobOf(run),
    script: isBefore ? RUN_BEFORE : RUN,
    lines: isBefore ? [...lines, ...baseLines(app, running)] : lines,
    limitMs: (timeoutSeconds + ROOM_SECONDS + beforeSeconds) * 1_000,
  }
}

/** Bytes that are taken over in one look. */
const LOOK_BYTES = 128 * 1024
const LOOK_DEADLINE_MS = 15_000
/** A line that is longer is shown in parts. */
const LINE_MAX_BYTES = 16 * 1024

export type OutputPart = {
  /** Where it goes on: behind the last whole line, unless there is no more to come. */
  to: number
  lost: number
  text: string
  /** Nothing more is there now. */
  isAll: boolean
}

/** Up to the last whole line, so that no value is cut in two where it is blackened. */
const wholeLines = (bytes: Buffer, isLast: boolean): Buffer => {
  if (isLast) return bytes
  const end = bytes.lastIndexOf(0x0a) + 1
  return end > 0 || bytes.length < LINE_MAX_BYTES ? bytes.subarray(0, end) : bytes
}

/** What the host gave, `from total` in the first line. @param isOver nothing will be added */
export const readOutput = (answer: Buffer, from: number, isOver: boolean): OutputPart => {
  const end = answer.indexOf(0x0a)
  const [begin = from, total = from] = answer.subarray(0, Math.max(end, 0)).toString('latin1').split(' ').map(Number)
  const bytes = answer.subarray(end + 1)
  const isAll = begin + bytes.length >= total
  const taken = wholeLines(bytes, isOver && isAll)
  const lost = begin - from
  const gap = lost > 0 ? `[${lost} bytes were printed faster than they could be read]\n` : ''
  return { to: begin + taken.length, lost, text: `${gap}${taken.toString('utf8')}`, isAll }
}

export const fetchOutput = async (link: HostLink, run: AppRun, isOver: boolean): Promise<OutputPart> => {
  const { stdout } = await link.run({
    script: RUN_OUTPUT,
    lines: [runJobOf(run), String(run.taken), String(LOOK_BYTES)],
    deadlineMs: LOOK_DEADLINE_MS,
    lane: 'status',
    maxOutputBytes: LOOK_BYTES + 64,
  })
  return readOutput(stdout, run.taken, isOver)
}
