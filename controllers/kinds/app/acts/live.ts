/** Steps by which a release is reached: its route, its certificate, the file that the proxy dials by. */

import { setTimeout as sleep } from 'node:timers/promises'
import { watchMsOf } from '../../../../crds/app/lifecycle/health/watch.ts'
import { toldNote } from '../../../../crds/app/lifecycle/publishing/open.ts'
import {
  noteEnded,
  notePutOff,
  noteStaying,
  noteUnable,
  placesOn,
} from '../../../../crds/app/lifecycle/publishing/staying.ts'
import { routeIdOf } from '../../../../crds/app/lifecycle/route.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import type { AppWorld } from '../../../../crds/app/world.ts'
import { keepsApart } from '../../../../crds/host/isolation.ts'
import { DeadlineExceeded, nameOf, StaleEpoch, Stalled, Waiting } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import type { Hosts } from '../../../io/hosts/link.ts'
import { applyDecision, applyRoute } from '../apply.ts'
import { DIAL, END_OPEN } from '../scripts.ts'
import { type ActContext, type Apply, eventOf, instantOf, type StepOf } from './context.ts'

/** How long a CA may take before the release is called live without its certificate. */
const CERTIFICATE_WAIT_MS = 8_000
const CERTIFICATE_POLL_MS = 200
const DIAL_DEADLINE_MS = 15_000

/** A first release is reached from the moment that it is called live. A CA that takes longer is not waited for. */
const certified = async (hosts: Hosts, host: string, hostnames: readonly string[]): Promise<void> => {
  const endMs = performance.now() + CERTIFICATE_WAIT_MS
  while (performance.now() < endMs) {
    const served = await hosts.certificates(host)
    if (hostnames.every((name) => served.some(({ hostname, state }) => hostname === name && state === 'valid'))) return
    await sleep(CERTIFICATE_POLL_MS)
  }
}

/** `slug`: of the app whose containers have the address. */
export type Dial = { slug: string; file: string; address: string }

export const writeDial = async (hosts: Hosts, host: string, { slug, file, address }: Dial): Promise<void> => {
  const run = { script: DIAL, lines: [slug, file, address], deadlineMs: DIAL_DEADLINE_MS }
  const { code, stderr } = await hosts.link(host).run(run)
  if (code !== 0) throw new Error(`${file} was not written: ${stderr.slice(-300)}`)
}

/** A host that the app has left may be away for good. */
const LEFT_DEADLINE_MS = 5_000

/** What end-open.sh says where a host cannot, now or later. */
const UNABLE = 3

const reasonOf = (code: number, stderr: string): string =>
  stderr.trim().split('\n').at(-1)?.slice(-300) || `it ended with ${code}`

/** What came of it at a host; `code` is null where it did not answer in time. */
type Ended = { code: number | null; why: string }

/** @throws what HostLink.run throws, but no DeadlineExceeded */
const endAt = async (
  hosts: Hosts,
  host: string,
  lines: readonly string[],
  deadlineMs = DIAL_DEADLINE_MS,
): Promise<Ended> => {
  try {
    const { code, stderr } = await hosts.link(host).run({ script: END_OPEN, lines, deadlineMs })
    return { code, why: reasonOf(code, stderr) }
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error
    return { code: null, why: `it did not answer within ${deadlineMs / 1_000} s` }
  }
}

/** Whatever is wrong with a host that the app has left holds up nothing. @throws StaleEpoch */
const endAtLeft = async (hosts: Hosts, host: string, lines: readonly string[]): Promise<Ended> => {
  try {
    return await endAt(hosts, host, lines, LEFT_DEADLINE_MS)
  } catch (error) {
    if (error instanceof StaleEpoch) throw error
    const isSaid = error instanceof Waiting || error instanceof Stalled
    return { code: null, why: isSaid ? error.message : nameOf(error) }
  }
}

/**
 * The guard of the host ends connections of its proxy to the containers. Where a host has none, or a kernel that does not do that, they last
 * as long as whoever opened them keeps them: it is on record, a condition, and not tried for ever. Where the guard is away, or
 * the host does not answer in time, it is tried again, and what else is to be done for the app goes on meanwhile.
 */
export const endOpen = async (
  context: ActContext,
  { metadata, spec }: AppResource,
  { whose, note, places, left }: StepOf<'endOpen'>,
): Promise<Apply> => {
  const { hosts, ledger } = context
  let known = note
  if (whose.length > 0) {
    const home = spec.hostId
    const lines = [spec.slug, whose.join(' ')]
    const all = [endAt(hosts, home, lines), ...left.map((host) => endAtLeft(hosts, host, lines))] as const
    const [{ code, why }, ...there] = await Promise.all(all)
    const failedOn = (host: string, reason: string) => ({
      ...{ whose, since: instantOf(context), why: reason, places: placesOn(places, [host]) },
    })
    for (const [index, host] of left.entries()) {
      const { code: answer, why: reason } = there[index] as Ended
      known = answer === 0 ? noteEnded(known, whose, [host]) : noteStaying(known, failedOn(host, `${host}: ${reason}`))
    }
    const hasNoGuard = code !== null && !keepsApart(hosts.facts(home))
    const noteFailed = code === UNABLE || hasNoGuard ? noteUnable : notePutOff
    const { tries: _tries, ...anew } = known
    known = code === 0 ? noteEnded(anew, whose, [home]) : noteFailed(known, failedOn(home, why))
  }
  await ledger.noteLetIn(metadata.name, known)
  return (world) => ({ ...world, route: world.route && { ...world.route, letIn: known } })
}

/**
 * The mirror is written: who is let in now is what the gate goes by. A pass is none the worse for where that is not kept: the next one comes soon,
 * and keeps it then.
 * @throws StaleEpoch
 */
export const noteTold = async (
  { ledger, now, log }: Pick<ActContext, 'ledger' | 'now'> & { log: Pick<Log, 'warn'> },
  app: string,
  world: Pick<AppWorld, 'route'>,
): Promise<void> => {
  const note = toldNote(world, now())
  if (note === null) return
  await ledger.noteLetIn(app, note).catch((error) => {
    if (error instanceof StaleEpoch) throw error
    log.warn({ err: error, app }, 'not kept since when nobody else is let in')
  })
}

export const claimSwitch = async (context: ActContext, { operation }: StepOf<'claimSwitch'>): Promise<Apply> =>
  applyDecision(await context.ledger.change({ operation, event: { on: 'claimed' }, at: instantOf(context) }))

export const setRoute = async (
  { hosts, ledger, observations }: ActContext,
  { metadata, spec }: AppResource,
  { route, release, dialFile, digest, address, isFirst, isSet }: StepOf<'setRoute'>,
): Promise<Apply> => {
  if (dialFile !== null) await writeDial(hosts, spec.hostId, { slug: spec.slug, file: dialFile, address })
  if (!isSet) await hosts.routes(spec.hostId).set(route)
  if (isFirst) await certified(hosts, spec.hostId, route.hostnames)
  await ledger.setRoute({ app: metadata.name, release, digest, address })
  const dial = dialFile && address
  observations.noteDial(metadata.name, dial)
  return applyRoute({ release, digest, address, dial })
}

export const goLive = async (
  context: ActContext,
  object: AppResource,
  { operation }: StepOf<'goLive'>,
): Promise<Apply> => {
  const isMove = operation.kind === 'move'
  const type = object.spec.previewOf ? 'app.preview_ready' : 'app.released'
  const told = eventOf(type, object, operation, context.hosts)
  const change = {
    operation,
    // There is nobody on this host to go back to.
    event: { on: 'switched' as const, watchMs: isMove ? 0 : watchMsOf(object.spec) },
    at: instantOf(context),
    told,
  }
  const decision = await context.ledger.change(change)
  if (isMove) {
    // Everything that was looked at is another host's: it is looked at anew.
    context.observations.forget(object.metadata.name)
    return undefined
  }
  // What was seen was the release before: its address is where visitors must not be sent back to.
  return applyDecision(decision, { look: null })
}

export const removeRoute = async ({ hosts, ledger }: ActContext, { metadata, spec }: AppResource): Promise<Apply> => {
  await hosts.routes(spec.hostId).remove(routeIdOf(metadata))
  await ledger.removeRoute(metadata.name)
  return (world) => ({ ...world, route: null })
}
