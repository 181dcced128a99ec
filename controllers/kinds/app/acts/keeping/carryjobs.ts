/** What is run on both hosts of a move that carries volumes (scripts/keeping/carry/). */
import {
  CARRY_MAX_BYTES,
  type CarryJob,
  carryJobOf,
  type carrySeconds,
  planCarry,
} from '../../../../../crds/app/lifecycle/keeping/moving/carry.ts'
import type { PackedVolume } from '../../../../../crds/app/lifecycle/keeping/moving/held.ts'
import { dialFileOf } from '../../../../../crds/app/lifecycle/route.ts'
import { listenersOf } from '../../../../../crds/app/lifecycle/scaling/replicas.ts'
import type { AppResource } from '../../../../../crds/app/schema.ts'
import type { Operation, Release, TargetHost } from '../../../../../crds/app/world.ts'
import { originOf } from '../../../../../crds/kernel/desire/desire.ts'
import type { Job } from '../../../../io/hosts/hosts.ts'
import type { HostLink } from '../../../../io/hosts/link.ts'
import { CARRY } from '../../scripts.ts'

const MIN_MS = 60_000
const RUN_DEADLINE_MS = 90_000
/** A pack of 8 GiB on a slow disk, read twice. */
const HOLD_LIMIT_MS = 120 * MIN_MS
const PLACE_LIMIT_MS = 120 * MIN_MS
/** What the most that is moved takes beyond nothing. */
const WATCH_MORE_MS =
  (planCarry({ services: [] }, CARRY_MAX_BYTES).maxSeconds - planCarry({ services: [] }, 0).maxSeconds) * 1_000
/** To start again what was stopped. */
const BACK_LIMIT_MS = 10 * MIN_MS

const head = ({ spec }: AppResource, { id }: Pick<Operation, 'id'>): string[] => [spec.slug, '0', id]

type Watching = { operation: Operation; live: Release | null; host: TargetHost; seconds: number }

/** @param watching.seconds until it goes back by itself; 0 for at once @param job `watch`, or `back` for one that does not wait */
export const watchJob = (
  app: AppResource,
  job: Extract<CarryJob, 'watch' | 'back'>,
  { operation, live, host, seconds }: Watching,
): Job => ({
  id: carryJobOf(operation, job),
  script: CARRY.watch,
  lines: [
    ...head(app, operation),
    String(seconds),
    live ? listenersOf(live.record, live.number).join(' ') : '',
    String(live?.record?.route?.port ?? ''),
    dialFileOf(originOf(app.metadata), host) ?? '',
  ],
  // The host may find that there is more of it than was known, up to what is moved at most, and reckons from then on.
  limitMs: 2 * seconds * 1_000 + WATCH_MORE_MS + BACK_LIMIT_MS,
})

/** `roomMib`: of the other host. */
type Holding = { roomMib: number } & ReturnType<typeof carrySeconds>

export const holdJob = (app: AppResource, operation: Operation, given: Holding): Job => ({
  id: carryJobOf(operation, 'hold'),
  script: CARRY.hold,
  lines: [...head(app, operation), ...[CARRY_MAX_BYTES, given.roomMib, given.anySeconds, given.gibSeconds].map(String)],
  limitMs: HOLD_LIMIT_MS,
})

export const placeJob = (app: AppResource, operation: Operation, packs: readonly PackedVolume[]): Job => ({
  id: carryJobOf(operation, 'place'),
  script: CARRY.place,
  lines: [...head(app, operation), String(packs.length), ...packs.flatMap(({ name, sha256 }) => [name, sha256])],
  limitMs: PLACE_LIMIT_MS,
})

/** @returns what it says @throws where it did not end well */
export const runCarry = async (
  link: HostLink,
  app: AppResource,
  what: Exclude<keyof typeof CARRY, 'watch' | 'hold' | 'place'>,
  operation: Pick<Operation, 'id'>,
): Promise<string> => {
  const lines = what === 'clock' ? [] : head(app, operation)
  const { code, stdout, stderr } = await link.run({ script: CARRY[what], lines, deadlineMs: RUN_DEADLINE_MS })
  const said = stdout.toString('utf8').trim()
  if (code !== 0)
    throw new Error(`${operation.id}: ${what} ended with ${code}: ${said.slice(-200)} ${stderr.slice(-300)}`)
  return said
}

/** Seconds or MiB, as a script says them. @throws where it is no whole number */
export const wholeIn = (said: string): number => {
  if (!/^-?\d{1,15}$/.test(said)) throw new Error(`a whole number was asked for, not ${said.slice(0, 80)}`)
  return Number(said)
}

/** As look.sh says it: seconds until the host goes back by itself, and until what runs on the other one has ended unasked. */
export const lookIn = (said: string): { seconds: number; endedIn: number } => {
  const [seconds = '', endedIn = ''] = said.split(' ')
  return { seconds: wholeIn(seconds), endedIn: wholeIn(endedIn) }
}
