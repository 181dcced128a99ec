import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { siteRoutes } from '../../../api/site/routes.ts'
import { HOST } from '../../../crds/host/kind.ts'
import { SITE } from '../../../crds/site/kind.ts'
import { siteFolder } from '../../../crds/site/publishing/route.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type Asked, askBy } from '../../support/crash/ask.ts'
import { keyNamed, type OneProcess } from '../../support/crash/process.ts'
import { makeRequests, type Request } from '../../support/crash/requests.ts'
import { applySiteCast, freshHost, handsOf } from '../../support/crash/stories/sitestory.ts'
import type { Asking, Story } from '../../support/crash/story.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppHost, HOST_NAME, startAppHost } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { visitor } from '../../support/stage/publishing.ts'
import { kubectlFor, makeNamespace, type Namespace } from '../../support/stage/stage.ts'

/**
 * What becomes of a site that is live (another edition, another name, taken down, deleted), wherever the processes die, and
 * whether or not its owner comes back: what visitors get is what is on record.
 */

const KEY = 'ce'.repeat(16)
const name = keyNamed('site', 'demo', KEY)
let namespace: Namespace
let host: AppHost

const kubectl = (args: string[]) => kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name])
const object = async () => {
  const text = await kubectl(['get', 'wsite', name, '-o', 'json', '--ignore-not-found'])
  return text === '' ? undefined : JSON.parse(text)
}

const filesOnHost = () => {
  const folder = siteFolder(host.siteRoot, name)
  return existsSync(folder) && execFileSync('find', [folder, '-printf', '%P %i %T@\n'], { encoding: 'utf8' })
}

type Stand = {
  status: string | null
  /** Of an edit beside what is live. */
  pending: string | null
  review: string | null
  title: string | null
  release: string | null
  names: string
  /** Facts in their order, with those that were refused; without what reviewers were told, which hangs on the moment. */
  facts: string
  told: string
  /** Places taken: of sites, of publishes today, in the queue. */
  places: string
}

const STAND = `
select m.view ->> 'status' as status, m.view ->> 'pending_status' as pending, m.view ->> 'review_state' as review,
  m.view -> 'content' -> 'hero' ->> 'title' as title, m.view ->> 'release' as release,
  (select coalesce(string_agg(name, ' ' order by name), '') from site_names where state <> 'quarantined') as names,
  (select coalesce(string_agg(kind || case state when 'accepted' then '' else ' ' || state end, ' ' order by seq), '')
    from facts where resource_kind = 'Site' and kind <> 'notice') as facts,
  (select coalesce(string_agg(replace(payload ->> 'type', 'website.', ''), ' ' order by id), '')
    from outbox where channel = 'event') as told,
  concat_ws(' ', (select count(*) from site_places), (select count(*) from publish_places), (select count(*) from site_queue))
    as places
from (select 1) one left join mirror m on m.kind = 'Site' and not m.archived`

const standIn = async (url: string): Promise<Stand> => (await query(url, STAND))[0] as Stand

const LIVE: Stand = {
  ...{ status: 'live', pending: null, review: 'approved', title: 'First', release: '1', names: 'first' },
  facts: 'generated home submit decision switch',
  told: 'generated submitted approved published',
  places: '1 1 0',
}

/** One more fact, of which one more event tells. */
const more = ({ facts, told }: Stand, fact: string, event: string) => ({
  facts: `${facts} ${fact}`,
  told: `${told} ${event}`,
})

const byRoutes = askBy(siteRoutes)
const say = (what: string, asked: Asked = {}) => {
  const given = { params: { id: name }, body: {}, key: what, ...asked }
  return ({ api }: OneProcess, asking: Asking) => byRoutes(api, what, given, asking)
}

/** What a visitor gets under a label: the status and the title, or nothing at all. */
const seen = async (label: string): Promise<string> => {
  const page = await visitor(host)(`${label}.${host.baseDomain}`).catch(() => null)
  if (page === null) return 'nothing'
  return `${page.status} ${/First|Second/.exec(page.text)?.[0] ?? ''}`.trim()
}
const visits =
  (...pages: readonly [label: string, page: string][]) =>
  async () => {
    for (const [label, page] of pages) assert.is(await seen(label), page, `what is served as ${label}`)
  }

spec('a site that is live, whose processes die at any call', (t) => {
  t.before(async () => {
    host = await startAppHost()
    namespace = await makeNamespace()
    await applySiteCast(namespace, host)
  })
  t.after(async () => {
    await namespace.remove()
    await host.end()
  })

  const story = (requests: readonly Request<Stand>[]): Story<unknown> => {
    const alive = ({ mirror }: OneProcess) => mirror.get(SITE, name)
    const { begin, ...played } = makeRequests({ begun: LIVE, standIn, alive, requests })
    return {
      ...played,
      options: { namespace: namespace.name, mailPort: 9 },
      prepare: async (url) => {
        begin(url)
        await freshHost(url, host)
      },
      setUp: async (process) => {
        const hands = handsOf(process)
        await eventually('the host', async () => {
          const row = await process.mirror.get(HOST, HOST_NAME)
          return row?.view.state === 'approved'
        })
        const { id } = await hands.generate(KEY)
        await hands.choose(id, 'first')
        await hands.approve(id)
        await hands.publish(id)
      },
      fingerprint: async (url) => [
        (await object())?.metadata.resourceVersion,
        await query(url, 'select max(xmin::text::bigint) as facts from facts'),
        await query(url, 'select id, hostnames from host_routes'),
        filesOnHost(),
      ],
      // The Host says of itself what it serves by now; that is its own business.
      mayDo:
        /^(get|list|ssh inspect|ssh site-look|tls|admin GET) ?|^patch .*\/hosts\/local\/status$|^sql (mirror_|observe_|host_credential$|host_routes$|get_blob$|turn_outbox|take_epoch|put_mirror)/,
      looked: /^sql (observe_sites|mirror_unknown)/,
      clear: async () => {
        if ((await object()) === undefined) return
        await kubectl(['patch', 'wsite', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}'])
        await kubectl(['delete', 'wsite', name, '--ignore-not-found', '--wait=false'])
      },
    }
  }

  const reviewer = { account: 'reviewer', profile: { role: 'reviewer' } }

  sweep(t, { what: 'its second edition is live once', callsMin: 40, points: 1 }, () =>
    story([
      {
        what: 'another title',
        ask: say('POST /api/website/:id/update', { body: { content: { hero: { title: 'Second' } } } }),
        leaves: () => ({ pending: 'draft', review: 'draft', title: 'Second' }),
        look: visits(['first', '200 First']),
      },
      {
        what: 'the submission',
        ask: say('POST /api/website/:id/submit-review'),
        leaves: (before) => ({ pending: 'in_review', review: 'in_review', ...more(before, 'submit', 'submitted') }),
        look: visits(['first', '200 First']),
      },
      {
        what: 'the decision',
        ask: say('POST /api/website/:id/decision', { ...reviewer, body: { decision: 'approve' } }),
        leaves: (before) => ({ pending: 'approved', review: 'approved', ...more(before, 'decision', 'approved') }),
        look: visits(['first', '200 First']),
      },
      {
        what: 'the publish',
        ask: say('POST /api/website/:id/publish'),
        leaves: (before) => ({ pending: null, release: '2', places: '1 2 0', ...more(before, 'switch', 'published') }),
        look: visits(['first', '200 Second']),
      },
    ]),
  )

  sweep(t, { what: 'it has its new name once, and the old one leads there', callsMin: 20, points: 1 }, () =>
    story([
      {
        what: 'another name',
        ask: say('PUT /api/website/:id/domain', { body: { subdomain: 'second' } }),
        leaves: () => ({ pending: 'approved', names: 'first second' }),
        look: visits(['first', '200 First'], ['second', 'nothing']),
      },
      {
        what: 'the publish under it',
        ask: say('POST /api/website/:id/publish'),
        leaves: (before) => ({
          ...{ pending: null, release: '2', names: 'first second', places: '1 2 0' },
          ...more(before, 'switch', 'published'),
        }),
        look: visits(['first', '308'], ['second', '200 First']),
      },
    ]),
  )

  sweep(t, { what: 'it is taken down once, and gone once', callsMin: 20, points: 1 }, () =>
    story([
      {
        what: 'the end of what is live',
        ask: say('POST /api/website/:id/unpublish'),
        leaves: (before) => ({ status: 'unpublished', release: null, ...more(before, 'switch', 'unpublished') }),
        look: visits(['first', '410']),
      },
      {
        what: 'the deletion',
        ask: say('DELETE /api/website/:id'),
        leaves: (before) => ({
          ...{ status: null, review: null, title: null, names: '', places: '0 1 0' },
          facts: `${before.facts} removed`,
        }),
        repeated: 'NOT_FOUND',
        look: async () => {
          await visits(['first', 'nothing'])()
          assert.is(filesOnHost(), false, 'its files are gone')
        },
      },
    ]),
  )
})
