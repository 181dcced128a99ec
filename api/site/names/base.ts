/**
 * Base domains of partners over REST: claimed, proven by records, given back (rules/site.md#base-domains). Nobody is asked here: the
 * leader looks at the DNS, and the answer to a verify is what it saw (hack/decisions/068).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { named } from '../../../crds/kernel/named.ts'
import type { Fault } from '../../../crds/kernel/problem.ts'
import { NAME_STATES } from '../../../crds/names/life.ts'
import { PROOF_KEY, proofToken } from '../../../crds/names/proof.ts'
import { recordAnswer } from '../../../crds/site/answer.ts'
import { BASES_MAX, baseFaults } from '../../../crds/site/names/base.ts'
import { type BaseRow, type BaseView, baseRecords, viewBase } from '../../../crds/site/names/baseview.ts'
import { HOSTNAME_MAX } from '../../../crds/site/schema.ts'
import { typedName } from '../../../crds/values/hostname.ts'
import { WAIT_MS } from '../../command/wait.ts'
import { Problem, refuseFaults } from '../../http/problem.ts'
import type { Answer, ApiRequest } from '../../http/route.ts'
import { flag, list, object, oneOf, text, textOrNull } from '../../openapi/schemas.ts'
import type { Route } from '../../wiring/route.ts'
import type { SiteNeeds } from '../needs.ts'
import { closed } from '../shapes.ts'

const POLL_MS = 250

/** The name of the DNS that was typed. @throws Problem BAD_DOMAIN */
export const nameTyped = (typed: string, pointer: string): string => {
  const understood = typedName(typed)
  if ('name' in understood) return understood.name
  const fault: Fault = { code: 'BAD_DOMAIN', pointer, detail: understood.fault }
  throw new Problem('BAD_DOMAIN', `${understood.fault}.`, { faults: [fault] })
}

const view = (deps: SiteNeeds, account: string, row: BaseRow, address: string | null): BaseView =>
  viewBase(row, baseRecords(row.domain, proofToken(deps.keys.lastingKey(PROOF_KEY), account, row.domain), address))

type Shown = { base_domain: BaseView | null; others: BaseView[] }

const shown = async (deps: SiteNeeds, account: string): Promise<Shown> => {
  const [rows, address] = await Promise.all([deps.bases.list(account), deps.bases.address()])
  const [newest = null, ...others] = rows.map((row) => view(deps, account, row, address))
  return { base_domain: newest, others }
}

const getBase = async (deps: SiteNeeds, { caller }: ApiRequest): Promise<Answer> => ({
  status: 200,
  body: await shown(deps, caller.account),
})

const claimBase = async (deps: SiteNeeds, { caller, body }: ApiRequest): Promise<Answer> => {
  const { account } = caller
  const domain = nameTyped((body as { domain: string }).domain, '/domain')
  refuseFaults(baseFaults(domain, { platform: await deps.sites.baseDomains(), testDomains: deps.allowLoopback }))
  const outcome = await deps.bases.claim(domain, account)
  if (outcome === 'refused') {
    throw new Problem('DOMAIN_TAKEN', `Another account has proven ${domain}, what it lies below, or a part of it.`)
  }
  if (outcome === 'full') {
    throw new Problem('BAD_DOMAIN', `The account has ${BASES_MAX} base domains already; give one of them back.`)
  }
  const { base_domain, others } = await shown(deps, account)
  return { status: 200, body: { records: base_domain?.records ?? [], base_domain, others } }
}

/** What the leader saw since it was asked; what it saw before, where it takes longer than a request waits. */
const verifyBase = async (deps: SiteNeeds, { caller }: ApiRequest): Promise<Answer> => {
  const { account } = caller
  const askedAt = await deps.bases.askLook(account)
  if (askedAt === null) throw new Problem('NOT_FOUND', 'The account has no base domain; claim one first.')
  const endMs = performance.now() + WAIT_MS
  let now = await shown(deps, account)
  const isAnswered = () => (now.base_domain?.looked_at ?? '') >= askedAt
  while (!isAnswered() && now.base_domain !== null && performance.now() < endMs) {
    await sleep(POLL_MS)
    now = await shown(deps, account)
  }
  const { base_domain } = now
  return { status: 200, body: { verified: base_domain?.verified ?? false, checks: base_domain?.checks ?? [], ...now } }
}

/** What is not there is given back already. */
const releaseBase = async (deps: SiteNeeds, { caller, query }: ApiRequest): Promise<Answer> => {
  const newest = async () => (await deps.bases.list(caller.account))[0]?.domain
  const domain = query.domain === undefined ? await newest() : nameTyped(query.domain, '/domain')
  const outcome = domain === undefined ? 'none' : await deps.bases.release(domain, caller.account)
  if (outcome === 'live') {
    throw new Problem('SITE_LIVE', `A site is served below ${domain}; give it another domain, or take it down.`)
  }
  return { status: 204 }
}

const check = named(
  'BaseDomainCheck',
  object('One record that was looked for.', {
    name: text('Where; for the wildcard a name that nobody has set.'),
    type: text('TXT, or A for where a name leads.'),
    expected: text('What has to be there.'),
    seen: list('What is there.', text('One value.')),
    ok: flag('Whether it is right.'),
  }),
)

const baseFields = {
  domain: text('As it stands in the DNS.'),
  unicode: text('The same in the letters that people type.'),
  state: oneOf('Where it is in its life.', NAME_STATES),
  verified: flag('Proven, and leading to the host: sites go below it.'),
  records: list('All of these are to be set.', recordAnswer),
  checks: list('What the last look found.', check),
  looked_at: textOrNull('When it was looked for last.'),
  next_look_at: textOrNull('When it is looked for next.'),
  seen_at: textOrNull('When the TXT record was seen last.'),
  missing_since: textOrNull('Since when the TXT record is missing; sites are served for three days more.'),
  kept_until: textOrNull('Until when nobody else may have it.'),
  reason: textOrNull('What the last look saw instead.'),
  names: list('Names of sites below it.', text('A full name.')),
  next: text('What to do, or what happens.'),
}
const base = named('BaseDomain', object('A base domain of the account.', baseFields))
const newest = named('NewestBaseDomain', {
  type: ['object', 'null'],
  description: 'The newest claim; null where there is none.',
  properties: baseFields,
})
const both = { base_domain: newest, others: list('Those of before.', base) }

const tag = 'Websites'
const path = '/api/website/base-domain'
const writes = { kind: 'scope' as const, scope: 'websites:write' as const }

/** Before those of one site: base-domain is no id. */
export const baseRoutes: Route<SiteNeeds>[] = [
  {
    method: 'POST',
    path,
    summary: 'Claim a base domain',
    description:
      'Your sites get names below it once it is proven: set the records that are answered, then verify. A claim blocks nobody, and is forgotten after seven days. Names may be sent as people type them.',
    tag,
    scope: writes,
    body: closed(
      'Which.',
      { domain: { ...text('A domain of your own.'), maxLength: HOSTNAME_MAX, 'x-code': 'BAD_DOMAIN' } },
      ['domain'],
    ),
    answers: {
      200: {
        description: 'Claimed.',
        schema: object('Claimed.', { records: list('All of these are to be set.', recordAnswer), ...both }),
      },
    },
    codes: ['BAD_DOMAIN', 'DOMAIN_TAKEN'],
    handle: claimBase,
  },
  {
    method: 'POST',
    path: `${path}/verify`,
    summary: 'Verify the base domain',
    description:
      'Has the records of the newest claim looked for now, and answers what was seen; the wildcard is asked for by a random label. Once it is verified, sites with a subdomain go below it with their next publish.',
    tag,
    scope: writes,
    looks: true,
    body: closed('Nothing.', {}),
    answers: {
      200: {
        description: 'What was seen.',
        schema: object('What was seen.', {
          verified: flag('Whether sites go below it.'),
          checks: list('Record by record; empty before the first look.', check),
          ...both,
        }),
      },
    },
    codes: ['NOT_FOUND'],
    handle: verifyBase,
  },
  {
    method: 'GET',
    path,
    summary: 'Read the base domain',
    tag,
    scope: { kind: 'scope', scope: 'websites:read' },
    answers: { 200: { description: 'How it stands.', schema: object('How it stands.', both) } },
    codes: [],
    handle: getBase,
  },
  {
    method: 'DELETE',
    path,
    summary: 'Give a base domain back',
    description:
      'The newest claim, or the one that is named; not while a site is served below it. Subdomains go below the platform again.',
    tag,
    scope: writes,
    query: { domain: { type: 'string', description: 'Which, where it is not the newest.', maxLength: HOSTNAME_MAX } },
    answers: { 204: { description: 'Given back.' } },
    codes: ['BAD_DOMAIN', 'SITE_LIVE', 'UNKNOWN_PARAMETER'],
    handle: releaseBase,
  },
]
