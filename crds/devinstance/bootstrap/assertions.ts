/**
 * What a dev instance must be before it is ready: the facts of the cloud are as reserved, and sshd says of itself what it must say.
 * Source: rules/devinstance.md#assertions.
 */

import { fallbackTypes, instanceTypeOf, isBurst, priceOf, type SizeArch, type SizeClass } from '../sizing/sizes.ts'
import { AGENTS, type AgentId } from './agents.ts'
import { SSHD_SETTINGS, type SshdSetting } from './sshd.ts'
import { ENABLED } from './units.ts'

/** What was reserved. `bootstrapSha256` is the hex digest of the user data as it is served. */
export type ReservedInstance = {
  sizeClass: SizeClass
  arch: SizeArch
  diskGb: number
  agents: readonly AgentId[]
  bootstrapSha256: string
  pricingVersion: string
  /** The version of the programs on it; what the first ones do not tell is not asked of them. */
  programs?: number
}

/** What the provisioner says it found . */
export type FoundSetting = {
  facts: {
    instanceType?: string
    arch?: string
    diskGb?: number
    volumeType?: string
    volumeEncrypted?: boolean
    httpTokens?: string
    hopLimit?: number
    creditMode?: string
    shutdownBehavior?: string
    userDataSha256?: string
    cloudInitStatus?: number
    hostKeys?: readonly string[]
    listeners?: readonly number[]
    units?: readonly string[]
    openAccounts?: readonly string[]
    agents?: Readonly<Record<string, string>>
  }
  /** By the keys of `sshd -T`. */
  assertions: Readonly<Record<string, string>>
}

/** One thing that does not hold. `expected` and `got` are for people; `got` is `nothing` where it was not told. */
export type FailedAssertion = {
  code: 'ASSERTION_FAILED'
  pointer: string
  detail: string
  expected: string
  got: string
}

type Check = { pointer: string; expected: string; got: unknown; holds: boolean }

const SSH_PORT = 22
/** As `ssh-keygen -l` says it. */
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/
/** The first programs that tell which units are enabled and which accounts a password opens, and attest again. */
export const ATTESTING_PROGRAMS = 3

/** What does not hold, in the order of the lists below; empty when the dev instance may be ready. */
export const checkFinalize = (reserved: ReservedInstance, found: FoundSetting): FailedAssertion[] =>
  [
    ...factChecks(reserved, found.facts),
    ...((reserved.programs ?? 1) >= ATTESTING_PROGRAMS ? lockChecks(found.facts) : []),
    ...agentChecks(reserved, found.facts),
    ...sshdChecks(found.assertions),
  ]
    .filter(({ holds }) => !holds)
    .map(failed)

/** What was attested when it was finalized. */
export type AttestedBefore = { hostKeys: readonly string[]; agents: Readonly<Record<string, string>> }

/**
 * What does not hold any more of what was attested, as the machine says it anew. What people run on it may listen, which is
 * no fault: from outside nothing but sshd is reached.
 */
export const checkAgain = (before: AttestedBefore, found: FoundSetting): FailedAssertion[] => {
  const { hostKeys = [], agents = {} } = found.facts
  const isSame = hostKeys.toSorted().join() === before.hostKeys.toSorted().join()
  return [
    check('/facts/hostKeys', before.hostKeys.join(', '), hostKeys, isSame),
    ...lockChecks(found.facts),
    ...Object.entries(before.agents).map(([id, version]) =>
      check(`/facts/agents/${id}`, version, agents[id], versionIn(agents[id]) === versionIn(version)),
    ),
    ...sshdChecks(found.assertions),
  ]
    .filter(({ holds }) => !holds)
    .map(failed)
}

const failed = ({ pointer, expected, got }: Check): FailedAssertion => {
  const seen = got === undefined ? 'nothing' : typeof got === 'string' ? got : JSON.stringify(got)
  const detail = `${pointer.slice(1).replaceAll('/', '.')} must be ${expected}, and was ${seen}`
  return { code: 'ASSERTION_FAILED', pointer, detail, expected, got: seen }
}

type Facts = FoundSetting['facts']

const factChecks = (reserved: ReservedInstance, facts: Facts): Check[] => {
  const types = acceptedTypes(reserved)
  const equal = <Name extends keyof Facts>(name: Name, value: Facts[Name]): Check => ({
    pointer: `/facts/${name}`,
    expected: String(value),
    got: facts[name],
    holds: facts[name] === value,
  })
  const listeners = facts.listeners
  const hostKeys = facts.hostKeys ?? []
  return [
    check('/facts/instanceType', types.join(' or '), facts.instanceType, types.includes(facts.instanceType ?? '')),
    equal('arch', reserved.arch),
    equal('diskGb', reserved.diskGb),
    equal('volumeType', 'gp3'),
    equal('volumeEncrypted', true),
    // hop 1 keeps the credentials of the metadata service from containers on a bridge
    equal('httpTokens', 'required'),
    equal('hopLimit', 1),
    // `unlimited` bills surplus CPU beside the all-in price; types that do not burst have no mode
    ...(isBurst(facts.instanceType ?? '') ? [equal('creditMode', 'standard')] : []),
    // `terminate` would let the dev instance destroy itself when it stops itself
    equal('shutdownBehavior', 'stop'),
    equal('userDataSha256', reserved.bootstrapSha256),
    // 2 means that it went on after an error
    equal('cloudInitStatus', 0),
    check(
      '/facts/hostKeys',
      'one fingerprint at least, each as SHA256:… of 43 characters',
      facts.hostKeys,
      hostKeys.length > 0 && hostKeys.every((key) => FINGERPRINT.test(key)),
    ),
    check('/facts/listeners', `[${SSH_PORT}]`, listeners, listeners?.length === 1 && listeners[0] === SSH_PORT),
  ]
}

const check = (pointer: string, expected: string, got: unknown, holds: boolean): Check => ({
  pointer,
  expected,
  got,
  holds,
})

/** That it says how it is and stops itself, and that no password opens it. */
const lockChecks = ({ units, openAccounts }: Facts): Check[] => [
  check(
    '/facts/units',
    ENABLED.join(', '),
    units,
    units !== undefined && ENABLED.every((unit) => units.includes(unit)),
  ),
  check('/facts/openAccounts', '[]', openAccounts, openAccounts?.length === 0),
]

/** The type of the class, and those of equal shape that cost no more: the price was promised. */
const acceptedTypes = (reserved: ReservedInstance): string[] => {
  const price = (instanceType: string) =>
    priceOf({ ...reserved, instanceType }, reserved.pricingVersion).runningMicroUsd
  const own = instanceTypeOf(reserved)
  return [own, ...fallbackTypes(reserved).filter((type) => price(type) <= price(own))]
}

/** Begins where a number begins: each digit of a long one would be a start of its own. */
const VERSION = /(?:^|\D)(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)/

const versionIn = (text: string | undefined): string | undefined => VERSION.exec(text ?? '')?.[1]

/** What a program answers to --version may have words around the version. */
const agentChecks = ({ agents }: ReservedInstance, facts: Facts): Check[] =>
  agents.map((id) => {
    const got = facts.agents && Object.hasOwn(facts.agents, id) ? facts.agents[id] : undefined
    const expected = AGENTS[id].version
    return check(`/facts/agents/${id}`, expected, got, versionIn(got) === expected)
  })

const sshdChecks = (assertions: FoundSetting['assertions']): Check[] =>
  SSHD_SETTINGS.map((setting) => {
    const key = setting.keyword.toLowerCase()
    const got = Object.hasOwn(assertions, key) ? assertions[key] : undefined
    const expected = setting.atMost ? `1 to ${setting.value}` : setting.value
    return check(`/assertions/${key}`, expected, got, got !== undefined && meets(setting, got.trim()))
  })

/** sshd prints its words in lower case, names of users as they are. */
const meets = ({ value, atMost }: SshdSetting, got: string): boolean =>
  atMost ? /^[1-9]\d{0,8}$/.test(got) && Number(got) <= Number(value) : got === value
