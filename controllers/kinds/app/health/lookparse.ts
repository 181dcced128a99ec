/** What the marked lines of a look, or of a start, say (scripts/look.sh, scripts/start.sh). */
import { addressesIn } from '../../../../crds/app/compose/replicas.ts'
import type { ContainerSeen } from '../../../../crds/app/lifecycle/health/seen.ts'
import { markedLines } from '../../../../crds/app/start.ts'
import type { DiskUse } from '../../../../crds/app/world.ts'

export type LookedContainer = Omit<ContainerSeen, 'restartedAt'> & { id: string }
/** `http`: null where nothing answered. */
export type PortAnswer = { address: string; http: number | null }
export type LookLines = {
  containers: LookedContainer[]
  /** By the place of what was asked for. */
  answers: Map<number, PortAnswer>
  dials: Map<number, string>
  /** By the name of the app. */
  disks: Map<string, DiskUse>
  /** Likewise, in bytes, by the name that the host has for each. */
  volumes: Map<string, Map<string, number>>
}

const NANOS_PER_MILLI = 1_000_000

const listOf = (word: string | undefined, mark: string): string[] =>
  word?.startsWith(mark) ? word.slice(mark.length).split(',').filter(Boolean) : []

/** Swap on top of memory is another limit than the one that was set. */
const limitsOf = ([nanos, memory, swap, pids]: readonly string[]): ContainerSeen['limits'] => {
  const [cpuMillis, memoryBytes, processes] = [Number(nanos) / NANOS_PER_MILLI, Number(memory), Number(pids)]
  const isSet = cpuMillis > 0 && memoryBytes > 0 && processes > 0 && swap === memory
  return isSet ? { cpuMillis: Math.round(cpuMillis), memoryBytes, pids: processes } : null
}

/** `web-r3` is `web` of release 3. */
const serviceOf = (name: string, project: string): string => {
  const mark = /-r\d+$/.exec(project)?.[0]
  return mark !== undefined && name.endsWith(mark) ? name.slice(0, -mark.length) : name
}

const containerOf = (words: readonly string[]): LookedContainer => {
  const [id = '', project = '', name = '', state = '', health = '', restarts, code, oom, policy = '', ...rest] = words
  return {
    ...{ id, project, name, state, health, policy },
    service: serviceOf(name, project),
    restarts: Number(restarts),
    code: Number(code),
    isOutOfMemory: oom === 'true',
    limits: limitsOf(rest),
    networks: listOf(rest[4], 'networks:'),
  }
}

const httpOf = (word: string | undefined): number | null => (Number(word) > 0 ? Number(word) : null)

const noteVolume = ({ volumes }: LookLines, app: string, [name = '', bytes]: readonly string[]): void => {
  const held = volumes.get(app) ?? new Map<string, number>()
  volumes.set(app, held.set(name, Number(bytes)))
}

/** A start tells all replicas at once, from the first on: each of them has answered. */
const noteAnswers = ({ answers }: LookLines, place: number, [all = '', status]: readonly string[]): void => {
  for (const [more, address] of addressesIn(all).entries()) answers.set(place + more, { address, http: httpOf(status) })
}

/** @param isStart of a start, which asks for one thing and gives no place */
export const parseLook = (output: string, isStart = false): LookLines => {
  const lines: LookLines = {
    containers: [],
    answers: new Map(),
    dials: new Map(),
    disks: new Map(),
    volumes: new Map(),
  }
  for (const [word, ...rest] of markedLines(output)) {
    const [place, ...words] = isStart ? ['0', ...rest] : rest
    if (word === 'container') lines.containers.push(containerOf(rest))
    if (word === 'dial') lines.dials.set(Number(place), words[0] ?? '')
    if (word === 'address') noteAnswers(lines, Number(place), words)
    const [app = '', ...figures] = rest
    if (word === 'volume') noteVolume(lines, app, figures)
    if (word !== 'disk') continue
    const [used, budget, state] = figures
    lines.disks.set(app, { usedMib: Number(used), budgetMib: Number(budget), isStopped: state === 'stopped' })
  }
  return lines
}
