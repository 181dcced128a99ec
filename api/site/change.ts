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
import { assetsOf, type ReadPictures, readPictures, withPicturePlace } from './assets.ts'
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

/** What was sent, in the names of the spec. */
const sentOf = (body: Sent) => {
  const { assets = {}, ...rest } = body
  const { content, ...fields } = toPatch(SITE, rest)
  return { assets, fields, content: content as Fields | undefined }
}
type SentChange = ReturnType<typeof sentOf>

const contentAfter = (spec: SiteSpec, { content, fields }: SentChange): SentContent =>
  mergedContent(spec.content, content, (fields.preset ?? spec.preset) != null)

/** With pictures looked at; nothing is stored yet. */
const picturesAfter = (spec: SiteSpec, sent: SentChange): Promise<ReadPictures> => {
  const uploads = Object.entries(sent.assets).filter((pair): pair is [string, string] => pair[1] !== null)
  return readPictures(contentAfter(spec, sent), Object.fromEntries(uploads))
}

/** What the site is to be. @throws Problem */
const updated = (spec: SiteSpec, sent: SentChange, { named, sums }: ReadPictures): SiteSpec => {
  const content = named(contentAfter(spec, sent))
  const assets = assetsOf(content, sums, keptAssets(spec.assets, sent.assets))
  const given = Object.entries({ ...spec, ...sent.fields, content, assets })
  const after = withDefaults<SiteSpec>(specSchema, Object.fromEntries(given.filter(([, value]) => value !== null)))
  const faults = [...fixedFaults(specSchema, spec, after), ...siteFaults(after)]
  refuseFaults(faults.map((one) => ({ ...one, pointer: restPointer(one.pointer) })))
  return after
}

export const updateSite = async (deps: SiteNeeds, request: ApiRequest): Promise<Answer> => {
  const row = await sites.find(deps, request)
  const there = await deps.kube.get<Written>(SITE, { namespace: deps.namespace, name: row.name })
  refuseForeign(there, sameOwner(row), row.name)
  const sent = sentOf(request.body as Sent)
  const pictures = await picturesAfter(there.spec, sent)
  const desired = updated(there.spec, sent, pictures)
  await pictures.store(deps)
  const write = () =>
    editSpec<SiteSpec>(deps, { kind: SITE, name: row.name, whose: sameOwner(row) }, (now) => {
      const change = mergeDiff(now, updated(now, sent, pictures))
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
