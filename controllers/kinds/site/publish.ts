/** Bringing bytes live on a host, and taking them down. What to bring, and when, is decided in crds/site/publishing/publish.ts. */
import { fileAt, INDEX_PATH, type SiteManifest } from '../../../crds/site/publishing/manifest.ts'
import type { PublishStep } from '../../../crds/site/publishing/publish.ts'
import { goneHandlers, siteFolder, siteHandlers } from '../../../crds/site/publishing/route.ts'
import { Stalled, Waiting } from '../../base/errors.ts'
import { makeSiteFiles, type SiteFiles } from '../../io/hosts/sitefiles.ts'
import { lookAt } from '../../io/hosts/tls/served.ts'
import type { SiteDeps } from './deps.ts'

type Step<Do extends PublishStep['do']> = Extract<PublishStep, { do: Do }>

const LOOK_MIN_MS = 1_000
const LOOK_MAX_MS = 60_000
/** The wait between two looks grows with how long it has been waited already. */
const LOOK_SHARE = 0.25

const rootOf = ({ hosts }: SiteDeps, host: string): string => {
  const root = hosts.facts(host)?.siteRoot
  if (root === null || root === undefined)
    throw new Stalled('HOST_MISSING', `HOST_MISSING: host ${host} takes no sites`)
  return root
}

const filesOn = (deps: SiteDeps, host: string): SiteFiles => makeSiteFiles(deps.hosts.link(host), rootOf(deps, host))

export const readManifest = async ({ blobs }: Pick<SiteDeps, 'blobs'>, sha256: string): Promise<SiteManifest> => {
  const stored = await blobs.get(sha256)
  if (!stored) throw new Error(`the manifest ${sha256} is not stored`)
  return JSON.parse(stored.toString('utf8')) as SiteManifest
}

export const upload = async (
  deps: SiteDeps,
  { host, manifest }: Step<'upload'>,
  signal: AbortSignal,
): Promise<void> => {
  const { files } = await readManifest(deps, manifest)
  const read = async (sha256: string): Promise<Buffer> => {
    const bytes = await deps.blobs.get(sha256)
    if (!bytes) throw new Error(`the bytes ${sha256} of a site are not stored`)
    return bytes
  }
  await filesOn(deps, host).upload(files, read, signal)
}

export const switchFiles = async (
  deps: SiteDeps,
  { host, digest, manifest, keep }: Step<'switchFiles'>,
  site: string,
  signal: AbortSignal,
): Promise<void> => {
  const { files } = await readManifest(deps, manifest)
  await filesOn(deps, host).switchTo({ site, digest, keep, files }, signal)
}

/** One route per site, whatever its name is at present. */
const routeOf = (site: string) => ({ id: `site-${site}`, owner: `Site/${site}` })

export const setRoute = async (
  deps: SiteDeps,
  { host, hostname, manifest }: Step<'setRoute'>,
  site: string,
): Promise<void> => {
  const handle = siteHandlers(siteFolder(rootOf(deps, host), site), await readManifest(deps, manifest))
  await deps.hosts.routes(host).set({ ...routeOf(site), hostnames: [hostname], handle })
}

/** Visitors are told that it is gone; the name stays the site's. */
export const takeDown = async (deps: SiteDeps, { host, hostname }: Step<'takeDown'>, site: string): Promise<void> => {
  if (deps.hosts.facts(host) === null) return
  await deps.hosts.routes(host).set({ ...routeOf(site), hostnames: [hostname], handle: goneHandlers() })
}

/** The name may be another account's: nothing is said there any more. */
export const removeRoute = async (deps: SiteDeps, { host }: Step<'removeRoute'>, site: string): Promise<void> => {
  if (deps.hosts.facts(host) === null) return
  await deps.hosts.routes(host).remove(routeOf(site).id)
}

/** A host that is gone has taken the files along. */
export const removeFiles = async (
  deps: SiteDeps,
  { host }: Step<'removeFiles'>,
  site: string,
  signal: AbortSignal,
): Promise<void> => {
  if (deps.hosts.facts(host) === null) return
  await deps.hosts.routes(host).remove(routeOf(site).id)
  await filesOn(deps, host).remove(site, signal)
}

/** @throws Waiting until the name answers with the page that was brought */
export const verify = async (deps: SiteDeps, { host, hostname, manifest, since }: Step<'verify'>): Promise<void> => {
  const index = fileAt(await readManifest(deps, manifest), INDEX_PATH)
  const seen = await lookAt(() => deps.hosts.tls(host), hostname, '/')
  if (seen.state === 'answered' && seen.status === 200 && seen.sha256 === index?.sha256) return
  const waitedMs = deps.now().getTime() - Date.parse(since)
  const retryMs = Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, waitedMs * LOOK_SHARE))
  if (seen.state === 'none') {
    const detail = `${hostname} has no certificate on host ${host} yet (${seen.detail}); its DNS must lead to the host`
    throw new Waiting('Certificate', detail, retryMs)
  }
  throw new Waiting(
    'Verifying',
    `${hostname} answers ${seen.status} with other bytes than those that are wanted`,
    retryMs,
  )
}
