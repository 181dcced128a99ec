/** What is looked at before a site is planned: one read of PostgreSQL, and what the watch knows of accounts and hosts. */
import { readFacts } from '../../crds/site/facts.ts'
import type { SiteResource } from '../../crds/site/plan.ts'
import { renderingOf, renderWish, sourcesOf } from '../../crds/site/rendering.ts'
import type { Picture, SiteHost, SiteWorld } from '../../crds/site/world.ts'
import type { SiteDeps } from './deps.ts'

/** Hosts of the platform that sites may be put on, by name. */
export const siteHosts = ({ hosts }: Pick<SiteDeps, 'hosts'>): SiteHost[] =>
  hosts
    .list()
    .flatMap(({ name, account, takesSites, siteRoot, baseDomain, httpsPort, ready }) =>
      account === null && takesSites && siteRoot !== null && baseDomain !== null
        ? [{ name, baseDomain, httpsPort, ready }]
        : [],
    )
    .sort((a, b) => (a.name < b.name ? -1 : 1))

/** Pictures matter only while there is something to render. */
const picturesFor = async (
  { rows }: SiteDeps,
  object: SiteResource,
  world: SiteWorld,
): Promise<SiteWorld['pictures']> => {
  const wish = renderWish(object.spec, world)
  const sources = wish && renderingOf(world, wish) === null ? sourcesOf(wish) : []
  if (sources.length === 0) return {}
  const found = await rows.pictures(sources)
  return Object.fromEntries([...found].map(([source, image]): [string, Picture] => [source, { state: 'ready', image }]))
}

export const observeSite = async (deps: SiteDeps, object: SiteResource): Promise<SiteWorld> => {
  const { metadata, spec } = object
  const { name, uid } = metadata
  const row = await deps.rows.observe(name, spec.account)
  const account = deps.accounts.get(spec.account)
  const renderings = row.renderings ?? []
  const facts = row.facts ?? []
  const world: SiteWorld = {
    account: account && { name: account.id, templateLock: account.template_lock },
    brand: row.brand,
    hasPlace: row.hasPlace,
    names: row.names ?? [],
    hosts: siteHosts(deps),
    renderings,
    pictures: {},
    places: row.places ?? [],
    turn: row.turn,
    ...readFacts(uid, facts, (digest) => renderings.find((one) => one.digest === digest) ?? null),
    testDomains: deps.testDomains,
    factSeq: facts.at(-1)?.seq ?? 0,
    previewUrl: `${deps.publicUrl}/preview/${deps.keys.capability('preview', name)}/`,
    reviewUrl: `${deps.publicUrl}/review/${deps.keys.capability('review', name)}`,
  }
  return { ...world, pictures: await picturesFor(deps, object, world) }
}
