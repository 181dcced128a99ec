/** Update and deletion of a site: changes of desire. What is live stays as it is until the next publish. */
import type { Resource } from '../../crds/kernel/object.ts'
import { fixedFaults, restPointer, toPatch } from '../../crds/kernel/rest.ts'
import { withDefaults } from '../../crds/kernel/schema.ts'
import { keyOf, type SectionId, type SentContent } from '../../crds/site/content/content.ts'
import { SECTIONS } from '../../crds/site/content/meta.ts'
import { siteFaults } from '../../crds/site/faults.ts'
import { SITE } from '../../crds/site/kind.ts'
import { type SiteSpec, spec as specSchema } from '../../crds/site/schema.ts'
import { mergeDiff } from '../../crds/values/merge.ts'
import { generationGoal } from '../command/command.ts'
import { editSpec } from '../command/edit.ts'
import { refuseForeign, sameOwner } from '../command/own.ts'
import { settle } from '../command/settle.ts'
import { Problem, refuseFaults } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { assetsOf, readPictures, withPicturePlace } from './assets.ts'
import { changeCommand, deleteCommand } from './commands.ts'
import type { SiteNeeds } from './needs.ts'
import { type ShownSiteRow, sites } from './read.ts'

type Written = Resource<SiteSpec>
type Fields = Record<string, unknown>

/** The account's site after a write, once the controllers have judged it. */
export const changed = (
  deps: SiteNeeds,
  request: ApiRequest,
  row: ShownSiteRow,
  write: () => Promise<Written>,
): Promise<Answer> =>
  settle(deps, request, changeCommand, {
    ...sites.commandOn(row),
    act: async () => generationGoal((await write()).metadata),
  })

/** A section that is taken away is not the preset's either, until it is given again. */
const leftOutBy = (before: readonly SectionId[] = [], sections: Fields): SectionId[] =>
  SECTIONS.filter((section) => {
    const given = sections[keyOf(section)]
    return given === undefined ? before.includes(section) : given === null
  })

/** The sections given replace theirs, null removes one, the rest stays; of meta the same holds field by field. */
const mergedContent = (before: SentContent, change: Fields | undefined, hasPreset: boolean): SentContent => {
  if (change === undefined) return before
  const { meta, ...sections } = change
  const merged = new Map<string, unknown>(Object.entries({ ...before, ...sections }))
  const metaSent = { ...before.meta, ...(meta as Partial<SentContent['meta']> | undefined) }
  const leftOut = hasPreset ? leftOutBy(metaSent.leftOut ?? [], sections) : metaSent.leftOut
  const metaNow = Object.entries({ ...metaSent, leftOut: leftOut?.length ? leftOut : null })
  merged.set('meta', Object.fromEntries(metaNow.filter(([, value]) => value !== null)))
  return Object.fromEntries([...merged].filter(([, value]) => value !== null)) as SentContent
}

type Sent = Fields & { assets?: Record<string, string | null> }

const keptAssets = (before: Record<string, string> = {}, sent: Record<string, string | null>): Record<string, string> =>
  Object.fromEntries(Object.entries(before).filter(([key]) => sent[key] !== null))

/** What was sent, in the names of the spec, with its pictures looked at; nothing is stored yet. */
const readSent = async (body: Sent) => {
  const { assets = {}, ...rest } = body
  const { content, ...fields } = toPatch(SITE, rest)
  const uploads = Object.entries(assets).filter((pair): pair is [string, string] => pair[1] !== null)
  return { fields, assets, pictures: await readPictures(content as Fields | undefined, Object.fromEntries(uploads)) }
}

/** What the site is to be. @throws Problem */
const updated = (spec: SiteSpec, { fields, assets, pictures }: Awaited<ReturnType<typeof readSent>>): SiteSpec => {
  const content = mergedContent(spec.content, pictures.content, (fields.preset ?? spec.preset) != null)
  const named = assetsOf(content, pictures.sums, keptAssets(spec.assets, assets))
  const given = Object.entries({ ...spec, ...fields, content, assets: named })
  const after = withDefaults<SiteSpec>(specSchema, Object.fromEntries(given.filter(([, value]) => value !== null)))
  const faults = [...fixedFaults(specSchema, spec, after), ...siteFaults(after)]
  refuseFaults(faults.map((one) => ({ ...one, pointer: restPointer(one.pointer) })))
  return after
}

export const updateSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const there = await deps.kube.get<Written>(SITE, { namespace: deps.namespace, name: row.name })
  refuseForeign(there, sameOwner(row), row.name)
  const sent = await readSent(request.body as Sent)
  const desired = updated(there.spec, sent)
  await sent.pictures.store(deps)
  const write = () =>
    editSpec<SiteSpec>(deps, { kind: SITE, name: row.name, whose: sameOwner(row) }, (now) => {
      const change = mergeDiff(now, updated(now, sent))
      return Object.keys(change).length === 0 ? null : change
    })
  return changed(deps, request, row, write).catch((error: unknown) => {
    throw withPicturePlace(error, desired, (key) => Object.hasOwn(sent.assets, key))
  })
}

export const deleteSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const { status, url } = row.view
  if (status === 'live' || status === 'publishing')
    throw new Problem('SITE_LIVE', `The site is ${status} at ${url ?? row.view.domain}.`)
  return sites.delete(deps, request, { row, command: deleteCommand })
}
