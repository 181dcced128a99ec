/**
 * What really runs of an app. The host is asked now and then, and tells it too when a release has been started; in between
 * what was seen last counts.
 */

import { dialFileOf } from '../../../crds/app/lifecycle/route.ts'
import { LOOK_EVERY_MS } from '../../../crds/app/plan.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { markedLines } from '../../../crds/app/start.ts'
import type { AppObservation, JobState, Release } from '../../../crds/app/world.ts'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import { baseProjectOf } from './jobs.ts'
import { LOOK } from './scripts.ts'

export type Observations = {
  /**
   * @param isIdle while another release is being made the host has enough to do: what was seen last has to do then
   * @returns null when the live release was not seen @throws what HostLink.run throws
   */
  at(object: AppResource, live: Release, isIdle: boolean): Promise<AppObservation | null>
  /** How the job stands that starts a release: one that ended well has just looked. */
  noteStart(app: string, release: number | null, state: JobState): void
  /** The proxy was told to dial this address; null when no file tells it. */
  noteDial(app: string, dial: string | null): void
  forget(app: string): void
}

const LOOK_DEADLINE_MS = 8_000

/** @param release what it runs bears its number behind the names */
const lookOf = (output: string, release: number, at: string): AppObservation => {
  const mark = `-r${release}`
  const look: AppObservation = { at, address: null, dial: null, running: [], stopped: [], http: null, disk: null }
  const note = ([name = '', state = '', code = '', policy = '']: string[]) => {
    const service = name.endsWith(mark) ? name.slice(0, -mark.length) : name
    // A migration that ended well is not missed, however often it was tried.
    const isDone = state === 'exited' && code === '0' && (policy === 'no' || policy === 'on-failure')
    if (state === 'running') look.running.push(service)
    else if (!isDone) look.stopped.push({ service, code: Number(code) })
  }
  for (const [word, ...rest] of markedLines(output)) {
    const [first = '', second = ''] = rest
    if (word === 'dial') look.dial = first
    if (word === 'service') note(rest)
    if (word === 'disk')
      look.disk = { usedMib: Number(first), budgetMib: Number(second), isStopped: rest[2] === 'stopped' }
    if (word !== 'address') continue
    look.address = first
    look.http = Number(second) > 0 ? Number(second) : null
  }
  // What runs was started since.
  if (look.disk && look.running.length > 0) look.disk.isStopped = false
  return look
}

export const makeObservations = ({ hosts, now }: { hosts: Hosts; now: () => Date }): Observations => {
  const last = new Map<string, { release: number; look: AppObservation }>()
  const keep = (app: string, release: number, output: string): AppObservation => {
    const look = lookOf(output, release, now().toISOString())
    last.set(app, { release, look })
    return look
  }
  const isFresh = ({ at }: AppObservation): boolean => now().getTime() - Date.parse(at) < LOOK_EVERY_MS

  return {
    async at({ metadata, spec }, live, isIdle) {
      const kept = last.get(metadata.name)
      const seen = kept?.release === live.number ? kept.look : null
      if (!isIdle || (seen && isFresh(seen))) return seen
      const { project = null, route, listener = '', stateful = [] } = live.record ?? {}
      const base = stateful.length > 0 ? baseProjectOf(spec.slug) : ''
      const facts = hosts.facts(spec.hostId)
      const dialFile = facts && dialFileOf(originOf(metadata), facts)
      const { code, stdout } = await hosts.link(spec.hostId).run({
        script: LOOK,
        lines: [spec.slug, base, project ?? '', listener, String(route?.port ?? ''), dialFile ?? ''],
        deadlineMs: LOOK_DEADLINE_MS,
        lane: 'status',
      })
      return code === 0 ? keep(metadata.name, live.number, stdout.toString('utf8')) : null
    },
    noteStart(app, release, state) {
      if (release !== null && state.state === 'exited' && state.code === 0) keep(app, release, state.log)
    },
    noteDial(app, dial) {
      const kept = last.get(app)
      if (kept) last.set(app, { ...kept, look: { ...kept.look, dial } })
    },
    forget: (app) => void last.delete(app),
  }
}
