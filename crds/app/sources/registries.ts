/** Registries that an account has logins for (rules/app.md#registries). */
import { BUILT_HERE, isPublicImage } from '../compose/checking/image.ts'

/** Docker Hub, by what Docker and BuildKit look its login up under. */
const DOCKER_HUB = 'docker.io'
const DOCKER_HUB_KEY = 'https://index.docker.io/v1/'

export const REGISTRY_MAX_CHARS = 200

/** The registry of an image that is written out in full. */
export const registryOf = (image: string): string => image.slice(0, image.indexOf('/'))

/** A registry as images name it; null for what no image may name. `index.docker.io` is `docker.io`. */
export const registryNamed = (written: string): string | null => {
  const host = written === `index.${DOCKER_HUB}` ? DOCKER_HUB : written
  if (host.length > REGISTRY_MAX_CHARS || !/^[a-z0-9.:-]+$/.test(host) || host === BUILT_HERE) return null
  return host.includes('.') && isPublicImage(`${host}/x`) ? host : null
}

type Login = { host: string; username: string; password: string }

/** The configuration of Docker's clients that opens these registries, as one line; '' for none. */
export const dockerConfig = (logins: readonly Login[]): string => {
  if (logins.length === 0) return ''
  const auths = logins.map(({ host, username, password }) => [
    host === DOCKER_HUB ? DOCKER_HUB_KEY : host,
    { auth: Buffer.from(`${username}:${password}`, 'utf8').toString('base64') },
  ])
  return JSON.stringify({ auths: Object.fromEntries(auths) })
}
