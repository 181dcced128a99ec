import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, type Project, startAppStage } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/** Commands before and after a release: a database that is migrated, and what is told once visitors are there. */

const timeoutMs = 480_000
const base64 = (text: string) => Buffer.from(text).toString('base64')
const TOOLS = '/bin/busybox mkdir -p /tmp/bin && /bin/busybox --install -s /tmp/bin && PATH=/tmp/bin; '
const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', `${TOOLS}${script}`]
const inFile = (command: string[]): string => JSON.stringify(command.map((word) => word.replaceAll('$', '$$$$')))

/** The database takes its time, and is asked over the network; what serves says which migration it found. */
const DB = 'sleep 4; mkdir -p /data/cgi-bin; touch /tmp/ready; exec httpd -f -p 9000 -h /data'
const WEB =
  'wget -q -O /tmp/found http://db:9000/migrated; echo "$VERSION $(cat /tmp/found)" > /tmp/index.html; exec httpd -f -p 8080 -h /tmp'

const shop = (version: string): Project => ({
  compose: `services:
  web:
    build: .
    command: ${inFile(sh(WEB))}
    environment: {VERSION: ${version}}
    expose: ["8080"]
    stop_grace_period: 1s
    depends_on: {db: {condition: service_healthy}}
  db:
    build: .
    command: ${inFile(sh(DB))}
    environment: {VERSION: ${version}}
    volumes: ["data:/data"]
    stop_grace_period: 1s
    healthcheck: {test: ["CMD", "/bin/busybox", "test", "-f", "/tmp/ready"], interval: 1s, retries: 60}
volumes: {data: {}}
`,
  files: { Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'), busybox: busybox() },
})

/** Writes into the volume of the database, which it also asks whether it is there. */
const MIGRATE =
  'wget -q -O - http://db:9000/none 2>&1 | grep -q 404 || exit 9; echo "$VERSION" > /data/migrated; echo x >> /data/count; echo migrated to $VERSION'

spec('commands before and after a release', (t) => {
  let stage: AppStage
  let app: Json
  const succeeded = (reply: Reply): Json => {
    assert.is(reply.json.operation?.state, 'succeeded', reply.text)
    return reply.json.operation
  }
  const steps = (operation: Json): string[] => operation.steps.map(({ name, state }: Json) => `${name} ${state}`)
  const read = async (id: string): Promise<Json> =>
    (await stage.api('GET', `/api/apps/operations/${id}`)).json.operation
  const says = async () => (await stage.visit('migrated')).text.trim()
  const output = async (id: string, step: string) =>
    (await stage.api('GET', `/api/apps/${app.id}/operations/${id}/output?step=${step}`)).text
  /** The database of each version is another one, and begins anew. */
  const CONFIRMED = '?confirm_downtime=1'
  const deploy = (version: string) => stage.deploy(app.id, shop(version), CONFIRMED)
  const declare = async (commands: object) => {
    const reply = await stage.api('PATCH', `/api/apps/${app.id}`, { commands })
    assert.is(reply.status, 200, reply.text)
    return reply.json.app.commands
  }
  const none = () =>
    docker('ps', '-aq', '--filter', 'label=dev.bottega.run', '--filter', 'label=dev.bottega.app=migrated') === ''
  const stepEnded = (id: string) =>
    eventually(
      'the command after the release to end',
      async () => {
        const operation = await read(id)
        const last = operation.steps.at(-1)
        return last.name === 'post_release' && last.ended_at !== null && operation
      },
      60_000,
    )

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app('migrated', {
      commands: {
        pre_release: { service: 'db', command: sh(MIGRATE), timeout_seconds: 60 },
        post_release: { service: 'web', command: sh('wget -q -O - http://web:8080/; echo warmed') },
      },
    })
  })
  t.after(() => stage.end())

  t(
    'the first deploy: the database comes up, is migrated with the new image, then what serves begins and finds it so',
    async () => {
      assert.is(app.commands.pre_release.timeout_seconds, 60)
      assert.is(app.commands.post_release.repeatable, false)
      const operation = succeeded(await deploy('one'))
      assert.is(await says(), 'one one')
      assert.equal(steps(operation).slice(0, 6), [
        'check succeeded',
        'upload succeeded',
        'images succeeded',
        'pre_release succeeded',
        'start succeeded',
        'switch succeeded',
      ])
      assert.match(operation.steps[3].message, /ended well/)
      assert.is(await output(operation.id, 'pre_release'), 'migrated to one\n')
      const after = await stepEnded(operation.id)
      assert.is(steps(after).at(-1), 'post_release succeeded')
      assert.is(await output(operation.id, 'post_release'), 'one one\nwarmed\n')
      await eventually('nothing of them to be left', async () => none(), 30_000)
    },
    { timeoutMs },
  )

  t(
    'a migration that fails ends the release before anything of it is started; the old one serves, and the line that matters is told',
    async () => {
      await declare({
        pre_release: { service: 'db', command: sh('echo checking; echo no such column: price; exit 7') },
      })
      const reply = await deploy('two')
      const { operation, release } = reply.json
      assert.is(operation.state, 'failed', reply.text)
      assert.is(operation.result.code, 'COMMAND_FAILED')
      assert.match(operation.result.detail, /in db ended with exit code 7: no such column: price$/)
      assert.equal(steps(operation).slice(3), ['pre_release failed', 'start skipped', 'switch skipped'])
      assert.match(release.log_tail, /checking\nno such column/)
      assert.is(await says(), 'one one')
      assert.not.match(docker('ps', '-a', '--format', '{{.Names}}'), /migrated-r2/)
      const events = await stage.platform.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])
      assert.match(events, /PreReleaseFailed/)
    },
    { timeoutMs },
  )

  t(
    'what comes after a release and fails is told, and undoes nothing',
    async () => {
      await declare({
        pre_release: { service: 'db', command: sh(MIGRATE) },
        post_release: { service: 'web', command: sh('echo no cache there; exit 4') },
      })
      const operation = succeeded(await deploy('three'))
      const after = await stepEnded(operation.id)
      assert.is(steps(after).at(-1), 'post_release failed')
      assert.is(after.state, 'succeeded')
      assert.is(await says(), 'three three')
      const condition = async () => {
        const path = 'jsonpath={.status.conditions[?(@.type=="PostReleaseFailed")].message}'
        return stage.platform.kubectl(['get', 'bapp', app.id, '-o', path])
      }
      await eventually('the condition', async () => /exit code 4: no cache there; release/.test(await condition()))
      const told = async () =>
        (await stage.api('GET', '/api/events?limit=200')).json.events.filter(
          ({ type }: Json) => type === 'app.command_failed',
        )
      const [event] = await eventually('the event', async () => {
        const found = await told()
        return found.length === 1 && found
      })
      assert.is(event.data.app.exit_code, 4)
      assert.is(event.data.app.cause, 'post_release')
      const ready = ['get', 'bapp', app.id, '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}']
      assert.is(await stage.platform.kubectl(ready), 'True')
    },
    { timeoutMs },
  )

  t(
    'a rollback runs neither; a change of the env runs both, and the condition goes with the release that it was of',
    async () => {
      await declare({ pre_release: { service: 'db', command: sh(MIGRATE) } })
      const back = succeeded(await stage.operate('POST', `/api/apps/${app.id}/rollback${CONFIRMED}`, { release: 1 }))
      assert.ok(!steps(back).some((step) => /release/.test(step)), steps(back).join())
      assert.is(await says(), 'one three', 'the volume of the database has not gone back')
      const changed = await stage.operate('PATCH', `/api/apps/${app.id}/env${CONFIRMED}`, { env: { COLOUR: 'blue' } })
      assert.ok(steps(succeeded(changed)).includes('pre_release succeeded'), changed.text)
      assert.is(await says(), 'one one', 'it was migrated by the release of then')
      const condition = [
        'get',
        'bapp',
        app.id,
        '-o',
        'jsonpath={.status.conditions[?(@.type=="PostReleaseFailed")].message}',
      ]
      await eventually('the condition to go', async () => (await stage.platform.kubectl(condition)) === '')
    },
    { timeoutMs },
  )

  t(
    'is stopped with its operation',
    async () => {
      await declare({ pre_release: { service: 'db', command: sh('echo begun; sleep 300') } })
      const asked = await stage.api('POST', `/api/apps/${app.id}/deploy`, undefined as never)
      assert.is(asked.status, 400)
      const path = `/api/apps/${app.id}/env${CONFIRMED}`
      const begun = await stage.api('PATCH', path, { env: { COLOUR: 'red' } }, { prefer: 'respond-async' })
      const id = begun.json.operation_id
      await eventually('it to run', async () => (await output(id, 'pre_release').catch(() => '')) === 'begun\n', 60_000)
      await stage.api('POST', `/api/apps/operations/${id}/cancel`, {})
      const ended = await eventually('its end', async () => {
        const operation = await read(id)
        return operation.ended_at !== null && operation
      })
      assert.is(ended.state, 'cancelled')
      await eventually('its container to go', async () => none(), 60_000)
      assert.is(await says(), 'one one')
    },
    { timeoutMs },
  )

  t(
    'by kubectl it is the same, with the same refusals',
    async () => {
      const { kubectl } = stage.platform
      const patch = (spec: object) => kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', JSON.stringify({ spec })])
      await patch({ commands: { preRelease: { service: 'nowhere', command: ['true'] }, postRelease: null } })
      const reply = await deploy('four')
      assert.is(reply.json.operation.state, 'failed', reply.text)
      assert.match(reply.json.operation.result.detail, /has no service nowhere/)
      const refused = await patch({ commands: { preRelease: { service: 'db', command: [] } } }).catch(String)
      assert.match(refused, /spec.commands.preRelease.command/)
      await patch({ commands: null })
      succeeded(await deploy('five'))
      assert.is(await says(), 'five one')
    },
    { timeoutMs },
  )
})
