/** From a reservation to an instance that is ready (rules/devinstance.md#protocol). */
import type { SizeClass } from '../../../../crds/devinstance/sizing/sizes.ts'
import type { CloudMachine } from '../cloud/driver.ts'
import { addressed, addressFor } from './address.ts'
import { hasSettled, machineOf, typesFor } from './seen.ts'
import { type BoxPlan, type BoxStep, type BoxWorld, firstOf, stuck, wait } from './world.ts'

const LOOK_AGAIN_MS = 15_000

const noCapacity = (types: readonly string[], sizeClass: SizeClass, next: string): BoxStep => {
  const which = `${types.join(', ')}, which are the types of ${sizeClass} at the price that was promised`
  return stuck('NO_CAPACITY', `the cloud has no capacity for ${which}`, next)
}

const launched: BoxPlan = (world) => {
  const { row, learned, machines } = world
  if (row.state !== 'reserved') return null
  const machine = machineOf(world)
  if (machine) return { do: 'say', word: 'provisioning', body: { instanceId: machine.machineId } }
  // until it has ended, its client token shows it again
  const [ending] = machines
  if (ending) return wait(`${ending.machineId} is ${ending.state}`)
  const types = typesFor(row, row.sizeClass)
  const instanceType = types.find((type) => !learned.triedTypes.includes(type))
  if (instanceType !== undefined) return { do: 'launch', instanceType }
  return noCapacity(types, row.sizeClass, 'Try again later, or reserve another class or architecture.')
}

/** The machine lives and runs. One that is not shown may only be new. */
export const machineRuns: BoxPlan = (world) => {
  const { row } = world
  const machine = machineOf(world)
  if (!machine) {
    if (!hasSettled(world, row.stateSince)) return wait(`the cloud does not show ${row.instanceId} yet`)
    return stuck(
      'INSTANCE_GONE',
      `${row.instanceId} is gone; ${row.id} is ${row.state}`,
      `If that is so for good: bottega-devbox terminate ${row.id}`,
    )
  }
  const { machineId, state } = machine
  if (state === 'running') return null
  return state === 'stopped' ? startOf(world, machine) : wait(`${machineId} is ${state}`)
}

/** A machine whose type has no capacity becomes the next of its shape. */
const startOf = ({ row, learned }: BoxWorld, { machineId, instanceType }: CloudMachine): BoxStep => {
  if (!learned.triedTypes.includes(instanceType)) return { do: 'start', machineId, instanceType }
  const types = typesFor(row, row.sizeClass)
  const next = types.find((type) => !learned.triedTypes.includes(type))
  return next === undefined
    ? noCapacity(types, row.sizeClass, 'Try again later, or resize it.')
    : { do: 'retype', machineId, instanceType: next }
}

/** The lease ends with the first token, so that comes before all that takes long. A lease may be renewed once. */
const tokenIssued: BoxPlan = ({ row, nowMs }) => {
  if (row.state !== 'provisioning' || row.instanceId === null) return null
  const { lease, instanceId } = row
  if (lease === null || nowMs <= Date.parse(lease.expiresAt)) return { do: 'issueToken', instanceId }
  if (!lease.renewed) return { do: 'say', word: 'provisioning', body: { instanceId } }
  return stuck(
    'LEASE_EXPIRED',
    `the lease of ${instanceId} was renewed once and ended at ${lease.expiresAt}`,
    `bottega-devbox terminate ${row.id}, then reserve again.`,
  )
}

/** The machine, and the address under which it is to be looked at. */
export const reachable = (world: BoxWorld): { machineId: string; publicIp: string } | undefined => {
  const [machine, address] = [machineOf(world), addressFor(world)]
  return machine && address ? { machineId: machine.machineId, publicIp: address.publicIp } : undefined
}

const tokenHanded: BoxPlan = (world) => {
  const { row, learned } = world
  const at = reachable(world)
  if (!at || row.instanceId === null) return null
  if (learned.inside === null) return { do: 'lookInside', ...at }
  if (learned.inside.hasToken) return null
  return learned.token === null ? { do: 'issueToken', instanceId: row.instanceId } : { do: 'handToken', ...at }
}

/** One that runs and is silent: where its report token is not good any more, it gets another one. */
export const reportsMended: BoxPlan = (world) => {
  const { state, conditions } = world.row
  const isSilent = state === 'running' && conditions.some(({ type }) => type === 'ReportStale')
  const step = isSilent ? tokenHanded(world) : null
  if (step?.do !== 'issueToken') return step
  return { ...step, rotations: world.row.events.filter(({ kind }) => kind === 'token.rotated').length }
}

const finalized: BoxPlan = (world) => {
  const { row, learned } = world
  const address = addressFor(world)
  if (!address || row.instanceId === null || learned.inside === null) return null
  const { attested } = learned.inside
  if (attested === null || learned.cloudFacts === null) return wait('cloud-init is at work', LOOK_AGAIN_MS)
  const { publicIp, allocationId: eipAllocId } = address
  const facts = { ...attested.facts, ...learned.cloudFacts }
  const body = { instanceId: row.instanceId, publicIp, eipAllocId, facts, assertions: attested.assertions }
  return { do: 'say', word: 'finalize', body }
}

const made = firstOf(machineRuns, tokenIssued, addressed, tokenHanded, finalized)

/** Has a say until the instance is ready. */
export const up: BoxPlan = (world) =>
  launched(world) ?? (['provisioning', 'configuring'].includes(world.row.state) ? made(world) : null)
