import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { publishingRoutes } from '../../../../api/app/publishing/routes.ts'
import { appRoutes } from '../../../../api/app/routes.ts'
import type { Answer } from '../../../../api/http/route.ts'
import { APP } from '../../../../crds/app/kind.ts'
import { HOST } from '../../../../crds/host/kind.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert } from '../../runner/spec.ts'
import { bodyOf, type Project } from '../../stage/apps.ts'
import { type AppHost, HOST_NAME } from '../../stage/host.ts'
import { eventually } from '../../stage/invoicing.ts'
import { visitor } from '../../stage/publishing.ts'
import { type Asked, askBy, keyOf } from '../ask.ts'
import type { Life } from '../crash.ts'
import { keyNamed, type OneProcess } from '../process.ts'
import { makeRequests, type Request } from '../requests.ts'
import type { Asking, Story } from '../story.ts'
import { type AppPlace, openAppPlace } from './appstory.ts'

/** Stories of one app that is live, on a real host: what becomes of it, and what may be left of that anywhere. */

export type AppStand = {
  status: string | null
  access: string | null
  release: string | null
  /** The versions that are stored and applied. */
  env: string
  /** Those that were begun, in the order of asking. */
  operations: string
  /** Releases that were live. */
  releases: string
  /** Those of which something may still run beside the one that is live. */
  leaving: number
  /** How many run of the live release, and how many drain. */
  replicas: string
  /** Commands, in the order of asking, and whether something of one may still be on the host. */
  runs: string
  /** Backups and restores, likewise. */
  backups: string
  /** What the spec names of plans that were applied, and how many are known as applied. */
  plans: string
  /** On which hosts it is, and how. */
  places: string
  /** Rooms that it holds. */
  rooms: number
  told: string
  slugs: number
}

const STAND = `
select m.view ->> 'status' as status, m.view ->> 'access' as access, m.view -> 'release' ->> 'number' as release,
  concat_ws(' ', (select max(version) from app_env), (select env_version from app_releases where state = 'live')) as env,
  (select coalesce(string_agg(kind || ' ' || state, ', ' order by n), '') from app_operations where state <> 'queued')
    as operations,
  (select coalesce(string_agg(number || ' ' || state, ', ' order by number), '') from app_releases where live_at is not null)
    as releases,
  (select count(*)::int from app_releases where state in ('superseded', 'failed') and retired_at is null) as leaving,
  coalesce((select concat_ws(' ', coalesce(record ->> 'replicas', '1'), nullif(coalesce(jsonb_array_length(record -> 'leaving'), 0), 0))
    from app_releases where state = 'live'), '') as replicas,
  (select coalesce(string_agg(concat_ws(' ', state, exit_code, code, case when dropped_at is null then 'left' end), ', '
    order by created_at), '') from app_runs where state <> 'queued') as runs,
  (select coalesce(string_agg(concat_ws(' ', case when restores is null then 'backup' else 'restore' end, state, code,
    case when dropped_at is null then 'left' end), ', ' order by created_at), '') from app_backups where state <> 'queued') as backups,
  concat_ws(' ', case when m.view ->> 'domain_plan' is not null then 'domains' end,
    case when m.view ->> 'access_plan' is not null then 'access' end,
    (select nullif(count(*), 0) from app_plans where generation is not null)) as plans,
  concat_ws(', ', (select string_agg(host || ' ' || place, ', ' order by place, host) from app_slugs where app is not null),
    'shown at ' || (m.view ->> 'host_id'), (select 'leaving ' || string_agg(o ->> 'host_id', ' ')
      from json_array_elements(m.view -> 'left_hosts') o)) as places,
  (select count(*)::int from app_rooms) as rooms,
  (select coalesce(string_agg(payload ->> 'type', ' ' order by id), '') from outbox where channel = 'event') as told,
  (select count(*)::int from app_slugs where app is not null) as slugs
from (select 1) one left join mirror m on m.kind = 'App' and not m.archived`

export const standIn = async (url: string): Promise<AppStand> => (await query(url, STAND))[0] as AppStand

/** Of an app that lives there, and has nothing anywhere else. */
export const placeOf = (host: string): string => `${host} home, shown at ${host}`

/** Of an app of which nothing was asked since its first release. */
export const LIVE: AppStand = {
  ...{ status: 'live', access: 'public', release: '1', operations: 'deploy succeeded', releases: '1 live' },
  ...{ env: '', leaving: 0, replicas: '1', runs: '', backups: '', plans: '', places: placeOf(HOST_NAME), rooms: 1 },
  ...{ told: 'app.released', slugs: 1 },
}

/** Of an app that is gone. */
export const GONE: Partial<AppStand> = {
  ...{ status: null, access: null, release: null, env: '', operations: '', releases: '', slugs: 0 },
  ...{ replicas: '', runs: '', backups: '', plans: '', places: '', rooms: 0 },
}

const profile = { capabilities: ['app.deploy'] }

/** What the host itself says of its disk and its certificates is its own. */
const MAY_DO =
  /^patch .*\/hosts\/[a-z]+\/status$|^(get|list|ssh (inspect|app-look|app-logs|app-usage|job)|admin GET) ?|^sql (mirror_|observe_|host_credential$|host_routes?$|host_rooms$|app_names$|app_places$|app_runs$|app_episode|turn_outbox|take_epoch|put_mirror)/

/** What of an app's way leaves something behind: rows that decide, what its host and its proxy are told, and its resource. */
export const EFFECTS =
  /^(ssh (start|job (cancel|drop)|app-(switch|keeping|runs|upload|health))|admin (POST|PUT|PATCH|DELETE)|(create|patch|delete) .*\/apps\/[^/]+$|sql (app_operation_\w+|set_app_route|put_host_route|(?!observe_)\w+_app_(room|place|run|backup|plan)\w*))/

export type LiveApp = {
  place: AppPlace
  /** Calls a route of apps. @param asked.params `{ id }` of this app when left out */
  say(what: string, asked?: Asked): (process: OneProcess, asking?: Asking) => Promise<Answer>
  deploy(
    key: string,
    sent: Project,
    query?: Record<string, string>,
  ): (process: OneProcess, asking?: Asking) => Promise<Answer>
  /** What a visitor gets: the first line, or nothing at all. */
  seen(): Promise<string>
  /** Asserts what visitors get and how much runs. */
  serves(text: string, containers?: number): () => Promise<void>
  /** @param sent what is live before the first request  @param prepare is told the database of each life of the world */
  story(sent: Project, requests: readonly Request<AppStand>[], prepare?: (databaseUrl: string) => void): Story<unknown>
  /** The same of something else that is looked at. */
  storyOf<Stand extends object>(told: Told<Stand>): Story<unknown>
}

type Told<Stand> = {
  /** What is live before the first request. */
  sent: Project
  begun: Stand
  standIn(databaseUrl: string): Promise<Stand>
  requests: readonly Request<Stand>[]
  /** Is told the database of each life of the world. */
  prepare?(databaseUrl: string): void
  /** The line to the host breaks in the n-th of what it is told, from 0, and the processes live on. */
  cutAt?: number
}

/** Jobs of the host that nobody knows any more: what ran is told by its operation, and by nothing else. */
const strayJobs = async (databaseUrl: string, hosts: readonly AppHost[]): Promise<string[]> => {
  const folders = hosts.map(({ folder }) => join(folder, 'home', '.bottega', 'jobs')).filter((path) => existsSync(path))
  const text = `select o.id || '-' || step as job from app_operations o
    join app_releases r on r.app = o.app and r.number = o.release and r.retired_at is null, unnest(array['images', 'start']) step`
  const known = new Set((await query(databaseUrl, text)).map(({ job }) => job))
  return folders.flatMap((path) => readdirSync(path)).filter((name) => !known.has(name.replace(/^\.lock-/, '')))
}

const KEY = 'the app'
const NAME = keyNamed('app', 'demo', keyOf(KEY))
const byRoutes = askBy([...appRoutes, ...publishingRoutes])

const say: LiveApp['say'] =
  (what, asked = {}) =>
  ({ api }, asking) =>
    byRoutes(api, what, { key: what, profile, ...asked, params: { id: NAME, ...asked.params } }, asking)

const deploy: LiveApp['deploy'] = (key, sent, query = {}) =>
  say('POST /api/apps/:id/deploy', {
    ...{ key, query },
    form: Buffer.from(JSON.stringify(bodyOf(sent))),
    headers: { 'content-type': 'application/json' },
  })

type Opened = { place: AppPlace; slug: string; hosts: Record<string, AppHost>; nameServer: string }

const alive = ({ mirror }: OneProcess) => mirror.get(APP, NAME)

/** The app is made, and what was sent for it is live. */
const setUpOf =
  ({ slug, hosts }: Opened, sent: Project) =>
  async (process: OneProcess): Promise<void> => {
    for (const called of Object.keys(hosts)) {
      const isReady = async () => (await process.mirror.get(HOST, called))?.view.inspection?.ok
      await eventually(`host ${called}`, isReady, 60_000)
    }
    const body = { slug, host_id: HOST_NAME, application_policy: 'none', watch_seconds: 0, drain_seconds: 1 }
    await say('POST /api/apps', { key: KEY, body })(process)
    await deploy('the first', sent)(process)
  }

/** What a host is told to do, and no look at it. */
const TOLD = /^(ssh (start|job (cancel|drop)|app-(switch|keeping|runs|upload))|admin (POST|PUT|PATCH|DELETE))/

/** Whoever asks under a call that was cut hears whatever the link makes of it. */
const cutting = (
  around: Life['hostAround'],
  { hosts }: Opened,
  cut: { at: number; told: number },
): Life['hostAround'] => {
  return (call, run) =>
    around(call, async () => {
      const isCut = TOLD.test(call.name) && cut.told++ === cut.at
      if (!isCut) return run()
      console.log(`  the line was cut in ${call.name}`)
      const running = run()
      running.catch(() => {})
      await sleep(CUT_AFTER_MS)
      for (const host of Object.values(hosts)) await host.cutSsh()
      return running
    })
}

/** A command has been handed over by then, and a job has begun. */
const CUT_AFTER_MS = 30

const makeStoryOf =
  (opened: Opened): LiveApp['storyOf'] =>
  ({ sent, begun, standIn, requests, prepare, cutAt }) => {
    const { place } = opened
    const hosts = Object.values(opened.hosts)
    const { begin, look, alone, play, ...played } = makeRequests({ begun, standIn, alive, requests })
    const cut = { at: cutAt ?? 0, told: 0 }
    const assertClean = async (url: string) =>
      assert.equal(await strayJobs(url, hosts), [], 'jobs that nobody knows any more')
    return {
      ...played,
      play: (process, asking) => {
        // what is told before the client begins is not its own
        cut.told = 0
        return play(process, asking)
      },
      look: async (url, answer) => {
        await look(url, answer)
        await assertClean(url)
      },
      alone: async (url) => {
        const came = await alone(url)
        await assertClean(url)
        return came
      },
      options: {
        ...{ namespace: place.namespace.name, mailPort: 9 },
        // domains are looked for where the CA of the host looks for them
        tools: (life) => ({
          deps: {
            nameServers: [opened.nameServer],
            ...(cutAt !== undefined && { hostAround: cutting(life.hostAround, opened, cut) }),
          },
          close: async () => {},
        }),
      },
      prepare: async (url) => {
        begin(url)
        cut.told = Number.NEGATIVE_INFINITY
        await place.fresh(url)
        prepare?.(url)
      },
      setUp: setUpOf(opened, sent),
      fingerprint: async (url) => [
        await place.versions(),
        await query(url, 'select max(xmin::text::bigint) as operations from app_operations'),
        hosts.map((one) => place.proxy(one)),
        hosts.map((one) => place.containers(one)),
      ],
      mayDo: MAY_DO,
      looked: /^sql (observe_app$|mirror_unknown)/,
      clear: () => place.clear(),
    }
  }

/**
 * @param slug its own: containers of another story on the same engine bear that of their app
 * @param beside slugs of other apps that come out of the story
 */
export const openLiveApp = async (
  host: AppHost,
  slug: string,
  others: Record<string, AppHost> = {},
  beside: readonly string[] = [],
): Promise<LiveApp> => {
  const place = await openAppPlace(host, { name: NAME, slug, others, beside })
  const seen = async (): Promise<string> => {
    const page = await visitor(host)(`${slug}.${host.baseDomain}`).catch(() => null)
    if (page === null) return 'nothing'
    return page.status === 200 ? page.text.trim() : String(page.status)
  }
  const nameServer = host.acme.dns.server
  const storyOf = makeStoryOf({ place, slug, hosts: { [HOST_NAME]: host, ...others }, nameServer })
  return {
    ...{ place, say, deploy, seen, storyOf },
    story: (sent, requests, prepare) => storyOf({ sent, begun: LIVE, standIn, requests, ...(prepare && { prepare }) }),
    serves:
      (text, containers = 1) =>
      async () =>
        assert.equal([await seen(), place.containers().length], [text, containers], 'what visitors get, and what runs'),
  }
}
