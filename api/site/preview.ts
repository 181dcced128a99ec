/**
 * The preview of a site: its own bytes under a link that only those have who were given it. It is somebody else's content on our
 * origin, so it is sandboxed into an origin of its own without scripts or cookies, besides its own strict policy, by which a form leads to nothing but
 * the place that takes messages in, which sends none from here (live/messages/form.ts).
 */

import type { KeptRendering } from '../../controllers/store/site/sites.ts'
import { waysTo } from '../../crds/site/content/redirects.ts'
import { SITE } from '../../crds/site/kind.ts'
import { SITE_LINKS } from '../../crds/site/links.ts'
import { fileAt, headersAt, notFoundAt, type SiteManifest } from '../../crds/site/publishing/manifest.ts'
import { policyOf, sandboxed } from '../../crds/text/policy.ts'
import { newestLinks } from '../../crds/values/links.ts'
import { Problem } from '../http/problem.ts'
import type { Answer, ApiRequest } from '../http/route.ts'
import { DEAD_LINK, versionsElsewhere } from '../page/links.ts'
import type { Deps } from '../wiring/deps.ts'
import type { Route } from '../wiring/route.ts'
import { shownDigest } from './commands.ts'
import type { SiteNeeds } from './needs.ts'
import type { ShownSiteRow } from './read.ts'

/** Opens what is rendered now; with a digest, exactly those bytes for ever. */
const DIGEST_MARK = '~'

/** Exactly those bytes. @param version of the links that are good */
export const frozenPreviewPath = (
  { keys }: Pick<Deps, 'keys'>,
  site: string,
  digest: string,
  version: number,
): string => `/preview/${keys.capability('preview', `${site}${DIGEST_MARK}${digest}`, version)}/`

const nowhere = (): never => {
  throw new Problem('NOT_FOUND', DEAD_LINK)
}

/** What a link leads to. `isFrozen`: to one rendering for ever. */
export type Previewed = { row: ShownSiteRow; rendering: KeptRendering; manifest: SiteManifest; isFrozen: boolean }

/** @throws Problem NOT_FOUND for a link that leads nowhere */
export const previewed = async (deps: SiteNeeds, token: string): Promise<Previewed> => {
  const asked = deps.keys.nameOfCapability('preview', token)
  const [site = '', pinned] = (asked?.name ?? '').split(DIGEST_MARK, 2)
  const row = site === '' ? undefined : await deps.mirror.get(SITE, site, { because: 'link' })
  const digest = pinned ?? (row?.view ? shownDigest(row.view) : null)
  const rendering = row && digest ? await deps.sites.rendering(site, digest) : null
  if (!row || !rendering) return nowhere()
  const elsewhere = await versionsElsewhere(deps, SITE, site)
  const { preview } = newestLinks(SITE_LINKS, rendering.links, row.view.link_versions, ...elsewhere)
  const bytes = asked?.version === preview ? await deps.blobs.get(rendering.manifest) : null
  if (!bytes) return nowhere()
  const manifest = JSON.parse(bytes.toString('utf8')) as SiteManifest
  return { row, rendering, manifest, isFrozen: pinned !== undefined }
}

const manifestFor = async (deps: SiteNeeds, token: string): Promise<SiteManifest> =>
  (await previewed(deps, token)).manifest

/** Fonts are asked for by the sandboxed origin, which is nobody's; the token in the address is what guards them. */
const FONT = /^font\//

/** Only our own pages frame it, which the policy says that was stored with it. @param headers of a preview of the file */
export const previewHeaders = (headers: Record<string, string>, contentType: string): Record<string, string> => {
  const { 'content-security-policy': policy = policyOf({}), ...rest } = headers
  return {
    ...rest,
    'content-type': contentType,
    'content-security-policy': sandboxed(policy),
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow, noarchive',
    ...(FONT.test(contentType) && { 'access-control-allow-origin': '*' }),
  }
}

const serve = async (deps: SiteNeeds, manifest: SiteManifest, path: string, status: number): Promise<Answer> => {
  const file = fileAt(manifest, path)
  const bytes = file && (await deps.blobs.get(file.sha256))
  if (!file || !bytes) return nowhere()
  return { status, bytes, headers: previewHeaders(headersAt(manifest, 'preview', path), file.contentType) }
}

/** `about/` is `about/index.html`, as on the host. */
const showFile = async (deps: SiteNeeds, { params }: ApiRequest): Promise<Answer> => {
  const manifest = await manifestFor(deps, params.token ?? '')
  const asked = ([] as string[]).concat(params.path ?? []).join('/')
  const path = asked === '' || asked.endsWith('/') ? `${asked}index.html` : asked
  if (fileAt(manifest, path)) return serve(deps, manifest, path, 200)
  if (fileAt(manifest, `${asked}/index.html`)) {
    return { status: 308, headers: { location: `/preview/${params.token}/${asked}/`, 'cache-control': 'no-store' } }
  }
  const led = manifest.content.meta.redirects?.find(({ from }) => waysTo(from).includes(`/${asked}`))
  if (led !== undefined) {
    const location = led.to.startsWith('/') ? `/preview/${params.token}${led.to}` : led.to
    return { status: 308, headers: { location, 'cache-control': 'no-store' } }
  }
  return serve(deps, manifest, notFoundAt(manifest, asked), 404)
}

const open = { hidden: true, method: 'GET', scope: { kind: 'public', limit: 'file' } } as const

/** Links in a page are relative to its folder, so the address ends in a slash. */
const addSlash = async (deps: SiteNeeds, { params }: ApiRequest): Promise<Answer> => {
  await manifestFor(deps, params.token ?? '')
  return { status: 308, headers: { location: `/preview/${params.token}/`, 'cache-control': 'no-store' } }
}

export const previewRoutes: Route<SiteNeeds>[] = [
  { ...open, path: '/preview/:token/{*path}', summary: 'Preview of a site', handle: showFile },
  { ...open, path: '/preview/:token', summary: 'Preview of a site', handle: addSlash },
]
