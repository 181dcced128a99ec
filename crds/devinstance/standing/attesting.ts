/**
 * That a running machine goes on attesting. It does so after each start and every hour, and its next report brings it; one that
 * reports and does not attest is one of which nobody knows any more whether it is as it was (rules/devinstance.md#attested-again).
 */
import type { DevInstanceRow } from '../life/row.ts'
import type { DevInstanceWorld } from '../world.ts'

/** It attests half a minute after a start, and is heard within two: a machine that is slow to start has time. */
export const ATTESTED_AFTER_START_MS = 15 * 60_000
/** It attests every hour: that two in a row were not heard is no chance. */
export const ATTESTED_AGAIN_MS = 3 * 3_600_000
/** The first programs that tell of each time; those before tell of one that is as the last was only after a start. */
const TELLING_PROGRAMS = 4
/** So long it may have been on before its row knew: until then its reports may be the last words of one that stops. */
const UNKNOWN_START_MS = 5 * 60_000

const msOf = (at: string | null | undefined): number => (at ? Date.parse(at) : 0)

/** `sinceMs`: the latest attestation, or the start that none has followed. */
type Awaited = { sinceMs: number; dueMs: number; isOfStart: boolean }

/** By when the next one is to have been heard; null where none is awaited. */
export const attestationAwaited = (instance: DevInstanceRow, { lastReport }: DevInstanceWorld): Awaited | null => {
  const { state, machine, machineSince, startedAt, attestation, programs = 1 } = instance
  if (state !== 'running' || machine !== 'up' || programs < TELLING_PROGRAMS) return null
  const attestedMs = Math.max(msOf(attestation?.at), msOf(lastReport?.attestedAt))
  if (attestedMs >= msOf(machineSince) - UNKNOWN_START_MS)
    return { sinceMs: attestedMs, dueMs: attestedMs + ATTESTED_AGAIN_MS, isOfStart: false }
  const startMs = Math.max(msOf(machineSince), msOf(startedAt))
  return { sinceMs: startMs, dueMs: startMs + ATTESTED_AFTER_START_MS, isOfStart: true }
}

type AttestationFinding = { type: 'AttestationDiffers' | 'AttestationMissing'; message: string }

/** Of one fault, in letters: ten of them fit what a condition takes. All of it stands in the history. */
const FAULT_MAX = 80

const differing = ({ attestation, machine }: DevInstanceRow): AttestationFinding[] => {
  if (!attestation || attestation.faults.length === 0 || machine === 'gone') return []
  const { at, faults } = attestation
  const named = faults.map((fault) => (fault.length > FAULT_MAX ? `${fault.slice(0, FAULT_MAX)}…` : fault))
  // What to do comes first: whatever is long is cut off at its end.
  const message = `log in and mend it, or take it down and launch another one; it is not as it was attested, as it said itself at ${at}: ${named.join('; ')}`
  return [{ type: 'AttestationDiffers', message }]
}

const missing = (instance: DevInstanceRow, world: DevInstanceWorld, now: Date): AttestationFinding[] => {
  const awaited = attestationAwaited(instance, world)
  if (awaited === null || now.getTime() < awaited.dueMs) return []
  const since = `${awaited.isOfStart ? 'its start at ' : ''}${new Date(awaited.sinceMs).toISOString()}`
  const message = `it has not attested since ${since}, and is to after each start and every hour, so nobody knows whether its sshd, host keys, units and accounts are as they were; nothing is refused for it, and nothing costs more; log in and look why bottega-attest.timer or bottega-report.timer does not run, or take it down and launch another one`
  return [{ type: 'AttestationMissing', message }]
}

/** How it attests, as far as that is not as it must be: each with the next step. */
export const attestationFindings = (
  instance: DevInstanceRow,
  world: DevInstanceWorld,
  now: Date,
): AttestationFinding[] => [...differing(instance), ...missing(instance, world, now)]
