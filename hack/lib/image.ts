import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { demandDisk } from './files.ts'
import { baseEntries, imageConfig, ownEntries, packageEntries } from './image/content.ts'
import { add, addFile, type Entry, type Layer, openTar, writeLayer } from './image/layer.ts'
import { root } from './state.ts'

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
const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

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
    const contents: [string, Entry[]][] = [
      ['node and its libraries', baseEntries()],
      ['packages', packageEntries()],
      ['bottega', ownEntries()],
    ]
    const layers: Layer[] = []
    for (const [, entries] of contents) {
      layers.push(await writeLayer(entries, join(scratch, `layer-${layers.length}.tar`)))
    }
    const history = contents.map(([title]) => ({ created_by: title }))
    const archive = await writeArchive({ layers, history, name, file: join(scratch, 'image.tar') })
    renameSync(archive.file, file)
    return { ...archive, file, name }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

type Parts = { layers: Layer[]; history: { created_by: string }[]; name: string; file: string }

async function writeArchive({ layers, history, name, file }: Parts): Promise<Omit<Image, 'name'>> {
  const { version, description, license } = readPackage()
  const labels = { title: 'bottega', description, version, licenses: license }
  const config = JSON.stringify({
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    created: '1970-01-01T00:00:00Z', // the day it was made is no part of what it is
    config: {
      ...imageConfig,
      Labels: Object.fromEntries(
        Object.entries(labels).map(([key, value]) => [`org.opencontainers.image.${key}`, value]),
      ),
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ sha256 }) => `sha256:${sha256}`) },
    history,
  })
  const id = createHash('sha256').update(config).digest('hex')
  const inside = (layer: Layer) => `${layer.sha256}.tar`
  const manifest = [{ Config: `${id}.json`, RepoTags: [name], Layers: layers.map(inside) }]
  const { tar, written } = openTar(file)
  await add(tar, { name: 'manifest.json' }, Buffer.from(JSON.stringify(manifest)))
  await add(tar, { name: `${id}.json` }, Buffer.from(config))
  for (const layer of layers) await addFile(tar, { name: inside(layer) }, layer.file)
  tar.finalize()
  const { bytes } = await written
  return { file, id, bytes }
}
