/**
 * What an accepted request makes of a dev instance, and what the history tells of it. Each is applied once its guards have
 * passed. What follows from reports: happened.ts.
 */

import { isDeepStrictEqual } from '../../values/compare.ts'
import { checkAgain } from '../bootstrap/assertions.ts'
import type { AttestedAgain } from '../protocol.ts'
import { type DevInstanceSpec, type Power, policyOf } from '../schema.ts'
import { CLASSES, priceOf } from '../sizing/sizes.ts'
import { madeAgain, type TransitionEffect } from './context.ts'
import { instantAfter, newEntry } from './entry.ts'
import { addressed, launchedAs, withMachine } from './happened.ts'
import { awaitedPower, closedWish, type DevInstanceRow, type Extent, type PowerWish, type ResizeIntent } from './row.ts'

/** A reservation without an instance lapses, and frees its part of the cap. */
export const RESERVATION_MS = 24 * 3_600_000
/** An admin's leave to exceed the cap is for what is at hand. */
export const OVERRIDE_MS = 7 * 24 * 3_600_000

/** What was reserved: the spec with what follows from it. */
export type Reservation = {
  spec: DevInstanceSpec
  /** The name that it has, when the spec gives none. */
  fallbackName: string
  pricingVersion: string
  bootstrapSha256: string
  /** The version of the programs in the user data; a fact from before does not know it. */
  programs?: number
  at: string
  /** Of the spec; of one from before it was told, the first. */
  generation?: number
}

export const diskGbOf = (spec: Pick<DevInstanceSpec, 'sizeClass' | 'diskGb'>): number =>
  Math.max(spec.diskGb ?? 0, CLASSES[spec.sizeClass].diskGb)

export const reserved = (reservation: Reservation): DevInstanceRow => {
  const { spec, fallbackName, pricingVersion, bootstrapSha256, programs, at, generation = 1 } = reservation
  const name = spec.name ?? fallbackName
  // a fact from before knows neither
  const { power = null } = spec
  const said = { wish: spec.wish ?? 0, generation, at }
  return {
    version: 1,
    state: 'reserved',
    name,
    targetLabel: `${spec.account}/${name}`,
    sizeClass: spec.sizeClass,
    diskGb: diskGbOf(spec),
    arch: spec.arch,
    agents: spec.agents,
    repo: spec.repo ?? null,
    policy: policyOf(spec),
    pricingVersion,
    reservedAt: at,
    bootstrapSha256,
    ...(programs !== undefined && { programs }),
    instanceId: null,
    machine: null,
    machineSince: at,
    volumesGone: false,
    strays: [],
    lease: null,
    finalizedLate: false,
    hostKeys: [],
    launched: null,
    eipAllocId: null,
    held: [],
    released: [],
    intent: null,
    starting: null,
    terminating: null,
    powerWish: { ...said, power, open: power !== null },
    sizeWish: { ...said, sizeClass: spec.sizeClass, diskGb: spec.diskGb ?? null, open: null, undoneAt: null },
    capOverride: null,
    breaches: [],
    profile: null,
    measurements: null,
    env: null,
    tokenHash: null,
    teams: [],
    meter: { spentMicroUsd: 0, since: at, monthlyMicroUsd: 0, beforeMonthMicroUsd: 0 },
    stateSince: at,
    sizedAt: at,
    startedAt: null,
    terminatedAt: null,
    deletedAt: null,
  }
}

export const nextToken: TransitionEffect<'token'> = ({ instance, said }) => ({
  instance: { ...instance, tokenHash: said.hash },
  entries: [newEntry('token.rotated')],
})

export const firstToken: TransitionEffect<'token'> = (context) => ({
  instance: nextToken(context).instance,
  entries: [newEntry('configuring')],
})

export const finalize: TransitionEffect<'finalize'> = (context) => {
  const { instance, said, at } = context
  const finalizedLate = instance.lease !== null && Date.parse(at) > Date.parse(instance.lease.expiresAt)
  const { instance: withAddress } = addressed(context)
  const { publicIp, eipAllocId, facts } = said
  return {
    instance: {
      ...launchedAs(withMachine(withAddress, 'up', at), facts),
      lease: null,
      finalizedLate,
      hostKeys: facts.hostKeys ?? [],
    },
    entries: [newEntry('ready', { publicIp, eipAllocId, ...(finalizedLate && { late: true }) })],
  }
}

/** The first of them say enough, and a row has room. */
const ATTESTED_FAULTS_MAX = 10

/** Of one instance: each is a fact for ever, and who owns the machine decides what it says. An honest one changes its word once an hour. */
const ATTESTED_AN_HOUR = 12

const attestedIn = ({ attestation }: DevInstanceRow, hour: string): number =>
  attestation?.counted?.hour === hour ? attestation.counted.times : 0

const hourOf = (at: string): string => at.slice(0, 13)

/** Whether as much was heard of it in this hour as is kept. @param at ISO, of the service's clock */
export const isAttestedOut = (instance: DevInstanceRow, at: string): boolean =>
  attestedIn(instance, hourOf(at)) >= ATTESTED_AN_HOUR

/** As it says of itself after a start and every hour; what was attested stays what it is held against. */
export const attested: TransitionEffect<'attested'> = ({ instance, said, at }) => {
  const faults = faultsAgain(instance, said)
  const counted = { hour: hourOf(at), times: attestedIn(instance, hourOf(at)) + 1 }
  return {
    instance: { ...instance, attestation: { at, faults, counted } },
    entries: [newEntry('attested', { faults })],
  }
}

const faultsAgain = ({ hostKeys, launched }: DevInstanceRow, said: AttestedAgain): string[] =>
  checkAgain({ hostKeys, agents: launched?.agents ?? {} }, said)
    .map(({ detail }) => detail)
    .slice(0, ATTESTED_FAULTS_MAX)

/** Since the machine was started it has said the same. */
export const isAttested = (instance: DevInstanceRow, said: AttestedAgain): boolean =>
  instance.attestation !== undefined &&
  instance.attestation.at >= instance.machineSince &&
  isDeepStrictEqual(instance.attestation.faults, faultsAgain(instance, said))

/** What is asked for now is newer than a wish to the contrary that is open still. */
const overtaken = (wish: PowerWish, power: Power): PowerWish => (awaitedPower(wish) === power ? closedWish(wish) : wish)

/** Of what is to end nothing is wished any more. */
export const unwished = (instance: DevInstanceRow): DevInstanceRow => ({
  ...instance,
  powerWish: closedWish(instance.powerWish),
  sizeWish: { ...instance.sizeWish, open: null, undoneAt: null },
})

/** What is asked for later takes an end back that was asked for before. */
export const starting: TransitionEffect<'starting'> = ({ instance, said, at }) => {
  const newAddress = said.newAddress ?? false
  const powerWish = overtaken(instance.powerWish, 'stopped')
  return {
    instance: { ...instance, powerWish, starting: { newAddress, announcedAt: at }, terminating: null },
    entries: [newEntry('starting', { newAddress })],
  }
}

/** Awaited as a wish of the spec is, in place of what that may wish: the provisioner does both alike. */
export const halting: TransitionEffect<'halting'> = ({ instance, at }) => ({
  instance: {
    ...instance,
    powerWish: { ...instance.powerWish, asked: 'stopped', open: true, at },
    starting: null,
    terminating: null,
  },
  entries: [newEntry('halting')],
})

export const terminating: TransitionEffect<'terminating'> = ({ instance, said, at }) => {
  const acknowledgedWorkAtRisk = said.acknowledgeWorkAtRisk ?? false
  return {
    instance: { ...unwished(instance), terminating: { acknowledgedWorkAtRisk, announcedAt: at }, starting: null },
    entries: [newEntry('terminating', { acknowledgedWorkAtRisk })],
  }
}

/** The next resize spends an override, also where it would have fitted: leave was given for one. */
export const resizing: TransitionEffect<'resizing'> = ({ instance, said, at, around }) => {
  const { sizeClass, diskGb: asked } = said
  const from: Extent = { sizeClass: instance.sizeClass, diskGb: instance.diskGb }
  const to: Extent = { sizeClass, diskGb: asked ?? Math.max(instance.diskGb, CLASSES[sizeClass].diskGb) }
  const granted = instance.capOverride
  const isValid = granted !== null && Date.parse(at) < Date.parse(granted.expiresAt)
  const intent: ResizeIntent = {
    from,
    to,
    state: instance.state as ResizeIntent['state'],
    runningMonthlyMicroUsd: priceOf({ arch: instance.arch, ...to }, instance.pricingVersion).runningMicroUsd,
    overrideUsed: isValid && around.cap !== undefined,
    announcedAt: at,
  }
  const data = {
    from,
    to,
    ...(said.acknowledgeWorkAtRisk && { acknowledgedWorkAtRisk: true }),
    ...(isValid && { overrideSpent: granted.grantedAt, overrideUsed: intent.overrideUsed }),
  }
  const capOverride = isValid ? null : granted
  const { sizeWish } = instance
  const isWished = isDeepStrictEqual(sizeWish.open, to)
  return {
    instance: {
      ...instance,
      sizeWish: isWished ? sizeWish : { ...sizeWish, open: null },
      intent,
      capOverride,
      starting: null,
      terminating: null,
    },
    entries: [newEntry('resizing', data)],
  }
}

export const overridden: TransitionEffect<'cap-override'> = ({ instance, at }) => {
  const capOverride = { grantedAt: at, expiresAt: instantAfter(at, OVERRIDE_MS) }
  return { instance: { ...instance, capOverride }, entries: [newEntry('cap.overridden', capOverride)] }
}

export const overrideLapsed: TransitionEffect<'override-lapse'> = ({ instance }) => ({
  instance: { ...instance, capOverride: null },
  entries: [newEntry('cap.override-lapsed', { ...instance.capOverride })],
})

export const policyChanged: TransitionEffect<'policy'> = ({ instance, said: { policy } }) => ({
  instance: { ...instance, policy },
  entries: [newEntry('policy.changed', { from: instance.policy, to: policy })],
})

export const assigned: TransitionEffect<'repo'> = ({ instance, said: { repo, profile }, around }) => ({
  instance: { ...instance, ...madeAgain(around), repo, profile, measurements: null },
  entries: [newEntry('repo.assigned', { from: instance.repo, to: repo, commit: profile.commit })],
})

export const measured: TransitionEffect<'measurements'> = ({ instance, said }) => ({
  instance: { ...instance, measurements: said },
  entries: [newEntry('measured', { ...said })],
})

export const envReplaced: TransitionEffect<'env'> = ({ instance, said: { key, keys } }) => ({
  instance: { ...instance, env: { key, keys } },
  entries: [newEntry('env.replaced', { keys })],
})

export const shared: TransitionEffect<'share'> = ({ instance, said: { teamId } }) => ({
  instance: { ...instance, teams: [...instance.teams, teamId] },
  entries: [newEntry('shared', { teamId })],
})

export const unshared: TransitionEffect<'unshare'> = ({ instance, said: { teamId } }) => ({
  instance: { ...instance, teams: instance.teams.filter((one) => one !== teamId) },
  entries: [newEntry('unshared', { teamId })],
})

/** A tombstone: the row is kept, the name and the cost are free. */
export const deleted: TransitionEffect<'delete'> = ({ instance, at }) => ({
  instance: { ...instance, tokenHash: null, env: null, deletedAt: at },
  entries: [newEntry('deleted')],
})

/** The reservation lapsed. */
export const lapsed: TransitionEffect<'lapse'> = ({ instance, at }) => ({
  instance: { ...instance, tokenHash: null, env: null, deletedAt: at },
  entries: [newEntry('deleted', { reason: `no instance was reported within ${RESERVATION_MS / 3_600_000} h` })],
})
