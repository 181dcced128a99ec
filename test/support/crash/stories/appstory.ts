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
  /** The ids of its containers on the host. */
  containers(): string[]
  /** The whole configuration of the host's proxy. */
  proxy(): string
  /** A new database knows the host's key, and the host knows nothing of those before. */
  fresh(databaseUrl: string): Promise<void>
  /** Takes the resource away, whatever its controllers think of it. */
  clear(): Promise<void>
  end(): Promise<void>
}

const docker = (...args: string[]): string[] =>
  execFileSync('docker', args, {
    encoding: 'utf8',
    env: { ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}` },
  })
    .split('\n')
    .filter(Boolean)

const apiVersion = 'bottega.dev/v1alpha1'

/**
 * The account `demo`, which may deploy, and the host, approved.
 * @param name of the resource  @param slug of the app
 */
export const openAppPlace = async (
  host: AppHost,
  { name, slug }: { name: string; slug: string },
): Promise<AppPlace> => {
  await host.prepareBuilds()
  const namespace = await makeNamespace()
  const kubectl = (args: string[], input?: unknown) =>
    kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
  const account = { email: 'owner@demo.test', name: 'Demo', plan: 'team', capabilities: ['app.deploy'] }
  await kubectl(['apply', '-f', '-'], { apiVersion, kind: 'Account', metadata: { name: 'demo' }, spec: account })
  // an administrator may register a host as approved
  await kubectl(['apply', '-f', '-'], { apiVersion, kind: 'Host', metadata: { name: HOST_NAME }, spec: host.spec })
  const labelled = ['-q', '--filter', `label=dev.bottega.app=${slug}`]
  const containers = () => docker('ps', '-a', '--no-trunc', ...labelled)
  const object = async (): Promise<AppResource | undefined> => {
    const text = await kubectl(['get', 'bapp', name, '-o', 'json', '--ignore-not-found'])
    return text === '' ? undefined : JSON.parse(text)
  }
  /** Nothing of an earlier life: its database, which the host's fence goes by, is gone too. */
  const clearHost = async () => {
    const [ids, networks] = [containers(), docker('network', 'ls', ...labelled)]
    if (ids.length > 0) docker('rm', '-f', ...ids)
    if (networks.length > 0) docker('network', 'rm', ...networks)
    await host.forget()
  }
  return {
    ...{ namespace, kubectl, object, containers },
    proxy: () =>
      execFileSync('curl', ['-sS', '--unix-socket', host.admin, 'http://localhost:2019/config/'], { encoding: 'utf8' }),
    fresh: async (url) => {
      await clearHost()
      const pg = makePg({ url, max: 1 })
      await makeCredentials({ pg, keys }).put(HOST_NAME, host.spec.credentialVersion, host.privateKey)
      await pg.close()
    },
    clear: async () => {
      const lift = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}']
      if (await object()) await kubectl(['patch', 'bapp', name, ...lift])
      await kubectl(['delete', 'bapp', name, '--ignore-not-found'])
    },
    end: async () => {
      await clearHost()
      await namespace.remove()
    },
  }
}
