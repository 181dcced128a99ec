/** What is looked at before a site is planned: two reads of PostgreSQL, and what the watch knows of accounts and hosts. */
import { originOf } from '../../../crds/kernel/desire/desire.ts'
import { readFacts } from '../../../crds/site/facts.ts'
import { SITE_LINKS } from '../../../crds/site/links.ts'
import { renderingOf, renderRequest, sourcesOf } from '../../../crds/site/publishing/rendering.ts'
import { dueNotice } from '../../../crds/site/reviewing/notices.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import type { SiteWorld, StoredPicture } from '../../../crds/site/world.ts'
import { linksNow, recordedLinks } from '../../../crds/values/links.ts'
import { withRecords } from '../names/proof.ts'
import type { SiteDeps } from './deps.ts'
import { siteHosts } from './hosts.ts'
import { askerOf } from './render.ts'

/** Pictures matter only while there is something to render. */
const picturesFor = async (
  { pictureRows, pictures }: SiteDeps,
  object: SiteResource,
  world: SiteWorld,
): Promise<SiteWorld['pictures']> => {
  const request = renderRequest(object.spec, world)
  const sources = request && renderingOf(world, request) === null ? sourcesOf(request) : []
  if (sources.length === 0) return {}
  const kept = await pictureRows.kept(sources)
  const asker = askerOf(object)
  const seen = (source: string): StoredPicture => {
    const found = kept.get(source)
    if (found?.image) return { state: 'ready' }
    const standing = pictures.standing(asker, source)
    if (standing?.state === 'bad') return standing
    return { state: found ? 'quick' : 'none', asked: standing !== null }
  }
  return Object.fromEntries(sources.map((source) => [source, seen(source)]))
}

export const observeSite = async (deps: SiteDeps, object: SiteResource, signal: AbortSignal): Promise<SiteWorld> => {
  const { metadata, spec } = object
  const { name } = metadata
  const [row, { words, others }] = await Promise.all([
    deps.rows.observe(name, spec.account),
    deps.rows.words(name, spec.account),
  ])
  const account = deps.accounts.get(spec.account)
  const rendered = row.renderings ?? []
  const renderings = rendered.filter(({ isFirst }) => !isFirst)
  const facts = row.facts ?? []
  const read = readFacts(originOf(metadata), facts, (digest) => renderings.find((one) => one.digest === digest) ?? null)
  const links = recordedLinks(SITE_LINKS, facts)
  const linkVersions = linksNow(SITE_LINKS, object, links.recorded)
  const world: SiteWorld = {
    at: deps.now().toISOString(),
    account: account && { name: spec.account, templateLock: account.template_lock },
    brand: row.brand,
    base: row.base,
    hasQuota: row.hasPlace,
    names: withRecords(deps, spec.account, row.names ?? []),
    hosts: siteHosts(deps),
    renderings,
    firsts: rendered.filter(({ isFirst }) => isFirst),
    pictures: {},
    reservedDigests: row.places ?? [],
    turn: row.turn,
    look: null,
    words: { isKept: true, signature: words?.signature ?? null, others: others ?? [] },
    ...read,
    dueNotice: dueNotice(read, deps.now()),
    testDomains: deps.testDomains,
    factSeq: facts.at(-1)?.seq ?? 0,
    links,
    linkVersions,
    previewUrl: `${deps.publicUrl}/preview/${deps.keys.capability('preview', name, linkVersions.preview)}/`,
    reviewUrl: `${deps.publicUrl}/review/${deps.keys.capability('review', name, linkVersions.review)}`,
    formUrl: `${deps.publicUrl}/s/${deps.keys.capability('form', name, linkVersions.form)}`,
  }
  const request = renderRequest(spec, world)
  const isKept = request === null || words?.input === request.input
  const [pictures, look] = await Promise.all([picturesFor(deps, object, world), deps.looks.look(object, world, signal)])
  return { ...world, pictures, look, words: { ...world.words, isKept } }
}
