import { devInstanceRoutes } from '../../../api/devinstance/routes.ts'
import type { DevInstanceResource } from '../../../crds/devinstance/plan.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import type { OneProcess } from '../../support/crash/process.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweepAlone, sweeps } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { makeDemoNamespace } from '../../support/stage/demo.ts'
import { cloud, finalizeBody, reservation } from '../../support/stage/devinstances.ts'
import type { Json } from '../../support/stage/invoicing.ts'
import { kubectlFor, type Namespace, scratchFolder } from '../../support/stage/stage.ts'

/** Reserve, launch, token, finalize, start, stop, resize: killed at every call, each confirmation sent again under its key. */

const folder = scratchFolder('devinstance-converge')
const of = cloud()
const ask = reservation({ agents: [] })
let namespace: Namespace
let catcher: { port: number; stop(): Promise<void> }

const profile = { plan: 'team', role: 'member', capabilities: ['devbox.manage'], teams: [], cost_cap_usd: 100 }
const routeOf = (method: string, path: string) => {
  const route = devInstanceRoutes.find((one) => one.method === method && one.path === path)
  if (!route) throw new Error(`${method} ${path} is no route`)
  return route
}

/** One call as the stages before the handler would pass it on; the key of an intent is the same in each life. */
const say = async (process: OneProcess, word: string, { id = '', body = {} }: { id?: string; body?: object }) => {
  const path = word === '' ? '/api/devboxes' : `/api/devboxes/:id/${word}`
  const request = {
    caller: { account: 'demo', by: { kind: 'token', id: 't' }, scopes: null, profile },
    params: { id },
    query: {},
    body,
    headers: {},
    idempotencyKey: Buffer.from(`the story of ${word} and what follows, 32 bytes`).toString('hex').slice(0, 64),
  }
  const answer = await routeOf('POST', path).handle(process.api, request as never)
  if (answer.status !== 200 && answer.status !== 201) throw new Error(`${word} answered ${answer.status}`)
  return (answer.body as { devbox: Json }).devbox
}

/** The versions are those of the story: a repeat brings the version that the first call brought. */
const play = async (process: OneProcess): Promise<Json> => {
  const devbox = await say(process, '', { body: ask })
  const { id } = devbox
  await say(process, 'provisioning', { id, body: { instanceId: of.instanceId } })
  await say(process, 'token', { id })
  await say(process, 'finalize', { id, body: finalizeBody({ ...devbox, instanceId: of.instanceId }, of) })
  await say(process, 'started', { id, body: { version: 4 } })
  await say(process, 'stopped', { id, body: { version: 5 } })
  await say(process, 'resizing', { id, body: { version: 6, sizeClass: 'S' } })
  const resized = { version: 7, sizeClass: 'S', diskGb: 50, verifiedDf: '50G', state: 'stopped' }
  return say(process, 'resized', { id, body: resized })
}

const object = async (): Promise<DevInstanceResource | undefined> => {
  const text = await kubectlFor(namespace.kubeconfig)(['get', 'dbx', '-n', namespace.name, '-o', 'json'])
  return (JSON.parse(text) as { items: DevInstanceResource[] }).items[0]
}

const KINDS = ['reserved', 'provisioning', 'configuring', 'ready', 'started', 'stopped', 'resizing', 'resized']

const lookedAt = async (url: string, devbox: Json) => {
  assert.equal([devbox.state, devbox.version, devbox.sizeClass], ['stopped', 8, 'S'])
  const history = await query(url, 'select kind from devbox_history order by n')
  assert.equal(
    history.map(({ kind }) => kind),
    KINDS,
    'each once, in their order',
  )
  const rows = await query(url, 'select committed_micro_usd::int as committed from devboxes')
  assert.equal(rows, [{ committed: 56_706_000 }], 'one row, at the new price')
  const addresses = await query(url, 'select allocation_id from devbox_addresses where released_at is null')
  assert.equal(addresses, [{ allocation_id: of.eipAllocId }])
  const told = await query(url, "select count(*)::int as count from outbox where channel = 'event'")
  assert.equal(told, [{ count: KINDS.length }], 'one event for each change of state')
  assert.is((await query(url, "select 1 from facts where state = 'pending'")).length, 0)
}

const MAY_DO = /^(get|list) |^sql (mirror_|observe_|turn_outbox|take_epoch|put_mirror|find_)/

const story = (): Story<Json> => ({
  options: { namespace: namespace.name, mailPort: catcher.port },
  play,
  isSettled: async (url) => {
    const status = (await object())?.status
    const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True')
    const [row] = await query(
      url,
      "select view -> 'box' ->> 'version' as version from mirror where kind = 'DevInstance'",
    )
    return isReady === true && status?.version === 8 && row?.version === '8'
  },
  look: lookedAt,
  alone: async (url) => {
    const kinds = (await query(url, 'select kind from devbox_history order by n')).map(({ kind }) => kind)
    assert.equal(kinds, KINDS.slice(0, kinds.length), 'each once, in their order')
    assert.is((await query(url, "select 1 from outbox where channel = 'event'")).length, kinds.length)
    return `up to ${kinds.at(-1) ?? 'nothing'}`
  },
  fingerprint: async (url) => [
    (await object())?.metadata.resourceVersion,
    await query(
      url,
      'select (select max(xmin::text::bigint) from mirror) as mirror, (select max(rev) from devboxes) as rev',
    ),
  ],
  mayDo: MAY_DO,
  looked: /^sql observe_devboxes/,
  clear: async () => {
    const kubectl = kubectlFor(namespace.kubeconfig)
    const name = (await object())?.metadata.name
    if (name === undefined) return
    const lift = ['--type=merge', '-p', '{"metadata":{"finalizers":null}}']
    await kubectl(['patch', 'dbx', name, '-n', namespace.name, ...lift])
    await kubectl(['delete', 'dbx', name, '-n', namespace.name, '--ignore-not-found'])
  },
  deathsMin: 60,
  every: 45,
})

spec('a dev instance whose operator dies at any call', (t) => {
  t.before(async () => {
    namespace = await makeDemoNamespace({ capabilities: ['devbox.manage'] })
    catcher = await startMailCatcher({ dir: folder, port: 0 })
  })
  t.after(async () => {
    await catcher.stop()
    await namespace.remove()
  })

  t(
    'without a crash, it is stopped in its new size',
    async () => {
      const { calls } = await live(story())
      assert.is(calls.filter((call) => call.startsWith('create ')).length, 1)
    },
    { timeoutMs: 90_000 },
  )
  sweeps(t, 'each step once, the cap kept', story)
  sweepAlone(t, 'each step once, the cap kept', story)
})
