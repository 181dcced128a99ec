import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, type Project, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** What belongs to the app and not to a release: a service with a volume, which every release reaches by its name. */

const timeoutMs = 400_000
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** `store` adds a line to its volume at each start and serves it; `web` tells its version and what the store says. */
const stateful = (version: string, { storeCommand = '', volumes = 'data' } = {}): Project => ({
  compose: `services:
  store:
    build: .
    command: ["/bin/busybox", "sh", "-c", ${JSON.stringify(`${storeCommand}echo line >> /data/index.html; exec /bin/busybox httpd -f -p 9000 -h /data`)}]
    volumes: ["${volumes}:/data"]
    stop_grace_period: 1s
  web:
    build: .
    command: ["/bin/busybox", "sh", "-c", ${JSON.stringify(`mkdir() { /bin/busybox mkdir "$$@"; }; mkdir -p /tmp/www/cgi-bin; /bin/busybox cp /serve /tmp/www/cgi-bin/index.cgi; exec /bin/busybox httpd -f -p 8080 -h /tmp/www`)}]
    environment: {VERSION: ${JSON.stringify(version)}}
    expose: ["8080"]
    depends_on: [store]
    stop_grace_period: 1s
volumes:
  ${volumes}:
`,
  files: {
    Dockerfile: base64(
      'FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\nCOPY --chmod=755 serve /serve\nWORKDIR /tmp\n',
    ),
    busybox: busybox(),
    serve: base64(
      '#!/bin/sh\necho "Content-Type: text/plain"\necho\necho "$VERSION $(/bin/busybox wget -q -O - http://store:9000/ | /bin/busybox wc -l)"\n',
    ),
  },
})

spec('an app that keeps something', (t) => {
  let stage: AppStage
  let app: Json
  const says = async () => (await stage.visit('stored', '/cgi-bin/index.cgi')).text.trim()
  /** Other apps of the engine have theirs. */
  const ownVolumes = () =>
    docker('volume', 'ls', '-q')
      .split('\n')
      .filter((name) => name.startsWith('stored-'))
  const succeeded = (reply: Reply) => assert.is(reply.json.operation?.state, 'succeeded', reply.text)
  const deploy = (sent: Project, query = ''): Promise<Reply> => stage.deploy(app.id, sent, query)

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('stored')
  })
  t.after(() => stage.end())

  t(
    'reaches its volume from every release, and the volume is one',
    async () => {
      succeeded(await deploy(stateful('one')))
      assert.is(await says(), 'one 1')
      // The compose file is in the folder that is built: what stops is known for good when both images are there.
      succeeded(await deploy(stateful('two'), '?confirm_downtime=1'))
      assert.is(await says(), 'two 1', 'the store was not touched')
      assert.equal(ownVolumes(), ['stored-base_data'])
    },
    { timeoutMs },
  )

  t(
    'a store that does not come up is put back, and the old release serves',
    async () => {
      // Tried on a copy it would never be stopped (handover.test.ts).
      const untried = await stage.api('PATCH', `/api/apps/${app.id}`, { hand_over: { trial: 'none' } })
      assert.is(untried.status, 200, untried.text)
      const reply = await deploy(stateful('three', { storeCommand: 'exit 4; ' }), '?confirm_downtime=1')
      assert.is(reply.json.operation.state, 'failed', reply.text)
      await eventually('the store to be back', async () => (await says()) === 'two 2', 60_000)
    },
    { timeoutMs },
  )

  t(
    'tells before it leaves a volume behind, and asks',
    async () => {
      const renamed = stateful('four', { volumes: 'other' })
      const dry = await deploy(renamed, '?dry_run=1')
      assert.is(dry.status, 200, dry.text)
      const actions = dry.json.plan.volumes.map(({ name, action }: Json) => [name, action])
      assert.equal(actions, [
        ['data', 'left'],
        ['other', 'new'],
      ])
      const refused = await deploy(renamed)
      assert.equal([refused.status, refused.json.code], [400, 'COMPOSE_REFUSED'])
      assert.is(await says(), 'two 2')
    },
    { timeoutMs },
  )

  t(
    'is deleted with or without its volumes, as it is said; kept ones wait for the same account and name',
    async () => {
      const asked = await stage.api('DELETE', `/api/apps/${app.id}`)
      assert.equal([asked.status, asked.json.code], [409, 'VOLUMES_AT_RISK'])
      const gone = await stage.api('DELETE', `/api/apps/${app.id}?volumes=keep`)
      assert.ok(gone.status === 204 || gone.status === 202, gone.text)
      await eventually('the app to go', async () => (await stage.api('GET', `/api/apps/${app.id}`)).status === 404)
      assert.is(docker('ps', '-aq', '--filter', 'label=dev.bottega.app=stored'), '')
      app = await stage.app('stored')
      succeeded(await deploy(stateful('five')))
      assert.is(await says(), 'five 3')
      const last = await stage.api('DELETE', `/api/apps/${app.id}?volumes=delete`)
      assert.ok(last.status === 204 || last.status === 202, last.text)
      await eventually('the app to go', async () => (await stage.api('GET', `/api/apps/${app.id}`)).status === 404)
      assert.equal(ownVolumes(), [])
      assert.is(docker('image', 'ls', '-q', 'bottega.local/stored/*'), '')
    },
    { timeoutMs },
  )
})
