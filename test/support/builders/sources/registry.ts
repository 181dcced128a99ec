/**
 * A registry of images that wants a login (distribution-spec 1.1, pull; HTTP Basic), with one image out of a static busybox. What is
 * called `listed` is a list of images that has only the same for another processor.
 */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

export type PrivateRegistry = {
  /** `127.0.0.1:<port>`: Docker speaks plain HTTP to it. */
  host: string
  /** Requests by whether they brought the login, and those for the layer. */
  seen: { withLogin: number; without: number; layers: number }
  end(): Promise<void>
}

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
const DOCKER = 'application/vnd.docker'
const MANIFEST = `${DOCKER}.distribution.manifest.v2+json`
const LIST = `${DOCKER}.distribution.manifest.list.v2+json`

type Arch = 'amd64' | 'arm64'
type Image = { arch: Arch; config: Buffer; manifest: Buffer }

const imageOf = (layer: Buffer, arch: Arch): Image => {
  const config = Buffer.from(
    JSON.stringify({
      architecture: arch,
      os: 'linux',
      config: { User: '65532', Cmd: ['/bin/busybox', 'true'] },
      rootfs: { type: 'layers', diff_ids: [digestOf(gunzipSync(layer))] },
    }),
  )
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: { mediaType: `${DOCKER}.container.image.v1+json`, size: config.length, digest: digestOf(config) },
      layers: [{ mediaType: `${DOCKER}.image.rootfs.diff.tar.gzip`, size: layer.length, digest: digestOf(layer) }],
    }),
  )
  return { arch, config, manifest }
}

const listOf = ({ arch, manifest }: Image): Buffer =>
  Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: LIST,
      manifests: [
        {
          mediaType: MANIFEST,
          size: manifest.length,
          digest: digestOf(manifest),
          platform: { architecture: arch, os: 'linux' },
        },
      ],
    }),
  )

/** @param layer a gzip-compressed tar of the image's files  @param arch as Docker names it */
export const startRegistry = async (
  login: { username: string; password: string },
  { layer, arch }: { layer: Buffer; arch: Arch },
): Promise<PrivateRegistry> => {
  const own = imageOf(layer, arch)
  const foreign = imageOf(layer, arch === 'amd64' ? 'arm64' : 'amd64')
  const list = listOf(foreign)
  const blobs = new Map([own.config, foreign.config, layer].map((bytes) => [digestOf(bytes), bytes]))
  const wanted = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  const seen = { withLogin: 0, without: 0, layers: 0 }
  const manifestAt = (path: string): { bytes: Buffer; type: string } => {
    const isForeign = path.endsWith(digestOf(foreign.manifest))
    if (path.includes('/listed/') && !isForeign) return { bytes: list, type: LIST }
    return { bytes: (isForeign ? foreign : own).manifest, type: MANIFEST }
  }
  /** What stands at a path, and of which sort it is. */
  const found = (path: string): { bytes: Buffer; type: string } | null => {
    if (path === '/v2/') return { bytes: Buffer.from('{}'), type: 'application/json' }
    if (/\/manifests\/[\w.:-]+$/.test(path)) return manifestAt(path)
    if (path.endsWith(digestOf(layer))) seen.layers += 1
    const blob = blobs.get(/\/blobs\/(sha256:[0-9a-f]{64})$/.exec(path)?.[1] ?? '')
    return blob ? { bytes: blob, type: 'application/octet-stream' } : null
  }
  const server = createServer((request, response) => {
    const isIn = request.headers.authorization === wanted
    seen[isIn ? 'withLogin' : 'without'] += 1
    const one = found(request.url ?? '')
    if (!isIn) response.writeHead(401, { 'www-authenticate': 'Basic realm="private"' }).end()
    else if (!one) response.writeHead(404).end()
    else {
      const { bytes, type } = one
      const head = { 'content-type': type, 'content-length': bytes.length, 'docker-content-digest': digestOf(bytes) }
      response.writeHead(200, head).end(request.method === 'HEAD' ? undefined : bytes)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
