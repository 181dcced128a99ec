/** The rules that no schema says: the API refuses with them, and the plan stalls with the same codes and words. */
import { metadataFaults } from '../kernel/metadata.ts'
import type { Fault } from '../kernel/problem.ts'
import { content as contentSchema, type SentContent } from './content/content.ts'
import { contentFaults } from './content/faults/content.ts'
import { assetKeyOf, pictureValues } from './content/pictures.ts'
import { presetOf } from './content/presets/presets.ts'
import { ASSET_REFS_MAX, CONTENT_MAX_BYTES, type SiteSpec } from './schema.ts'

/** Faults of content, assets and metadata. Those of domains need to know more (domain.ts). */
export const siteFaults = (
  spec: Pick<SiteSpec, 'content' | 'assets' | 'metadata' | 'preset' | 'presetVersion'>,
): Fault[] => {
  const bytes = Buffer.byteLength(JSON.stringify(spec.content), 'utf8')
  if (bytes > CONTENT_MAX_BYTES) {
    const detail = `the content has ${bytes} bytes of JSON without its pictures, ${CONTENT_MAX_BYTES} are taken`
    return [{ code: 'INVALID_FIELD', pointer: '/content', detail }]
  }
  return [
    ...metadataFaults(spec.metadata),
    ...presetFaults(spec),
    ...contentFaults(spec.content, '/content'),
    ...assetFaults(spec),
  ]
}

const presetFaults = ({ preset, presetVersion }: Pick<SiteSpec, 'preset' | 'presetVersion'>): Fault[] => {
  if (preset === undefined || presetOf(preset, presetVersion) !== null) return []
  const detail = `there is no version ${presetVersion} of the preset ${preset}`
  return [{ code: 'BAD_PRESET', pointer: '/presetVersion', detail }]
}

const assetFaults = ({ content, assets = {} }: Pick<SiteSpec, 'content' | 'assets'>): Fault[] => {
  const count = Object.keys(assets).length
  if (count > ASSET_REFS_MAX) {
    return [{ code: 'INVALID_FIELD', pointer: '/assets', detail: `${count} pictures, at most ${ASSET_REFS_MAX}` }]
  }
  return missingAssets(content, assets)
}

const missingAssets = (content: SentContent, assets: Record<string, string>): Fault[] =>
  pictureValues(contentSchema, content).flatMap(({ pointer, value }) => {
    const key = assetKeyOf(value)
    if (key === null || Object.hasOwn(assets, key)) return []
    const detail = `there is no asset ${JSON.stringify(key)}; send it in assets`
    return [{ code: 'INVALID_FIELD', pointer: `/content${pointer}`, detail }]
  })
