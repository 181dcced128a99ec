import { execFileSync } from 'node:child_process'
import { approveHost, createHost } from '../../../api/host/change.ts'
import type { Answer, ApiRequest } from '../../../api/http/route.ts'
import { HOST } from '../../../crds/host/kind.ts'
import type { HostResource } from '../../../crds/host/plan.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { keyNamed } from '../../support/crash/process.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweeps } from '../../support/crash/sweep.ts'
import { viewIn } from '../../support/judges/viewin.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, startAppHost } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { kubectlFor, makeNamespace, type Namespace, scratchFolder } from '../../support/stage/stage.ts'

/**
 * Registering a host up to Ready, killed at every API call, statement, command and admin call: one host, approved, with
 * one sealed key, its proxy configured, and nothing left to do.
 */

const KEY = 'ab'.repeat(16)
const name = keyNamed('host', 'demo', KEY)
let namespace: Namespace
let host: AppHost
let catcher: { port: number; stop(): Promise<void> }

const kubectl = (args: string[]) => kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name])
const object = async (): Promise<HostResource | undefined> => {
  const text = await kubectl(['get', 'bhost', name, '-o', 'json', '--ignore-not-found'])
  return text === '' ? undefined : JSON.parse(text)
}
const isReady = (found: HostResource | undefined) =>
  found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
const view = (url: string) => viewIn(url, HOST)
const proxy = () =>
  execFileSync('curl', ['-sS', '--unix-socket', host.admin, 'http://localhost:2019/config/'], { encoding: 'utf8' })

const requestOf = (more: Partial<ApiRequest>) =>
  ({
    caller: { account: 'demo', profile: { plan: 'team', role: 'admin', capabilities: ['app.deploy'] } },
    headers: {},
    idempotencyKey: KEY,
    requestId: 'one',
    route: { method: 'POST', scope: { kind: 'token' } },
    url: '/api/apps/hosts',
    ...more,
  }) as unknown as ApiRequest

const body = () => ({
  name: 'Swept',
  class: 'shared',
  address: '127.0.0.1',
  port: host.sshPort,
  user: host.user,
  host_key: host.hostKey,
  private_key: host.privateKey,
  base_domain: host.baseDomain,
  proxy: { admin: host.admin, bind: '127.0.0.1', http_port: host.httpPort, https_port: host.httpsPort },
})

const story = (): Story<Answer> => ({
  options: { namespace: namespace.name, mailPort: catcher.port },
  prepare: () => host.forget(),
  async play({ api, mirror }) {
    const { body: made } = await createHost(api, requestOf({ body: body() }))
    const { id } = (made as { host: { id: string } }).host
    const inspected = await eventually('an inspection', async () => {
      const row = await mirror.get(HOST, id)
      return row?.view.state === 'inspected' || row?.view.approved
    })
    assert.ok(inspected)
    return approveHost(api, requestOf({ params: { id }, body: {} }))
  },
  isSettled: async (url) => isReady(await object()) && (await view(url))?.state === 'approved',
  async look(url, answer) {
    assert.ok(answer.status === 200 || answer.status === 202, `answered ${answer.status}`)
    assert.equal(await query(url, 'select host, version from host_credentials'), [{ host: name, version: 1 }])
    const shown = await view(url)
    assert.equal([shown?.state, shown?.approved, shown?.inspection?.ok], ['approved', true, true])
    const { apps } = JSON.parse(proxy())
    assert.equal(Object.keys(apps.http.servers).sort(), ['bottega', 'bottega-redirects'])
    assert.is((await object())?.spec.approved, true)
  },
  fingerprint: async (url) => [
    (await object())?.metadata.resourceVersion,
    await query(url, 'select max(xmin::text::bigint) as mirror from mirror'),
    proxy(),
  ],
  mayDo:
    /^(get|list|ssh inspect|admin GET) ?|^sql (mirror_|observe_|host_credential$|host_routes$|turn_outbox|take_epoch|put_mirror)/,
  looked: /^ssh inspect/,
  clear: async () => void (await kubectl(['delete', 'bhost', name, '--ignore-not-found'])),
  deathsMin: 25,
  every: 30,
})

spec('a process that dies at any call of registering a host', (t) => {
  t.before(async () => {
    host = await startAppHost()
    namespace = await makeNamespace()
    catcher = await startMailCatcher({ dir: scratchFolder('host-crash'), port: 0 })
    await kubectlFor(namespace.kubeconfig)(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: { email: 'owner@demo.test', name: 'Demo', plan: 'team', role: 'admin' },
    })
  })
  t.after(async () => {
    await catcher.stop()
    await namespace.remove()
    await host.end()
  })

  t(
    'without a crash, it is made, approved and configured once',
    async () => {
      const { calls } = await live(story())
      const count = (what: RegExp) => calls.filter((call) => what.test(call)).length
      assert.is(count(/^create .*hosts/), 1)
      assert.is(count(/^admin POST \/load$/), 1)
      assert.ok(count(/^ssh inspect$/) >= 2)
    },
    { timeoutMs: 120_000 },
  )

  sweeps(t, 'one host, approved, configured', story)
})
