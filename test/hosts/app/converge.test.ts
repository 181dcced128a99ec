import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createApp } from '../../../api/app/create.ts'
import { deployApp } from '../../../api/app/deploy.ts'
import type { Answer, ApiRequest } from '../../../api/http/route.ts'
import { makeCredentials } from '../../../controllers/store/host/hosts.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import type { AppResource } from '../../../crds/app/schema.ts'
import { HOST } from '../../../crds/host/kind.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { keyNamed, serverKey } from '../../support/crash/process.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweeps } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { bodyOf, project } from '../../support/stage/apps.ts'
import { type AppHost, startAppHost } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { kubectlFor, makeNamespace, type Namespace, scratchFolder } from '../../support/stage/stage.ts'

/**
 * A first deploy, killed at every API call, statement, command and admin call: one release, one set of containers, one
 * route, one event, and nothing left to do.
 */

const KEY = 'cd'.repeat(16)
const name = keyNamed('app', 'demo', KEY)
const sent = project('swept')
let namespace: Namespace
let host: AppHost
let catcher: { port: number; stop(): Promise<void> }

const kubectl = (args: string[], input?: unknown) =>
  kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
const docker = (...args: string[]): string =>
  execFileSync('docker', args, {
    encoding: 'utf8',
    env: { ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}` },
  }).trim()
const containers = () => docker('ps', '-aq', '--no-trunc', '--filter', 'label=dev.bottega.app=swept')
const proxy = () =>
  execFileSync('curl', ['-sS', '--unix-socket', host.admin, 'http://localhost:2019/config/'], { encoding: 'utf8' })

const object = async (): Promise<AppResource | undefined> => {
  const text = await kubectl(['get', 'bapp', name, '-o', 'json', '--ignore-not-found'])
  return text === '' ? undefined : JSON.parse(text)
}
const isReady = (found: AppResource | undefined) =>
  found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false

const requestOf = (more: Partial<ApiRequest>) =>
  ({
    caller: { account: 'demo', profile: { plan: 'team', role: 'member', capabilities: ['app.deploy'] } },
    headers: { 'content-type': 'application/json' },
    query: {},
    idempotencyKey: KEY,
    requestId: 'one',
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/apps',
    ...more,
  }) as unknown as ApiRequest

const operations = (url: string) => query(url, 'select state, release from app_operations')
const releases = (url: string) => query(url, 'select number, state, address from app_releases')

/** Nothing of an earlier life: its database, which the host's fence goes by, is gone too. */
const clearHost = async () => {
  const ids = containers().split('\n').filter(Boolean)
  if (ids.length > 0) docker('rm', '-f', ...ids)
  const networks = docker('network', 'ls', '-q', '--filter', 'label=dev.bottega.app=swept').split('\n').filter(Boolean)
  if (networks.length > 0) docker('network', 'rm', ...networks)
  await host.forget()
}

const story = (): Story<Answer> => ({
  options: { namespace: namespace.name, mailPort: catcher.port },
  prepare: async (url) => {
    await clearHost()
    const pg = makePg({ url, max: 1 })
    await makeCredentials({ pg, serverKey }).put('local', 1, host.privateKey)
    await pg.close()
  },
  async play({ api, mirror }) {
    const inspected = async () => (await mirror.get(HOST, 'local'))?.view.inspection?.ok
    await eventually('the host', inspected, 60_000)
    await createApp(api, requestOf({ body: { slug: 'swept', host_id: 'local', application_policy: 'none' } }))
    const form = Buffer.from(JSON.stringify(bodyOf(sent)))
    return deployApp(api, requestOf({ params: { id: name }, form }))
  },
  isSettled: async (url) => (await operations(url))[0]?.state === 'succeeded' && isReady(await object()),
  async look(url, answer) {
    assert.is(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(await operations(url), [{ state: 'succeeded', release: 1 }])
    const [release, ...more] = await releases(url)
    assert.equal([release?.number, release?.state, more], [1, 'live', []])
    assert.is(containers().split('\n').length, 1, 'one container')
    const { routes } = JSON.parse(proxy()).apps.http.servers.bottega
    const served = routes.filter((route: { match?: unknown }) => route.match)
    assert.is(served.length, 1, 'one route')
    const dialFile = /"dial":"\{file\.([^}]*)\}"/.exec(JSON.stringify(served))?.[1]
    assert.is(readFileSync(dialFile ?? '', 'utf8'), release?.address)
    const told = await query(url, `select payload ->> 'type' as type from outbox where channel = 'event'`)
    assert.equal(told, [{ type: 'app.released' }])
  },
  fingerprint: async (url) => [
    (await object())?.metadata.resourceVersion,
    await query(url, 'select max(xmin::text::bigint) as operations from app_operations'),
    proxy(),
    containers(),
  ],
  // What the host itself says of its disk and its certificates is its own.
  mayDo:
    /^patch .*\/hosts\/local\/status$|^(get|list|ssh (inspect|app-look|app-logs|job)|admin GET) ?|^sql (mirror_|observe_|host_credential$|host_routes?$|turn_outbox|take_epoch|put_mirror)/,
  looked: /^sql observe_app$/,
  clear: async () => {
    const lift = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}']
    if (await object()) await kubectl(['patch', 'bapp', name, ...lift])
    await kubectl(['delete', 'bapp', name, '--ignore-not-found'])
  },
  deathsMin: 40,
  every: 31,
})

/** An administrator may register a host as approved. */
const registerHost = () =>
  kubectl(['apply', '-f', '-'], {
    apiVersion: 'bottega.dev/v1alpha1',
    kind: 'Host',
    metadata: { name: 'local' },
    spec: host.spec,
  })

spec('a process that dies at any call of a deploy', (t) => {
  t.before(async () => {
    host = await startAppHost()
    namespace = await makeNamespace()
    catcher = await startMailCatcher({ dir: scratchFolder('app-converge'), port: 0 })
    await kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: { email: 'owner@demo.test', name: 'Demo', plan: 'team', capabilities: ['app.deploy'] },
    })
    await registerHost()
  })
  t.after(async () => {
    await clearHost()
    await catcher.stop()
    await namespace.remove()
    await host.end()
  })

  t(
    'without a crash, it is released once',
    async () => {
      const { calls } = await live(story())
      const count = (what: RegExp) => calls.filter((call) => what.test(call)).length
      assert.is(count(/^create .*apps/), 1)
      assert.is(count(/^sql app_operation_switched$/), 1)
      assert.is(count(/^sql app_operation_claimed$/), 1)
    },
    { timeoutMs: 120_000 },
  )

  sweeps(t, 'one release, one container, one route', story)
})
