/**
 * Two versions of a site beside each other, from the bytes that are stored of them: which pages differ, in which words, and
 * what else a reviewer must not overlook. Bytes that are stored never change, so what was read of them is kept for a while.
 */
import { inRest } from '../../../crds/site/content/faults/gaps.ts'
import { changedSections, diffFiles, type FileDiff, type SiteManifest } from '../../../crds/site/publishing/manifest.ts'
import { isNotFound } from '../../../crds/site/render/headers.ts'
import { changesBetween, NO_VERSION, type ReadPage, type SiteChanges } from '../../../crds/site/reviewing/changes.ts'
import { pageOfPointer } from '../../../crds/site/reviewing/places.ts'
import { wordsOfPage } from '../../../crds/site/reviewing/words.ts'
import type { WarningView } from '../../../crds/site/view.ts'
import { diffText, type TextDiff } from '../../../crds/text/difference.ts'
import type { SiteNeeds } from '../needs.ts'

type Stores = Pick<SiteNeeds, 'blobs' | 'sites'>

/** Pages of one version; what is beyond is not read, and said. */
const PAGES_MAX = 64
/** Versions that are kept as they were read. */
const KEPT_MAX = 8

export type PageState = 'same' | 'changed' | 'new' | 'gone'
/** `path` as visitors know it, `/about/`; `file` that is stored. */
export type ComparedPage = { path: string; file: string; state: PageState }
export type PlacedWarning = WarningView & { page: string | null }
export type Comparison = {
  pages: ComparedPage[]
  /** Null where there is nothing to compare with. */
  files: FileDiff | null
  sections: string[]
  changes: SiteChanges
  warnings: PlacedWarning[]
  /** Not all of it was read. */
  isCut: boolean
  /** What the version at hand was made of. */
  content: SiteManifest['content']
}

type KeptVersion = { manifest: SiteManifest; warnings: WarningView[]; pages: Map<string, ReadPage>; isCut: boolean }

const kept = new Map<string, Promise<KeptVersion | null>>()

const pathOf = (file: string): string => `/${file.replace(/(^|\/)index\.html$/, '$1')}`
const isPage = (file: string): boolean => file.endsWith('.html') && !isNotFound(file)

export const manifestOf = async (deps: Stores, site: string, digest: string) => {
  const rendering = await deps.sites.rendering(site, digest)
  const bytes = rendering && (await deps.blobs.get(rendering.manifest))
  return bytes ? { rendering, manifest: JSON.parse(bytes.toString('utf8')) as SiteManifest } : null
}

const readVersion = async (deps: Stores, site: string, digest: string): Promise<KeptVersion | null> => {
  const found = await manifestOf(deps, site, digest)
  if (!found) return null
  const { manifest, rendering } = found
  const files = manifest.files.filter(({ path }) => isPage(path))
  const pages = new Map<string, ReadPage>()
  for (const { path, sha256 } of files.slice(0, PAGES_MAX)) {
    const bytes = await deps.blobs.get(sha256)
    if (bytes) pages.set(path, { path: pathOf(path), words: wordsOfPage(bytes.toString('utf8')) })
  }
  const isCut = files.length > PAGES_MAX || [...pages.values()].some(({ words }) => words.isCut)
  return { manifest, warnings: rendering.warnings.map(inRest), pages, isCut }
}

/** What was asked for last is kept longest. */
const versionOf = (deps: Stores, site: string, digest: string): Promise<KeptVersion | null> => {
  const key = `${site} ${digest}`
  const reading = kept.get(key) ?? readVersion(deps, site, digest)
  kept.delete(key)
  kept.set(key, reading)
  for (const [oldest] of kept) {
    if (kept.size <= KEPT_MAX) break
    kept.delete(oldest)
  }
  const drop = () => void (kept.get(key) === reading && kept.delete(key))
  reading.then((version) => version ?? drop(), drop)
  return reading
}

const stateOf = (before: string | undefined, after: string | undefined): PageState => {
  if (before === undefined) return 'new'
  if (after === undefined) return 'gone'
  return before === after ? 'same' : 'changed'
}

const pagesOf = (before: SiteManifest | null, after: SiteManifest): ComparedPage[] => {
  const sums = ({ files }: SiteManifest) =>
    new Map(files.flatMap(({ path, sha256 }) => (isPage(path) ? [[path, sha256]] : [])))
  const [old, now] = [before ? sums(before) : new Map<string, string>(), sums(after)]
  // the first page, then as they stand in the list
  const all = [...new Set([...now.keys(), ...old.keys()])].sort(
    (a, b) => Number(b === 'index.html') - Number(a === 'index.html'),
  )
  return all.map((file) => ({ file, path: pathOf(file), state: stateOf(old.get(file), now.get(file)) }))
}

/** @param before digest of what it is held against; null where there is nothing  @returns null when its bytes are not there */
export const compare = async (
  deps: Stores,
  site: string,
  { before, after }: { before: string | null; after: string },
): Promise<Comparison | null> => {
  const [old, now] = await Promise.all([
    before === null ? null : versionOf(deps, site, before),
    versionOf(deps, site, after),
  ])
  if (!now) return null
  const version = (one: KeptVersion) => ({ content: one.manifest.content, pages: [...one.pages.values()] })
  const { content } = now.manifest
  return {
    pages: pagesOf(old?.manifest ?? null, now.manifest),
    files: old && diffFiles(old.manifest.files, now.manifest.files),
    sections: changedSections(old?.manifest.content ?? null, content),
    changes: changesBetween(old ? version(old) : NO_VERSION, version(now)),
    warnings: now.warnings.map((one) => ({ ...one, page: pageOfPointer(content, one.pointer) })),
    isCut: now.isCut || (old?.isCut ?? false),
    content,
  }
}

/** The words of one page against those before. */
export const compareWords = async (
  deps: Stores,
  site: string,
  { before, after, file }: { before: string | null; after: string; file: string },
): Promise<TextDiff> => {
  const lines = async (digest: string | null): Promise<string[]> => {
    const version = digest === null ? null : await versionOf(deps, site, digest)
    return version?.pages.get(file)?.words.lines ?? []
  }
  const [old, now] = await Promise.all([lines(before), lines(after)])
  return diffText(old, now)
}

/** Parts of the content that differ, by their names, without reading the pages; null where the bytes are not there. */
export const sectionsChanged = async (
  deps: Stores,
  site: string,
  { before, after }: { before: string | null; after: string },
): Promise<{ sections: string[]; warnings: number } | null> => {
  const [old, now] = await Promise.all([
    before === null ? null : manifestOf(deps, site, before),
    manifestOf(deps, site, after),
  ])
  if (!now) return null
  return {
    sections: changedSections(old?.manifest.content ?? null, now.manifest.content),
    warnings: now.rendering.warnings.length,
  }
}
