/**
 * What root may do in a container (rules/app.md#rights-of-root; measured: hack/decisions/072). Nothing, but on a host whose Docker
 * remaps users: there it is nobody on the host, and what it has it has over what is its own. So the images that begin as root and
 * give their files to a user of their own, whom they then become, run as they are.
 */
import type { Tree } from '../reading/parse.ts'
import { plainOf, type Read, readTexts, refuseKey, writtenOf } from '../reading/read.ts'
import type { ValidationContext } from '../reading/validation.ts'

/** Seven of Docker's fourteen: its own files (CHOWN, DAC_OVERRIDE, FOWNER), another user (SETUID, SETGID, and KILL to stop him), low ports. */
export const RIGHTS_OF_ROOT = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'KILL',
  'NET_BIND_SERVICE',
  'SETGID',
  'SETUID',
] as const

/** What a program asks for and does without: it runs at its usual priority. */
const DONE_WITHOUT = new Set(['SYS_NICE'])

const nameOf = (written: string): string => written.trim().toUpperCase().replace(/^CAP_/, '')
const isHad = (name: string): boolean => RIGHTS_OF_ROOT.some((right) => right === name)

export type AskedRights = { names: string[]; kept?: unknown }

/** `cap_add`: what is had anyway; anything else is refused. */
export const readAdded: Read<AskedRights> = (validation, tree) => {
  const names = (readTexts(64)(validation, tree) ?? []).map(nameOf)
  const { remapsUsers } = validation.deployTarget
  const rest = names.filter((name) => !(remapsUsers && isHad(name)) && !DONE_WITHOUT.has(name))
  if (rest.length === 0) {
    leaveOut(validation, tree, names)
    return { names: names.filter(isHad) }
  }
  const had = remapsUsers ? `${RIGHTS_OF_ROOT.join(', ')} are there without being asked for` : 'there are none'
  const detail = `Of ${writtenOf(tree).slice(0, 80)} not all are given to a container here; ${had}.`
  const next = 'Remove the others; what cannot do without them needs a host of its own.'
  const refusal = { rule: 'privileges', on: 'kept', detail, next } as const
  const stands = refuseKey(validation, tree, refusal) === 'kept'
  return stands ? { names: names.filter(isHad), kept: plainOf(tree) } : { names: [] }
}

const leaveOut = (validation: ValidationContext, tree: Tree, names: readonly string[]): void => {
  const without = names.filter((name) => DONE_WITHOUT.has(name))
  if (without.length === 0) return
  const to = names.filter(isHad).join(', ')
  const reason = 'It runs at its usual priority.'
  validation.rewrite(tree, 'privileges', { from: writtenOf(tree), to: to === '' ? null : to, reason })
}

const ROOT = /^(0+|root)(:.*)?$/

/** What a service begins with. @param given.user as the file names it; the image's when undefined */
export const rightsOf = (
  { deployTarget }: ValidationContext,
  given: { user: string | undefined; added: readonly string[]; removed: readonly string[] },
): string[] => {
  const { user, added } = given
  if (!deployTarget.remapsUsers || (user !== undefined && !ROOT.test(user))) return []
  const removed = new Set(given.removed.map(nameOf))
  return RIGHTS_OF_ROOT.filter((right) => added.includes(right) || !(removed.has('ALL') || removed.has(right)))
}
