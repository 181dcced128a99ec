import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { query } from '../../../../hack/platform/postgres.ts'
import { type ServedRepository, startRepository } from '../../../support/builders/sources/repository.ts'
import type { OneProcess } from '../../../support/crash/process.ts'
import type { Request } from '../../../support/crash/requests.ts'
import { drawn } from '../../../support/crash/seed.ts'
import { EFFECTS, type LiveApp, openLiveApp } from '../../../support/crash/stories/livestory.ts'
import type { Asking } from '../../../support/crash/story.ts'
import { cuts, isLong, sweep } from '../../../support/crash/sweep.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { busybox, project } from '../../../support/stage/apps.ts'
import { type AppHost, remnantsOf, startAppHost } from '../../../support/stage/host.ts'

/** A preview of a branch that is made, made anew and ended, wherever the processes die: one at a time, and nothing of one that ended. */

const SLUG = 'viewed'
const BRANCH = 'basket'
const PREVIEW = `${BRANCH}--${SLUG}`

type PreviewStand = {
  /** The app that it is of. */
  parent: string
  /** In the order of asking, and how each ended. */
  previews: string
  /** The apps that previews are, as they are shown. */
  shown: string
  /** Operations and live releases of these. */
  done: string
  /** Rows that previews hold, of those that came. */
  held: string
  told: string
}

/** What lays ready for a preview, and what ends it, leaves something behind too. */
const OF_PREVIEWS =
  /^sql (put_app_(env|password|source)|note_app_upload|take_app_slug|(take|end)_app_preview|forget_app)$/

/** Rows of what never came lapse later (support/crash/reserved.ts). */
const STAND = `
with held as (
  select 'slug' as what, app from app_slugs where app is not null union all select 'room', app from app_rooms
  union all select 'env', app from app_env union all select 'password', app from app_passwords
  union all select 'upload', app from app_uploads union all select 'route', app from app_routes
  union all select 'run', app from app_runs union all select 'link', app from app_access_links
), parent as (
  select m.name, m.view from mirror m where m.kind = 'App' and not m.archived and m.view ->> 'preview_of' is null
)
select
  (select concat_ws(' ', view ->> 'status', view -> 'release' ->> 'number', json_array_length(view -> 'previews')) from parent)
    as parent,
  (select coalesce(string_agg(concat_ws(' ', ref, coalesce(reason, 'open')), ', ' order by created_at), '') from app_previews p
    where p.ended_at is not null or has_come('App', p.app)) as previews,
  (select coalesce(string_agg(concat_ws(' ', view ->> 'status', view ->> 'access', view -> 'release' ->> 'number'), ', '
    order by created_at), '') from mirror where kind = 'App' and not archived and name not in (select name from parent)) as shown,
  (select coalesce(string_agg(kind || ' ' || state, ', ' order by app, n), '') from app_operations
    where app not in (select name from parent)) as done,
  (select coalesce(string_agg(case when what in ('slug', 'room', 'route') then n || ' ' else '' end || what, ', ' order by what), '') from (
    select what, count(*) as n from held where app not in (select name from parent)
      and (has_come('App', app) or exists (select from app_previews p where p.app = held.app and p.ended_at is not null))
    group by what) counted) as held,
  (select coalesce(string_agg(payload ->> 'type', ' ' order by id), '') from outbox where channel = 'event') as told`

const joined = (...parts: string[]): string => parts.filter(Boolean).join(', ')

const BEGUN: PreviewStand = { parent: 'live 1 0', previews: '', shown: '', done: '', held: '', told: 'app.released' }

spec('previews of an app that is live, whose processes die at any call', (t) => {
  let host: AppHost
  let served: ServedRepository
  let app: LiveApp
  /** Ways in which the same was asked for so far: a repeat is another one's. */
  let asked = 0

  const branch = (version: string): void => {
    const { compose, files } = project(version)
    const { Dockerfile = '' } = files
    served.git('checkout', '-q', '-B', BRANCH)
    served.commit({
      'compose.yaml': compose,
      Dockerfile: Buffer.from(Dockerfile, 'base64').toString(),
      busybox: { run: Buffer.from(busybox(), 'base64') },
    })
    served.git('checkout', '-q', 'main')
  }

  t.before(async () => {
    host = await startAppHost()
    served = await startRepository()
    served.commit({ 'README.md': 'Of no use.' })
    app = await openLiveApp(host, SLUG, {}, [PREVIEW])
  })
  t.after(async () => {
    await app?.place.end()
    await served?.end()
    await host?.end()
  })

  const standIn = async (url: string): Promise<PreviewStand> => (await query(url, STAND))[0] as PreviewStand

  const routes = (): number => {
    const { apps } = JSON.parse(app.place.proxy())
    return apps.http.servers.bottega.routes.filter((one: { '@id'?: string }) => one['@id']?.startsWith('app-')).length
  }
  const dialled = (): number => {
    const folder = join(host.siteRoot, 'dial')
    return existsSync(folder) ? readdirSync(folder).length : 0
  }
  /** Nothing of a preview anywhere, and the app that it was of as it was. */
  const alone = async (): Promise<void> => {
    assert.equal(remnantsOf(host, PREVIEW), [], 'what is left of it on the host')
    assert.equal([routes(), dialled()], [1, 1], 'routes and files to dial by')
    await app.serves('first')()
  }
  const beside = async (): Promise<void> => {
    const kinds = remnantsOf(host, PREVIEW).map((line) => line.split(' ')[0])
    assert.equal(kinds.filter((kind) => kind === 'container').length, 1, 'what runs of it')
    assert.equal([routes(), dialled()], [2, 2], 'routes and files to dial by')
    await app.serves('first')()
  }

  /** Whoever asks again is somebody else: under another key. */
  const ask =
    (version: string, body: object): Request<PreviewStand>['ask'] =>
    (process: OneProcess, asking?: Asking) => {
      branch(version)
      asked += 1
      const key = `${version} asked for the ${asked}`
      const whole = { ref: BRANCH, git: { url: served.url }, env: { GREETING: 'hello' }, ...body }
      return app.say('POST /api/apps/:id/previews', { key, body: whole })(process, asking)
    }
  const openOne = async (process: OneProcess): Promise<string | undefined> => {
    const { body } = await app.say('GET /api/apps/:id/previews', { query: {} })(process)
    const { previews } = body as { previews: { id: string; state: string }[] }
    return previews.find(({ state }) => state !== 'ended')?.id
  }

  const made = (release: number) => ({
    what: `the preview, release ${release}`,
    look: beside,
  })

  /** Made, made anew, and ended by hand. */
  const byHand: Request<PreviewStand>[] = [
    {
      ...made(1),
      ask: ask('second', { ttl: '1h' }),
      leaves: ({ told }) => ({
        parent: 'live 1 1',
        previews: `${BRANCH} open`,
        shown: 'live private 1',
        done: 'deploy succeeded',
        held: 'env, password, 1 room, 1 route, 1 slug, upload',
        told: `${told} app.preview_ready`,
      }),
    },
    {
      ...made(2),
      ask: ask('third', { ttl: '2h', access: 'public' }),
      leaves: ({ told }) => ({
        shown: 'live public 2',
        done: 'deploy succeeded, deploy succeeded',
        held: 'env, password, 1 room, 1 route, 1 slug, upload',
        told: `${told} app.preview_ready`,
      }),
    },
    {
      what: 'its end',
      ask: async (process, asking) => {
        const id = await openOne(process)
        if (id !== undefined)
          await app.say('DELETE /api/apps/:id/previews/:preview', { params: { preview: id }, query: {} })(
            process,
            asking,
          )
      },
      leaves: ({ previews, told }) => ({
        ...{ parent: 'live 1 0', previews: previews.replace('open', 'deleted'), shown: '', done: '', held: '' },
        told: `${told} app.preview_ended`,
      }),
      look: alone,
    },
  ]
  /** Made, and ended by its date. */
  const byDate: Request<PreviewStand>[] = [
    {
      what: 'another one',
      ask: ask('second', { ttl: '1h', env: {}, access: 'public' }),
      leaves: ({ previews, told }) => ({
        parent: 'live 1 1',
        previews: joined(previews, `${BRANCH} open`),
        shown: 'live public 1',
        done: 'deploy succeeded',
        held: '1 room, 1 route, 1 slug, upload',
        told: `${told} app.preview_ready`,
      }),
      look: beside,
    },
    {
      what: 'its end by date',
      ask: async (process) => {
        const id = await openOne(process)
        if (id === undefined) return
        const past = JSON.stringify({ spec: { previewOf: { expiresAt: new Date().toISOString() } } })
        await app.place.kubectl(['patch', 'bapp', id, '--type=merge', '-p', past])
      },
      leaves: ({ previews, told }) => ({
        ...{
          parent: 'live 1 0',
          previews: previews.replace('open', 'expired'),
          shown: '',
          done: '',
          held: '',
        },
        told: `${told} app.preview_ended`,
      }),
      look: alone,
    },
  ]

  // one after the other of the same branch; a plain run takes the one or the other, by its seed
  const oneOfBoth = drawn(BRANCH) < 0.5 ? byHand : byDate
  const requests = isLong ? [...byHand, ...byDate] : oneOfBoth
  const effects = new RegExp(`${EFFECTS.source}|${OF_PREVIEWS.source}`)
  const story = (of: Request<PreviewStand>[], more: { cutAt?: number } = {}) =>
    app.storyOf<PreviewStand>({
      ...{ sent: project('first'), begun: BEGUN, standIn, ...more },
      prepare: () => {
        asked = 0
      },
      requests: of,
    })
  const what = 'there is one preview, and then none'
  sweep(t, { what, callsMin: 20, points: 1, effects }, () => story(requests))
  cuts(t, what, (cutAt) => story(byDate, { cutAt }))
})
