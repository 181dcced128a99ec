import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, busybox, type Project, startAppStage } from '../../../support/stage/apps.ts'
import { copiesOf, docker } from '../../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../../support/stage/invoicing.ts'

/**
 * The host of an app loses its power in the midst of what is done on it, and comes back: what was begun ends as what it has come to,
 * nothing is done twice, and what served serves.
 */

const timeoutMs = 300_000
const SLUG = 'powered'
const isFull = process.env.BOTTEGA_TEST_FULL === '1'
/** Of a restore, after its job began. */
const MOMENTS_MS = isFull ? [0, 200, 500, 1_000, 1_500, 2_000, 3_000] : [1_000]
const base64 = (text: string) => Buffer.from(text).toString('base64')
const sh = (script: string): string[] => ['/bin/busybox', 'sh', '-c', script]

/** `web` comes up slowly; `store` serves what it keeps, which takes a while to be packed. */
const project: Project = {
  compose: `services:
  web:
    build: .
    command: ["/bin/busybox", "sh", "-c", "/bin/busybox sleep 3; /bin/busybox mkdir -p /tmp/www; echo up > /tmp/www/index.html; exec /bin/busybox httpd -f -p 8080 -h /tmp/www"]
    expose: ["8080"]
    stop_grace_period: 1s
  store:
    build: .
    command: ["/bin/busybox", "sh", "-c", "[ -e /data/said ] || { /bin/busybox dd if=/dev/urandom of=/data/large bs=1M count=16; echo first > /data/said; }; while :; do /bin/busybox sleep 1; done"]
    volumes: ["data:/data"]
    stop_grace_period: 1s
volumes: {data: {}}
`,
  files: { Dockerfile: base64('FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\n'), busybox: busybox() },
}

spec('an app whose host loses its power', (t) => {
  let stage: AppStage
  let app: Json
  const path = () => `/api/apps/${app.id}`
  const jobs = () => join(stage.host.folder, 'home', '.bottega', 'jobs')
  const ids = (...more: string[]): string[] =>
    docker('ps', '-q', '--no-trunc', '--filter', `label=dev.bottega.app=${SLUG}`, ...more)
      .split('\n')
      .filter(Boolean)
  const store = () => ids('--filter', 'label=com.docker.compose.service=store')[0] ?? ''
  const holds = () => docker('exec', store(), '/bin/busybox', 'cat', '/data/said')

  /** A job that has begun and has not ended. @param suffix of its id */
  const begun = (suffix: string) =>
    eventually(
      `a job ${suffix} to run`,
      async () => {
        const names = existsSync(jobs()) ? readdirSync(jobs()) : []
        return names.find(
          (name) =>
            name.endsWith(suffix) &&
            existsSync(join(jobs(), name, 'runner')) &&
            !existsSync(join(jobs(), name, 'exit')),
        )
      },
      120_000,
    )

  /** All that runs for the app ends at once; then its engine starts what is to be kept up, as it does when it comes up. */
  const losePower = () => {
    for (const name of readdirSync(jobs()).filter((one) => !one.startsWith('.'))) {
      const [runner, exit] = ['runner', 'exit'].map((file) => join(jobs(), name, file)) as [string, string]
      if (!existsSync(runner) || existsSync(exit)) continue
      const [pid = ''] = readFileSync(runner, 'utf8').split(' ')
      try {
        process.kill(-Number(pid), 'SIGKILL')
      } catch {
        // it has just ended
      }
    }
    const ours = ['--filter', `volume=${SLUG}-base_data`]
    const copiers = docker('ps', '-q', '--filter', 'label=dev.bottega.copier', ...ours)
      .split('\n')
      .filter(Boolean)
    for (const id of [...ids(), ...copiers]) {
      try {
        docker('kill', id)
      } catch {
        // one that goes by itself has just gone
      }
    }
    const isKeptUp = (id: string): boolean => {
      try {
        return docker('inspect', '-f', '{{.HostConfig.RestartPolicy.Name}}', id) === 'unless-stopped'
      } catch {
        return false // a run's own has just been taken away
      }
    }
    docker('start', ...ids('-a').filter(isKeptUp))
  }

  const ended = ({ json, text }: Reply): Promise<Json> => {
    const id = json.operation_id ?? json.operation?.id
    assert.ok(id, text)
    return eventually(
      `the end of ${id}`,
      async () => {
        const { operation } = (await stage.api('GET', `/api/apps/operations/${id}`)).json
        return operation.ended_at !== null && operation
      },
      timeoutMs,
    )
  }
  const ask = (rest: string, body?: object) => stage.api('POST', `${path()}${rest}`, body, { prefer: 'respond-async' })

  /** As before: so many containers, an answer to visitors, and nothing that is left of what was begun. */
  const isWell = async () => {
    await eventually(
      'it to be well',
      async () => {
        const page = await stage.visit(SLUG).catch(() => null)
        const { replicas, health } = (await stage.api('GET', path())).json.app
        return page?.status === 200 && replicas.ready === 1 && health.state === 'healthy' && ids('-a').length === 2
      },
      180_000,
    )
    const left = () => [...copiesOf(SLUG), ...readdirSync(jobs()).filter((name) => /-(run|keep|back)$/.test(name))]
    await eventually('nothing to be left', async () => left().length === 0, 60_000)
  }

  t.before(async () => {
    stage = await startAppStage()
    app = await stage.app(SLUG, { application_policy: 'none', watch_seconds: 0, drain_seconds: 1 })
    const { json, text } = await stage.deploy(app.id, project)
    assert.is(json.operation?.state, 'succeeded', text)
    await eventually('what it keeps', async () => holds() === 'first', 60_000)
  })
  t.after(() => stage?.end())

  t(
    'has as many replicas as before, where they were being started',
    async () => {
      const asked = await ask('/scale', { replicas: 3 })
      await begun('-start')
      await sleep(500)
      losePower()
      const { state, result } = await ended(asked)
      assert.equal([state, result.code], ['failed', 'RELEASE_FAILED'])
      await isWell()
      // What did not come to it is not tried again by itself, and may be asked for again.
      const again = await stage.operate('POST', `${path()}/scale`, { replicas: 1 })
      assert.is(again.json.operation?.state, 'succeeded', again.text)
      await isWell()
    },
    { timeoutMs },
  )

  t(
    'does not run a command twice, and says that nobody knows how it ended',
    async () => {
      const asked = await ask('/run', {
        service: 'store',
        command: sh('echo ran >> /data/ran; /bin/busybox sleep 300'),
      })
      await begun('-run')
      const ran = () => docker('exec', store(), ...sh('/bin/busybox cat /data/ran 2>/dev/null || true'))
      await eventually('it to run', async () => ran() === 'ran', 30_000)
      losePower()
      const { state, result } = await ended(asked)
      assert.equal([state, result.code], ['unknown', 'COMMAND_UNKNOWN'])
      await isWell()
      assert.is(ran(), 'ran')
    },
    { timeoutMs },
  )

  t(
    'has no backup of which it was told, where it was being packed; and has it when it is asked for again',
    async () => {
      const asked = await ask('/volumes/data/backups', {})
      await begun('-keep')
      await sleep(300)
      losePower()
      const { state, result } = await ended(asked)
      assert.equal([state, result.code], ['failed', 'BACKUP_FAILED'])
      await isWell()
      const again = await ended(await ask('/volumes/data/backups', {}))
      assert.is(again.state, 'succeeded', JSON.stringify(again))
    },
    { timeoutMs },
  )

  for (const momentMs of MOMENTS_MS) {
    t(
      `holds the one or the other, and says which, where a backup was being put back for ${momentMs} ms`,
      async () => {
        const { backups } = (await stage.api('GET', `${path()}/backups`)).json
        const { id } = backups.find((one: Json) => one.state === 'succeeded' && one.restores === null)
        docker('exec', store(), ...sh('echo second > /data/said'))
        const asked = await ask(`/backups/${id}/restore?confirm=data&confirm_downtime=1`)
        assert.is(asked.status, 202, asked.text)
        await begun('-keep')
        await sleep(momentMs)
        losePower()
        const { state, result } = await ended(asked)
        await isWell()
        assert.is(holds(), state === 'succeeded' ? 'first' : 'second', JSON.stringify(result))
        console.log(`  ${state} after ${momentMs} ms: ${result.detail}`)
      },
      { timeoutMs },
    )
  }
})
