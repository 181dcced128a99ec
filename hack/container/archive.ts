import { createHash } from 'node:crypto'
import { add, addFile, type Layer, openTar } from './layer.ts'

/** What goes into an archive of one image. */
export type ImageArchive = {
  layers: readonly Layer[]
  /** One per layer: how it came to be. */
  history: readonly { created_by: string }[]
  /** How containers start. */
  config: Readonly<Record<string, unknown>>
  name: string
  file: string
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Writes the form that `docker load` and `ctr images import` both read, and gives the image's id and its own size. */
export async function writeArchive(archive: ImageArchive): Promise<{ id: string; bytes: number }> {
  const { layers, history, config, name, file } = archive
  const description = JSON.stringify({
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    created: '1970-01-01T00:00:00Z', // the day it was made is no part of what it is
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ sha256 }) => `sha256:${sha256}`) },
    history,
  })
  const id = createHash('sha256').update(description).digest('hex')
  const inside = (layer: Layer) => `${layer.sha256}.tar`
  const manifest = [{ Config: `${id}.json`, RepoTags: [name], Layers: layers.map(inside) }]
  const { tar, written } = openTar(file)
  await add(tar, { name: 'manifest.json' }, Buffer.from(JSON.stringify(manifest)))
  await add(tar, { name: `${id}.json` }, Buffer.from(description))
  for (const layer of layers) await addFile(tar, { name: inside(layer) }, layer.file)
  tar.finalize()
  const { bytes } = await written
  return { id, bytes }
}
