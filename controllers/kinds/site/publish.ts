/** Bringing bytes live on a host, and taking them down. What to bring, and when, is decided in crds/site/publishing/publish.ts. */
import { SITE } from '../../../crds/site/kind.ts'
import { type LookTarget, unservedText, type WantedPage, wantedPages } from '../../../crds/site/publishing/look.ts'
import type { SiteManifest } from '../../../crds/site/publishing/manifest.ts'
import { type PublishStep, urlOf } from '../../../crds/site/publishing/publish.ts'
import { goneHandlers, siteFolder, siteHandlers } from '../../../crds/site/publishing/route.ts'
import type { Attested } from '../../../crds/site/publishing/statement.ts'
import type { SiteResource } from '../../../crds/site/schema.ts'
import { Stalled, Waiting } from '../../base/errors.ts'
import type { HostRoute } from '../../io/hosts/link.ts'
import { makeSiteFiles, type SiteFiles, type SiteFolder } from '../../io/hosts/sitefiles.ts'
import { lookAt, type ServedPage } from '../../io/hosts/tls/served.ts'
import type { SiteDeps } from './deps.ts'
import { type SentStatement, statementFile } from './statement.ts'

type Deps = Omit<SiteDeps, 'looks'>
type Step<Do extends PublishStep['do']> = Extract<PublishStep, { do: Do }>

/** Of what strayed, in an Event. */
const DRIFT_TOLD = 5
const LOOK_MIN_MS = 1_000
const LOOK_MAX_MS = 60_000
/** The wait between two looks grows with how long it has been waited already. */
const LOOK_SHARE = 0.25

export const rootOf = ({ hosts }: Deps, host: string): string => {
  const root = hosts.facts(host)?.siteRoot
  if (root === null || root === undefined)
    throw new Stalled('HOST_MISSING', `HOST_MISSING: host ${host} takes no sites`)
  return root
}

export const filesOn = (deps: Deps, host: string): SiteFiles => makeSiteFiles(deps.hosts.link(host), rootOf(deps, host))

export const readManifest = async ({ blobs }: Pick<SiteDeps, 'blobs'>, sha256: string): Promise<SiteManifest> => {
  const stored = await blobs.get(sha256)
  if (!stored) throw new Error(`the manifest ${sha256} is not stored`)
  return JSON.parse(stored.toString('utf8')) as SiteManifest
}

/** All that lies in the folder of a release: the files that were approved, and what the site says of itself. */
export const folderOf = async (
  deps: Deps,
  site: string,
  of: { digest: string; manifest: string; attested: Attested },
): Promise<SiteFolder & { statement: SentStatement; approved: SiteManifest }> => {
  const approved = await readManifest(deps, of.manifest)
  const statement = statementFile(deps, { site, digest: of.digest, files: approved.files }, of.attested)
  const { digest } = of
  return { site, digest, files: [...approved.files, statement], statement, approved }
}

export const upload = async (
  deps: SiteDeps,
  step: Step<'upload'>,
  site: string,
  signal: AbortSignal,
): Promise<void> => {
  const { statement, ...folder } = await folderOf(deps, site, step)
  const read = async (sha256: string): Promise<Buffer> => {
    if (sha256 === statement.sha256) return statement.content
    const bytes = await deps.blobs.get(sha256)
    if (!bytes) throw new Error(`the bytes ${sha256} of a site are not stored`)
    return bytes
  }
  await filesOn(deps, step.host).upload(folder, read, signal)
}

export const switchFiles = async (
  deps: SiteDeps,
  step: Step<'switchFiles'>,
  site: string,
  signal: AbortSignal,
): Promise<void> => {
  deps.looks.touched(site)
  const folder = await folderOf(deps, site, step)
  await filesOn(deps, step.host).switchTo({ ...folder, keep: step.keep }, signal)
}

/** One route per site, whatever its name is at present. */
export const routeOf = (site: string) => ({ id: `site-${site}`, owner: `Site/${site}` })

type Routed = Pick<LookTarget, 'host' | 'hostname' | 'hsts' | 'aliases'>

/** How a site is served under its name, and under those that lead there. */
export const liveRoute = (
  deps: Deps,
  site: string,
  { host, hostname, hsts, aliases }: Routed,
  manifest: SiteManifest,
): HostRoute => {
  const origin = urlOf({ hostname }, deps.hosts.facts(host)?.httpsPort).replace(/\/$/, '')
  const handle = siteHandlers(siteFolder(rootOf(deps, host), site), manifest, hsts, { aliases, origin })
  return { ...routeOf(site), hostnames: [hostname, ...aliases], handle }
}

export const setRoute = async (deps: SiteDeps, step: Step<'setRoute'>, site: string): Promise<void> => {
  deps.looks.touched(site)
  await deps.hosts.routes(step.host).set(liveRoute(deps, site, step, await readManifest(deps, step.manifest)))
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

export const noteDrift = (deps: SiteDeps, { host, drift }: Step<'noteDrift'>, object: SiteResource): void => {
  deps.looks.restoring(object.metadata.name)
  if (drift.length === 0) return
  deps.metrics?.drifted(SITE.kind, host)
  const more = drift.length > DRIFT_TOLD ? ` and ${drift.length - DRIFT_TOLD} more` : ''
  const message = `put back what was changed on host ${host}: ${drift.slice(0, DRIFT_TOLD).join(', ')}${more}`
  deps.events?.emit({ object, kind: SITE, type: 'Warning', reason: 'Drift', action: 'Restore', message })
}

/** What is wrong with each page, as visitors get it. */
export const wrongPages = (wanted: readonly WantedPage[], pages: readonly ServedPage[]): string[] =>
  wanted.flatMap(({ path, status, sha256 }, place) => {
    const seen = pages[place]
    if (seen?.status === status && seen.sha256 === sha256) return []
    return [seen?.status === status ? `${path} has other bytes than were approved` : `${path} answers ${seen?.status}`]
  })

/** @throws Waiting until the name answers with the pages that were brought */
export const verify = async (deps: SiteDeps, step: Step<'verify'>, object: SiteResource): Promise<void> => {
  const { host, hostname, since } = step
  const wanted = wantedPages((await folderOf(deps, object.metadata.name, step)).files)
  const seen = await lookAt(
    () => deps.hosts.tls(host),
    hostname,
    wanted.map(({ path }) => path),
  )
  const wrong = seen.state === 'answered' ? wrongPages(wanted, seen.pages) : []
  if (seen.state === 'answered' && wrong.length === 0) return deps.looks.verified(object, step)
  const waitedMs = deps.now().getTime() - Date.parse(since)
  const retryMs = Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, waitedMs * LOOK_SHARE))
  if (seen.state === 'none') {
    const { reason, message } = unservedText(hostname, host, seen.detail)
    throw new Waiting(reason, message, retryMs)
  }
  throw new Waiting('Verifying', `${wrong[0]} at ${hostname}; it is looked at again`, retryMs)
}
