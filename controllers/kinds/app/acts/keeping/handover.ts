/** What of a release is handed over stop-first, and how: what the job that starts it is told of that (scripts/start.sh). */
import { originOn } from '../../../../../crds/app/compose/printing/bridges.ts'
import { planRelease, summariseRelease } from '../../../../../crds/app/compose/printing/plan.ts'
import { printTrial, type Trial } from '../../../../../crds/app/compose/printing/trial.ts'
import { MIB_PER_GIB } from '../../../../../crds/app/compose/project.ts'
import { handOverSeconds, stopping } from '../../../../../crds/app/lifecycle/keeping/handover.ts'
import type { AppResource } from '../../../../../crds/app/schema.ts'
import { pinnedProject, type SealedRelease } from '../../../../../crds/app/sealed.ts'
import type { Release } from '../../../../../crds/app/world.ts'

/** MiB of volumes that a trial copies: above that a release waits for its copy longer than anybody does. */
const TRIAL_ROOM_MIB = 8_192
/** Of the app's disk: a trial that begins with more has no room to come up in, and its meter would end it. */
const TRIAL_SHARE = 0.8
export type HandOver = {
  /** Null where it is not to be tried. */
  trial: Trial | null
  /** MiB that may be copied for it. */
  roomMib: number
  /** Until the new one answers. */
  seconds: number
  /** Where visitors are now, when the base has it. */
  routed: { service: string; port: number } | null
}

type Live = { release: Release; sealed: SealedRelease }

/** @returns null where nothing that runs is stopped */
export const handOverFor = (
  { metadata, spec }: AppResource,
  sealed: SealedRelease,
  { number }: Pick<Release, 'number'>,
  live: Live | null,
): HandOver | null => {
  if (!live) return null
  const before = live.sealed.project
  const next = { project: sealed.project, warnings: [], composePath: sealed.composePath }
  const stops = stopping(planRelease(summariseRelease(before), next, [])).map(({ name }) => name)
  if (stops.length === 0) return null
  const isBase = before.services.some(({ name, stateful }) => name === before.route.service && stateful)
  return {
    trial:
      spec.handOver?.trial === 'none' ? null : printTrial(pinnedProject(sealed), number, originOn({ metadata, spec })),
    roomMib: Math.min(TRIAL_ROOM_MIB, Math.floor((sealed.project.diskGib ?? Infinity) * MIB_PER_GIB * TRIAL_SHARE)),
    seconds: handOverSeconds(spec, sealed.project, stops),
    routed: isBase ? before.route : null,
  }
}

const NONE = ['', '', '0', '', '', '', '', '']

/** As the script reads them. @param dialFile by which the host's proxy is told; null for none */
export const handOverLines = (handOver: HandOver | null, dialFile: string | null): string[] => {
  if (!handOver) return NONE
  const { trial, roomMib, seconds, routed } = handOver
  return [
    trial?.document.text.replaceAll('\n', ' ') ?? '',
    trial?.service ?? '',
    String(roomMib),
    trial?.volumes.map(({ from, to }) => `${from} ${to}`).join(' ') ?? '',
    String(seconds),
    routed?.service ?? '',
    String(routed?.port ?? ''),
    dialFile ?? '',
  ]
}
