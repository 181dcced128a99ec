/** The names of sites: who is told of them. */
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { GRACE_MS, type NameRow } from '../../../crds/names/life.ts'
import { nameKey } from '../../../crds/site/facts.ts'
import { SITE } from '../../../crds/site/kind.ts'
import type { NameMail } from '../../../crds/site/names/mail.ts'
import { nameIn, type SiteName } from '../../../crds/site/names/names.ts'
import type { NameStep } from '../../../crds/site/names/steps.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import { withRecords } from '../names/proof.ts'
import type { SiteDeps } from './deps.ts'

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
