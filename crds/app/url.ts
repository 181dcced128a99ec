/** Where an app is reached: its slug under the base domain of its host. */
import type { AppSpec } from './schema.ts'
import type { HostGround } from './world.ts'

const HTTPS_PORT = 443

export const hostnameOf = ({ slug }: Pick<AppSpec, 'slug'>, { baseDomain }: Pick<HostGround, 'baseDomain'>): string =>
  `${slug}.${baseDomain}`

export const urlOf = (
  spec: Pick<AppSpec, 'slug'>,
  host: Pick<HostGround, 'baseDomain' | 'httpsPort'> | null,
): string | null => {
  if (!host) return null
  const port = host.httpsPort === HTTPS_PORT ? '' : `:${host.httpsPort}`
  return `https://${hostnameOf(spec, host)}${port}`
}
