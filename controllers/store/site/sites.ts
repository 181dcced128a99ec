/**
 * What PostgreSQL keeps of sites beside their facts: quota reservations and names, which are reserved before a resource is written
 * (rules/platform.md#reservations), renderings, pictures, brands, and the queue of each host.
 */
import { PLATFORM } from '../../../crds/kernel/fields.ts'
import type { OwnBase } from '../../../crds/names/life.ts'
import type { BrandTokens } from '../../../crds/site/content/brand/brand.ts'
import type { OtherSite, WordsSignature } from '../../../crds/site/content/faults/likeness.ts'
import type { SiteName } from '../../../crds/site/names/names.ts'
import type { BlobRef } from '../../../crds/site/render/input.ts'
import type { PublishTurn, Rendering } from '../../../crds/site/world.ts'
import { makeBatch } from '../../base/batch.ts'
import type { FactRow } from '../ledger/facts.ts'
import { LEASE } from '../pg/fence.ts'
import type { Pg } from '../pg/pg.ts'
import { SITES_OF } from './names.ts'

const OBSERVE_MAX = 64

/** `held`: it was taken before, by the same. */
export type ReservationOutcome = 'taken' | 'held' | 'refused'
/** `kept`: it was another account's until lately. */
export type ClaimOutcome = ReservationOutcome | 'kept'

/** `links`: versions of the links of its site that are good, of those that were ended before. */
export type KeptRendering = Rendering & { links: Readonly<Partial<Record<string, number>>> }

/** Both the API and the controllers reserve; what one has taken the other finds. All of it is safe to repeat. */
export type SiteReservations = {
  takeSite(site: string, account: string, limit: number): Promise<ReservationOutcome>
  giveBackSite(site: string): Promise<void>
  /** A domain is claimed beside others' claims. @param settle for good; else for two minutes, within which the spec is to be written; `twin` comes along where no other site of the account has it */
  claimName(
    name: string,
    of: { site: string; account: string; twin?: string | null },
    settle: boolean,
  ): Promise<ClaimOutcome>
  /** @param day YYYY-MM-DD in UTC */
  takePublish(of: {
    site: string
    digest: string
    account: string
    day: string
    limit: number
  }): Promise<ReservationOutcome>
  /** The end of the queue, unless the site stands in it. */
  arrive(site: string): Promise<void>
  /** How many sites there are, and how many publishes on a day. */
  used(account: string, day: string): Promise<{ sites: number; publishes: number }>
  /** How many wait before a site, or before one that came now (null). */
  waitingBefore(site: string | null): Promise<number>
  brand(account: string): Promise<BrandTokens | null>
  /** Null takes all tokens away. */
  setBrand(account: string, tokens: BrandTokens | null): Promise<void>
  /** Sites of an account that are not archived, by name. */
  sitesOf(account: string): Promise<string[]>
  rendering(site: string, digest: string): Promise<KeptRendering | null>
  /** Below which the platform's hosts give out subdomains, as they were mirrored. */
  baseDomains(): Promise<string[]>
}

const RENDERING = `
select input, digest, neutral, name, hostname, template, manifest, files, bytes, warnings, iso_ms(rendered_at) as at,
  link_versions(site) as links
from site_renderings where site = $1 and digest = $2 order by place desc limit 1`
const USED = `
select (select count(*) from site_places where account = $1) as sites,
  (select count(*) from publish_places where account = $1 and day = $2) as publishes`
const WAITING = `
select count(*) as waiting from site_queue
where stage = 'waiting' and place < coalesce((select place from site_queue where site = $1), 9223372036854775807)`
const BASES = `
select distinct view ->> 'base_domain' as base from mirror
where kind = 'Host' and account = '${PLATFORM}' and (view ->> 'takes_sites')::boolean and view ->> 'base_domain' is not null`
const CLAIM = 'select claim_site_name($1, $2, $3, $4, $5) as outcome'
const SET_BRAND = `
insert into site_brands (account, tokens) values ($1, $2)
on conflict (account) do update set tokens = excluded.tokens, updated_at = now()`

export const makeSiteReservations = ({ pg }: { pg: Pg }): SiteReservations => {
  const outcome = async <Outcome = ReservationOutcome>(name: string, text: string, values: unknown[]) => {
    const { rows } = await pg.query<{ outcome: Outcome }>(name, text, values)
    const row = rows[0]
    if (!row) throw new Error(`${name} gave no outcome`)
    return row.outcome
  }
  return {
    takeSite: (site, account, limit) =>
      outcome('take_site_place', 'select take_site_place($1, $2, $3) as outcome', [site, account, limit]),
    async giveBackSite(site) {
      await pg.query('give_back_site_place', 'select give_back_site_place($1)', [site])
    },
    claimName: (name, { site, account, twin = null }, settle) =>
      outcome<ClaimOutcome>('claim_site_name', CLAIM, [name, site, account, settle, twin]),
    takePublish: ({ site, digest, account, day, limit }) =>
      outcome('take_publish_place', 'select take_publish_place($1, $2, $3, $4, $5) as outcome', [
        site,
        digest,
        account,
        day,
        limit,
      ]),
    async arrive(site) {
      await pg.query('arrive_in_site_queue', 'select arrive_in_site_queue($1)', [site])
    },
    async used(account, day) {
      const { rows } = await pg.query<{ sites: number; publishes: number }>('site_places_used', USED, [account, day])
      return rows[0] ?? { sites: 0, publishes: 0 }
    },
    async waitingBefore(site) {
      const { rows } = await pg.query<{ waiting: number }>('site_queue_waiting', WAITING, [site])
      return rows[0]?.waiting ?? 0
    },
    async brand(account) {
      const text = 'select tokens from site_brands where account = $1'
      return (await pg.query<{ tokens: BrandTokens }>('site_brand', text, [account])).rows[0]?.tokens ?? null
    },
    async setBrand(account, tokens) {
      if (tokens !== null) await pg.query('set_site_brand', SET_BRAND, [account, JSON.stringify(tokens)])
      else await pg.query('clear_site_brand', 'delete from site_brands where account = $1', [account])
    },
    async sitesOf(account) {
      return (await pg.query<{ name: string }>('sites_of', SITES_OF, [account])).rows.map(({ name }) => name)
    },
    async baseDomains() {
      return (await pg.query<{ base: string }>('site_base_domains', BASES)).rows.map(({ base }) => base)
    },
    async rendering(site, digest) {
      return (await pg.query<KeptRendering>('site_rendering', RENDERING, [site, digest])).rows[0] ?? null
    },
  }
}

/** What one site's pass reads. */
export type SiteRow = {
  site: string
  facts: FactRow[] | null
  renderings: (Rendering & { isFirst: boolean })[] | null
  names: Omit<SiteName, 'records'>[] | null
  hasPlace: boolean
  places: string[] | null
  turn: PublishTurn | null
  brand: BrandTokens | null
  base: OwnBase | null
}

const OBSERVE = `
select site, facts, renderings, names, has_place as "hasPlace", places, turn, brand, base from observe_sites($1, $2)`
const WORDS = 'select site, words, others from observe_site_words($1, $2)'
const FONTS = 'select name, sha256, bytes from site_fonts where name = any ($1)'
/** Those that may go now: nobody waits before them on their host. One that is lost keeps its place, and nobody waits for it. */
const NEXT = `
select distinct on (q.host) q.site from site_queue q
where q.stage = 'waiting' and q.host is not null
  and not exists (select from mirror_lost l where l.kind = 'Site' and l.name = q.site)
order by q.host, q.place`

/** What is kept of a site's words, and of those of the account's other sites. */
export type WordsRow = {
  site: string
  words: { input: string; signature: WordsSignature | null } | null
  others: OtherSite[] | null
}

/** The controllers' part; every effect carries the epoch. */
export type SiteRows = {
  observe(site: string, account: string): Promise<SiteRow>
  words(site: string, account: string): Promise<WordsRow>
  putWords(site: string, account: string, words: NonNullable<WordsRow['words']>): Promise<void>
  /** Fonts that are there, by name. */
  fonts(names: string[]): Promise<Map<string, BlobRef>>
  putFonts(fonts: readonly (BlobRef & { name: string })[]): Promise<void>
  /** @param isFirst it is for the preview alone */
  putRendering(site: string, rendering: Omit<Rendering, 'at'>, isFirst: boolean): Promise<void>
  /** @param spare of those that are kept: they only lead to the site, and give way to another of the account */
  releaseNames(site: string, keep: string[], spare?: string[]): Promise<void>
  moveQueue(site: string, to: { host: string; digest: string; stage: PublishTurn['stage'] }): Promise<void>
  leaveQueue(site: string): Promise<void>
  /** The site at the head of each host's queue. */
  heads(): Promise<string[]>
  forget(site: string): Promise<void>
}

export const makeSiteRows = ({ pg, epoch }: { pg: Pg; epoch: () => number }): SiteRows => {
  const fenced = async (name: string, rest: unknown[]): Promise<void> => {
    const values = [LEASE, epoch(), ...rest]
    await pg.query(name, `select ${name}(${values.map((_, index) => `$${index + 1}`).join()})`, values)
  }
  /** One row for each site, many sites at a time. */
  const batchOf = <Row extends { site: string }>(query: string, text: string) =>
    makeBatch<[site: string, account: string], Row>({
      max: OBSERVE_MAX,
      inFlight: 2,
      async run(keys) {
        const distinct = [...new Map(keys.map((key) => [key[0], key])).values()]
        const values = [distinct.map(([site]) => site), distinct.map(([, account]) => account)]
        const { rows } = await pg.query<Row>(query, text, values)
        const found = new Map(rows.map((row) => [row.site, row]))
        return keys.map(([site]) => {
          const row = found.get(site)
          if (row === undefined) throw new Error(`${query} left a site out`)
          return row
        })
      },
    })
  const observe = batchOf<SiteRow>('observe_sites', OBSERVE)
  const words = batchOf<WordsRow>('observe_site_words', WORDS)
  return {
    observe: (site, account) => observe([site, account]),
    words: (site, account) => words([site, account]),
    putWords: (site, account, { input, signature }) => fenced('put_site_words', [site, account, input, signature]),
    async fonts(names) {
      const { rows } = await pg.query<BlobRef & { name: string }>('site_fonts', FONTS, [names])
      return new Map(rows.map(({ name, sha256, bytes }) => [name, { sha256, bytes }]))
    },
    putFonts: (fonts) => fenced('put_site_fonts', [JSON.stringify(fonts)]),
    putRendering: (site, rendering, isFirst) =>
      fenced('put_site_rendering', [JSON.stringify({ site, ...rendering, isFirst })]),
    releaseNames: (site, keep, spare = []) => fenced('release_site_names', [site, keep, spare]),
    moveQueue: (site, { host, digest, stage }) => fenced('move_site_queue', [site, host, digest, stage]),
    leaveQueue: (site) => fenced('leave_site_queue', [site]),
    async heads() {
      return (await pg.query<{ site: string }>('site_queue_heads', NEXT)).rows.map(({ site }) => site)
    },
    forget: (site) => fenced('forget_site', [site]),
  }
}
