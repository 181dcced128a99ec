/** The names of sites: their records, who is told of them, and the look at those that are due. */
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { nameKey } from '../../../crds/site/facts.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { twinOf } from '../../../crds/site/names/aliases.ts'
import { GRACE_MS, type NameRow } from '../../../crds/site/names/life.ts'
import type { NameMail } from '../../../crds/site/names/mail.ts'
import { isDomain, nameIn, type SiteName } from '../../../crds/site/names/names.ts'
import { PROOF_KEY, proofToken, recordsOf, type WantedProof, wantedProof } from '../../../crds/site/names/proof.ts'
import type { NameStep } from '../../../crds/site/names/steps.ts'
import { baseName } from '../../../crds/site/names/wildcard.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import type { Keys } from '../../base/keys.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import type { SiteDeps } from './deps.ts'
import { siteHosts } from './hosts.ts'

export type Proving = { keys: Pick<Keys, 'lastingKey'>; hosts: Pick<Hosts, 'list'> }

export const proofOf = (deps: Proving, account: string, name: string): WantedProof => {
  const bases = siteHosts(deps).map(({ baseDomain }) => baseDomain)
  const tokenOf = (of: string) => proofToken(deps.keys.lastingKey(PROOF_KEY), account, of)
  const bare = twinOf(name)
  // whoever has the domain has its www, and not the other way round: www may be given to somebody else
  const parent = bare !== null && name === `www.${bare}` ? { name: bare, token: tokenOf(bare) } : null
  return wantedProof(name, tokenOf(name), [...new Set(bases)], parent)
}

/** Of a label below a base domain the base is proven. */
const provenName = ({ name, proof }: Pick<SiteName, 'name' | 'proof'>): string =>
  proof === 'base' ? baseName(name.slice(name.indexOf('.') + 1)) : name

/** What stands in the database of names, with the records that prove them. */
export const withRecords = (deps: Proving, account: string, names: readonly Omit<SiteName, 'records'>[]): SiteName[] =>
  names.map((one) => ({
    ...one,
    records: isDomain(one.name) ? recordsOf(proofOf(deps, account, provenName(one))) : [],
  }))

/** When the next thing happens by itself. */
export const byOf = ({
  state,
  missingSince,
  until,
}: Pick<NameRow, 'state' | 'missingSince' | 'until'>): string | null =>
  state === 'missing' && missingSince !== null ? new Date(Date.parse(missingSince) + GRACE_MS).toISOString() : until

/** Always the same for a purpose, so that a repeat is known. */
export const messageIdOf = ({ mailDomain }: Pick<SiteDeps, 'mailDomain'>, resource: string, purpose: string): string =>
  `<${resource}.${purpose.replace(/[^A-Za-z0-9-]+/g, '.')}@${mailDomain}>`

type Tell = Extract<NameStep, { do: 'tellName' }>

const mailOf = (
  deps: SiteDeps,
  { metadata, spec }: SiteResource,
  { news }: Tell,
  one: SiteName | null,
): NameMail | null => {
  const to = deps.accounts.get(spec.account)?.email
  if (news.mail === null || one === null || !to) return null
  const { records } = one
  const about = { to, domain: news.name, site: metadata.name, records, by: byOf(one) }
  return { mail: news.mail, ...about, url: deps.publicUrl }
}

/** Fact, event and mail at once, and once. */
export const tellName = async (deps: SiteDeps, step: Tell, object: SiteResource): Promise<void> => {
  const { news, event } = step
  const { metadata, spec } = object
  const { name, at: since, state } = news
  const at = deps.now().toISOString()
  const names = (await deps.rows.observe(metadata.name, spec.account)).names ?? []
  const mail = mailOf(deps, object, step, nameIn({ names: withRecords(deps, spec.account, names) }, name))
  const key = nameKey(originOf(metadata), name, since)
  const purpose = `${news.mail}:${name}:${since}`
  const fact = { resource: metadata.name, resourceKind: SITE.kind, key, kind: 'name', body: { name, at: since, state } }
  await deps.ledger.notifyOwner({
    resource: metadata.name,
    at,
    fact: { ...fact, state: 'accepted', at, event },
    mail: mail && {
      kind: SITE.kind,
      account: spec.account,
      purpose,
      messageId: messageIdOf(deps, metadata.name, purpose),
      payload: mail,
    },
    giveBack: null,
  })
  deps.onQueued()
}
