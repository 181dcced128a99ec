/** What a Host says of its builds: the images that they run in, and what they reach (rules/host.md#builds, #packages). Pure. */
import type { ObjectSchema } from '../kernel/schema.ts'

/** BuildKit's own image, of the version that the tests build from its Go module (hack/platform/gotools/builder). */
export const BUILDER =
  'docker.io/moby/buildkit:v0.31.2@sha256:2f5adac4ecd194d9f8c10b7b5d7bceb5186853db1b26e5abd3a657af0b7e26ec'
/** Docker's official image of HAProxy, 3.2 with long-term support, by the digest of its index (docker-library/repo-info). */
export const GATE =
  'docker.io/library/haproxy:3.2.24-alpine@sha256:686211da34aba401814bb109c813db6a579491bc8753bfd81b78cce7d1e02f7c'
/** What builds take images from when a host says nothing else. */
export const REGISTRIES: readonly string[] = [
  'docker.io',
  'ghcr.io',
  'quay.io',
  'gcr.io',
  'registry.k8s.io',
  'public.ecr.aws',
  'mcr.microsoft.com',
  'registry.gitlab.com',
  'cgr.dev',
]
/**
 * Where a registry sends who pulls from it, beside names below its own: hosts of its images and of nothing else. Those of others are
 * shared with all the world, or change; they are for whoever writes the list.
 * Source: Docker's allowlist (docs.docker.com/desktop/setup/allow-list), GitHub's and Chainguard's network requirements, 2026-11.
 */
const LAYER_HOSTS: Readonly<Record<string, readonly string[]>> = {
  'docker.io': [
    'production.cloudflare.docker.com',
    'production.cloudfront.docker.com',
    'docker-images-prod.6aa30f8b08e16409b46e0173d6de2f56.r2.cloudflarestorage.com',
  ],
  'ghcr.io': ['pkg-containers.githubusercontent.com'],
  'cgr.dev': ['9236a389bd48b984df91adc1bc924620.r2.cloudflarestorage.com'],
}

export const DOMAIN_PATTERN = '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'
const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
/** A name, or all names below one. The last label has a letter in front: it is no address. */
export const PACKAGE_HOST_PATTERN = `^(\\*\\.)?(${LABEL}\\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`
export const PACKAGE_HOSTS_MAX = 256
const PACKAGE_HOST = new RegExp(PACKAGE_HOST_PATTERN)

/** What a gate lets through: names, and suffixes that begin with a dot. */
export type GateList = { names: string[]; below: string[] }

/**
 * @param packages as the Host names them; `*.example.org` is every name below, however deep, and not example.org
 * @param registries with all names below each, and where it sends who pulls
 * @throws on what is no name, so that nothing else gets to a gate whoever asks
 */
export const gateList = (packages: readonly string[], registries: readonly string[]): GateList => {
  const layers = registries.flatMap((name) => LAYER_HOSTS[name] ?? [])
  const all = [...packages, ...registries.flatMap((name) => [name, `*.${name}`]), ...layers]
  const stranger = all.find((name) => !PACKAGE_HOST.test(name))
  if (stranger !== undefined) throw new Error(`${JSON.stringify(stranger)} is no name of a host`)
  const isBelow = (name: string) => name.startsWith('*.')
  const below = all.filter(isBelow).map((name) => name.slice(1))
  return { names: [...new Set(all.filter((name) => !isBelow(name)))], below: [...new Set(below)] }
}

/** What a condition says of what builds reach. */
export const sayReach = (packages: readonly string[] | undefined): string => {
  if (packages === undefined) return 'Builds reach every public address: the Host names no packages.'
  const hosts = packages.length === 1 ? '1 name' : `${packages.length} names`
  return `Builds reach nothing but images of registries and the ${hosts} of packages.`
}

const image = (description: string) =>
  ({ type: 'string', description, maxLength: 512, pattern: '^[a-z0-9][A-Za-z0-9._:/@-]+$' }) as const

export const BUILD_FIELDS = {
  registries: {
    type: 'array',
    description: 'Registries that builds take images from; well-known public ones when left out.',
    maxItems: 64,
    'x-list': 'set',
    items: { type: 'string', description: 'A name, as ghcr.io.', maxLength: 200, pattern: DOMAIN_PATTERN },
  },
  packages: {
    type: 'array',
    description:
      'Hosts that builds reach beside registries, by HTTP and HTTPS on ports 80 and 443 alone; an empty list is none at all. When left out builds reach every public address, on a host of each class.',
    maxItems: PACKAGE_HOSTS_MAX,
    'x-list': 'set',
    items: {
      type: 'string',
      description: 'A name, as packages.example.org, or *.example.org for all below one, however deep.',
      maxLength: 200,
      pattern: PACKAGE_HOST_PATTERN,
    },
  },
  builder: image(
    "The image of BuildKit that builds run in, by a name that the host's Docker has or can pull; moby/buildkit, by its digest, when left out.",
  ),
  gate: image(
    "The image of HAProxy that builds go through where packages are named, by a name that the host's Docker has or can pull; Docker's official one, by its digest, when left out.",
  ),
} as const satisfies ObjectSchema['properties']
