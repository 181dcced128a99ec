/** Where what was launched is not what was reserved: with both prices, and the next step (rules/devinstance.md#what-was-launched). */
import { priceWords } from '../life/breaches.ts'
import { type DevInstanceRow, hasPrice, pricedRegionOf, reservedPrice, runningMonthlyMicroUsd } from '../life/row.ts'
import { usdOf } from '../sizing/prices.ts'
import { instanceTypeNamed } from '../sizing/sizes.ts'

const VOLUME_TYPE = 'gp3'

const typeDrift = (instance: DevInstanceRow): string[] => {
  const { launched, sizeClass, arch } = instance
  const instanceType = launched?.instanceType ?? null
  if (instanceType === null) return []
  if (!hasPrice(instanceType, instance)) {
    return [`${instanceType} has no price here: it is priced as ${sizeClass} on ${arch}`]
  }
  const type = instanceTypeNamed(instanceType)
  if (type?.sizeClass === sizeClass && type.arch === arch) return []
  return [
    `${instanceType}${type ? ` is ${type.sizeClass} on ${type.arch}` : ''}, and ${sizeClass} on ${arch} was reserved`,
  ]
}

const placeDrift = (instance: DevInstanceRow): string[] => {
  const { launched, diskGb } = instance
  if (launched === null) return []
  const { region, volumeType, diskGb: launchedGb } = launched
  const priced = pricedRegionOf(instance)
  return [
    ...(region !== null && region !== priced
      ? [`${region} has other prices, which are not known: it is priced as ${priced}`]
      : []),
    ...(volumeType !== null && volumeType !== VOLUME_TYPE ? [`${volumeType} is priced as ${VOLUME_TYPE}`] : []),
    ...(launchedGb !== null && launchedGb !== diskGb
      ? [`its disk has ${launchedGb} GB, and ${diskGb} GB were reserved`]
      : []),
  ]
}

const usd = (microUsd: number): string => usdOf(microUsd).toFixed(2)

const priceDrift = (instance: DevInstanceRow): string[] => {
  const [running, promised] = [runningMonthlyMicroUsd(instance), reservedPrice(instance).runningMicroUsd]
  return running > promised
    ? [`running it costs ${usd(running)} USD a month, and ${usd(promised)} USD were promised`]
    : []
}

/** A type of equal shape that costs no more is none: the cloud had no other. @returns null where there is none */
export const driftOf = (instance: DevInstanceRow): string | null => {
  if (instance.launched === null || instance.machine === 'gone') return null
  const differs = [...typeDrift(instance), ...placeDrift(instance), ...priceDrift(instance)]
  if (differs.length === 0) return null
  return `${differs.join('; ')}; ${priceWords(instance)}; resize it to what it is to be, or take it down and launch what was reserved`
}
