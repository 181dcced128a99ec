import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { demandDisk } from '../lib/files.ts'
import { root } from '../lib/state.ts'
import { writeArchive } from './archive.ts'
import { baseEntries, bomEntry, imageConfig, ownEntries, packageEntries } from './content.ts'
import { type Entry, type Layer, writeLayer } from './layer.ts'

/**
 * The image of Bottega, made without a registry, a daemon or a base image: node of the pinned npm package, the machine's
 * libraries that it loads, the packages of production, our code. The archive is the form that `docker load` and
 * `ctr images import` both read.
 */

export type Image = {
  /** Path of the archive. */
  file: string
  /** `local/bottega:0.1.0` */
  name: string
  /** sha256 of the image's configuration, which names the layers: the same content always has the same. */
  id: string
  bytes: number
}

export type ImageOptions = { file: string; name?: string }

const neededMib = 1_024

/** The name that the chart's defaults ask for. */
export function defaultName(): string {
  return `local/bottega:${readPackage().version}`
}

function readPackage(): { version: string; description: string; license: string } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
}

/** Writes the archive, whole or not at all. Layers by how often they change, so that a node keeps the first two. */
export async function buildImage({ file, name = defaultName() }: ImageOptions): Promise<Image> {
  mkdirSync(dirname(file), { recursive: true })
  demandDisk(dirname(file), neededMib)
  const scratch = mkdtempSync(`${file}.partial-`)
  try {
    const base = baseEntries()
    const contents: [string, Entry[]][] = [
      ['node and its libraries', base],
      ['packages', packageEntries()],
      ['bottega', [bomEntry(base), ...(await ownEntries())]],
    ]
    const layers: Layer[] = []
    for (const [, entries] of contents) {
      layers.push(await writeLayer(entries, join(scratch, `layer-${layers.length}.tar`)))
    }
    const history = contents.map(([title]) => ({ created_by: title }))
    const archive = join(scratch, 'image.tar')
    const made = await writeArchive({
      layers,
      history,
      name,
      file: archive,
      config: { ...imageConfig, Labels: labels() },
    })
    renameSync(archive, file)
    return { ...made, file, name }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function labels(): Record<string, string> {
  const { version, description, license } = readPackage()
  const all = { title: 'bottega', description, version, licenses: license }
  return Object.fromEntries(Object.entries(all).map(([key, value]) => [`org.opencontainers.image.${key}`, value]))
}
