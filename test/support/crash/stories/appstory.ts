import { execFileSync } from 'node:child_process'
import { makeCredentials } from '../../../../controllers/store/host/hosts.ts'
import { makePg } from '../../../../controllers/store/pg/pg.ts'
import type { AppResource } from '../../../../crds/app/schema.ts'
import { type AppHost, HOST_NAME } from '../../stage/host.ts'
import { kubectlFor, makeNamespace, type Namespace } from '../../stage/stage.ts'
import { keys } from '../process.ts'

/** A host and a namespace for the stories of one app, and what of it is where. */
export type AppPlace = {
  namespace: Namespace
  kubectl(args: string[]): Promise<string>
  object(): Promise<AppResource | undefined>
  /** The ids of its containers. @param at the first host when left out */
  containers(at?: AppHost): string[]
  /** The whole configuration of a proxy. */
  proxy(at?: AppHost): string
  /** A new database knows the host's key, and the host knows nothing of those before. */
  fresh(databaseUrl: string): Promise<void>
  /** Takes the resource away, whatever its controllers think of it. */
  clear(): Promise<void>
  end(): Promise<void>
}

const dockerAt = ({ dockerSocket }: AppHost, ...args: string[]): string[] =>
  execFileSync('docker', args, { encoding: 'utf8', env: { ...process.env, DOCKER_HOST: `unix://${dockerSocket}` } })
    .split('\n')
    .filter(Boolean)

const apiVersion = 'bottega.dev/v1alpha1'

/**
 * The account `demo`, which may deploy, and the hosts, approved: `local`, and others by their names.
 * @param name of the resource  @param slug of the app
 */
export const openAppPlace = async (
  host: AppHost,
  { name, slug, others = {} }: { name: string; slug: string; others?: Record<string, AppHost> },
): Promise<AppPlace> => {
  const hosts: [string, AppHost][] = [[HOST_NAME, host], ...Object.entries(others)]
  for (const [, one] of hosts) await one.prepareBuilds()
  const namespace = await makeNamespace()
  const kubectl = (args: string[], input?: unknown) =>
    kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
  const account = { email: 'owner@demo.test', name: 'Demo', plan: 'team', capabilities: ['app.deploy'] }
  await kubectl(['apply', '-f', '-'], { apiVersion, kind: 'Account', metadata: { name: 'demo' }, spec: account })
  // an administrator may register a host as approved
  for (const [called, { spec }] of hosts)
    await kubectl(['apply', '-f', '-'], { apiVersion, kind: 'Host', metadata: { name: called }, spec })
  const labelled = ['-q', '--filter', `label=dev.bottega.app=${slug}`]
  const containers = (at = host) => dockerAt(at, 'ps', '-a', '--no-trunc', ...labelled)
  const object = async (): Promise<AppResource | undefined> => {
    const text = await kubectl(['get', 'bapp', name, '-o', 'json', '--ignore-not-found'])
    return text === '' ? undefined : JSON.parse(text)
  }
  /** Nothing of an earlier life: its database, which the host's fence goes by, is gone too. */
  const clearHost = async (at: AppHost) => {
    const docker = (...args: string[]) => dockerAt(at, ...args)
    const [ids, networks] = [containers(at), docker('network', 'ls', ...labelled)]
    if (ids.length > 0) docker('rm', '-f', ...ids)
    if (networks.length > 0) docker('network', 'rm', ...networks)
    const volumes = docker('volume', 'ls', '-q', '--filter', `label=com.docker.compose.project=${slug}-base`)
    if (volumes.length > 0) docker('volume', 'rm', ...volumes)
    await at.forget()
  }
  const clearHosts = async () => {
    for (const [, one] of hosts) await clearHost(one)
  }
  return {
    ...{ namespace, kubectl, object, containers },
    proxy: ({ admin } = host) =>
      execFileSync('curl', ['-sS', '--unix-socket', admin, 'http://localhost:2019/config/'], { encoding: 'utf8' }),
    fresh: async (url) => {
      await clearHosts()
      const pg = makePg({ url, max: 1 })
      const credentials = makeCredentials({ pg, keys })
      for (const [called, { spec, privateKey }] of hosts)
        await credentials.put(called, spec.credentialVersion, privateKey)
      await pg.close()
    },
    clear: async () => {
      const lift = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}']
      if (await object()) await kubectl(['patch', 'bapp', name, ...lift])
      await kubectl(['delete', 'bapp', name, '--ignore-not-found'])
    },
    end: async () => {
      await clearHosts()
      await namespace.remove()
    },
  }
}
