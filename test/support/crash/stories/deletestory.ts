import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../../../api/http/problem.ts'
import { cellOf } from '../../../../crds/app/compose/printing/bridges.ts'
import { APP } from '../../../../crds/app/kind.ts'
import { query } from '../../../../hack/platform/postgres.ts'
import { assert } from '../../runner/spec.ts'
import { type AppHost, docker, remnantsOf } from '../../stage/host.ts'
import { eventually, type Json } from '../../stage/invoicing.ts'
import type { OneProcess } from '../process.ts'
import type { Request } from '../requests.ts'
import type { Asking } from '../story.ts'
import type { LiveApp } from './livestory.ts'

/** Stories of an app that is deleted while something is under way for it: nothing of it is left, and nothing of its neighbour is touched. */

export type DeleteStand = {
  /** As it is shown; '' once it is gone. */
  app: string
  /** What was begun for it, and how far that came. */
  done: string
  /** Tables that have rows of it, once it is gone. */
  left: string
}

/** Every table of apps, so that one that comes later is looked at as well: but for uploads, which go a day later, and logins of the account. */
const TABLES = `
select table_name as name from information_schema.tables
where table_schema = 'public' and table_type = 'BASE TABLE' and table_name like 'app\\_%'
  and table_name not in ('app_sources', 'app_registries')
order by 1`

const STAND = `
select coalesce((select view ->> 'status' from mirror where kind = 'App' and not archived), '') as app,
  concat_ws(', ', (select string_agg(kind || ' ' || state, ', ' order by n) from app_operations where state <> 'queued'),
    (select string_agg('run ' || state, ', ' order by created_at) from app_runs where state <> 'queued'),
    (select string_agg(case when restores is null then 'backup ' else 'restore ' end || state, ', ' order by created_at)
      from app_backups where state <> 'queued')) as done`

export const deleteStandIn = async (url: string): Promise<DeleteStand> => {
  const [stand] = (await query(url, STAND)) as Pick<DeleteStand, 'app' | 'done'>[]
  const { app = '', done = '' } = stand ?? {}
  if (app !== '') return { app, done, left: '' }
  const tables = (await query(url, TABLES)).map(({ name }) => String(name))
  const counts = tables.map(async (table) => {
    const [row] = await query(url, `select count(*)::int as n from ${table}`)
    return Number(row?.n) > 0 ? [table] : []
  })
  const others = `select 'name ' || name as what from site_names where site like 'App/%' and state <> 'quarantined'
    union all select 'route ' || id from host_routes where owner like 'App/%'`
  const more = (await query(url, others)).map(({ what }) => String(what))
  return { app, done, left: [...(await Promise.all(counts)).flat(), ...more].join(', ') }
}

export const LIVING: DeleteStand = { app: 'live', done: 'deploy succeeded', left: '' }
export const DELETED: DeleteStand = { app: '', done: '', left: '' }

/** Another app on the same host, whose slug begins like this one's, as far as a host and an engine know of it. */
export type Neighbour = { make(): void; stands(): string[]; remove(): void }

export const neighbourOf = ({ folder, siteRoot, account }: AppHost, slug: string): Neighbour => {
  const name = `${slug}-too`
  const places = [join(folder, 'home', '.bottega', 'apps', name), join(siteRoot, 'dial')]
  const files = [join(places[0] ?? '', 'r1', 'app.json'), join(places[1] ?? '', `app-${name}`)]
  const label = ['--label', `dev.bottega.app=${name}`, '--label', `com.docker.compose.project=${name}-base`]
  const image = `bottega.local/${name}/web:r1`
  const [volume, network] = [`${name}-base_data`, `${name}-base_default`]
  const remove = () => {
    for (const [kind, one] of [
      ['rm', name],
      ['volume rm', volume],
      ['network rm', network],
      ['image rm', image],
    ] as const) {
      try {
        docker(...kind.split(' '), '-f', one)
      } catch {
        // it was not made
      }
    }
    for (const file of files) rmSync(file, { force: true })
  }
  return {
    remove,
    make: () => {
      remove()
      const packed = execFileSync('tar', ['-c', '-C', '/bin', 'busybox'], { maxBuffer: 64 * 1_048_576 })
      execFileSync('docker', ['import', '-', image], {
        ...{ input: packed, stdio: ['pipe', 'ignore', 'pipe'] as ['pipe', 'ignore', 'pipe'] },
        env: { ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}` },
      })
      docker('volume', 'create', ...label, volume)
      docker('network', 'create', ...label, network)
      docker('create', '--name', name, ...label, '-v', `${volume}:/data`, image, '/busybox', 'true')
      for (const place of places) mkdirSync(place, { recursive: true })
      for (const file of files) {
        mkdirSync(join(file, '..'), { recursive: true })
        writeFileSync(file, 'of a neighbour')
      }
      // as its user would have made them, or nothing else of his gets in
      const made = [join(folder, 'home', '.bottega'), join(siteRoot, 'dial')]
      execFileSync('chown', ['-R', `${account.uid}:${account.gid}`, ...made])
    },
    stands: () => [
      ...remnantsOf({ folder }, name).map((line) => line.split(' ').slice(0, 2).join(' ')),
      ...files.map((file) => readFileSync(file, 'utf8')),
    ],
  }
}

const NEIGHBOUR_HAS = (slug: string): string[] => [
  `container ${slug}-too`,
  `network ${slug}-too-base_default`,
  `volume ${slug}-too-base_data`,
  `image bottega.local/${slug}-too/web:r1`,
  `folder ${slug}-too`,
  'of a neighbour',
  'of a neighbour',
]

type Deleting = { app: LiveApp; host: AppHost; slug: string; neighbour: Neighbour; url: () => string }

/** What a build of it ran in, which bears no slug. */
const cellsOf = (uid: string): string[] =>
  [
    docker('ps', '-aq', '--filter', `name=bottega-build-${cellOf(uid)}`),
    docker('network', 'ls', '-q', '--filter', `name=bottega-build-${cellOf(uid)}`),
    docker('volume', 'ls', '-q', '--filter', `name=bottega-build-${cellOf(uid)}`),
  ].filter((found) => found !== '')

const BEGUN_MS = 60_000

/**
 * One request: something is begun, and while it runs the app is deleted, by REST, or as kubectl does where REST first wants an end of it.
 * @param halfway as what it ends where nobody deletes the app
 */
export const deletedAmid = (
  { app, host, slug, neighbour, url }: Deleting,
  {
    what,
    begin,
    running,
    halfway,
  }: {
    what: string
    begin: Request<DeleteStand>['ask']
    /** SQL that says so. */
    running: string
    halfway: string
  },
): Request<DeleteStand> => {
  let uid = ''
  const remove = async (process: OneProcess, asking: Asking): Promise<void> => {
    const asked = { query: { volumes: 'delete' } }
    try {
      await app.say('DELETE /api/apps/:id', asked)(process, asking)
    } catch (error) {
      if (!(error instanceof Problem) || !['OPERATION_RUNNING', 'NOT_FOUND'].includes(error.code)) throw error
      if (error.code === 'NOT_FOUND') return
      const object = await app.place.object()
      if (object === undefined) return
      const patch = JSON.stringify({ spec: { volumesOnDelete: 'delete' } })
      await app.place.kubectl(['patch', 'bapp', object.metadata.name, '--type=merge', '-p', patch])
      await app.place.kubectl(['delete', 'bapp', object.metadata.name, '--wait=false', '--ignore-not-found'])
    }
  }
  return {
    what: `deleted amid ${what}`,
    ask: async (process, asking) => {
      const object = await app.place.object()
      // whoever repeats it may find that it is gone
      if (object === undefined) return
      uid = object.metadata.uid ?? uid
      if (object.metadata.deletionTimestamp === undefined) {
        await begin(process, { headers: { prefer: 'respond-async' } })
        const isRunning = async () => {
          // one that died begins nothing: asking it throws
          await process.api.mirror.get(APP, object.metadata.name, { account: 'demo' })
          return (await query(url(), running)).length > 0
        }
        await eventually(`${what} to run`, isRunning, BEGUN_MS)
      }
      await remove(process, asking)
    },
    leaves: () => DELETED,
    halfway: ({ done }) => ({ done: `${done}, ${halfway}` }),
    look: async ({ app: shown }) => {
      if (shown !== '') return
      assert.equal([...remnantsOf(host, slug), ...cellsOf(uid)], [], 'what is left of it on the host')
      const { routes } = JSON.parse(app.place.proxy()).apps.http.servers.bottega as { routes: Json[] }
      assert.equal(routes.filter((one) => one['@id']?.startsWith('app-')).length, 0, 'routes')
      const left = (folder: string) => readdirSync(folder).filter((name) => !name.includes(`${slug}-too`))
      assert.equal(left(join(host.siteRoot, 'dial')), [], 'files to dial by')
      assert.equal(left(join(host.folder, 'home', '.bottega', 'jobs')), [], 'jobs')
      assert.equal(neighbour.stands(), NEIGHBOUR_HAS(slug), 'its neighbour')
    },
  }
}
