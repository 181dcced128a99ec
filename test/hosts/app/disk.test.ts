import { assert, spec } from '../../support/runner/spec.ts'
import { type AppCaller, type AppStage, type Project, project, startAppStage } from '../../support/stage/apps.ts'
import { docker } from '../../support/stage/host.ts'
import { eventually, type Json, type Reply } from '../../support/stage/invoicing.ts'

/** What apps have on the disk of their host: whatever way it is filled, only who fills it is stopped. */

const timeoutMs = 300_000

const SERVE = 'mkdir -p /tmp/www && echo here > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www'
const WAIT = 'sleep 600'

/** Ways to have more than 32 MiB, each as an app of its own would. */
const WAYS: Record<string, string> = {
  'a file': `dd if=/dev/zero of=/x bs=1M count=60; ${WAIT}`,
  'a volume without a name': `dd if=/dev/zero of=/kept/x bs=1M count=60; ${WAIT}`,
  'a file that is deleted and still open': `exec 3>/x; rm /x; dd if=/dev/zero bs=1M count=60 >&3; ${WAIT}`,
  'files without a byte': `mkdir /f; i=0; while [ $i -lt 2600 ]; do : > /f/$i; i=$((i+1)); done; ${WAIT}`,
  'a file that has a second name': `dd if=/dev/zero of=/x bs=1M count=60; ln /x /y; rm /x; ${WAIT}`,
  'a file of a container that ends and begins again': 'dd if=/dev/zero of=/x bs=1M count=60; exit 1',
  'a deleted file that is called as memory is': `exec 3>/memfd:x; rm /memfd:x; dd if=/dev/zero bs=1M count=60 >&3; ${WAIT}`,
}

spec('the disk of an app', (t) => {
  let stage: AppStage
  let other: AppCaller
  let app: Json
  let image: string

  const withVolume = (command: string): Project => {
    const plain = project('one', { command: `export PATH=/bin; busybox --install -s /bin; ${command}${SERVE}` })
    const volumes = '    volumes: ["data:/data"]\nvolumes: { data: }\n'
    return { ...plain, compose: plain.compose.concat(volumes) }
  }
  const succeeded = (reply: Reply) => assert.is(reply.json.operation?.state, 'succeeded', reply.text)
  const seen = async () => (await other.api('GET', `/api/apps/${app.id}`)).json.app
  /** MiB used, MiB of budget, word, when. */
  const metered = (name: string): string => docker('exec', 'bottega-meter', '/bin/cat', `/run/apps/${name}`)
  const goesOn = (name: string): boolean =>
    /^(running|restarting)$/.test(docker('inspect', '-f', '{{.State.Status}}', name))
  const runs = (filter: string): boolean => docker('ps', '-q', '--filter', filter) !== ''
  const fill = (name: string, command: string): void => {
    const labels = ['--label', `dev.bottega.app=${name}`, '--label', 'dev.bottega.disk=32']
    const shell = `export PATH=/bin; busybox --install -s /bin; ${command}`
    const program = [image, '/bin/busybox', 'sh', '-c', shell]
    docker(
      'run',
      '-d',
      '--name',
      name,
      ...labels,
      '--restart',
      'always',
      '--network',
      'none',
      '-v',
      '/kept',
      ...program,
    )
  }

  t.before(
    async () => {
      stage = await startAppStage()
      other = await stage.as('other')
      const quiet = await stage.app('quiet', { application_policy: 'none', watch_seconds: 0 })
      succeeded(await stage.deploy(quiet.id, project('quiet')))
      app = await other.app('glutton', {
        application_policy: 'none',
        budget: { cpu_millis: 1_000, memory_mib: 512, disk_gib: 1 },
      })
      image = docker('ps', '--filter', 'label=dev.bottega.app=quiet', '--format', '{{.Image}}')
    },
    { timeoutMs },
  )
  t.after(async () => {
    const names = Object.keys(WAYS).map((_, place) => `way-${place}`)
    docker('rm', '-fv', 'modest', ...names)
    await stage.end()
  })

  t(
    'is held to its budget whatever way it is filled, and nobody else is stopped',
    async () => {
      fill('modest', `dd if=/dev/zero of=/x bs=1M count=16; ${WAIT}`)
      for (const [place, command] of Object.values(WAYS).entries()) fill(`way-${place}`, command)
      const going = () => Object.keys(WAYS).filter((_, place) => goesOn(`way-${place}`))
      await eventually('all of them to be stopped', async () => going().length === 0, 90_000).catch(() => undefined)
      assert.equal(going(), [], 'not stopped')
      await eventually('the meter to tell of one', async () => / 32 stopped \d+$/.test(metered('way-0')), 60_000)
      assert.match(metered('modest'), /^\d+ 32 within 0$/)
      assert.ok(goesOn('modest'))
    },
    { timeoutMs },
  )

  t(
    'is told over REST and kubectl when it was too much, and the others serve on',
    async () => {
      const fillIt =
        'if [ ! -f /data/done ]; then touch /data/done; (sleep 20; dd if=/dev/zero of=/data/x bs=1M count=1200) & fi; '
      succeeded(await other.deploy(app.id, withVolume(fillIt)))
      assert.is((await stage.visit('glutton')).text.trim(), 'here')
      await eventually('the app to be stopped', async () => (await seen()).stalled?.code === 'DISK_EXCEEDED', 150_000)
      const { stalled, readiness } = await seen()
      assert.match(stalled.detail, /it had 1[12]\d\d of 1024 MiB on disk and was stopped/)
      const disk = readiness.checks.find(({ name }: Json) => name === 'disk')
      assert.equal([disk.ok, readiness.state], [false, 'not_ready'])
      assert.not.ok(runs('label=dev.bottega.app=glutton'))
      const reason = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].reason}'
      assert.match(await stage.platform.kubectl(['get', 'bapp', app.id, reason]), /DiskExceeded|DISK_EXCEEDED/)
      assert.match((await stage.visit('quiet')).text, /quiet/)
      assert.match(await stage.platform.kubectl(['get', 'bhost', 'local']), /approved/)
    },
    { timeoutMs },
  )

  t(
    'has ten minutes with the next release to give some back, and is ready again when it has',
    async () => {
      succeeded(await other.deploy(app.id, withVolume('(sleep 20; rm -f /data/x) & '), '?confirm_downtime=1'))
      // It runs: what was said of it when it did not is over.
      await eventually('the app to be told as running', async () => (await seen()).stalled === null, 10_000)
      await eventually(
        'the app to have given it back',
        async () => /^\d{1,2} 1024 within 0$/.test(metered('glutton')),
        90_000,
      )
      await eventually('the app to be ready', async () => (await seen()).readiness.state === 'ready', 60_000)
      assert.is((await seen()).stalled, null)
      assert.is((await stage.visit('glutton')).text.trim(), 'here')
    },
    { timeoutMs },
  )

  t(
    'ends a release that takes too much before it serves, under that name, and the next one may give it back',
    async () => {
      const greedy = await other.app('greedy', { budget: { cpu_millis: 1_000, memory_mib: 512, disk_gib: 1 } })
      const filling = 'dd if=/dev/zero of=/data/x bs=1M count=1200; sleep 60; '
      const { json } = await other.deploy(greedy.id, withVolume(filling))
      assert.equal(
        [json.operation.state, json.operation.result.code],
        ['failed', 'DISK_EXCEEDED'],
        json.operation.result,
      )
      assert.match(json.operation.result.detail, /1[12]\d\d of 1024 MiB/)
      const broken = await other.deploy(greedy.id, withVolume('exit 3; '))
      assert.is(broken.json.operation.result.code, 'RELEASE_FAILED', 'what fails for another reason is told so')
      succeeded(await other.deploy(greedy.id, withVolume('(sleep 5; rm -f /data/x) & ')))
      await eventually(
        'it to have been given back',
        async () => /^\d{1,2} 1024 within 0$/.test(metered('greedy')),
        90_000,
      )
    },
    { timeoutMs },
  )

  t(
    'goes with a release where its volume has no name, and the meter comes back when somebody takes it away',
    async () => {
      const anonymous = project('two', { more: '    volumes: ["/kept"]\n' })
      const { json } = await stage.api('GET', '/api/apps')
      const quiet = json.apps.find(({ slug }: Json) => slug === 'quiet')
      succeeded(await stage.deploy(quiet.id, anonymous))
      const nameless = () =>
        docker('volume', 'ls', '-q', '--filter', 'label=com.docker.volume.anonymous').split('\n').length
      const before = nameless()
      docker('rm', '-f', 'bottega-meter')
      for (const version of ['three', 'four']) {
        succeeded(
          await stage.deploy(quiet.id, { ...anonymous, compose: anonymous.compose.replace('"two"', `"${version}"`) }),
        )
      }
      await eventually('the volumes of before to be gone', async () => nameless() <= before, 90_000)
      assert.is(
        docker('inspect', '-f', '{{.State.Running}}', 'bottega-meter'),
        'true',
        'a release waits until it is back',
      )
    },
    { timeoutMs },
  )
})
