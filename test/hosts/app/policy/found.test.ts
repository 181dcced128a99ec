import { query } from '../../../../hack/platform/postgres.ts'
import { tarGz } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, type Project, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'

/**
 * A project as people have it on their machines, with all that no host gives it as it is written: ports, names, secrets, folders to
 * write to, a service that begins as root and gives its files to a user of its own, as the images of databases do.
 */

const timeoutMs = 300_000
const base64 = (text: string) => Buffer.from(text).toString('base64')
const TOKEN = 'canary-of-the-secret-file'
const SEALED = 'canary-of-the-env'

const COMPOSE = (version: string) => `version: "3.8"
name: shop
services:
  web:
    build: .
    container_name: front
    command: ["/bin/sh", "/web.sh"]
    ports: ["80:80", "443:443"]
    restart: always
    environment: { VERSION: "${version}" }
    volumes: ["./www:/www", "/www/cache"]
    secrets: [token, { source: sealed, target: /etc/sealed }]
    configs: [{ source: motd, target: /etc/motd }]
    depends_on: { db: { condition: service_healthy } }
    stop_grace_period: 1s
  db:
    build: .
    container_name: store
    command: ["/bin/sh", "/db.sh"]
    expose: [5432, 9000]
    environment: { DB_VERSION: "${version}" }
    volumes: ["./data:/data"]
    healthcheck: { test: [CMD, /bin/busybox, wget, -q, -O, /dev/null, "http://127.0.0.1:9000/index.html"], interval: 1s, retries: 60 }
    stop_grace_period: 8s
  admin: { image: "tools/admin:1", profiles: [debug], privileged: true, volumes: ["/:/host"] }
secrets:
  token: { file: secrets/token.txt }
  sealed: { environment: SEALED }
configs:
  motd: { content: "a config of the file" }
`

const WEB = `b=/bin/busybox
$b mkdir -p /tmp/site && $b touch /www/cache/made || exit 1
$b touch /www/new 2>/dev/null && echo the copy was written to && exit 1
{ echo "$VERSION"; $b cat /run/secrets/token /etc/sealed /etc/motd; echo; $b cat /www/index.html /www/page.html; $b wget -q -O - http://store:9000/index.html; } > /tmp/site/index.html || exit 1
exec $b httpd -f -p 80 -h /tmp/site
`

/** As the entrypoints of postgres, mysql, redis and others: its folder is given to its user, whom it becomes. */
const DB = `b=/bin/busybox
if [ "$($b id -u)" = 0 ]; then
  $b find /data ! -user keeper -exec $b chown keeper {} + && $b chmod 700 /data || exit 1
  exec $b su -s /bin/sh keeper -c 'exec /bin/sh /db.sh'
fi
trap 'echo ended by its signal >> /data/ends; exit 0' TERM
$b touch /data/ends
{ echo "user $($b id -u)"; $b cat /data/ends; } > /data/index.html
$b httpd -f -p 9000 -h /data &
wait $!
`

const files = () => ({
  Dockerfile: base64(
    'FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\nCOPY passwd /etc/passwd\nCOPY web.sh db.sh /\nWORKDIR /tmp\n',
  ),
  busybox: busybox(),
  passwd: base64('root:x:0:0:root:/:/bin/sh\nkeeper:x:999:999:keeper:/data:/bin/sh\n'),
  'web.sh': base64(WEB),
  'db.sh': base64(DB),
  'www/index.html': base64('a page\n'),
  'secrets/token.txt': base64(TOKEN),
})

const projectOf = (version: string): Project => ({ compose: COMPOSE(version), files: files() })

/** The same as a tar, with a link from one page to another. */
const tarOf = ({ compose, files }: Project): Buffer =>
  tarGz([
    { path: 'compose.yaml', content: compose },
    ...Object.entries(files).map(([path, text]) => ({
      path,
      content: Buffer.from(text, 'base64'),
      mode: path === 'busybox' ? 0o755 : 0o644,
    })),
    { path: 'www/page.html', type: '2', link: '../www/index.html' },
  ])

const inspected = (slug: string): Json[] => {
  const ids = docker('ps', '-q', '--filter', `label=dev.bottega.app=${slug}`).split('\n').filter(Boolean)
  return JSON.parse(docker('inspect', ...ids))
}

spec('a project as it is found', (t) => {
  let stage: AppStage
  let app: Json

  /** Sends a tar, and waits for the end of what it starts. */
  const deployTar = async (project: Project, query = ''): Promise<Json> => {
    const { platform } = stage
    const response = await fetch(`${platform.baseUrl}/api/apps/${app.id}/deploy${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.owner}`, 'content-type': 'application/gzip' },
      body: tarOf(project),
    })
    const json = (await response.json()) as Json
    if (response.status !== 202) return json
    const ended = async () => {
      const { operation } = (await stage.api('GET', `/api/apps/operations/${json.operation.id}`)).json
      return operation.ended_at !== null && operation
    }
    const operation = await eventually('the end of the deploy', ended, 200_000)
    const { releases } = (await stage.api('GET', `/api/apps/${app.id}/releases`)).json
    return { ...json, operation, release: releases[0] }
  }

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('found', { application_policy: 'none' })
    const env = await stage.api('PUT', `/api/apps/${app.id}/env`, { env: { SEALED } })
    assert.is(env.status, 200, env.text)
  })
  t.after(() => stage.end())

  t('is shown as it will run beside the file that was sent, with each change and no secret', async () => {
    const { plan } = await deployTar(projectOf('one'), '?dry_run=1')
    assert.is(plan.compose.given, COMPOSE('one'))
    assert.match(plan.compose.runs, /cap_drop:\n {6}- ALL/)
    assert.equal(plan.route, { service: 'web', port: 80 })
    const pointers = plan.changes.map(({ pointer }: Json) => pointer)
    for (const wanted of [
      '/name',
      '/version',
      '/services/admin',
      '/services/web/ports/0',
      '/services/web/container_name',
    ])
      assert.ok(pointers.includes(wanted), `${wanted} of ${pointers}`)
    for (const { from, reason, line } of plan.changes) assert.ok(from && reason && line > 0)
    assert.not.match(JSON.stringify(plan), new RegExp(`${TOKEN}|${SEALED}`))
  })

  t(
    'runs, and its visitors find everything in its place',
    async () => {
      const { operation, release } = await deployTar(projectOf('one'))
      assert.is(operation.state, 'succeeded', JSON.stringify([operation, release]))
      const page = (await stage.visit('found')).text
      for (const part of ['one', TOKEN, SEALED, 'a config of the file', 'a page\na page', 'user 999'])
        assert.match(page, part)
      assert.ok(release.changes.length >= 10)
    },
    { timeoutMs },
  )

  t('holds nothing of the host, and no right beyond those over what is its own', () => {
    const all = inspected('found')
    assert.is(all.length, 2)
    for (const { HostConfig, Mounts, Name } of all) {
      assert.is(HostConfig.Privileged, false)
      assert.equal(HostConfig.CapDrop, ['ALL'])
      const rights = HostConfig.CapAdd.map((right: string) => right.replace('CAP_', '')).sort()
      assert.equal(rights, ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'NET_BIND_SERVICE', 'SETGID', 'SETUID'])
      assert.ok(HostConfig.SecurityOpt.includes('no-new-privileges:true'))
      assert.not.match(Name, /front|store/)
      const ports = Object.values(HostConfig.PortBindings ?? {}).flat() as Json[]
      assert.ok(ports.every(({ HostIp }) => HostIp === '127.0.0.1'))
      const binds = Mounts.filter(({ Type }: Json) => Type === 'bind')
      for (const { Source, RW } of binds) {
        assert.is(RW, false)
        assert.match(Source, '/.bottega/apps/found/')
      }
    }
  })

  t('is told of by kubectl with the number of its changes, and the secrets are nowhere in clear', async () => {
    const { platform } = stage
    const path = 'jsonpath={.status.conditions[?(@.type=="Ready")].message}'
    await eventually('the number of changes', async () =>
      /\d+ changes to its compose file/.test(await platform.kubectl(['get', 'bapp', app.id, '-o', path])),
    )
    assert.not.match(await platform.kubectl(['get', 'bapp', app.id, '-o', 'yaml']), new RegExp(`${TOKEN}|${SEALED}`))
    const rows = await query(platform.database.url, 'select record::text as record from app_releases')
    assert.not.match(JSON.stringify(rows), new RegExp(`${TOKEN}|${SEALED}`))
  })

  t(
    'keeps what it wrote into a folder that nobody sent, and its program is ended by its signal',
    async () => {
      const { operation, release } = await deployTar(projectOf('two'), '?confirm_downtime=1')
      assert.is(operation.state, 'succeeded', JSON.stringify([operation, release]))
      const page = (await stage.visit('found')).text
      assert.match(page, /^two/)
      assert.match(page, 'ended by its signal')
    },
    { timeoutMs },
  )

  t('would not start without those rights', () => {
    const image = inspected('found')[0]?.Config.Image
    const run = (...more: string[]) =>
      docker(
        'run',
        '--rm',
        '--cap-drop',
        'ALL',
        ...more,
        '--tmpfs',
        '/data',
        image,
        '/bin/sh',
        '-c',
        '/bin/busybox chown keeper /data && echo given',
      )
    assert.throws(() => run())
    assert.is(run('--cap-add', 'CHOWN'), 'given')
  })
})
