/**
 * A resize: announced, done, measured on the machine, confirmed. A disk only grows; a type changes while the machine stands still.
 * Where no type of the new class has capacity it becomes again what it was, and that is confirmed.
 */
import { dfGb } from '../../../../crds/devinstance/life/report-guards.ts'
import type { SizeClass } from '../../../../crds/devinstance/sizing/sizes.ts'
import type { CloudMachine, CloudVolume } from '../cloud/driver.ts'
import { newPair } from './address.ts'
import { started } from './power.ts'
import { machineOf, typesFor } from './seen.ts'
import { machineRuns, reachable } from './up.ts'
import { type BoxGoal, type BoxPlan, type BoxRow, type BoxStep, type BoxWorld, firstOf, stuck, wait } from './world.ts'

type ResizeGoal = Extract<BoxGoal, { kind: 'resized' }>

/** Asks for the resize, where the row is not of that size. */
export const announced =
  ({ sizeClass, diskGb, acknowledgeWorkAtRisk }: ResizeGoal): BoxPlan =>
  ({ row, learned }) => {
    const isSo = row.sizeClass === sizeClass && (diskGb === undefined || row.diskGb >= diskGb)
    if (isSo || row.state === 'resizing') return null
    if (learned.isUndone) {
      const detail = `the cloud has no capacity for ${sizeClass}; ${row.id} is ${row.sizeClass} again`
      return stuck('NO_CAPACITY', detail, 'Try again later, or take another class.')
    }
    if (!['ready', 'running', 'stopped'].includes(row.state)) {
      return stuck('WRONG_STATE', `${row.id} is ${row.state}: it cannot be resized`, `bottega-devbox up ${row.id}`)
    }
    const asked = {
      sizeClass,
      ...(diskGb !== undefined && { diskGb }),
      ...(acknowledgeWorkAtRisk && { acknowledgeWorkAtRisk }),
    }
    return { do: 'say', word: 'resizing', body: { version: row.version, ...asked } }
  }

/** A size that the registry says is wished; it is asked for like any other, and may be refused. */
export const sizeWished: BoxPlan = (world) => {
  const { wanted, state } = world.row
  if (wanted === null || wanted.sizeClass === null || !['ready', 'running', 'stopped'].includes(state)) return null
  const { sizeClass, diskGb } = wanted
  return announced({
    kind: 'resized',
    sizeClass,
    ...(diskGb !== null && { diskGb }),
    acknowledgeWorkAtRisk: false,
  })(world)
}

const volumeOf = ({ volumes }: BoxWorld, { machineId }: CloudMachine): CloudVolume | undefined =>
  volumes.find(({ attachedTo }) => attachedTo === machineId)

const diskGrown: BoxPlan = (world) => {
  const machine = machineOf(world)
  const to = world.row.intent?.to
  if (!machine || !to) return null
  const volume = volumeOf(world, machine)
  if (!volume) return wait(`the cloud does not show the volume of ${machine.machineId}`)
  if (volume.sizeGb >= to.diskGb) return null
  return volume.isGrowing
    ? wait(`${volume.volumeId} is growing`)
    : { do: 'grow', volumeId: volume.volumeId, sizeGb: to.diskGb }
}

type Target = { sizeClass: SizeClass; types: readonly string[] }

/** What it is to become: of the new class while one of its types may have capacity, else what it was. */
const targetOf = ({ row, learned }: BoxWorld): Target | undefined => {
  if (!row.intent) return undefined
  const untried = (sizeClass: SizeClass) =>
    typesFor(row, sizeClass).filter((type) => !learned.triedTypes.includes(type))
  const types = untried(row.intent.to.sizeClass)
  if (types.length > 0) return { sizeClass: row.intent.to.sizeClass, types }
  return { sizeClass: row.intent.from.sizeClass, types: untried(row.intent.from.sizeClass) }
}

const typeChanged: BoxPlan = (world) => {
  const [machine, target] = [machineOf(world), targetOf(world)]
  if (!machine || !target || target.types.includes(machine.instanceType)) return null
  const { machineId, state } = machine
  const [instanceType] = target.types
  if (instanceType === undefined) {
    const detail = `neither the new class nor the old one has capacity for ${machineId}`
    return stuck('NO_CAPACITY', detail, `Try again later: bottega-devbox repair ${world.row.id}`)
  }
  if (state === 'running') return { do: 'stop', machineId }
  return state === 'stopped' ? { do: 'retype', machineId, instanceType } : wait(`${machineId} is ${state}`)
}

/** A file system shows less than its volume: its own tables take some (rules/devinstance.md#guards). */
const fillsVolume = (df: string, { sizeGb }: CloudVolume): boolean => dfGb(df) * 10 >= sizeGb * 9

/** Measured while it runs, and known while it stands still. */
const measured: BoxPlan = (world) => {
  const { learned, row } = world
  const machine = machineOf(world)
  const volume = machine && volumeOf(world, machine)
  if (!volume) return null
  if (learned.df !== null && fillsVolume(learned.df, volume)) return null
  const start = started(world)
  if (start) return start
  const at = reachable(world)
  if (!at) return null
  if (learned.df === null) return { do: 'lookInside', ...at }
  if (!learned.hasGrown) return { do: 'growFileSystem', ...at }
  const detail = `df shows ${learned.df} on a volume of ${volume.sizeGb} GB, and it would not grow`
  return stuck('DISK_NOT_GROWN', detail, `Log in and grow it, then: bottega-devbox repair ${row.id}`)
}

const leftAsItWas: BoxPlan = (world) => {
  const machine = machineOf(world)
  if (!machine) return null
  const { machineId, state } = machine
  if (world.row.intent?.previousState === 'stopped') {
    if (state === 'stopped') return null
    return state === 'running' ? { do: 'stop', machineId } : wait(`${machineId} is ${state}`)
  }
  return started(world)
}

const confirmed: BoxPlan = (world): BoxStep | null => {
  const { row, learned } = world
  const [machine, target] = [machineOf(world), targetOf(world)]
  const volume = machine && volumeOf(world, machine)
  if (!target || !volume || learned.df === null || !row.intent) return null
  const body = {
    version: row.version,
    sizeClass: target.sizeClass,
    diskGb: volume.sizeGb,
    verifiedDf: learned.df,
    state: row.intent.previousState,
    instanceType: machine.instanceType,
    ...newPair(world),
  }
  return { do: 'say', word: 'resized', body }
}

const resizing = firstOf(
  (world) => (machineOf(world) ? null : machineRuns(world)),
  diskGrown,
  typeChanged,
  measured,
  leftAsItWas,
  confirmed,
)

/** Brings a resize that was announced to its end, whoever has announced it. */
export const resized: BoxPlan = (world) => (world.row.state === 'resizing' ? resizing(world) : null)

/** Whether the size in a confirmation is the one from before. */
export const undoes = (row: BoxRow, sizeClass: SizeClass): boolean =>
  row.intent !== null && sizeClass === row.intent.from.sizeClass && sizeClass !== row.intent.to.sizeClass
