/**
 * Other names of a site, which lead to the one it is live under (rules/site.md#names-that-lead-to-a-site): the domain with or without
 * www, and names that it was live under before. Each is served like any name: while it is proven to be the account's.
 */

import { isServed } from '../../names/life.ts'
import { twinOf } from '../../names/twin.ts'
import type { SiteSpec } from '../schema.ts'
import type { SiteWorld } from '../world.ts'
import { hostnameOf } from './domain.ts'
import type { SiteName } from './names.ts'

/** For how long a name that the site has left leads to where it is. */
export const MOVED_DAYS = 90
const MOVED_MS = MOVED_DAYS * 86_400_000

/** More names lead nowhere: a route has a hundred at most. The soonest to end come last. */
const ALIASES_MAX = 50

export type AliasKind = 'www' | 'moved'
/** `until`: ISO; null for as long as it is proven. */
export type Alias = { name: string; hostname: string; kind: AliasKind; until: string | null }

/** When a site left a name that it was live under, which is now where it still is; null when it never was. */
const leftAt = ({ switches, at }: Pick<SiteWorld, 'switches' | 'at'>, name: string): string | null => {
  const last = switches.findLastIndex(({ to }) => to?.name === name)
  return last === -1 ? null : (switches[last + 1]?.at ?? at)
}

type Asked = Pick<SiteSpec, 'endedRedirects'>

const leftUntil = (spec: Asked, world: SiteWorld, name: string | null): string | null => {
  if (name === null) return null
  const left = leftAt(world, name)
  if (left === null || spec.endedRedirects?.includes(name)) return null
  const until = new Date(Date.parse(left) + MOVED_MS).toISOString()
  return until > world.at ? until : null
}

/** Until when a former name, or its twin, leads on; null where it is none, or its owner ended it. */
const movedUntil = (spec: Asked, world: SiteWorld, name: string): string | null =>
  leftUntil(spec, world, name) ?? leftUntil(spec, world, twinOf(name))

/** Names that the site keeps beside those that it asks for, or is live under. @param chosen those */
export const keptBeside = (spec: Asked, world: SiteWorld, chosen: readonly string[]): string[] => {
  const former = world.names.flatMap(({ name }) => (movedUntil(spec, world, name) === null ? [] : [name]))
  const beside = new Set([...chosen.flatMap((name) => twinOf(name) ?? []), ...former])
  return [...beside].filter((name) => !chosen.includes(name))
}

const aliasOf = (spec: Asked, world: SiteWorld, to: string, { name }: SiteName): Omit<Alias, 'hostname'> | null => {
  if (name === to) return null
  if (name === twinOf(to)) return { name, kind: 'www', until: null }
  const until = movedUntil(spec, world, name)
  return until === null ? null : { name, kind: 'moved', until }
}

/** Those that lead visitors to `to` now. @param to.name the name that the site is, or is about to be, live under */
export const aliasesOf = (spec: Asked, world: SiteWorld, to: { name: string; host: string }): Alias[] => {
  const host = world.hosts.find(({ name }) => name === to.host)
  const all = world.names.flatMap((one): Alias[] => {
    const alias = one.settled && isServed(one.state) ? aliasOf(spec, world, to.name, one) : null
    if (alias === null || (host === undefined && !one.name.includes('.'))) return []
    return [{ ...alias, hostname: host ? hostnameOf(one.name, host) : one.name }]
  })
  const rank = ({ until }: Alias): string => until ?? '9'
  return all.toSorted((a, b) => (rank(a) > rank(b) ? -1 : 1)).slice(0, ALIASES_MAX)
}
