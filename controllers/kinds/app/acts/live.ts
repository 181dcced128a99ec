/** Steps by which a release is reached: its route, its certificate, the file that the proxy dials by. */

import { setTimeout as sleep } from 'node:timers/promises'
import { watchMsOf } from '../../../../crds/app/lifecycle/health/watch.ts'
import { noteEnded, notePutOff, noteUnable } from '../../../../crds/app/lifecycle/publishing/staying.ts'
import { routeIdOf } from '../../../../crds/app/lifecycle/route.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { keepsApart } from '../../../../crds/host/isolation.ts'
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

/** What end-open.sh says where a host cannot, now or later. */
const UNABLE = 3

const reasonOf = (code: number, stderr: string): string =>
  stderr.trim().split('\n').at(-1)?.slice(-300) || `it ended with ${code}`

/**
 * The guard of the host ends connections of its proxy to the containers. Where a host has none, or a kernel that does not do that, they last
 * as long as whoever opened them keeps them: it is on record, a condition, and not tried for ever. Where the guard is away it is tried again, and
 * what else is to be done for the app goes on meanwhile.
 */
export const endOpen = async (
  context: ActContext,
  { metadata, spec }: AppResource,
  { whose, note, places }: StepOf<'endOpen'>,
): Promise<Apply> => {
  const { hosts, ledger } = context
  let known = noteEnded(note, whose)
  if (whose.length > 0) {
    const run = { script: END_OPEN, lines: [spec.slug, whose.join(' ')], deadlineMs: DIAL_DEADLINE_MS }
    const { code, stderr } = await hosts.link(spec.hostId).run(run)
    const isUnable = code === UNABLE || !keepsApart(hosts.facts(spec.hostId)?.class ?? 'shared')
    const failed = { whose, since: instantOf(context), why: reasonOf(code, stderr), places }
    if (code !== 0) known = isUnable ? noteUnable(note, failed) : notePutOff(note, failed)
  }
  await ledger.noteLetIn(metadata.name, known)
  return (world) => ({ ...world, route: world.route && { ...world.route, letIn: known } })
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
