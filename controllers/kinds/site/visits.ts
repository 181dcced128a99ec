/**
 * Visits of sites: what a host's proxy wrote down of them (crds/host/visits.ts) is read from where the last reading ended, and counted
 * in PostgreSQL in one transaction with how far it was read, so that no line counts twice.
 */
import { foldLines } from '../../../crds/site/publishing/visits/fold.ts'
import { LINE_MAX } from '../../../crds/site/publishing/visits/line.ts'
import type { Log } from '../../base/log.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import { readScripts } from '../../io/hosts/scripts.ts'
import type { ReadFile, VisitStore } from '../../store/site/visits.ts'

export const VISITS = { name: 'visits', text: readScripts(new URL('scripts/', import.meta.url))('visits') }
/** Of one reading. */
export const READING_LIMIT_MS = 12_000
/** Of one as well; what is left comes with the next. */
const BYTES_MAX = 4 * 1024 * 1024
/** Beside the bytes of files. */
const HEADS_BYTES_MAX = 64 * 1024
/** Readings of one host in a row: another's turn comes, whatever is asked of this one. */
const READINGS_MAX = 16

const HEAD = /^file (\d{1,20}-[0-9a-f]{16}) (\d{1,15}) (\d{1,15}) (\d{1,15})$/
const NOW = /^now (\d{1,12})$/
const LINE_FEED = 10

export type FileChunk = { file: string; counted: number; size: number; bytes: Buffer }
export type VisitsRead = { hostSeconds: number; files: FileChunk[] }

/** What the script wrote. @throws when it is cut off */
export const readVisits = (written: Buffer): VisitsRead => {
  let place = 0
  const head = (): string => {
    const end = written.indexOf(LINE_FEED, place)
    if (end < 0) throw new Error('what was read of visits is cut off')
    const text = written.toString('latin1', place, end)
    place = end + 1
    return text
  }
  const now = NOW.exec(head())
  if (!now) throw new Error('a host does not say its time with the visits')
  const files = new Map<string, FileChunk>()
  while (place < written.length) {
    const [, file = '', counted, taken, size] = HEAD.exec(head()) ?? []
    const bytes = written.subarray(place, place + Number(taken))
    if (file === '' || bytes.length !== Number(taken)) throw new Error('what was read of visits is cut off')
    place += bytes.length
    // renamed while it was looked for: the same twice
    if (!files.has(file)) files.set(file, { file, counted: Number(counted), size: Number(size), bytes })
  }
  return { hostSeconds: Number(now[1]), files: [...files.values()] }
}

/**
 * How much of a file is whole lines. What is longer than any line of the proxy's is passed over, for its end may never come; a file that
 * was cut short is gone on with from where it ends now.
 */
const wholeOf = ({ counted, size, bytes }: FileChunk): { to: number; text: string } => {
  if (size < counted) return { to: size, text: '' }
  const end = bytes.lastIndexOf(LINE_FEED) + 1
  if (end === 0 && bytes.length > LINE_MAX) return { to: counted + bytes.length, text: '' }
  return { to: counted + end, text: bytes.toString('utf8', 0, end) }
}

export type VisitsDeps = {
  hosts: Pick<Hosts, 'link' | 'list'>
  visits: VisitStore
  now: () => Date
  log: Log
  /** Told of how many visits were counted. */
  onCounted?: (host: string, visits: number) => void
}

/** Lines of a text, without making all of them at once. */
const linesOf = function* (texts: readonly string[]): Generator<string> {
  for (const text of texts) {
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield text.slice(start, end)
      start = end + 1
    }
  }
}

const readHost = async ({ hosts, visits }: VisitsDeps, host: string, root: string): Promise<VisitsRead> => {
  const known = await visits.places(host)
  const body = Buffer.from(known.map(({ file, place }) => `${file} ${place}\n`).join(''))
  const { code, stdout, stderr } = await hosts.link(host).run({
    script: VISITS,
    lines: [root, String(BYTES_MAX)],
    body,
    deadlineMs: READING_LIMIT_MS,
    maxOutputBytes: BYTES_MAX + HEADS_BYTES_MAX,
  })
  if (code !== 0) throw new Error(`${VISITS.name} ended with ${code}: ${stderr.slice(-300)}`)
  return readVisits(stdout)
}

/** One reading. @returns whether there is more */
const countOnce = async (deps: VisitsDeps, host: string, root: string): Promise<boolean> => {
  const { hostSeconds, files } = await readHost(deps, host, root)
  const whole = files.map((chunk) => ({ chunk, ...wholeOf(chunk) }))
  const read: ReadFile[] = whole.map(({ chunk: { file, counted }, to }) => ({ file, from: counted, to }))
  const days = foldLines(linesOf(whole.map(({ text }) => text)), { hostSeconds, now: deps.now() })
  const isKept = await deps.visits.fold(host, read, days)
  const visits = days.reduce((sum, day) => sum + day.visits, 0)
  if (isKept && visits > 0) deps.onCounted?.(host, visits)
  return isKept && files.reduce((sum, { bytes }) => sum + bytes.length, 0) >= BYTES_MAX
}

/** All that a host has. @throws as HostLink.run does, StaleEpoch */
export const countVisits = async (deps: VisitsDeps, host: string, root: string): Promise<void> => {
  for (let left = READINGS_MAX; left > 0 && (await countOnce(deps, host, root)); left--);
}

/** Hosts that sites may be put on, with the folder of the sites. */
export const visitedHosts = ({ hosts }: Pick<VisitsDeps, 'hosts'>): { name: string; root: string }[] =>
  hosts
    .list()
    .flatMap(({ name, ready, takesSites, siteRoot }) =>
      ready && takesSites && siteRoot !== null ? [{ name, root: siteRoot }] : [],
    )
