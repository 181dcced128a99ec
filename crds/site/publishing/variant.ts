/** A site's own content in any layout and template, for its owner to choose from: rendered from what its rendering was made of. */
import type { Content, Layout, Template } from '../content/content.ts'
import { LAYOUTS, TEMPLATES } from '../content/meta.ts'
import { LAYOUT_FOR, TEMPLATE_FOR } from '../content/presets/choices.ts'
import type { BlobRef, SiteFile, SiteInput } from '../render/input.ts'
import { hanCutsOf, renderSite } from '../render/site.ts'
import { faceName, type HanCut } from '../render/type/han.ts'

/** All of a rendering's input but its content, which the manifest has, and its address. */
export type MadeOf = Pick<SiteInput, 'images' | 'logo' | 'fonts' | 'brand' | 'han' | 'icons'>

export type Choice = { layout: Layout; template: Template }

/** A template is the account's where it is locked to one. */
export const choicesOf = (lock: Template | null): (Choice & { recommended: boolean })[] =>
  TEMPLATES.filter((template) => lock === null || template === lock).flatMap((template) =>
    LAYOUTS.map((layout) => ({
      layout,
      template,
      recommended: LAYOUT_FOR[template] === layout || TEMPLATE_FOR[layout] === template,
    })),
  )

/** What of an update chooses it. */
export const chooses = ({ layout, template }: Choice, lock: Template | null) => ({
  content: { meta: lock === null ? { layout, template } : { layout } },
})

/**
 * Nothing is cut for a look: where a variant shows other characters than the site, a cut of the same face serves, and the
 * system's face stands for what it lacks.
 */
const nearHan = (cuts: readonly HanCut[], cut: Readonly<Record<string, BlobRef>>): Record<string, BlobRef> =>
  Object.fromEntries(
    cuts.flatMap(({ key, face }): [string, BlobRef][] => {
      const near = cut[key] ?? Object.entries(cut).find(([name]) => name.startsWith(`${faceName(face)}-`))?.[1]
      return near === undefined ? [] : [[key, near]]
    }),
  )

/** All files of the site in another dress. It has no address: nothing of it goes live. */
export const renderVariant = (content: Content, made: MadeOf, { layout, template }: Choice): SiteFile[] => {
  const dressed = { ...content, meta: { ...content.meta, layout, template } }
  const input: SiteInput = { ...made, content: dressed, template, hostname: null }
  return renderSite({ ...input, han: nearHan(hanCutsOf(input), made.han ?? {}) }).files
}
