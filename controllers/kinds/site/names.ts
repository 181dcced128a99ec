/** The names of sites: their records, who is told of them, and the look at those that are due. */
import { createHmac } from 'node:crypto'
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { nameKey } from '../../../crds/site/facts.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { GRACE_MS, lookedAt, type NameLook } from '../../../crds/site/names/life.ts'
import type { NameMail } from '../../../crds/site/names/mail.ts'
import { isDomain, nameIn, type SiteName } from '../../../crds/site/names/names.ts'
import { recordsOf, type WantedProof, wantedProof } from '../../../crds/site/names/proof.ts'
import type { NameStep } from '../../../crds/site/names/steps.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import type { Keys } from '../../base/keys.ts'
import type { Hosts } from '../../io/hosts/link.ts'
import { type LookForProof, makeLookForProof } from '../../net/proof.ts'
import { type DueName, makeNameLooks, type NameLooks } from '../../store/site/names.ts'
import type { Context } from '../context.ts'
import type { SiteDeps } from './deps.ts'
import { siteHosts } from './hosts.ts'

const TOKEN_LENGTH = 32

/** Another for each account and name, and the same for ever: whoever was shown it has it in the DNS. */
const tokenOf = (keys: Pick<Keys, 'lastingKey'>, account: string, name: string): string =>
  createHmac('sha256', keys.lastingKey('site-name'))
    .update(JSON.stringify([account, name]))
    .digest('hex')
    .slice(0, TOKEN_LENGTH)

type Proving = Pick<Context, 'keys'> & { hosts: Pick<Hosts, 'list'> }

const proofOf = (deps: Proving, account: string, name: string): WantedProof => {
  const bases = siteHosts(deps).map(({ baseDomain }) => baseDomain)
  return wantedProof(name, tokenOf(deps.keys, account, name), [...new Set(bases)])
}

/** What stands in the database of names, with the records that prove them. */
export const withRecords = (deps: Proving, account: string, names: readonly Omit<SiteName, 'records'>[]): SiteName[] =>
  names.map((one) => ({ ...one, records: isDomain(one.name) ? recordsOf(proofOf(deps, account, one.name)) : [] }))

/** When the next thing happens by itself. */
const byOf = ({ state, missingSince, until }: SiteName): string | null =>
  state === 'missing' && missingSince !== null ? new Date(Date.parse(missingSince) + GRACE_MS).toISOString() : until

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
      messageId: `<${metadata.name}.${purpose.replace(/[^A-Za-z0-9-]+/g, '.')}@${deps.mailDomain}>`,
      payload: mail,
    },
    giveBack: null,
  })
  deps.onQueued()
}

/** Names read at once, and asked about at once. */
const BATCH = 64
const LANES = 16

export type NameSweep = {
  looks: NameLooks
  lookFor: LookForProof
  /** Who else is to be looked at when a look changed something. */
  deps: Proving & Pick<Context, 'now' | 'wake'>
}

const isContest = (due: DueName, look: NameLook): boolean => look.found !== null && due.holder !== null

/** @returns whether the next sweep may find it changed */
const lookAtName = async ({ looks, lookFor, deps }: NameSweep, due: DueName): Promise<void> => {
  const look = await lookFor(proofOf(deps, due.account, due.name))
  const at = deps.now().toISOString()
  const kept = await looks.keep(due, lookedAt(due, look, due, at), at, isContest(due, look))
  if (kept === 'kept') deps.wake(SITE.kind, due.site)
}

/** Looks at all that is due. @returns how many names were looked at */
export const sweepNames = async (sweep: NameSweep): Promise<number> => {
  const due = await sweep.looks.due(sweep.deps.now(), BATCH)
  const waiting = [...due]
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await lookAtName(sweep, next)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return due.length
}

export const makeNameSweep = (context: Context): NameSweep => ({
  looks: makeNameLooks(context),
  lookFor: makeLookForProof(context.nameServers),
  deps: context,
})
