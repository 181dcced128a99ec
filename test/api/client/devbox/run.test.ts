/** `bottega-devbox run` as a pod runs it: a process that says how it stands, and ends when it is told to. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { BoxStep } from '../../../../api/client/devbox/plan/world.ts'
import { runDaemon } from '../../../../api/client/devbox/run/daemon.ts'
import { listenFrom, openPort } from '../../../../api/client/devbox/run/port.ts'
import { newStanding } from '../../../../api/client/devbox/run/standing.ts'
import { loggingTerminal, tellingSteps, tellStuck } from '../../../../api/client/devbox/run/telling.ts'
import { logLevelFrom } from '../../../../api/client/devbox/settings.ts'
import { makeLog } from '../../../../controllers/base/log.ts'
import { freePort } from '../../../../hack/lib/ports.ts'
import { waitFor } from '../../../../hack/lib/processes.ts'
import { root } from '../../../../hack/lib/state.ts'
import { type MemoryRegistry, startRegistry } from '../../../support/devbox/registry.ts'
import { type DevboxStage, INSTALLATION, startDevboxStage } from '../../../support/devbox/stage.ts'
import { ACCESS_KEY, type Ec2StandIn, startEc2 } from '../../../support/ec2/standin.ts'
import { assert, spec } from '../../../support/runner/spec.ts'

const minuteMs = 60_000
const SLOW = { timeoutMs: 5 * minuteMs }
const TOKEN = 'btg_test_token'
const SECRET_KEY = 'of the stand-in'
const MAIN = join(root, 'api/client/devbox/main.ts')

type LogLine = Record<string, unknown>
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
  let said = { stdout: '', stderr: '' }

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
    said = { stdout: '', stderr: '' }
    const env = {
      PATH: process.env.PATH,
      BOTTEGA_URL: registry.url,
      BOTTEGA_TOKEN: TOKEN,
      BOTTEGA_INSTALLATION: INSTALLATION,
      BOTTEGA_METRICS_LISTEN: `127.0.0.1:${port}`,
      BOTTEGA_EC2_ENDPOINT: ec2.url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: accessKey,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
      BOTTEGA_EC2_SUBNET: 'subnet-1',
      BOTTEGA_EC2_SECURITY_GROUPS: 'sg-1',
      BOTTEGA_EC2_KEY_NAME: 'operator',
      BOTTEGA_EC2_IMAGE_ARM64: 'ami-0aaaaaaaaaaaaaaa1',
      BOTTEGA_EC2_IMAGE_X86_64: 'ami-0bbbbbbbbbbbbbbb2',
    }
    const args = ['--disable-warning=ExperimentalWarning', MAIN, 'run', '--every', '1s']
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.on('data', (chunk: Buffer) => {
        said[name] += chunk.toString('utf8')
      })
    running = child
    return child
  }
  const comes = (what: string, isSo: () => Promise<boolean>) =>
    waitFor(what, isSo, { timeoutMs: 2 * minuteMs, everyMs: 200 }).catch((error) => {
      throw new Error(`${error.message}; it said: ${said.stdout}${said.stderr}`)
    })
  /** What it logs, as whoever collects logs reads it: a line that is no JSON throws. */
  const logged = (): LogLine[] =>
    said.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
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
      assert.is(said.stderr, '')
      for (const line of logged()) {
        const { level, time, process: name, msg } = line
        assert.equal([level, name, typeof msg], ['info', 'provisioner', 'string'], JSON.stringify(line))
        assert.ok(Number.isFinite(Date.parse(String(time))), String(time))
      }
      const launched = logged().filter(({ step }) => step === 'launch')
      assert.equal(
        launched.map(({ msg, instance, instanceType }) => [msg, instance, instanceType]),
        [['step', [...registry.kept.keys()][0], 't4g.large']],
      )
      const waits = logged().filter(({ step }) => step === 'wait')
      assert.is(new Set(waits.map(({ why }) => why)).size, waits.length, 'each reason once, not each round')
      for (const secret of [TOKEN, SECRET_KEY]) assert.not.match(said.stdout, secret)
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
      const failed = logged().filter(({ msg }) => msg === 'a round failed')
      assert.ok(failed.length >= 2)
      for (const { level, err } of failed)
        assert.equal(
          [level, (err as LogLine).code, (err as LogLine).message],
          ['error', 'AuthFailure', 'AWS was not able to validate the provided access credentials'],
        )
      assert.is(said.stderr, '')
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
      assert.equal([code, signal], [0, null], said.stdout)
      assert.is(logged().at(-1)?.msg, 'what is under way does not end')
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
    const log = makeLog({ level: 'warn', destination: { write: (line) => void told.push(line) } })
    const tell = (_: string, step: BoxStep) => {
      steps.push(step)
      if (step.do === 'launch') end.abort()
    }
    await runDaemon({ parts: { ...stage.parts, tell }, log, everyMs: 5_000, signal: end.signal })
    assert.is(steps.at(-1)?.do, 'launch')
    assert.equal([stage.ec2.region.machines.size, stage.registry.row(id).state], [1, 'reserved'])
    assert.equal(told, [])
  })
})

spec('what the provisioner logs', (t) => {
  const logOf = () => {
    const lines: string[] = []
    const log = makeLog({ base: { process: 'provisioner' }, destination: { write: (line) => void lines.push(line) } })
    return { log, lines, read: () => lines.map((line) => JSON.parse(line)) }
  }
  const STUCK = { do: 'stuck', code: 'X', detail: '', next: '' } as const

  t('holds no secret that somebody else wrote into a message', () => {
    const { log, lines, read } = logOf()
    const told = `it answered\nAuthorization: Bearer abc.def and dbr_dev-1_hidden at https://me:hidden@git.test \u001b[31m`
    tellStuck(log, 'dev-1', { state: 'stuck', code: 'FAILED', detail: told, next: told })
    tellingSteps(log)('dev-1', { do: 'wait', why: told, ms: 1 })
    const terminal = loggingTerminal(log)
    terminal.say(told)
    terminal.fail(told)
    assert.is(lines.length, 4)
    assert.not.match(lines.join(''), /abc[.]def|hidden|u001b.31m/)
    assert.equal(
      read().map(({ level, msg, instance }) => [level, msg, instance]),
      [
        ['error', 'a dev instance is stuck', 'dev-1'],
        ['info', 'step', 'dev-1'],
        ['warn', 'the client says', undefined],
        ['error', 'the client failed', undefined],
      ],
    )
  })
  t('tells each step with its figures, a wait once for its reason, and nothing of what is said', () => {
    const { log, read } = logOf()
    const tell = tellingSteps(log)
    const wait = { do: 'wait', why: 'for its host keys', ms: 1 } as const
    const look = { do: 'lookInside', machineId: 'i-1', publicIp: '203.0.113.7' } as const
    for (const step of [wait, look, wait, look, wait]) tell('dev-1', step)
    tell('dev-1', { do: 'grow', volumeId: 'vol-1', sizeGb: 80 })
    tell('dev-1', { do: 'say', word: 'renamed', body: { version: 1, name: 'not-to-be-told' } })
    tell('dev-1', STUCK)
    tell('dev-1', wait)
    assert.equal(
      read().map(({ time: _, level: __, process: ___, instance: ____, msg: _____, ...of }) => of),
      [
        { step: 'wait', why: 'for its host keys' },
        { step: 'grow', volumeId: 'vol-1', sizeGb: 80 },
        { step: 'say', word: 'renamed' },
        { step: 'wait', why: 'for its host keys' },
      ],
    )
  })
  t('is as much as BOTTEGA_LOG_LEVEL says', () => {
    assert.is(logLevelFrom({}), 'info')
    assert.is(logLevelFrom({ BOTTEGA_LOG_LEVEL: 'debug' }), 'debug')
    assert.throws(() => logLevelFrom({ BOTTEGA_LOG_LEVEL: 'loud' }), /BOTTEGA_LOG_LEVEL is debug, info/)
  })
})
