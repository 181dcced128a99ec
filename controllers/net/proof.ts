/**
 * Whether a name's proof stands in the DNS. Asked are the servers of the installation, each by itself and none that a user chose, so
 * the guard of egress has no part in it (rules/site.md#the-life-of-a-name). More than half of them have to see a record, or to say
 * that there is none: one that was lied to, or that keeps an old "no such name" (RFC 2308), decides nothing.
 */
import { getServers } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type CaaRecord, type CaaSet, caaNames } from '../../crds/names/caa.ts'
import type { NameLook } from '../../crds/names/life.ts'
import { judgeAnswers, type ProofAnswers, type WantedProof, type WantedReach } from '../../crds/names/proof.ts'

const TRY_MS = 2_000
const TRIES = 2
/** For all that is asked of one server about one name. */
const SERVER_MS = 8_000
/** Of the servers, more are not asked. */
const SERVERS_MAX = 5
/** Of a name, more records are not read. */
const RECORDS_MAX = 100

/** The server knows, and says no. */
const ABSENT = ['ENODATA', 'ENOTFOUND']

const WORDS: Record<string, string> = {
  ESERVFAIL: 'says that it could not find out (SERVFAIL)',
  EREFUSED: 'refuses to answer',
  ETIMEOUT: 'does not answer in time',
  ECONNREFUSED: 'is not there',
}

/** The server gave no answer that counts. The message continues "a server of names …". */
class Silent extends Error {}

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? 'UNKNOWN')

/** @throws Silent */
const records = async <T>(asked: Promise<T[]>): Promise<T[] | null> => {
  try {
    return (await asked).slice(0, RECORDS_MAX)
  } catch (error) {
    const code = codeOf(error)
    if (ABSENT.includes(code)) return null
    throw new Silent(WORDS[code] ?? `gives no answer (${code})`)
  }
}

/** `fault`: why one of the two was not answered. */
type Answered = ProofAnswers & { fault: unknown }

const textsOf = async (resolver: Resolver, name: string): Promise<string[] | null> =>
  (await records(resolver.resolveTxt(name)))?.map((parts) => parts.join('')) ?? null

/** What a name leads to, of both families; null where it leads nowhere. */
const addressesOf = async (resolver: Resolver, name: string): Promise<string[] | null> => {
  const both = await Promise.all([records(resolver.resolve4(name)), records(resolver.resolve6(name))])
  const found = both.flatMap((list) => list ?? [])
  return found.length === 0 ? null : found
}

/** Of hosts that are known by a name, where that leads. */
const hostAddresses = async (resolver: Resolver, addresses: readonly string[]): Promise<string[]> => {
  const found = await Promise.all(
    addresses.map(async (one) => (isIP(one) === 0 ? ((await addressesOf(resolver, one)) ?? []) : [one])),
  )
  return found.flat()
}

type Asked = { answers: Pick<ProofAnswers, 'addresses' | 'hosts' | 'caa'>; fault: unknown }

/** Where names below a base domain lead; a fault counts as long as they have to lead to a host. */
const askWildcard = async (resolver: Resolver, wildcard: WantedProof['wildcard']): Promise<Asked> => {
  if (wildcard === undefined) return { answers: {}, fault: null }
  try {
    const { probe, addresses: expected } = wildcard
    const [addresses, hosts] = await Promise.all([addressesOf(resolver, probe), hostAddresses(resolver, expected)])
    return { answers: { addresses, hosts }, fault: null }
  } catch (error) {
    return { answers: {}, fault: wildcard.isNeeded ? error : null }
  }
}

/** Node names the property by a key of its own beside `critical`. */
const caaRecord = ({ critical, ...rest }: { critical: number }): CaaRecord => {
  const [tag = '', value = ''] = Object.entries(rest).find(([key]) => key !== 'type') ?? []
  return { critical, tag, value: String(value) }
}

/** The set of CAA records that counts for a name: at it, or at the nearest above that has one. A server that fails is one too. */
const caaOf = async (resolver: Resolver, name: string): Promise<CaaSet | 'silent' | null> => {
  try {
    for (const at of caaNames(name)) {
      const found = await records(resolver.resolveCaa(at))
      if (found !== null && found.length > 0) return { name: at, records: found.map(caaRecord) }
    }
    return null
  } catch {
    return 'silent'
  }
}

/** Where a name leads, and whom it lets issue: beside the proof, which stands by itself whatever comes of these. */
const askReach = async (resolver: Resolver, name: string, reach: WantedReach): Promise<Asked> => {
  const [addresses, hosts, caa] = await Promise.all([
    addressesOf(resolver, name).catch(() => null),
    hostAddresses(resolver, reach.addresses).catch(() => []),
    caaOf(resolver, name),
  ])
  return { answers: { addresses, hosts, caa }, fault: null }
}

const askServer = async (server: string, asked: WantedProof): Promise<Answered> => {
  const { txtName, name, aliases: wanted, parent, wildcard, reach } = asked
  // One of its own for each look: nothing is remembered from the look before.
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
  resolver.setServers([server])
  const timer = setTimeout(() => resolver.cancel(), SERVER_MS)
  try {
    const [texts, parentTexts, aliases, below] = await Promise.allSettled([
      textsOf(resolver, txtName),
      parent === undefined ? null : textsOf(resolver, parent.txtName),
      wanted.length === 0 ? null : records(resolver.resolveCname(name)),
      reach === undefined ? askWildcard(resolver, wildcard) : askReach(resolver, name, reach),
    ])
    const led = below.status === 'fulfilled' ? below.value : { answers: {}, fault: below.reason }
    return {
      ...led.answers,
      texts: texts.status === 'fulfilled' ? texts.value : null,
      parentTexts: parentTexts.status === 'fulfilled' ? parentTexts.value : null,
      aliases: aliases.status === 'fulfilled' ? aliases.value : null,
      fault: [texts, parentTexts, aliases].find((one) => one.status === 'rejected')?.reason ?? led.fault,
    }
  } finally {
    clearTimeout(timer)
  }
}

/** What one server says: one record that is seen is enough, but only two answers are a no. */
const lookAtServer = async (server: string, wanted: WantedProof): Promise<NameLook> => {
  try {
    const answers = await askServer(server, wanted)
    const judged = judgeAnswers(wanted, answers)
    if (judged.found !== null) return judged
    if (answers.fault !== null) throw answers.fault
    return { ...judged, answer: 'absent' }
  } catch (error) {
    const words = error instanceof Silent ? error.message : `gives no answer (${codeOf(error)})`
    return { found: null, answer: 'silent', detail: `a server of names ${words}` }
  }
}

const isSeen = (look: NameLook): boolean => look.found !== null
const isAbsent = (look: NameLook): boolean => look.found === null && look.answer === 'absent'

/** What more than half of all say. */
export const majorityOf = (looks: readonly NameLook[]): NameLook => {
  const most = (says: (look: NameLook) => boolean): NameLook | undefined => {
    const those = looks.filter(says)
    return those.length * 2 > looks.length ? those[0] : undefined
  }
  const [first] = looks
  if (first === undefined) return { found: null, answer: 'silent', detail: 'no server of names is known' }
  const silent = looks.find((look) => !isSeen(look) && !isAbsent(look))
  const seen = looks.filter(isSeen).length
  const detail =
    seen === 0 && silent?.found === null
      ? silent.detail
      : `${seen} of ${looks.length} servers of names see the record; more than half have to`
  return most(isSeen) ?? most(isAbsent) ?? { found: null, answer: 'silent', detail }
}

export type LookForProof = (wanted: WantedProof) => Promise<NameLook>

/** @param servers `address` or `address:port`; those of the system when left out */
export const makeLookForProof =
  (servers?: readonly string[]): LookForProof =>
  async (wanted) => {
    const asked = (servers ?? getServers()).slice(0, SERVERS_MAX)
    return majorityOf(await Promise.all(asked.map((server) => lookAtServer(server, wanted))))
  }
