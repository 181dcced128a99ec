/**
 * What is to be done about a host: nothing but to look at it, and to put its proxy back when it strays. Work of apps and
 * sites is theirs. Pure.
 */
import type { Resource } from '../kernel/object.ts'
import { type OwnCondition, type Plan, ready, stalled, type Verdict, waiting } from '../kernel/plan.ts'
import { sayReach } from './builds.ts'
import { type AddressRule, hostFaults } from './faults.ts'
import { archOf, type Findings, FREE_GIB_MIN, type Inspection, problemsOf, worstFirst } from './inspect.ts'
import { buildsOf, type HostGuard, keepsApart, sayBuilds } from './isolation.ts'
import { fingerprintOf } from './key.ts'
import { engineRestart } from './restart.ts'
import {
  CERTIFICATES_SHOWN_MAX,
  type HostCertificate,
  type HostPhase,
  type HostSpec,
  type HostStatus,
} from './schema.ts'

export type HostResource = Resource<HostSpec, HostStatus>
export type HostFacts = Omit<HostStatus, 'observedGeneration' | 'conditions'> & { phase: HostPhase }

/** `drift` and `certificates` are looked at on an approved host that was reached, `guard` on any that was. */
export type HostWorld = {
  hasCredential: boolean
  addressRule: AddressRule
  inspection: Inspection | null
  drift: 'none' | 'routes' | 'config'
  certificates: HostCertificate[]
  guard: HostGuard
  factSeq: number
}

export type HostStep =
  /** Makes the proxy serve what is stored, and nothing else under our names. `told`: that somebody changed it is an Event. */
  | { do: 'restoreProxy'; told: boolean }
  /** Makes the packet filter keep apps from each other and from the host. */
  | { do: 'restoreGuard' }

export type HostPlan = Plan<HostStep, HostFacts>

/** How often a host is looked at, and how soon again while something is wrong or under way. */
const LOOK_MS = 60_000
const SOON_MS = 15_000
const RESTORING = 'RestoringProxy'

const keyChanged = (status: 'True' | 'False', message: string): OwnCondition => ({
  type: 'HostKeyChanged',
  status,
  reason: status === 'True' ? 'AnotherKey' : 'PinnedKey',
  message,
})

const buildsApart = ({ users }: Findings, { packages }: HostSpec): OwnCondition => ({
  type: 'BuildsApart',
  status: users === 'remapped' ? 'True' : 'False',
  reason: users === 'remapped' ? 'UsersRemapped' : 'UsersPlain',
  message: users === 'remapped' ? `${sayBuilds(users)} ${sayReach(packages)}` : sayBuilds(users),
})

/** Both keys, for whoever has to find out which is right. */
const sayKeys = ({ shown }: { shown: string | null }, pinned: string): string =>
  shown === null
    ? `pinned is ${pinned}, and the host shows no key of that type`
    : `pinned is ${pinned}, and the host shows ${shown}`

const sayWork = ({ approved }: HostSpec): string =>
  approved ? 'all work on the host has stopped' : 'nothing is done on it until they are the same'

const sayUnapproved = ({ withdrawn }: HostSpec): string =>
  withdrawn === undefined
    ? 'inspected, with a good result; an admin may approve it'
    : `its approval was withdrawn: ${withdrawn}; an admin may approve it anew`

/** What its operator decided, for as long as it holds. */
const decided = ({ cordoned, withdrawn, approved }: HostSpec): OwnCondition[] => {
  const isTrue = (type: string, reason: string, message: string) => ({ type, status: 'True' as const, reason, message })
  return [
    ...(cordoned
      ? [isTrue('Cordoned', 'TakesNothingNew', 'It takes no new apps and sites; what is there stays.')]
      : []),
    ...(withdrawn !== undefined && !approved ? [isTrue('Withdrawn', 'ApprovalWithdrawn', withdrawn)] : []),
  ]
}

/** @param object out of the cache, treated as frozen  @param now the platform's clock */
export const planHost = (object: HostResource, world: HostWorld, now: Date): HostPlan => {
  const { spec } = object
  const { inspection } = world
  const fingerprint = fingerprintOf(spec.hostKey)
  const end = (verdict: Verdict, phase: HostPhase, afterMs: number): HostPlan => ({
    steps: [],
    status: factsOf(object, world, phase),
    verdict,
    conditions: [...conditionsOf(object, inspection, fingerprint), ...decided(spec)],
    wakeAt: new Date(now.getTime() + afterMs).toISOString(),
  })
  const stop = (code: Parameters<typeof stalled>[0], detail: string, phase: HostPhase, afterMs = LOOK_MS) =>
    end(stalled(code, `${code}: ${detail}`), phase, afterMs)

  const fault = hostFaults(spec, world.addressRule)[0]
  if (fault) return stop(fault.code, `${fault.pointer} ${fault.detail}`, 'registered')
  if (!world.hasCredential || inspection === null) {
    return stop('NO_CREDENTIAL', 'send private_key with PATCH /api/apps/hosts/{id}', 'registered')
  }
  switch (inspection.reach) {
    case 'key':
      return stop('HOST_KEY_CHANGED', `${sayKeys(inspection, fingerprint)}; ${sayWork(spec)}`, 'key_changed')
    case 'login':
      return stop('HOST_LOGIN_REFUSED', `${spec.user} may not log in with the private key`, 'unreachable')
    case 'unreachable':
      return end(waiting('HostUnreachable', `the host does not answer: ${inspection.detail}`), 'unreachable', SOON_MS)
    case 'ok':
      break
    default: {
      const never: never = inspection
      throw new Error(String(never))
    }
  }
  const problems = problemsOf(inspection.findings)
  if (problems.length > 0) return stop('HOST_UNFIT', problems.join('; '), 'registered', SOON_MS)
  const { guard } = world
  if (guard.state === 'faulty' && keepsApart(spec)) {
    return stop('HOST_NOT_ISOLATED', guard.detail, spec.approved ? 'approved' : 'registered', SOON_MS)
  }
  if (!spec.approved) return stop('HOST_NOT_APPROVED', sayUnapproved(spec), 'inspected')
  if (guard.state === 'missing') {
    const verdict = waiting('RestoringGuard', 'puts the guard of its apps in place')
    return { ...end(verdict, 'approved', SOON_MS), steps: [{ do: 'restoreGuard' }] }
  }
  if (world.drift !== 'none') {
    const verdict = waiting(RESTORING, 'puts the routes of its proxy back')
    return { ...end(verdict, 'approved', SOON_MS), steps: [{ do: 'restoreProxy', told: stoodWell(object) }] }
  }
  const bad = world.certificates.filter(({ state }) => state !== 'valid').length
  const names = `${world.certificates.length} hostnames are served`
  const certified = bad === 0 ? names : `${names}, ${bad} of them without a sound certificate`
  const { detail } = restartOf(spec, inspection.findings, guard)
  const verdict = ready('Approved', detail === '' ? certified : `${certified}; ${detail}`)
  return end(verdict, 'approved', bad === 0 ? LOOK_MS : SOON_MS)
}

/**
 * The proxy had all that this spec wants, so that what strayed since was changed by somebody, also a moment after it was put back; a new
 * host, or new settings, are our own doing.
 */
const stoodWell = ({ metadata, status }: HostResource): boolean =>
  status?.conditions?.some(
    ({ type, status: state, reason, observedGeneration }) =>
      type === 'Ready' && (state === 'True' || reason === RESTORING) && observedGeneration === metadata.generation,
  ) ?? false

export const restartOf = ({ siteRoot }: HostSpec, { restart }: Findings, { state }: HostGuard) =>
  engineRestart(restart, { hasFiles: siteRoot !== undefined, isGuarded: state === 'stands' })

/** What was known stays said while the host cannot be looked at. */
const factsOf = ({ spec, status }: HostResource, world: HostWorld, phase: HostPhase): HostFacts => {
  const found = world.inspection?.reach === 'ok' ? foundIn(world.inspection.findings, status?.disk) : knownOf(status)
  const isServing = phase === 'approved'
  const certificates = isServing
    ? worstFirst(world.certificates).slice(0, CERTIFICATES_SHOWN_MAX)
    : status?.certificates
  return {
    factSeq: world.factSeq,
    phase,
    hostKeyFingerprint: fingerprintOf(spec.hostKey),
    ...found,
    ...(world.inspection?.reach === 'ok' && {
      isolation: isolationOf(world.inspection.findings, world.guard),
      engineRestart: restartOf(spec, world.inspection.findings, world.guard).does,
    }),
    ...(certificates && { certificates }),
  }
}

const isolationOf = ({ users }: Findings, { state }: HostGuard) => ({
  network: state === 'stands' ? ('guarded' as const) : ('open' as const),
  users,
  builds: buildsOf(users),
})

const foundIn = (findings: Findings, shown: HostStatus['disk']): Partial<HostFacts> => ({
  arch: archOf(findings.arch) ?? findings.arch,
  versions: findings.versions,
  disk: shownDisk(findings.disk, shown),
  ...machineOf(findings),
})

/** One that does not say what it has is not counted. */
const machineOf = ({ processors, memoryMib, disk }: Findings): Partial<HostFacts> =>
  processors > 0 && memoryMib > 0 && disk.totalGib > 0
    ? { capacity: { cpuMillis: processors * 1_000, memoryMib, diskGib: disk.totalGib } }
    : {}

/** Of the whole disk. */
const NEWS_SHARE = 0.02

/** What is free wanders all the time: it is told anew when it moved by a fiftieth of the disk, or is all but gone. */
const shownDisk = (disk: Findings['disk'], shown: HostStatus['disk']): Findings['disk'] => {
  const { totalGib, freeGib } = shown ?? {}
  if (freeGib === undefined || totalGib !== disk.totalGib || disk.freeGib <= FREE_GIB_MIN) return disk
  return Math.abs(disk.freeGib - freeGib) < Math.max(1, NEWS_SHARE * disk.totalGib) ? { totalGib, freeGib } : disk
}

const knownOf = (status: HostStatus | undefined): Partial<HostFacts> => ({
  ...(status?.arch !== undefined && { arch: status.arch }),
  ...(status?.versions && { versions: status.versions }),
  ...(status?.disk && { disk: status.disk }),
  ...(status?.capacity && { capacity: status.capacity }),
  ...(status?.isolation && { isolation: status.isolation }),
  ...(status?.engineRestart && { engineRestart: status.engineRestart }),
})

/** A host that cannot be reached shows nothing: what was known of it stands. */
const conditionsOf = (
  { spec, status }: HostResource,
  inspection: Inspection | null,
  fingerprint: string,
): readonly OwnCondition[] => {
  const known = (type: string) => (status?.conditions ?? []).filter((one) => one.type === type)
  const builds = inspection?.reach === 'ok' ? [buildsApart(inspection.findings, spec)] : known('BuildsApart')
  if (inspection?.reach === 'key') {
    return [keyChanged('True', `${sayKeys(inspection, fingerprint)}.`), ...builds]
  }
  if (inspection === null || inspection.reach === 'unreachable') return [...known('HostKeyChanged'), ...builds]
  return [keyChanged('False', `The host shows the pinned key ${fingerprint}.`), ...builds]
}
