/**
 * Steps of a move beside those that make its release: name and room on the other host, the route there, visitors sent on, and the way
 * off a host that was left. Each is a row or a route under its own key, or a job under an id, so that it may be done twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { roomFault } from '../../../../../crds/app/lifecycle/keeping/budget.ts'
import { forwardRoute } from '../../../../../crds/app/lifecycle/keeping/moving/forward.ts'
import { leftJobOf, targetOf } from '../../../../../crds/app/lifecycle/keeping/moving/place.ts'
import { dialFileOf, routeIdOf } from '../../../../../crds/app/lifecycle/route.ts'
import type { AppResource } from '../../../../../crds/app/schema.ts'
import type { AppStep } from '../../../../../crds/app/steps.ts'
import type { AppPlace, AppWorld, JobState, Operation } from '../../../../../crds/app/world.ts'
import { originOf } from '../../../../../crds/kernel/desire/desire.ts'
import type { Hosts } from '../../../../io/hosts/link.ts'
import type { AppPlaces } from '../../../../store/app/rooms.ts'
import { clearJob } from '../../jobs.ts'
import { type NamingDeps, namingOf } from '../../naming.ts'
import { targetHostOf } from '../../observe.ts'
import { type ActContext, type Apply, end, instantOf, rowsOf, type StepOf } from '../context.ts'
import { writeDial } from '../live.ts'
import { jobsOf } from '../retire.ts'
import { dropCarryJobs } from './carrying.ts'

export type MovingDeps = { places: AppPlaces; namingDeps: NamingDeps }
type MoveContext = ActContext & MovingDeps

/** A look at the certificate waits so long in one step. */
const CERTIFICATE_WAIT_MS = 8_000
const CERTIFICATE_POLL_MS = 200

const withMoving = (more: Partial<NonNullable<AppWorld['moving']>>): Apply => {
  return (world) => ({ ...world, moving: world.moving && { ...world.moving, ...more } })
}

const takePlace = async (
  context: MoveContext,
  object: AppResource,
  { operation, host, budget: wanted, limits }: StepOf<'takePlace'>,
): Promise<Apply> => {
  const { metadata, spec } = object
  const { account, slug } = spec
  const asked = { app: metadata.name, account, host, slug, wanted, limits }
  const { outcome, held, others } = await context.places.takePlace(asked)
  const fail = (code: 'HOST_FULL' | 'HOST_LEFT' | 'SLUG_TAKEN', message: string) =>
    end(context, object, { operation, state: 'failed', code, message, log: null })
  switch (outcome) {
    case 'taken': {
      const coming: AppPlace = { host, place: 'coming', until: null }
      return (world) => ({ ...world, places: [...world.places, coming] })
    }
    case 'refused':
      return fail('HOST_FULL', roomFault(host, { wanted, held, others, limits }) ?? `${host} is full`)
    case 'leaving':
      return fail('HOST_LEFT', `it has left ${host}, and something of it is there still`)
    case 'taken by another':
      return fail('SLUG_TAKEN', `${slug} is another app on ${host}`)
    default:
      return outcome satisfies never
  }
}

const isCertified = async (hosts: Hosts, host: string, hostname: string): Promise<boolean> => {
  const endMs = performance.now() + CERTIFICATE_WAIT_MS
  for (;;) {
    const [found] = await hosts.certificatesOf(host, [hostname])
    if (found?.state === 'valid') return true
    if (performance.now() >= endMs) return false
    await sleep(CERTIFICATE_POLL_MS)
  }
}

/** @param object as one of the host that it moves to */
const placeRoute = async (
  { hosts }: MoveContext,
  { spec }: AppResource,
  { route, dialFile, address }: StepOf<'placeRoute'>,
): Promise<Apply> => {
  const placed = address
  const host = spec.hostId
  const [managed = ''] = route.hostnames
  if (dialFile !== null) await writeDial(hosts, host, { slug: spec.slug, file: dialFile, address })
  await hosts.routes(host).set(route)
  if (!(await isCertified(hosts, host, managed))) return withMoving({ placed, isCertified: false })
  // What the public CAs issue every proxy trusts, and renews with another chain.
  const isPublic = hosts.facts(host)?.acmeDirectory === null
  const authority = isPublic ? null : await hosts.authorityOf(host, managed)
  return withMoving({ placed, isCertified: isPublic || authority !== null, authority })
}

/** @param object as one of the host that it leaves */
const forward = async (
  { hosts, namingDeps }: MoveContext,
  object: AppResource,
  { operation }: StepOf<'forward'>,
): Promise<Apply> => {
  const home = object.spec.hostId
  const there = hosts.facts(targetOf(operation) ?? '')
  const [from, to] = [targetHostOf(hosts.facts(home)), targetHostOf(there)]
  if (!there || !from || !to) throw new Error(`a host of ${operation.id} is gone`)
  const hostname = `${object.spec.slug}.${to.baseDomain}`
  const authority = there.acmeDirectory === null ? null : await hosts.authorityOf(to.name, hostname)
  const { publicAddress: address, httpPort } = there
  const naming = await namingOf(namingDeps, object)
  await hosts.routes(home).set(forwardRoute(object, naming, { from, to, address, httpPort, authority }))
  return withMoving({ isForwarded: true })
}

const retireAll = async (context: MoveContext, { metadata, spec }: AppResource, host: string): Promise<void> => {
  const rows = await rowsOf(context, { metadata, spec })
  const there = rows.releases.filter(({ record, retiredAt }) => retiredAt === null && record?.host === host)
  for (const release of there) {
    const id = release.operation
    const operation = { id, app: metadata.name }
    const [first = '', ...jobs] = jobsOf(rows, release)
    if (context.hosts.facts(host)) await context.hosts.link(host).dropJob(first, ...jobs)
    const decision = await context.ledger.change({ operation, event: { on: 'retired' }, at: instantOf(context) })
    if (decision.state === 'refused') throw new Error(`${id}: ${decision.refusal.detail}`)
  }
}

const startLeaving = async (context: MoveContext, object: AppResource, host: string): Promise<JobState> => {
  const { metadata, spec } = object
  const link = context.hosts.link(host)
  const facts = context.hosts.facts(host)
  const { releases } = await rowsOf(context, object)
  const there = releases.filter(({ record }) => record?.host === host)
  const app: AppResource = { ...object, spec: { ...spec, volumesOnDelete: 'delete' } }
  const dialFile = facts && dialFileOf(originOf(metadata), facts)
  const job = clearJob(app, { id: leftJobOf(originOf(metadata)), releases: there, dialFile })
  // Nobody is sent on any more before what he would be sent to is gone.
  await context.hosts.routes(host).remove(routeIdOf(metadata))
  if ((await link.jobState(job.id)).state === 'exited') await link.dropJob(job.id)
  return link.startJob(job)
}

const leavePlace = async (
  context: MoveContext,
  object: AppResource,
  { host }: StepOf<'leavePlace'>,
): Promise<Apply> => {
  const { metadata } = object
  const { hosts, places } = context
  const id = leftJobOf(originOf(metadata))
  // A host that is no more has nothing of it.
  if (hosts.facts(host)) {
    const state = await hosts.link(host).jobState(id)
    if (state.state !== 'exited' || state.code !== 0) {
      const job = state.state === 'running' ? state : await startLeaving(context, object, host)
      return (world) => ({ ...world, leaving: { ...world.leaving, [host]: job } })
    }
  }
  if (hosts.facts(host)) await dropCarryJobs(hosts.link(host), await rowsOf(context, object))
  await retireAll(context, object, host)
  // While it stands there a second leave of this host would be taken for done; whoever is killed after it does the same again.
  if (hosts.facts(host)) await hosts.link(host).dropJob(id)
  await places.dropPlace(metadata.name, host)
  const kept = ({ host: name }: AppPlace) => name !== host
  return (world) => {
    const { [host]: _gone, ...leaving } = world.leaving
    return { ...world, places: world.places.filter(kept), leaving }
  }
}

export const makeMoveActs = (context: MoveContext) => ({
  takePlace: (step: StepOf<'takePlace'>, object: AppResource) => takePlace(context, object, step),
  placeRoute: (step: StepOf<'placeRoute'>, object: AppResource) => placeRoute(context, object, step),
  forward: (step: StepOf<'forward'>, object: AppResource) => forward(context, object, step),
  leavePlace: (step: StepOf<'leavePlace'>, object: AppResource) => leavePlace(context, object, step),
})

/** On which host a step is done; null for the one where the app lives. */
export const hostOfStep = (step: AppStep): string | null => {
  const operation = 'operation' in step ? step.operation : undefined
  return step.do === 'forward' || operation === undefined ? null : targetOf(operation as Pick<Operation, 'intent'>)
}
