/** What a site is to be rendered from, and the name of that: the same input is rendered once, whatever happens meanwhile. */
import { createHash } from 'node:crypto'
import { canonical } from '../../values/canonical.ts'
import type { BrandTokens } from '../content/brand/brand.ts'
import { content as contentSchema, type Template } from '../content/content.ts'
import { contentOf, type WrittenSite } from '../content/expand.ts'
import { TEMPLATES } from '../content/meta.ts'
import { LOGO_KEY, pictureSources } from '../content/pictures.ts'
import { hostnameOf, nameOf } from '../names/domain.ts'
import type { SiteSpec } from '../schema.ts'
import type { Rendering, SiteWorld } from '../world.ts'

/** `pictures`: key in the pages → source; `logo` the source of the logo. `input` names all of it. */
export type RenderRequest = {
  input: string
  name: string | null
  hostname: string | null
  template: Template
  brand: BrandTokens | null
  pictures: Record<string, string>
  logo: string | null
  /** Where the contact form posts to; null when the site has none. */
  form: string | null
}

const isTemplate = (word: string): word is Template => TEMPLATES.some((template) => template === word)

/** The account's lock wins over the content; null when the lock is a template that there is not. */
export const templateOf = (spec: WrittenSite, lock: string | null): Template | null => {
  if (lock === null) return contentOf(spec).meta.template
  return isTemplate(lock) ? lock : null
}

/** The host that the site has, or the first that would take it; null when there is none. */
export const hostFor = ({ home, hosts }: Pick<SiteWorld, 'home' | 'hosts'>) =>
  hosts.find(({ name, ready, isCordoned = false }) => (home === null ? ready && !isCordoned : name === home)) ?? null

/** The name in the pages, with its hostname; both null while a subdomain has no host that gives it a base. */
const addressOf = (
  spec: SiteSpec,
  world: Pick<SiteWorld, 'home' | 'hosts' | 'base'>,
): Pick<RenderRequest, 'name' | 'hostname'> => {
  const name = nameOf(spec, world.base)
  const host = hostFor(world)
  if (name === null || (!host && !name.includes('.'))) return { name: null, hostname: null }
  return { name, hostname: host ? hostnameOf(name, host) : name }
}

/** @returns null when the template is not known */
export const renderRequest = (
  spec: SiteSpec,
  world: Pick<SiteWorld, 'account' | 'brand' | 'home' | 'hosts' | 'base' | 'formUrl'>,
): RenderRequest | null => {
  const lock = world.account?.templateLock ?? null
  const template = templateOf(spec, lock)
  if (template === null) return null
  const { name, hostname } = addressOf(spec, world)
  const content = contentOf(spec)
  const pictures = Object.fromEntries(pictureSources(contentSchema, spec))
  const logo = spec.assets?.[LOGO_KEY] ?? null
  // a lock holds the whole brand: tokens of the account would be another one
  const brand = lock === null ? world.brand : null
  const form = content.contact?.form === true ? world.formUrl : null
  // without a form the input is named as it was before there were forms
  const made = canonical([content, pictures, logo, template, brand, hostname, ...(form === null ? [] : [form])])
  const input = createHash('sha256').update(made).digest('hex')
  return { input, name, hostname, template, brand, pictures, logo, form }
}

/** Sources of all pictures that a rendering needs, each once. */
export const sourcesOf = ({ pictures, logo }: RenderRequest): string[] => [
  ...new Set([...Object.values(pictures), ...(logo === null ? [] : [logo])]),
]

/** The first rendering of an input, which the preview shows while pictures are under way; null while there is none. */
export const firstOf = (world: Pick<SiteWorld, 'firsts'>, request: RenderRequest | null): Rendering | null =>
  world.firsts.find(({ input }) => input === request?.input) ?? null

/** The whole rendering of an input; null while there is none. */
export const renderingOf = (world: Pick<SiteWorld, 'renderings'>, request: RenderRequest | null): Rendering | null =>
  world.renderings.find(({ input }) => input === request?.input) ?? null
