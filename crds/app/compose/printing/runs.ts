/**
 * The file as it runs, for people to read beside the one that they sent: every service with all that holds for it. Values of the
 * app's env and of env files stand by their names, and the texts of secrets not at all (rules/app.md#plan-of-a-deploy).
 */
import { makeRedact } from '../../lifecycle/redact.ts'
import type { ComposeService, Mount, Project } from '../project.ts'
import { yamlOf } from '../reading/parse.ts'
import { present } from '../reading/read.ts'
import type { ValidationContext } from '../reading/validation.ts'
import { type Json, serviceBody } from './print.ts'

const HEAD = '# As it runs. The file that was sent is not handed on to Docker.\n'

const volumeOf = (mount: Mount): Json[] => {
  const { target } = mount
  switch (mount.type) {
    case 'volume':
      return [{ type: 'volume', source: mount.source, target, read_only: mount.readOnly }]
    case 'anonymous':
      return [{ type: 'volume', target }]
    case 'bind':
      return [{ type: 'bind', source: mount.source === '.' ? '.' : `./${mount.source}`, target, read_only: true }]
    case 'text':
      return [{ type: 'bind', source: './sealed', target, read_only: true }]
    case 'tmpfs':
      return []
    default:
      return mount satisfies never
  }
}

/** `literal` of print.ts taken back: here a dollar sign is one. */
const undoubled = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replaceAll('$$', '$')
  if (Array.isArray(value)) return value.map(undoubled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, undoubled(inner)]))
}

const serviceOf = (service: ComposeService, environment: Record<string, string>): Json => {
  const { build, networks, ports, mounts, dependsOn } = service
  const volumes = mounts.flatMap(volumeOf)
  const body = undoubled(serviceBody(service, 'release')) as Json
  return present({
    ...body,
    build: build ? present({ ...build, args: Object.keys(build.args).length > 0 ? build.args : undefined }) : undefined,
    environment: Object.keys(environment).length > 0 ? environment : undefined,
    depends_on: Object.keys(dependsOn).length > 0 ? dependsOn : undefined,
    networks: Object.fromEntries(Object.entries(networks).map(([name, aliases]) => [name, { aliases }])),
    expose: ports.length > 0 ? ports.map(String) : undefined,
    volumes: volumes.length > 0 ? volumes : undefined,
  })
}

/** Each text that came out of variables as it stands in the file; what was put together out of one is blackened. */
const shownAs = (written: ReadonlyMap<string, string>, redact: (text: string) => string) => {
  const show = (value: unknown): unknown => {
    if (typeof value === 'string') return written.get(value) ?? redact(value)
    if (Array.isArray(value)) return value.map(show)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [redact(name), show(inner)]))
  }
  return show
}

/** @param shown by service: its environment as it may be shown */
export const printRuns = (
  { written, env, deployTarget }: ValidationContext,
  project: Project,
  shown: ReadonlyMap<string, Record<string, string>>,
): string => {
  const used = [...env.used].flatMap((name) =>
    Object.hasOwn(deployTarget.env, name) ? [deployTarget.env[name] ?? ''] : [],
  )
  const show = shownAs(written, makeRedact(used))
  const { slug, services, networks, volumes, route, replicas = 1 } = project
  const runs = {
    name: slug,
    'x-bottega-route': route,
    services: Object.fromEntries(
      services.map((service) => {
        const { environment, ...rest } = serviceOf(service, shown.get(service.name) ?? {})
        const deploy = service.name === route.service && replicas > 1 ? { replicas } : undefined
        return [service.name, { ...(show(rest) as Json), ...present({ environment, deploy }) }]
      }),
    ),
    networks: show(Object.fromEntries(networks.map(({ name, internal }) => [name, { internal }]))),
    ...(volumes.length > 0 && { volumes: show(Object.fromEntries(volumes.map((name) => [name, {}]))) }),
  }
  return `${HEAD}${yamlOf(runs)}`
}
