/**
 * How many containers of a service run (rules/app.md#replicas): of the one that takes visitors and keeps nothing as many as the
 * app says, or the file where the app does not; of all others one.
 */
import type { ParsedServices } from '../checking/layout.ts'
import type { AskedReplicas } from '../checking/parts.ts'
import type { ParsedService } from '../checking/service.ts'
import { REPLICAS_MAX } from '../project.ts'
import { writtenOf } from '../reading/read.ts'
import type { ValidationContext } from '../reading/validation.ts'

const RULE = 'one-of-each'
const fits = ({ count }: AskedReplicas): boolean => count >= 1 && count <= REPLICAS_MAX

const refuseMore = (validation: ValidationContext, { replicas }: ParsedService, why: string): void => {
  for (const { count, at } of replicas) {
    if (count !== 1) validation.allows(at, RULE, `One container of it runs: ${why}.`, 'Remove it.')
  }
}

/** What the file says becomes what the app says. */
const followApp = (validation: ValidationContext, { replicas }: ParsedService, count: number): void => {
  const reason = 'How many run is replicas of the app, which is changed without a release.'
  for (const one of replicas) {
    if (one.count !== count) validation.rewrite(one.at, RULE, { from: writtenOf(one.at), to: String(count), reason })
  }
}

/** The one that takes visitors and keeps nothing. */
const routedCount = (validation: ValidationContext, parsed: ParsedService): number => {
  const asked = validation.deployTarget.replicas ?? null
  const next = `Write 1 to ${REPLICAS_MAX}, or leave it out and set replicas of the app.`
  for (const one of parsed.replicas) {
    if (fits(one)) continue
    validation.refuse(one.at, RULE, `From 1 to ${REPLICAS_MAX} containers of ${parsed.name} run.`, next)
  }
  if (asked === null) return parsed.replicas.find(fits)?.count ?? 1
  followApp(validation, parsed, asked)
  return asked
}

/** The one that takes visitors and keeps something. */
const refuseMany = (validation: ValidationContext, { name, at }: ParsedService): void => {
  const asked = validation.deployTarget.replicas ?? 1
  const detail = `${name} keeps something, so one of it runs; replicas of the app says ${asked}.`
  if (asked > 1) validation.refuse(at, RULE, detail, 'Set replicas of the app to 1.')
}

/**
 * @param whole.routed the service that takes visitors; undefined where none does
 * @returns how many of it run
 */
export const settleReplicas = (
  validation: ValidationContext,
  parsedServices: ParsedServices,
  { routed, stateful }: { routed: string | undefined; stateful: ReadonlySet<string> },
): number => {
  for (const parsed of parsedServices.values()) {
    const keeps = stateful.has(parsed.name)
    if (keeps) refuseMore(validation, parsed, 'it keeps something, or what keeps something needs it')
    else if (parsed.name !== routed) refuseMore(validation, parsed, 'visitors do not come to it')
  }
  const parsed = routed === undefined ? undefined : parsedServices.get(routed)
  if (!parsed) return 1
  if (!stateful.has(parsed.name)) return routedCount(validation, parsed)
  refuseMany(validation, parsed)
  return 1
}
