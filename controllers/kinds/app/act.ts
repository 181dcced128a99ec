/**
 * The App's hands: what each step does. Each effect is keyed (a row under a condition, a job under an id, a route under its
 * own) and gives back what its answer says of the world, so that the next step follows without another look.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { fileTimeOf } from '../../../crds/app/files.ts'
import type { EventNamed } from '../../../crds/app/lifecycle/events.ts'
import { dialFileOf } from '../../../crds/app/lifecycle/route.ts'
import { liveOf } from '../../../crds/app/plan.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { filesFor, wantsFreshBuild } from '../../../crds/app/sealed.ts'
import { imagesIn } from '../../../crds/app/start.ts'
import { type AppStep, downJobOf, jobIdOf } from '../../../crds/app/steps.ts'
import { urlOf } from '../../../crds/app/url.ts'
import type { AppWorld, Operation, PinnedImage } from '../../../crds/app/world.ts'
import type { EventType, NewEvent } from '../../../crds/kernel/event.ts'
import { Stalled } from '../../base/errors.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import type { Controller } from '../../runtime/contract.ts'
import type { AppStore } from '../../store/app/app.ts'
import type { AppLedger, AppRows } from '../../store/app/operations.ts'
import { applyDecision, applyRoute } from './apply.ts'
import { UPLOAD } from './files.ts'
import { makeImages } from './images.ts'
import { clearJob, JOB_WAIT_MS, startJob, takeDownJob } from './jobs.ts'
import type { Logs } from './logs.ts'
import type { Observations } from './observation.ts'
import { targetHostOf } from './observe.ts'
import type { Releases } from './release.ts'
import { DIAL } from './scripts.ts'

export type ActDeps = {
  ledger: AppLedger
  store: Pick<AppStore, 'takeSlug'>
  releases: Releases
  logs: Logs
  hosts: Hosts
  observations: Observations
  now: () => Date
}

type Step<Do extends AppStep['do']> = Extract<AppStep, { do: Do }>
type Apply = ((world: AppWorld) => AppWorld) | undefined
type Acts = Controller<AppResource, object, AppWorld, AppStep>['act']

/** Characters of a log that a release keeps. */
const LOG_KEPT = 8_000
/** How long a CA may take before the release is called live without its certificate. */
const CERTIFICATE_WAIT_MS = 8_000
const CERTIFICATE_POLL_MS = 200
/** Files of an app, over the network. */
const UPLOAD_DEADLINE_MS = 110_000
const LOOK_DEADLINE_MS = 15_000

const eventOf = (type: EventType, { metadata, spec }: AppResource, operation: Operation, hosts: Hosts): NewEvent => ({
  account: spec.account,
  type,
  data: {
    app: {
      id: metadata.name,
      slug: spec.slug,
      url: urlOf(spec, targetHostOf(hosts.facts(spec.hostId))),
      release: operation.release,
      operation_id: operation.id,
      kind: operation.kind,
    },
  },
})

export const makeActs = (deps: ActDeps): Acts => {
  const { ledger, releases, hosts } = deps
  const images = makeImages(deps)
  /** Operations whose images were all found on the host, and what it said of them. Who forgets it runs the job. */
  const here = new Map<string, string>()
  const now = () => deps.now().toISOString()

  const end = async (object: AppResource, step: Omit<Step<'end'>, 'do'>): Promise<Apply> => {
    const { operation, state, code, message } = step
    const isFailure = state === 'failed' || state === 'unknown'
    const told = isFailure ? { told: eventOf('app.release_failed', object, operation, hosts) } : {}
    const redact = await redactFor(object, operation)
    const log = step.log && redact(step.log).slice(-LOG_KEPT)
    const event = { on: state, code, message: redact(message), log }
    return applyDecision(await ledger.change({ operation, event, at: now(), ...told }))
  }

  const redactFor = async (object: AppResource, { release }: Operation) =>
    deps.logs.redactFor(object.metadata.name, release)

  type Passing = { operation: Operation; sealed?: Buffer } & Pick<EventNamed<'passed'>, 'step'> &
    Partial<EventNamed<'passed'>>
  const pass = async ({ operation, step, known = {}, sealed, message = null }: Passing): Promise<Apply> => {
    const event = { on: 'passed' as const, step, known, message }
    const decision = await ledger.change({ operation, event, at: now(), ...(sealed && { sealed }) })
    // The next step's job is not there yet: nobody has started it.
    return applyDecision(decision, { job: { state: 'absent' } })
  }

  const takeSlug = async ({ metadata, spec }: AppResource): Promise<Apply> => {
    const request = { app: metadata.name, account: spec.account, host: spec.hostId, slug: spec.slug }
    const outcome = await deps.store.takeSlug(request)
    if (outcome === 'refused') throw new Stalled('SLUG_TAKEN', `SLUG_TAKEN: /slug ${spec.slug} is another app`)
    return (world) => ({ ...world, slugHolder: metadata.name })
  }

  const begin = async ({ operation, source, envVersion, restoredFrom }: Step<'begin'>): Promise<Apply> => {
    const event = { on: 'begun' as const, source, envVersion, restoredFrom }
    return applyDecision(await ledger.change({ operation, event, at: now() }))
  }

  const check = async (object: AppResource, { operation, release, pinned }: Step<'check'>): Promise<Apply> => {
    const { metadata, spec } = object
    const host = targetHostOf(hosts.facts(spec.hostId))
    if (!host) throw new Stalled('HOST_MISSING', `HOST_MISSING: there is no host ${spec.hostId}`)
    const row = await rowsOf(object)
    const confirmed = operation.intent.kind === 'deploy' ? operation.intent.volumes : []
    const live = liveOf(row)
    const judged = await releases.judge({ app: metadata.name, spec, host, release, pinned, live, confirmed })
    if (!judged.ok) {
      const { code, detail } = judged
      return end(object, { operation, state: 'failed', code, message: detail, log: null })
    }
    const { sealed, digest } = releases.seal(metadata.name, release.number, judged.sealed)
    return pass({ operation, step: 'check', known: { record: judged.record, digest }, sealed })
  }

  const upload = async (object: AppResource, { operation, release }: Step<'upload'>): Promise<Apply> => {
    const { metadata, spec } = object
    const sealed = await releases.open(metadata.name, release.number)
    const needed = filesFor(sealed)
    const found = needed === 'mounts' || wantsFreshBuild(sealed) ? null : await images.here(object, sealed, release)
    if (found !== null) here.set(operation.id, found)
    if (needed === 'none' || found !== null) {
      return pass({ operation, step: 'upload', message: 'no file is needed on the host' })
    }
    const body = await releases.filesOf(spec.account, release.source)
    if (!body) throw new Error(`the files of upload ${release.source} are gone`)
    const listing = await releases.listingFor(spec.account, release.source)
    const lines = [spec.slug, String(release.number), listing, fileTimeOf(release)]
    const { code } = await hosts.link(spec.hostId).run({ script: UPLOAD, lines, body, deadlineMs: UPLOAD_DEADLINE_MS })
    if (code !== 0) throw new Error(`the files were not taken: exit code ${code}`)
    return pass({ operation, step: 'upload' })
  }

  /** What the job for images would say, when all of them are there. */
  const startJobOf = async (object: AppResource, given: Step<'startJob'>): Promise<Apply> => {
    const { metadata, spec } = object
    const log = given.step === 'images' ? here.get(given.operation.id) : undefined
    if (log !== undefined) {
      here.delete(given.operation.id)
      return (world) => ({ ...world, job: { state: 'exited', code: 0, log, cancelled: false } })
    }
    const sealed = await releases.open(metadata.name, given.release.number)
    const job = given.step === 'images' ? await images.job(object, sealed, given) : startJob(spec, sealed, given)
    const state = await hosts.link(spec.hostId).startJob(job, { waitMs: JOB_WAIT_MS })
    if (given.step === 'start') deps.observations.noteStart(metadata.name, given.release.number, state)
    return (world) => ({ ...world, job: state })
  }

  const takeImages = async (object: AppResource, step: Step<'takeImages'>): Promise<Apply> => {
    const { operation, release, log } = step
    const { name } = object.metadata
    const opened = await releases.open(name, release.number)
    const wanted = opened.project.services.map(({ name, image }) => ({ service: name, name: image }))
    const found = imagesIn(log, wanted)
    const fail = (code: 'RELEASE_FAILED' | 'ARCH_MISMATCH', detail: string) =>
      end(object, { operation, state: 'failed', code, message: detail, log })
    if (!found) return fail('RELEASE_FAILED', 'the host did not say which images it has')
    const { arch } = release.record ?? {}
    const strange = found.archs.findIndex((one) => one !== arch)
    if (strange >= 0) {
      const which = found.images[strange] as PinnedImage
      return fail('ARCH_MISMATCH', `the image of ${which.service} is for ${found.archs[strange]}, the host is ${arch}`)
    }
    // A repeated release keeps the names under which its images were first known.
    const images = opened.images.length > 0 ? opened.images : found.images
    const { sealed, digest } = releases.seal(name, release.number, { ...opened, images })
    return pass({ operation, step: 'images', known: { record: { images }, digest, state: 'starting' }, sealed })
  }

  /** A first release is reached from the moment that it is called live. A CA that takes longer is not waited for. */
  const certified = async (host: string, hostnames: readonly string[]): Promise<void> => {
    const endMs = performance.now() + CERTIFICATE_WAIT_MS
    while (performance.now() < endMs) {
      const served = await hosts.certificates(host)
      if (hostnames.every((name) => served.some(({ hostname, state }) => hostname === name && state === 'valid')))
        return
      await sleep(CERTIFICATE_POLL_MS)
    }
  }

  const writeDial = async (host: string, file: string, address: string): Promise<void> => {
    const run = { script: DIAL, lines: [file, address], deadlineMs: LOOK_DEADLINE_MS }
    const { code, stderr } = await hosts.link(host).run(run)
    if (code !== 0) throw new Error(`${file} was not written: ${stderr.slice(-300)}`)
  }

  const goLive = async (object: AppResource, operation: Operation): Promise<Apply> => {
    const told = eventOf('app.released', object, operation, hosts)
    const decision = await ledger.change({ operation, event: { on: 'switched' }, at: now(), told })
    // What was seen was the release before: its address is where visitors must not be sent back to.
    return applyDecision(decision, { look: null })
  }

  const takeDown = async ({ metadata, spec }: AppResource, step: Step<'takeDown'>): Promise<Apply> => {
    const { release, restoresBase } = step
    const link = hosts.link(spec.hostId)
    const rows = await rowsOf({ metadata, spec })
    const live = restoresBase ? await liveSealed(metadata.name, rows) : null
    const { releases: all } = rows
    const id = downJobOf(metadata.uid, release.number)
    const job = takeDownJob(spec, release, { id, restoresBase, live, releases: all })
    if ((await link.jobState(job.id)).state === 'exited') await link.dropJob(job.id)
    const state = await link.startJob(job)
    return (world) => ({ ...world, retiring: { ...world.retiring, [release.number]: state } })
  }

  const rowsOf = ({ metadata, spec }: Pick<AppResource, 'metadata' | 'spec'>) =>
    ledger.observe({ app: metadata.name, host: spec.hostId, slug: spec.slug, now: now() })

  const liveSealed = async (app: string, rows: AppRows) => {
    const live = liveOf(rows)
    return live ? { number: live.number, sealed: await releases.open(app, live.number) } : null
  }

  const clear = async ({ metadata, spec }: AppResource): Promise<Apply> => {
    const link = hosts.link(spec.hostId)
    const rows = await rowsOf({ metadata, spec })
    const facts = hosts.facts(spec.hostId)
    const dialFile = facts && dialFileOf(metadata.uid, facts)
    const job = clearJob(spec, { id: downJobOf(metadata.uid, 'all'), releases: rows.releases, dialFile })
    if ((await link.jobState(job.id)).state === 'exited') await link.dropJob(job.id)
    const state = await link.startJob(job)
    return (world) => ({ ...world, job: state })
  }

  return {
    takeSlug: (_step, object) => takeSlug(object),
    ask: async ({ id, intent }, { metadata, spec }) => {
      const decision = await ledger.ask({ id, app: metadata.name, account: spec.account, intent, at: now() })
      if (decision.state === 'refused') throw new Error(`operation ${id}: ${decision.refusal.detail}`)
      return applyDecision(decision)
    },
    begin,
    check: (step, object) => check(object, step),
    upload: (step, object) => upload(object, step),
    startJob: (step, object) => startJobOf(object, step),
    takeImages: (step, object) => takeImages(object, step),
    takeAddress: ({ operation, address }) => pass({ operation, step: 'start', known: { address } }),
    claimSwitch: async ({ operation }) =>
      applyDecision(await ledger.change({ operation, event: { on: 'claimed' }, at: now() })),
    setRoute: async ({ route, release, dialFile, digest, address, isFirst, isSet }, { metadata, spec }) => {
      if (dialFile !== null) await writeDial(spec.hostId, dialFile, address)
      if (!isSet) await hosts.routes(spec.hostId).set(route)
      if (isFirst) await certified(spec.hostId, route.hostnames)
      await ledger.setRoute({ app: metadata.name, release, digest, address })
      const dial = dialFile && address
      deps.observations.noteDial(metadata.name, dial)
      return applyRoute({ release, digest, address, dial })
    },
    goLive: ({ operation }, object) => goLive(object, operation),
    cancelJob: async ({ job }, { spec }) => {
      await hosts.link(spec.hostId).cancelJob(job)
      return (world) => world
    },
    end: (step, object) => end(object, step),
    takeDown: (step, object) => takeDown(object, step),
    retire: async ({ release }, { metadata, spec }) => {
      const link = hosts.link(spec.hostId)
      const made = { id: release.operation, app: metadata.name }
      const jobs = [jobIdOf(made, 'start'), downJobOf(metadata.uid, release.number)]
      // Nothing of one without a record ever reached the host.
      if (release.record !== null) await link.dropJob(jobIdOf(made, 'images'), ...jobs)
      return applyDecision(await ledger.change({ operation: made, event: { on: 'retired' }, at: now() }))
    },
    fetchLogs: ({ request }, object) => deps.logs.fetch(object, request),
    removeRoute: async (_step, { metadata, spec }) => {
      await hosts.routes(spec.hostId).remove(`app-${metadata.uid}`)
      await ledger.removeRoute(metadata.name)
      return (world) => ({ ...world, route: null })
    },
    clear: (_step, object) => clear(object),
    forget: async (_step, { metadata, spec }) => {
      await ledger.forget(metadata.name, spec.volumesOnDelete === 'keep')
    },
  }
}
