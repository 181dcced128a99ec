/** One effect, done. What was decided is not decided again here; what was learned by it is given back. */
import { createHash } from 'node:crypto'
import { fingerprintOf } from '../../cli/ssh/programs.ts'
import { consoleKeys, growFileSystem, handToken, type InsideTarget, lookInside } from '../box/inside.ts'
import type { BoxShell } from '../box/shell.ts'
import { type CloudDriver, CloudFault, type CloudTags } from '../cloud/driver.ts'
import { undoes } from '../plan/resize.ts'
import type { BoxEffect, BoxRow, BoxThings, Learned, Saying } from '../plan/world.ts'
import type { BoxRegistry } from './registry.ts'

export type ActingParts = { driver: CloudDriver; registry: BoxRegistry; shell: BoxShell; installation: string }

/** What is acted on. */
export type Acted = { row: BoxRow; things: BoxThings; learned: Learned }

const tagsOf = (installation: string, { id, targetLabel }: BoxRow): CloudTags => ({
  installation,
  box: id,
  label: targetLabel,
})

/**
 * Which of the tokens comes next. Machines that died count, for their tokens make none any more: those that are shown, and those
 * that the cloud has forgotten and whose tokens it still knows.
 */
export const tokenIndex = ({ things, learned }: Pick<Acted, 'things' | 'learned'>): number =>
  Math.max(things.dead, learned.spentTokens)

/** One machine of it for ever. */
const clientToken = (installation: string, at: Acted, instanceType: string): string =>
  createHash('sha256')
    .update([installation, at.row.id, instanceType, tokenIndex(at)].join('\n'))
    .digest('hex')

const launch = async (parts: ActingParts, at: Acted, instanceType: string): Promise<void> => {
  const { driver, registry, installation } = parts
  const { row } = at
  const userData = await registry.bootstrap(row.id)
  const sha256 = createHash('sha256').update(userData).digest('hex')
  if (sha256 !== row.bootstrapSha256) {
    const detail = `the user data of ${row.id} has the digest ${sha256}, reserved was ${row.bootstrapSha256}`
    throw new CloudFault('refused', 'BOOTSTRAP_CHANGED', detail)
  }
  await driver.launch({
    clientToken: clientToken(installation, at, instanceType),
    tags: tagsOf(installation, row),
    instanceType,
    arch: row.arch,
    diskGb: row.diskGb,
    userData,
  })
}

/** Of an instance that was finalized the row knows the fingerprints; of a new one its console tells them. */
const insideOf = async (
  { driver }: ActingParts,
  { row }: Acted,
  { machineId, publicIp }: { machineId: string; publicIp: string },
): Promise<InsideTarget> => {
  if (row.hostKeys.length > 0) return { publicIp, trusted: row.hostKeys }
  const trusted = consoleKeys(await driver.console(machineId)).map(fingerprintOf)
  if (trusted.length === 0)
    throw new CloudFault('busy', 'UNREACHABLE', `${machineId} has not written its host keys on its console yet`)
  return { publicIp, trusted }
}

const looked = async (
  parts: ActingParts,
  at: Acted,
  where: { machineId: string; publicIp: string },
): Promise<Partial<Learned>> => {
  const inside = await lookInside(parts.shell, await insideOf(parts, at, where))
  return { inside, df: inside.df, cloudFacts: await parts.driver.facts(where.machineId) }
}

const said = async ({ registry }: ActingParts, { row }: Acted, saying: Saying): Promise<Partial<Learned>> => {
  await registry.say(row, saying)
  if (saying.word !== 'resized') return {}
  return { df: null, hasGrown: false, isUndone: undoes(row, saying.body.sizeClass) }
}

/** What is true of a machine no longer once its power or its type has changed. */
const UNSEEN = { inside: null, cloudFacts: null } as const

const onMachine = async ({ driver }: ActingParts, effect: BoxEffect): Promise<boolean> => {
  if (effect.do === 'start') await driver.start(effect.machineId)
  else if (effect.do === 'stop') await driver.stop(effect.machineId)
  else if (effect.do === 'terminate') await driver.terminate(effect.machineId)
  else if (effect.do === 'retype') await driver.retype(effect.machineId, effect.instanceType)
  else return false
  return true
}

const onAddress = async (
  { driver, installation }: ActingParts,
  { row, learned }: Acted,
  effect: BoxEffect,
): Promise<Partial<Learned> | null> => {
  const { allocated } = learned
  switch (effect.do) {
    case 'allocate':
      return { allocated: [...allocated, await driver.allocate(tagsOf(installation, row))] }
    case 'associate': {
      const { allocationId, machineId } = effect
      const associated = { machineId, ...(await driver.associate(allocationId, machineId)) }
      // kept: the cloud may go on not showing what it has just associated
      return { allocated: allocated.map((one) => (one.allocationId === allocationId ? { ...one, associated } : one)) }
    }
    case 'disassociate':
      await driver.disassociate(effect.associationId)
      return {}
    case 'release':
      await driver.release(effect.allocationId)
      return { allocated: allocated.filter((one) => one.allocationId !== effect.allocationId) }
    default:
      return null
  }
}

const withinMachine = async (parts: ActingParts, at: Acted, effect: BoxEffect): Promise<Partial<Learned> | null> => {
  switch (effect.do) {
    case 'lookInside':
      return looked(parts, at, effect)
    case 'handToken': {
      const { token, inside } = at.learned
      if (token === null) return null
      await handToken(parts.shell, await insideOf(parts, at, effect), token, parts.registry.serviceUrl)
      return { inside: inside && { ...inside, hasToken: true } }
    }
    case 'growFileSystem':
      await growFileSystem(parts.shell, await insideOf(parts, at, effect))
      return { ...UNSEEN, df: null, hasGrown: true }
    default:
      return null
  }
}

/** @returns what is known now @throws CloudFault, RefusedByApi, GaveUp */
export const act = async (parts: ActingParts, at: Acted, effect: BoxEffect): Promise<Partial<Learned>> => {
  const { driver, registry } = parts
  if (await onMachine(parts, effect)) return UNSEEN
  const learned = (await onAddress(parts, at, effect)) ?? (await withinMachine(parts, at, effect))
  if (learned) return learned
  switch (effect.do) {
    case 'launch':
      await launch(parts, at, effect.instanceType)
      return {}
    case 'grow':
      await driver.grow(effect.volumeId, effect.sizeGb)
      return { ...UNSEEN, df: null, hasGrown: false }
    case 'removeVolume':
      await driver.removeVolume(effect.volumeId)
      return {}
    case 'label':
      await driver.label(effect.ids, effect.label)
      return {}
    case 'issueToken':
      return { token: await registry.issueToken(at.row.id, effect.instanceId, effect.rotations) }
    case 'discard':
      await registry.discard(at.row.id)
      return {}
    case 'say':
      return said(parts, at, effect)
    default:
      throw new Error(`nobody does ${effect.do}`)
  }
}
