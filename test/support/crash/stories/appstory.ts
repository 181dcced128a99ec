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
  /** Names and versions of all apps in the namespace. */
  versions(): Promise<string>
  /** The ids of its containers. @param at the first host when left out */
  containers(at?: AppHost): string[]
  /** The whole configuration of a proxy. */
  proxy(at?: AppHost): string
  /** A new database knows the host's key, and the host knows nothing of those before. */
  fresh(databaseUrl: string): Promise<void>
  /** Takes all apps away, whatever their controllers think of it. */
  clear(): Promise<void>
  end(): Promise<void>
}

const dockerAt = ({ dockerSocket }: AppHost, ...args: string[]): string[] =>
  execFileSync('docker', args, { encoding: 'utf8', env: { ...process.env, DOCKER_HOST: `unix://${dockerSocket}` } })
    .split('\n')
    .filter(Boolean)

const apiVersion = 'bottega.dev/v1alpha1'

type Opening = { name: string; slug: string; others?: Record<string, AppHost>; beside?: readonly string[] }

/**
 * The account `demo`, which may deploy, and the hosts, approved: `local`, and others by their names.
 * @param name of the resource  @param slug of the app  @param beside slugs of other apps that come out of the story
 */
export const openAppPlace = async (
  host: AppHost,
  { name, slug, others = {}, beside = [] }: Opening,
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
  const clearApp = (at: AppHost, one: string): void => {
    const docker = (...args: string[]) => dockerAt(at, ...args)
    const own = ['-q', '--filter', `label=dev.bottega.app=${one}`]
    const [ids, networks] = [docker('ps', '-a', ...own), docker('network', 'ls', ...own)]
    if (ids.length > 0) docker('rm', '-f', ...ids)
    if (networks.length > 0) docker('network', 'rm', ...networks)
    const volumes = docker('volume', 'ls', '-q', '--filter', `label=com.docker.compose.project=${one}-base`)
    if (volumes.length > 0) docker('volume', 'rm', ...volumes)
  }
  /** Nothing of an earlier life: its database, which the host's fence goes by, is gone too. */
  const clearHost = async (at: AppHost) => {
    for (const one of [slug, ...beside]) clearApp(at, one)
    await at.forget()
  }
  const clearHosts = async () => {
    for (const [, one] of hosts) await clearHost(one)
  }
  const versions = () =>
    kubectl(['get', 'bapp', '-o', 'jsonpath={range .items[*]}{.metadata.name} {.metadata.resourceVersion} {end}'])
  return {
    ...{ namespace, kubectl, object, versions, containers },
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
      const all = (await kubectl(['get', 'bapp', '-o', 'name'])).split('\n').filter(Boolean)
      for (const one of all) {
        // one that was going has gone by itself
        await kubectl(['patch', one, ...lift]).catch(() => '')
        await kubectl(['delete', one, '--ignore-not-found'])
      }
    },
    end: async () => {
      await clearHosts()
      await namespace.remove()
    },
  }
}
