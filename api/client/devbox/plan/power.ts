/** That what runs is recorded as running and what stands still as stopped, and that one becomes the other when it is asked. */
import { addressed, newPair } from './address.ts'
import { addressInUse, machineOf } from './seen.ts'
import { machineRuns } from './up.ts'
import { type BoxPlan, type BoxStep, firstOf, wait } from './world.ts'

const DONE: BoxPlan = () => ({ do: 'done' })

/** A running instance is told of, with the address it was given where that is a new one, and the type that there was capacity for. */
const saidRunning: BoxPlan = (world) => {
  const { row } = world
  const pair = newPair(world)
  if (row.state === 'running' && pair.eipAllocId === undefined) return null
  const machine = machineOf(world)
  const as = machine && { instanceType: machine.instanceType }
  return { do: 'say', word: 'started', body: { version: row.version, ...pair, ...as } }
}

const saidStopped: BoxPlan = ({ row }) =>
  row.state === 'stopped' ? null : { do: 'say', word: 'stopped', body: { version: row.version } }

/** The address comes before the start: a machine that cannot be reached costs, and serves nobody. */
export const started: BoxPlan = firstOf(addressed, machineRuns)

const isPause = ({ do: what }: BoxStep): boolean => ['wait', 'stuck', 'done'].includes(what)

/**
 * Asked before the cloud is, for it may be refused: afterwards the address costs. Of what runs already nothing is asked, nor of a
 * resize, which was asked as a whole.
 */
const startAsked: BoxPlan = (world) => {
  const { row } = world
  const step = started(world)
  if (step === null || isPause(step) || !['ready', 'stopped'].includes(row.state)) return null
  // one from before a crash is as new to the registry as one that is still to be allocated
  const newAddress = addressInUse(world) === undefined
  if (row.asked.starting?.newAddress === newAddress) return null
  return { do: 'say', word: 'starting', body: { version: row.version, ...(newAddress && { newAddress }) } }
}

export const running: BoxPlan = firstOf(startAsked, started, saidRunning, DONE)

const machineStops: BoxPlan = (world) => {
  const machine = machineOf(world)
  if (!machine) return machineRuns(world)
  const { machineId, state } = machine
  if (state === 'stopped') return null
  return state === 'running' ? { do: 'stop', machineId } : wait(`${machineId} is ${state}`)
}

export const stopped: BoxPlan = firstOf(machineStops, saidStopped, DONE)

/** A stop that is wished comes before all else that is: it needs nobody's leave, and what runs costs. */
export const stopWished: BoxPlan = (world) => {
  const { wanted, asked, state } = world.row
  const isWished = wanted?.power === 'stopped' && asked.starting === null
  return isWished && (state === 'ready' || state === 'running') ? stopped(world) : null
}

/**
 * As the machine is, whoever has made it so: it stops itself when it is idle. A start that was asked for, or that the registry
 * says is wished, is done.
 */
export const asIs: BoxPlan = (world) => {
  const machine = machineOf(world)
  const { asked, wanted } = world.row
  if (asked.starting !== null || wanted?.power === 'running') return running(world)
  if (machine?.state === 'stopped' || machine?.state === 'stopping') return stopped(world)
  return running(world)
}
