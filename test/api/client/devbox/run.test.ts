/** `bottega-devbox run` as a pod runs it: a process that says how it stands, and ends when it is told to. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { makeTerminal } from '../../../../api/client/cli/show/terminal.ts'
import type { BoxStep } from '../../../../api/client/devbox/plan/world.ts'
import { runDaemon } from '../../../../api/client/devbox/run/daemon.ts'
import { listenFrom, openPort } from '../../../../api/client/devbox/run/port.ts'
import { newStanding } from '../../../../api/client/devbox/run/standing.ts'
import { freePort } from '../../../../hack/lib/ports.ts'
import { waitFor } from '../../../../hack/lib/processes.ts'
import { root } from '../../../../hack/lib/state.ts'
import { type MemoryRegistry, startRegistry } from '../../../support/devbox/registry.ts'
import { type DevboxStage, INSTALLATION, startDevboxStage } from '../../../support/devbox/stage.ts'
import { ACCESS_KEY, type Ec2StandIn, startEc2 } from '../../../support/ec2/standin.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const minuteMs = 60_000
const SLOW = { timeoutMs: 5 * minuteMs }
const MAIN = join(root, 'api/client/devbox/main.ts')

type Page = { status: number; text: string }
const pageOf = async (port: number, path: string): Promise<Page> => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } }).catch(
    () => null,
  )
  return { status: response?.status ?? 0, text: (await response?.text()) ?? '' }
}

spec('the provisioner as a process', (t) => {
  let ec2: Ec2StandIn
  let registry: MemoryRegistry
  let port: number
  let running: ChildProcess | null = null
  let said = ''

  const clear = async () => {
    if (running?.exitCode === null && running.signalCode === null) {
      running.kill('SIGKILL')
      await once(running, 'exit')
    }
    running = null
    ec2.faults.length = 0
  }

  const start = async (accessKey = ACCESS_KEY): Promise<ChildProcess> => {
    await clear()
    port = await freePort()
    said = ''
    const env = {
      PATH: process.env.PATH,
      BOTTEGA_URL: registry.url,
      BOTTEGA_TOKEN: 'btg_test_token',
      BOTTEGA_INSTALLATION: INSTALLATION,
      BOTTEGA_METRICS_LISTEN: `127.0.0.1:${port}`,
      BOTTEGA_EC2_ENDPOINT: ec2.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: 'of the stand-in',
      BOTTEGA_EC2_SUBNET: 'subnet-1',
      BOTTEGA_EC2_SECURITY_GROUPS: 'sg-1',
      BOTTEGA_EC2_KEY_NAME: 'operator',
      BOTTEGA_EC2_IMAGE_ARM64: 'ami-0aaaaaaaaaaaaaaa1',
      BOTTEGA_EC2_IMAGE_X86_64: 'ami-0bbbbbbbbbbbbbbb2',
    }
    const args = ['--disable-warning=ExperimentalWarning', MAIN, 'run', '--every', '1s']
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8')
      })
    running = child
    return child
  }
  const comes = (what: string, isSo: () => Promise<boolean>) =>
    waitFor(what, isSo, { timeoutMs: 2 * minuteMs, everyMs: 200 }).catch((error) => {
      throw new Error(`${error.message}; it said: ${said}`)
    })
  const readiness = () => pageOf(port, '/readyz')
  const isReady = async () => (await readiness()).status === 200

  t.before(async () => {
    ec2 = await startEc2(() => Date.now())
    registry = await startRegistry(() => Date.now())
  })
  t.after(async () => {
    await clear()
    await ec2.end()
    await registry.end()
  })

  t(
    'is ready once registry and cloud have answered, and tells in figures what it does',
    async () => {
      registry.reserve({ name: 'october' })
      await start()
      await comes('readiness', isReady)
      assert.equal((await readiness()).text.trim().split('\n'), ['ok registry', 'ok cloud', 'ok rounds'])
      assert.is((await pageOf(port, '/healthz')).status, 200)
      // a machine that nobody can log in to: it waits for its host keys to answer
      await comes('the launch', async () =>
        /_steps_total\{step="launch"\} 1\n/.test((await pageOf(port, '/metrics')).text),
      )
      await comes('the wait', async () =>
        /bottega_provisioner_instances\{state="waiting"\} 1\n/.test((await pageOf(port, '/metrics')).text),
      )
      const { text } = await pageOf(port, '/metrics')
      assert.match(text, /bottega_provisioner_rounds_total\{outcome="well"\} [1-9]/)
      assert.match(text, /bottega_provisioner_rounds_total\{outcome="failed"\} 0\n/)
      assert.match(text, /bottega_provisioner_orphan_usd 0\n/)
      assert.match(text, /bottega_provisioner_round_age_seconds \d/)
      assert.match(text, /build_info\{version="[^"]+",process="provisioner"\} 1/)
      assert.is(ec2.region.machines.size, 1)
    },
    SLOW,
  )
  t(
    'is not ready with credentials that the cloud does not take, says so, and goes on asking',
    async () => {
      await start('AKIAOFSOMEBODYELSE00')
      await comes('two failed rounds', async () =>
        /rounds_total\{outcome="failed"\} ([2-9]|\d\d)/.test((await pageOf(port, '/metrics')).text),
      )
      const { status, text } = await readiness()
      assert.is(status, 503)
      assert.match(text, /^failed cloud AWS was not able to validate the provided access credentials$/m)
      assert.match(text, /^failed rounds none has ended well yet$/m)
    },
    SLOW,
  )
  t(
    'ends well within 25 seconds though the cloud gives it no answer',
    async () => {
      const child = await start()
      await comes('readiness', isReady)
      const before = ec2.asked.length
      ec2.faults.push({ action: 'DescribeInstances', does: 'held' })
      await comes('the question', async () => ec2.faults.length === 0 && ec2.asked.length > before)
      child.kill('SIGTERM')
      // within so long every process of ours has ended (base/stop.ts); a call of the cloud is waited for longer
      const killing = setTimeout(() => child.kill('SIGKILL'), 25_000)
      const [code, signal] = await once(child, 'exit')
      clearTimeout(killing)
      assert.equal([code, signal], [0, null], said)
    },
    SLOW,
  )
})

spec('the standing of the provisioner', (t) => {
  t('is told by who has been silent for a minute, and by rounds that hang', async () => {
    let ms = 1_000_000
    const standing = newStanding()
    const ops = await openPort(standing, { listen: { host: '127.0.0.1', port: 0 }, version: '1', nowMs: () => ms })
    try {
      const ready = async () => (await pageOf(ops.port, '/readyz')).text
      assert.match(await ready(), /failed registry nothing was asked of it yet/)
      standing.answered = { registry: true, cloud: true }
      standing.wellAtMs = ms
      assert.is((await pageOf(ops.port, '/readyz')).status, 200)
      standing.askedMs.registry = ms
      ms += 59_000
      assert.match(await ready(), /ok registry/)
      ms += 2_000
      assert.match(await ready(), /failed registry has not answered for 61 s/)
      standing.askedMs.registry = null
      ms += 15 * minuteMs
      assert.match(await ready(), /failed rounds the last that ended well did 16 minutes ago/)
    } finally {
      await ops.stop()
    }
  })
  t('is served at an address that is one', () => {
    assert.equal(listenFrom('[::]:9090'), { host: '::', port: 9090 })
    assert.equal(listenFrom('127.0.0.1:0'), { host: '127.0.0.1', port: 0 })
    for (const wrong of ['9090', '[::]', 'a:70000', ':80', 'a b:80'])
      assert.throws(() => listenFrom(wrong), /BOTTEGA_METRICS_LISTEN/, wrong)
  })
})

spec('the provisioner that is told to end', (t) => {
  let stage: DevboxStage
  t.before(async () => {
    stage = await startDevboxStage()
  })
  t.after(() => stage.end())

  t('ends the step that it is in, and begins no other', async () => {
    const id = stage.registry.reserve({ name: 'october' })
    const end = new AbortController()
    const steps: BoxStep[] = []
    const told: string[] = []
    const write = (text: string) => told.push(text)
    const terminal = makeTerminal(
      { stdout: { write }, stderr: { write } },
      { isJson: false, isQuiet: false, noColour: true, nowMs: stage.parts.nowMs },
    )
    const tell = (_: string, step: BoxStep) => {
      steps.push(step)
      if (step.do === 'launch') end.abort()
    }
    await runDaemon({ parts: { ...stage.parts, tell }, terminal, everyMs: 5_000, signal: end.signal })
    assert.is(steps.at(-1)?.do, 'launch')
    assert.equal([stage.ec2.region.machines.size, stage.registry.row(id).state], [1, 'reserved'])
    assert.equal(told, [])
  })
})
