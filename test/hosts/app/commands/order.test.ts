import { query } from '../../../../hack/platform/postgres.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, type Project, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** What waits for what is waited for, also where one belongs to the app and the other to a release. */

const timeoutMs = 400_000
const base64 = (text: string) => Buffer.from(text).toString('base64')

const sh = (script: string): string =>
  JSON.stringify(['/bin/busybox', 'sh', '-c', `${TOOLS}${script}`.replaceAll('$', '$$$$')])
const TOOLS = '/bin/busybox mkdir -p /tmp/bin && /bin/busybox --install -s /tmp/bin && PATH=/tmp/bin; '
/** Takes its time, as a database does that begins on an empty volume or after a change of its settings. */
const DB =
  'echo the database begins; sleep 6; echo ready > /data/index.html; touch /tmp/ready; exec httpd -f -p 9000 -h /data'
const HEALTHY = 'healthcheck: {test: ["CMD", "/bin/busybox", "test", "-f", "/tmp/ready"], interval: 1s, retries: 60}'
const SICK = 'healthcheck: {test: ["CMD", "/bin/busybox", "false"], interval: 1s, retries: 2}'
const MIGRATE = 'wget -q -O - http://db:9000/ || exit 9; sleep 2; echo migrated'
/** Says what it found when it began. */
const WEB =
  'wget -q -O /tmp/found http://db:9000/; echo "$VERSION $(cat /tmp/found)" > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'

type Shop = { db?: string; health?: string; migrate?: string; restart?: string; web?: string; more?: string }

const shop = (version: string, given: Shop = {}): Project => {
  const { db = DB, health = HEALTHY, migrate = MIGRATE, restart = '"no"', web = '', more = '' } = given
  return {
    compose: `services:
  web:
    build: .
    command: ${sh(WEB)}
    environment: {VERSION: ${version}}
    expose: ["8080"]
    stop_grace_period: 1s
    depends_on:
      db: {condition: service_healthy}
      migrate: {condition: service_completed_successfully}
${web}
  migrate:
    build: .
    command: ${sh(migrate)}
    restart: ${restart}
    depends_on: {db: {condition: service_healthy}}
  db:
    build: .
    command: ${sh(db)}
    volumes: ["data:/data"]
    stop_grace_period: 1s
    ${health}
${more}
volumes: {data: {}}
`,
    files: {
      Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'),
      busybox: busybox(),
    },
  }
}

spec('an app whose services wait for each other', (t) => {
  let stage: AppStage
  const containers = (slug: string): string[] =>
    docker('ps', '-a', '--filter', `label=dev.bottega.app=${slug}`, '--format', '{{.Names}}')
      .split('\n')
      .filter(Boolean)
  const says = async (slug: string) => (await stage.visit(slug)).text.trim()
  const succeeded = (reply: Reply) => assert.is(reply.json.operation?.state, 'succeeded', reply.text)
  const failed = (reply: Reply, detail: RegExp): Json => {
    assert.is(reply.json.operation?.state, 'failed', reply.text)
    assert.is(reply.json.operation.result.code, 'RELEASE_FAILED')
    assert.match(reply.json.operation.result.detail, detail)
    return reply.json.release
  }
  const nothingRuns = (slug: string) =>
    eventually('everything of it to go', async () => containers(slug).length === 0, 60_000)

  t.before(async () => {
    stage = await startAppStage()
  })
  t.after(() => stage.end())

  let app: Json
  t(
    'is released at the first try: its database first, then what migrates it, then what serves',
    async () => {
      app = await stage.app('queue')
      succeeded(await stage.deploy(app.id, shop('one')))
      assert.is(await says('queue'), 'one ready')
    },
    { timeoutMs },
  )

  t(
    'waits again where a later release starts the database anew',
    async () => {
      succeeded(
        await stage.deploy(
          app.id,
          shop('two', {
            db: DB.replace('/data/index', '/data/gone; rm /data/gone; sleep 1; echo ready > /data/index'),
          }),
          '?confirm_downtime=1',
        ),
      )
      assert.is(await says('queue'), 'two ready')
    },
    { timeoutMs },
  )

  t(
    'takes a migration that may be tried again, and ends well, for done',
    async () => {
      succeeded(await stage.deploy(app.id, shop('three', { restart: 'on-failure' }), '?confirm_downtime=1'))
      assert.is(await says('queue'), 'three ready')
      const { json } = await stage.api('GET', `/api/apps/${app.id}`)
      assert.not.match(JSON.stringify(json.app.readiness), /migrate/)
    },
    { timeoutMs },
  )

  t(
    'waits for what belongs to the app to end well, when that is the condition',
    async () => {
      const seed = `  seed:
    build: .
    command: ${sh('sleep 4; echo seeded > /data/seed.html')}
    volumes: ["data:/data"]
`
      const web = '      seed: {condition: service_completed_successfully}'
      const { id } = await stage.app('seeded')
      const sent = shop('one', { web, more: seed, migrate: 'wget -q -O - http://db:9000/' })
      // What serves reads it once, when it begins.
      sent.compose = sent.compose.replace('http://db:9000/; echo', 'http://db:9000/seed.html; echo')
      sent.compose = sent.compose.replace('sleep 6; echo ready', 'echo ready')
      succeeded(await stage.deploy(id, sent))
      assert.is(await says('seeded'), 'one seeded')
    },
    { timeoutMs },
  )

  t(
    'leaves nothing running when its first release fails, and what it keeps stays',
    async () => {
      const { id } = await stage.app('fresh')
      const release = failed(await stage.deploy(id, shop('one', { migrate: 'echo no such table; exit 3' })), /migrate/)
      assert.match(release.log_tail, /no such table/)
      await nothingRuns('fresh')
      assert.match(docker('volume', 'ls', '-q'), /^fresh-base_data$/m)
      // The next one is not hindered by what still goes.
      succeeded(await stage.deploy(id, shop('two')))
      assert.is(await says('fresh'), 'two ready')
      assert.is(containers('fresh').length, 3, containers('fresh').join())
    },
    { timeoutMs },
  )

  t(
    'a release that is asked for while the failed first one leaves finds its database',
    async () => {
      const { id } = await stage.app('hasty')
      const stubborn = `trap "" TERM; ${DB.replace('exec httpd -f', 'httpd')}; while :; do sleep 1; done`
      const slow = (given: Shop) => {
        const sent = shop('one', { db: stubborn, ...given })
        return { ...sent, compose: sent.compose.replaceAll('stop_grace_period: 1s', 'stop_grace_period: 8s') }
      }
      failed(await stage.deploy(id, slow({ migrate: 'exit 3' })), /migrate/)
      await eventually('the database to be told to go', async () => {
        const jobs = docker(
          'events',
          '--since',
          '60s',
          '--until',
          '0s',
          '--filter',
          'event=kill',
          '--format',
          '{{.Actor.Attributes.name}}',
        )
        return jobs.includes('hasty-base-db')
      })
      succeeded(await stage.deploy(id, slow({})))
      assert.is(await says('hasty'), 'one ready')
      const left = async () =>
        query(
          stage.platform.database.url,
          `select 1 from app_releases where app = '${id}' and state = 'failed' and retired_at is null`,
        )
      await eventually('the failed one to be gone', async () => (await left()).length === 0)
      assert.match(docker('ps', '--format', '{{.Names}}'), /^hasty-base-db-1$/m)
    },
    { timeoutMs },
  )

  t(
    'says which service of its own did not come up, with its log, and starts nothing of the release',
    async () => {
      const { id } = await stage.app('sick')
      const release = failed(
        await stage.deploy(id, shop('one', { health: SICK })),
        /did not come up: db is unhealthy\b/,
      )
      assert.match(release.log_tail, /the database begins/)
      assert.not.match(release.log_tail, /migrate/)
      await nothingRuns('sick')
    },
    { timeoutMs },
  )

  t(
    'says that nobody can wait for the health of what has no health check',
    async () => {
      const { id } = await stage.app('mute')
      failed(await stage.deploy(id, shop('one', { health: '' })), /did not come up: db has no health check/)
      await nothingRuns('mute')
    },
    { timeoutMs },
  )
})
