/** Where an app is reached: its slug under the base domain of its host. */
import type { AppSpec } from '../../schema.ts'
import type { TargetHost } from '../../world.ts'

const HTTPS_PORT = 443

/** Null on a host without a base domain. */
export const hostnameOf = (
  { slug }: Pick<AppSpec, 'slug'>,
  host: Pick<TargetHost, 'baseDomain'> | null,
): string | null => (host?.baseDomain ? `${slug}.${host.baseDomain}` : null)

export const urlOf = (
  spec: Pick<AppSpec, 'slug'>,
  host: Pick<TargetHost, 'baseDomain' | 'httpsPort'> | null,
): string | null => {
  const hostname = hostnameOf(spec, host)
  if (!host || hostname === null) return null
  return `https://${hostname}${host.httpsPort === HTTPS_PORT ? '' : `:${host.httpsPort}`}`
}
