/** The site whose form an address leads to, as it is live, or as it is rendered while it is not. */
import type { MirrorRow } from '../../../../controllers/store/mirror.ts'
import { contentIn } from '../../../../crds/site/content/languages.ts'
import { SITE } from '../../../../crds/site/kind.ts'
import { SITE_LINKS } from '../../../../crds/site/links.ts'
import type { SiteManifest } from '../../../../crds/site/publishing/manifest.ts'
import { addressOfPage, hasForm, pageOf } from '../../../../crds/site/publishing/messages/message.ts'
import type { SiteView } from '../../../../crds/site/view.ts'
import { newestLinks } from '../../../../crds/values/links.ts'
import { versionsElsewhere } from '../../../page/links.ts'
import type { SiteNeeds } from '../../needs.ts'
import type { About } from './page.ts'

/** `url`: where it is live, with a slash at its end; null while it is not. */
export type FoundForm = { row: MirrorRow<SiteView>; manifest: SiteManifest; url: string | null }

/** Null for what was never given out, was ended, or has no form any more: they are not told apart. */
export const findForm = async (deps: SiteNeeds, token: string): Promise<FoundForm | null> => {
  const asked = deps.keys.nameOfCapability('form', token)
  const row = asked && (await deps.mirror.get(SITE, asked.name, { because: 'link' }))
  const digest = row && (row.view.live_digest ?? row.view.digest)
  const rendering = digest && (await deps.sites.rendering(row.name, digest))
  if (!row || !rendering) return null
  const elsewhere = await versionsElsewhere(deps, SITE, row.name)
  const { form } = newestLinks(SITE_LINKS, rendering.links, row.view.link_versions, ...elsewhere)
  const bytes = asked.version === form ? await deps.blobs.get(rendering.manifest) : null
  if (bytes === null) return null
  const manifest = JSON.parse(bytes.toString('utf8')) as SiteManifest
  if (!hasForm(manifest.content)) return null
  return { row, manifest, url: row.view.live_digest === null ? null : row.view.url }
}

/** The language and the page that a visitor came from. @param asked as the form says it: whatever it is, nothing but a page of the site comes out */
export const aboutOf = ({ manifest, url }: FoundForm, asked: string): About & { page: string } => {
  const { page, lang } = pageOf(manifest, asked)
  const { companyName } = contentIn(manifest.content, lang).meta
  return { page, lang, company: companyName, back: url && addressOfPage(url, page) }
}
