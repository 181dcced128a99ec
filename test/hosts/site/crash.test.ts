import { execFileSync } from 'node:child_process'
import { HOST } from '../../../crds/host/kind.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { siteFolder } from '../../../crds/site/publishing/route.ts'
import type { SiteView } from '../../../crds/site/view.ts'
import { startMailCatcher } from '../../../hack/commands/mailcatcher.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { keyNamed } from '../../support/crash/process.ts'
import { applySiteCast, freshHost, handsOf } from '../../support/crash/stories/sitestory.ts'
import { live, type Story } from '../../support/crash/story.ts'
import { sweeps } from '../../support/crash/sweep.ts'
import { viewIn } from '../../support/judges/viewin.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, HOST_NAME, startAppHost } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { visitor } from '../../support/stage/publishing.ts'
import { kubectlFor, makeNamespace, type Namespace, scratchFolder } from '../../support/stage/stage.ts'

/**
 * Generate, submit, approve, publish, killed at every API call, statement, command and admin call: one site, one approval,
 * one release that visitors get, each event once, one place under each cap, and nothing left to do.
 */

const KEY = 'cd'.repeat(16)
const name = keyNamed('site', 'demo', KEY)
let namespace: Namespace
let host: AppHost
let catcher: { port: number; stop(): Promise<void> }

const kubectl = (args: string[]) => kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name])
const object = async () => {
  const text = await kubectl(['get', 'wsite', name, '-o', 'json', '--ignore-not-found'])
  return text === '' ? undefined : JSON.parse(text)
}
const isReady = async () =>
  (await object())?.status?.conditions?.some(
    (one: { type: string; status: string }) => one.type === 'Ready' && one.status === 'True',
  ) ?? false
const view = (url: string) => viewIn(url, SITE)
const filesOnHost = () =>
  execFileSync('find', [siteFolder(host.siteRoot, name), '-printf', '%P %i %T@\n'], { encoding: 'utf8' })

const EVENTS = ['website.approved', 'website.generated', 'website.published', 'website.submitted']

const story = (): Story<SiteView> => ({
  options: { namespace: namespace.name, mailPort: catcher.port },
  prepare: (url) => freshHost(url, host),
  async play(process) {
    const hands = handsOf(process)
    await eventually('the host', async () => {
      const row = await process.mirror.get(HOST, HOST_NAME)
      return row?.view.state === 'approved'
    })
    const { id } = await hands.generate(KEY)
    await hands.choose(id, 'swept')
    await hands.approve(id)
    return hands.publish(id)
  },
  isSettled: async (url) => (await view(url))?.status === 'live' && (await isReady()),
  async look(url, played) {
    assert.equal([played.status, played.release], ['live', 1])
    const facts = await query(
      url,
      'select kind, state, count(*)::int as count from facts where resource = $1 group by 1, 2',
      [name],
    )
    const counted = Object.fromEntries(facts.map(({ kind, state, count }) => [`${kind} ${state}`, count]))
    // reviewers are told once, or not at all of what was decided before anybody came to it
    const { 'notice accepted': notices, ...others } = counted
    assert.ok(notices === undefined || notices === 1, `told ${notices} times`)
    assert.equal(others, {
      'decision accepted': 1,
      'generated accepted': 1,
      'home accepted': 1,
      'submit accepted': 1,
      'switch accepted': 1,
    })
    const events = await query(url, "select payload ->> 'type' as type from outbox where channel = 'event' order by 1")
    assert.equal(
      events.map(({ type }) => type),
      EVENTS,
    )
    const text = `select (select count(*) from site_places)::int as sites, (select count(*) from publish_places)::int as publishes,
      (select count(*) from site_queue)::int as queued, (select count(*) from site_names)::int as names`
    assert.equal(await query(url, text), [{ sites: 1, publishes: 1, queued: 0, names: 1 }])
    const page = await visitor(host)(`swept.${host.baseDomain}`)
    assert.equal([page.status, /First/.test(page.text)], [200, true])
  },
  fingerprint: async (url) => [
    (await object())?.metadata.resourceVersion,
    await query(url, 'select max(xmin::text::bigint) as facts from facts'),
    filesOnHost(),
  ],
  // The Host says of itself what it serves by now; that is its own business.
  mayDo:
    /^(get|list|ssh inspect|ssh site-look|tls|admin GET) ?|^patch .*\/hosts\/local\/status$|^sql (mirror_|observe_|host_credential$|host_routes$|get_blob$|turn_outbox|take_epoch|put_mirror)/,
  looked: /^sql observe_sites/,
  clear: async () => {
    if ((await object()) === undefined) return
    await kubectl(['patch', 'wsite', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
    await kubectl(['delete', 'wsite', name, '--ignore-not-found', '--wait=false'])
  },
  deathsMin: 80,
  every: 52,
})

spec('a process that dies at any call of publishing a site', (t) => {
  t.before(async () => {
    host = await startAppHost()
    namespace = await makeNamespace()
    catcher = await startMailCatcher({ dir: scratchFolder('site-crash'), port: 0 })
    await applySiteCast(namespace, host)
  })
  t.after(async () => {
    await catcher.stop()
    await namespace.remove()
    await host.end()
  })

  t(
    'without a crash, each effect happens once',
    async () => {
      const { calls } = await live(story())
      const count = (what: string) => calls.filter((call) => call === what).length
      assert.equal(
        ['ssh site-missing', 'ssh site-store', 'ssh site-switch', 'sql put_site_rendering'].map(count),
        // rendered without its name first, then with it
        [1, 1, 1, 2],
      )
      assert.is(calls.filter((call) => /^create .*sites/.test(call)).length, 1)
      console.log(`  ${calls.length} calls`)
    },
    { timeoutMs: 120_000 },
  )

  sweeps(t, 'one site, one approval, one release, each event once', story)
})
