/**
 * References of images, fully written (distribution reference grammar): the short forms of Docker also mean ids of images
 * that lie on the host, which may be somebody else's.
 */
import { type Read, readText, shown, wrong } from '../reading/read.ts'

/**
 * Where images that the platform builds are named. No registry has this name, and no compose file may use it. What is
 * built for one app is hidden from others by the digest in its tag, which nobody else can know.
 */
export const BUILT_HERE = 'bottega.local'

const REFERENCE_MAX = 255
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?(?::\d{1,5})?$/
const PATH = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/
/** What Docker takes for the id of an image on the host. */
const IMAGE_ID = /^(?:sha256:)?[0-9a-f]{64}$/
const VERSION = /^(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/
/** Names that only mean something inside some network. */
const PRIVATE_DOMAIN = /\.(local|localhost|localdomain|internal|intranet|lan|home|corp|arpa)(:\d+)?$/

type Parts = { domain: string; path: string; version: string }

const partsOf = (text: string): Parts => {
  const [first = '', ...rest] = text.split('/')
  const hasDomain = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase())
  const remote = hasDomain ? rest.join('/') : text
  const end = remote.search(/[:@]/)
  const path = end < 0 ? remote : remote.slice(0, end)
  const version = end < 0 ? '' : remote.slice(end)
  const domain = hasDomain && first !== 'index.docker.io' ? first : 'docker.io'
  return { domain, path: domain === 'docker.io' && !path.includes('/') ? `library/${path}` : path, version }
}

/** Whether a reference, as a Dockerfile may write it, is an image of a registry that everybody can reach. */
export const isPublicImage = (text: string): boolean => {
  if (text.length > REFERENCE_MAX || IMAGE_ID.test(text)) return false
  const { domain, path, version } = partsOf(text)
  return PATH.test(path) && VERSION.test(version) && DOMAIN.test(domain) && !PRIVATE_DOMAIN.test(domain)
}

/** `docker.io/library/nginx:1.27` for `nginx:1.27`. */
export const readImage: Read<string> = (validation, tree) => {
  const text = readText(validation, tree)
  if (text === undefined) return undefined
  const { domain, path, version } = partsOf(text)
  const [, tag, digest] = VERSION.exec(version) ?? []
  if (text.length > REFERENCE_MAX || IMAGE_ID.test(text) || !PATH.test(path) || !VERSION.test(version)) {
    return wrong(validation, tree, 'the name of an image, as ghcr.io/owner/app:1.2')
  }
  if (!DOMAIN.test(domain) || PRIVATE_DOMAIN.test(domain)) {
    const detail = `${shown(tree)} names a registry that not everybody can reach.`
    return validation.refuse(tree, 'image', detail, 'Use a public registry, or build the image from the upload.')
  }
  if (digest === undefined && (tag ?? 'latest') === 'latest') {
    validation.warn(tree, 'image', 'The tag latest means another image tomorrow.', 'Name a version or a digest.')
  }
  return `${domain}/${path}${digest === undefined || tag !== undefined ? `:${tag ?? 'latest'}` : ''}${digest ? `@${digest}` : ''}`
}
