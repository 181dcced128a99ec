import { appRoutes } from '../../../api/app/routes.ts'
import type { Answer } from '../../../api/http/route.ts'
import { APP } from '../../../crds/app/kind.ts'
import { HOST } from '../../../crds/host/kind.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { type Asked, askBy, keyOf } from '../../support/crash/ask.ts'
import { keyNamed, type OneProcess } from '../../support/crash/process.ts'
import { makeRequests, type Request } from '../../support/crash/requests.ts'
import { type AppPlace, openAppPlace } from '../../support/crash/stories/appstory.ts'
import type { Asking, Story } from '../../support/crash/story.ts'
import { sweep } from '../../support/crash/sweep.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { bodyOf, type Project, project, SERVE } from '../../support/stage/apps.ts'
import { type AppHost, HOST_NAME, startAppHost } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { visitor } from '../../support/stage/publishing.ts'

/**
 * What becomes of an app that is live (another deploy, a rollback, another env, another access, a deploy that is called off,
 * its end), wherever the processes die, and whether or not its owner comes back: what visitors get is what is on record.
 */

/** Its own: the containers of another story on the same engine bear that of their app. */
const SLUG = 'changed'
const KEY = 'the app'
const name = keyNamed('app', 'demo', keyOf(KEY))
let host: AppHost
let place: AppPlace

type Stand = {
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
  (select coalesce(string_agg(payload ->> 'type', ' ' order by id), '') from outbox where channel = 'event') as told,
  (select count(*)::int from app_slugs where app is not null) as slugs
from (select 1) one left join mirror m on m.kind = 'App' and not m.archived`

const standIn = async (url: string): Promise<Stand> => (await query(url, STAND))[0] as Stand

const LIVE: Stand = {
  ...{ status: 'live', access: 'public', release: '1', operations: 'deploy succeeded', releases: '1 live' },
  ...{ env: '', leaving: 0, told: 'app.released', slugs: 1 },
}

const byRoutes = askBy(appRoutes)
const profile = { capabilities: ['app.deploy'] }
const say =
  (what: string, asked: Asked = {}) =>
  ({ api }: OneProcess, asking?: Asking): Promise<Answer> =>
    byRoutes(api, what, { params: { id: name }, key: what, profile, ...asked }, asking)

const deploy = (key: string, sent: Project) =>
  say('POST /api/apps/:id/deploy', {
    key,
    form: Buffer.from(JSON.stringify(bodyOf(sent))),
    headers: { 'content-type': 'application/json' },
  })

/** What a visitor gets: the first line, or nothing at all. */
const seen = async (): Promise<string> => {
  const page = await visitor(host)(`${SLUG}.${host.baseDomain}`).catch(() => null)
  if (page === null) return 'nothing'
  return page.status === 200 ? page.text.trim() : String(page.status)
}
const serves =
  (text: string, containers = 1) =>
  async (): Promise<void> => {
    assert.equal([await seen(), place.containers().length], [text, containers], 'what visitors get, and what runs')
  }

const SLOW = `/bin/busybox sleep 5; ${SERVE}`

spec('an app that is live, whose processes die at any call', (t) => {
  t.before(async () => {
    host = await startAppHost()
    place = await openAppPlace(host, { name, slug: SLUG })
  })
  t.after(async () => {
    await place.end()
    await host.end()
  })

  const story = (requests: readonly Request<Stand>[]): Story<unknown> => {
    const alive = ({ mirror }: OneProcess) => mirror.get(APP, name)
    const { begin, ...played } = makeRequests({ begun: LIVE, standIn, alive, requests })
    return {
      ...played,
      options: { namespace: place.namespace.name, mailPort: 9 },
      prepare: async (url) => {
        begin(url)
        await place.fresh(url)
      },
      setUp: async (process) => {
        const isReady = async () => (await process.mirror.get(HOST, HOST_NAME))?.view.inspection?.ok
        await eventually('the host', isReady, 60_000)
        const body = { slug: SLUG, host_id: HOST_NAME, application_policy: 'none' }
        await say('POST /api/apps', { key: KEY, body })(process)
        await deploy('the first', project('first'))(process)
      },
      fingerprint: async (url) => [
        (await place.object())?.metadata.resourceVersion,
        await query(url, 'select max(xmin::text::bigint) as operations from app_operations'),
        place.proxy(),
        place.containers(),
      ],
      // What the host itself says of its disk and its certificates is its own.
      mayDo:
        /^patch .*\/hosts\/local\/status$|^(get|list|ssh (inspect|app-look|app-logs|job)|admin GET) ?|^sql (mirror_|observe_|host_credential$|host_routes?$|turn_outbox|take_epoch|put_mirror)/,
      looked: /^sql (observe_app$|mirror_unknown)/,
      clear: () => place.clear(),
    }
  }

  sweep(t, { what: 'its second release is live once, and its first one again', callsMin: 60, points: 3 }, () =>
    story([
      {
        what: 'another deploy',
        ask: deploy('the second', project('second')),
        leaves: ({ operations, told }) => ({
          release: '2',
          operations: `${operations}, deploy succeeded`,
          releases: '1 superseded, 2 live',
          told: `${told} app.released`,
        }),
        look: serves('second'),
      },
      {
        what: 'the rollback',
        ask: say('POST /api/apps/:id/rollback', { body: { release: 1 } }),
        leaves: ({ operations, told }) => ({
          release: '3',
          operations: `${operations}, rollback succeeded`,
          releases: '1 superseded, 2 superseded, 3 live',
          told: `${told} app.released`,
        }),
        look: serves('first'),
      },
    ]),
  )

  sweep(t, { what: 'it has its new env once, is private once, and gone once', callsMin: 60, points: 3 }, () =>
    story([
      {
        what: 'another env',
        ask: say('PATCH /api/apps/:id/env', { body: { env: { GREETING: 'hello' } } }),
        leaves: ({ operations, told }) => ({
          release: '2',
          env: '1 1',
          operations: `${operations}, env succeeded`,
          releases: '1 superseded, 2 live',
          told: `${told} app.released`,
        }),
        // stored, as by a PUT: its next release has it
        halfway: () => ({ env: '1' }),
        look: serves('first hello'),
      },
      {
        what: 'another access',
        ask: say('PATCH /api/apps/:id', { body: { access: 'private', password: 'correct horse' } }),
        leaves: () => ({ access: 'private' }),
        look: serves('502'),
      },
      {
        what: 'its end',
        ask: say('DELETE /api/apps/:id'),
        leaves: () => ({ status: null, access: null, release: null, env: '', operations: '', releases: '', slugs: 0 }),
        repeated: 'NOT_FOUND',
        look: serves('nothing', 0),
      },
    ]),
  )

  sweep(t, { what: 'a deploy that is called off leaves what is live, or was sooner', callsMin: 20, points: 2 }, () =>
    story([
      {
        what: 'a deploy that is called off',
        async ask(process) {
          const async = { headers: { prefer: 'respond-async' } }
          const { body } = await deploy('the slow', project('slow', { command: SLOW }))(process, async)
          const { operation_id: operationId } = body as { operation_id: string }
          await say('POST /api/apps/operations/:operationId/cancel', { params: { operationId } })(process)
        },
        leaves: ({ operations }) => ({ operations: `${operations}, deploy cancelled` }),
        tooLate: ({ operations, told }) => ({
          release: '2',
          operations: `${operations}, deploy succeeded`,
          releases: '1 superseded, 2 live',
          told: `${told} app.released`,
        }),
        repeated: 'TOO_LATE',
        look: ({ release }) => serves(release === '1' ? 'first' : 'slow')(),
      },
    ]),
  )
})
