/** What is known of the names of an app, and of what its visitors get under them, when a pass over it is planned. */
import type { NameRules } from '../../../names/fullname.ts'
import type { OwnName } from '../../../names/name.ts'

export type AppNaming = {
  /** Those that it holds, or has asked for. */
  names: readonly OwnName[]
  /** Of the spec's: those that another site or app of the account holds. */
  taken: readonly string[]
  rules: NameRules
  /** Where visitors reach the host: an IP address, or a name; null where there is no host. */
  address: string | null
}

/** As a handshake finds it (the words of a Host's certificates). */
export const CERTIFICATE_SEEN = ['valid', 'expiring', 'expired', 'mismatch', 'missing'] as const

/**
 * One hostname as a visitor finds it. `certificate`: null while the first look at it goes on. `status` of the answer; null:
 * nobody answers, and `detail` says how that went.
 */
export type ReachedName = {
  hostname: string
  certificate: (typeof CERTIFICATE_SEEN)[number] | null
  notAfter: string | null
  status: number | null
  detail: string | null
}

/** By the TLS port of the host, as visitors come. `at`: ISO. */
export type ReachSeen = { at: string; names: ReachedName[] }
