/** The rules of an App's spec that no schema says; REST refuses with them, the plan stalls with the same codes and words. */
import type { Fault } from '../kernel/problem.ts'
import { probeFaults } from './lifecycle/publishing/probe.ts'
import { commandFaults } from './runs/faults.ts'
import type { AppSpec } from './schema.ts'

/** Names that the platform, the web or mail keep for themselves under a base domain. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set(
  'www api admin mail smtp imap ftp ns ns1 ns2 app apps static assets cdn status bottega autodiscover wpad localhost'.split(
    ' ',
  ),
)

/** What a host calls what belongs to an app: of `x` there are projects `x-base`, `x-build` and `x-r1`. */
const NAMED_HERE = /-(base|build|r\d+)$/

export const faultsOf = (spec: AppSpec): Fault[] => {
  const faults: Fault[] = []
  if (RESERVED_SLUGS.has(spec.slug)) {
    faults.push({ code: 'SLUG_TAKEN', pointer: '/slug', detail: `${spec.slug} is reserved` })
  }
  // A name that reads like another alphabet's (RFC 5890) is refused; ours are plain.
  if (NAMED_HERE.test(spec.slug)) {
    const detail = 'may not end in -base, -build or -r and a number: what belongs to other apps is named so on the host'
    faults.push({ code: 'INVALID_FIELD', pointer: '/slug', detail })
  }
  if (spec.slug.startsWith('xn--') || spec.slug.slice(2, 4) === '--') {
    faults.push({ code: 'INVALID_FIELD', pointer: '/slug', detail: 'may not have -- in third and fourth place' })
  }
  if (spec.access === 'private' && spec.passwordVersion === undefined) {
    faults.push({ code: 'PASSWORD_REQUIRED', pointer: '/password', detail: 'a private app needs a password' })
  }
  faults.push(...probeFaults(spec))
  if (spec.source && spec.restore) {
    faults.push({ code: 'INVALID_FIELD', pointer: '/restore', detail: 'give source or restore, not both' })
  }
  return [...faults, ...commandFaults(spec)]
}
