import { execFileSync, spawn } from 'node:child_process'
import { createWriteStream, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDocker } from '../../../api/client/devbox/cloud/docker/driver.ts'
import { CloudFault } from '../../../api/client/devbox/cloud/driver.ts'
import { createProgress } from '../../../hack/lib/progress.ts'
import { type BoxStage, removeBoxes, startBoxes } from '../../../hack/stage/boxes/boxes.ts'
import { makeKey } from '../../../hack/stage/hoststage.ts'
import { canaryValue } from '../../support/canaries/answers.ts'
import { type Cli, type CliRun, makeCli } from '../../support/client/cli.ts'
import { backdate, silence } from '../../support/devbox/ageing.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { setCap } from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { root } from '../../support/structure/tree.ts'

/**
 * The life of a dev instance on a real machine: a container in which systemd runs, cloud-init carries out the user data as it is
 * served, and the real sshd attests; by the provisioner as it is started, for the client as people use it.
 */

const PROGRAM = join(root, 'hack', 'commands', 'devbox.ts')
const ARCH = process.arch === 'arm64' ? 'arm64' : 'x86_64'
const INSTALLATION = 'bottega-test'
/** Downloads of its agent, and a systemd that boots. */
const READY_MS = 240_000
/** On a machine that has much else to do a start of the provisioner takes half a minute. */
const PATIENT_MS = 400_000

type Ended = { code: number | null; out: string; err: string }

spec('a dev instance in Docker', (t) => {
  const folder = mkdtempSync(join(process.env.BOTTEGA_TEST_FOLDER ?? '/tmp', 'boxes-'))
  let platform: Platform
  let boxes: BoxStage
  let cli: Cli
  let [owner, operator] = ['', '']
  let coldSeconds = 0
  let endDaemon = async (): Promise<void> => undefined

  const docker = (...args: string[]): string =>
    execFileSync('docker', ['--host', `unix://${boxes.docker.socket}`, ...args], { encoding: 'utf8' }).trim()
  const lines = (...args: string[]): string[] =>
    docker(...args)
      .split('\n')
      .filter((line) => line !== '')
  const ours = ['--filter', `label=bottega:installation=${INSTALLATION}`]
  const containers = (format: string): string[] => lines('ps', '--all', ...ours, '--format', format)
  /** What stands in Docker for us: machines, disks, addresses. */
  const counts = (): number[] => [
    containers('{{.ID}}').length,
    lines('volume', 'ls', '--quiet', ...ours).length,
    lines('network', 'ls', '--quiet', ...ours).length,
  ]

  const environment = () => ({
    ...process.env,
    ...boxes.env,
    BOTTEGA_INSTALLATION: INSTALLATION,
    BOTTEGA_URL: platform.baseUrl,
    BOTTEGA_TOKEN: operator,
  })
  const started = (args: readonly string[]) =>
    spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  /** One command of the provisioner, to its end. */
  const provisioner = (...args: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const child = started(args)
      let [out, err] = ['', '']
      child.stdout.on('data', (chunk) => {
        out += chunk
      })
      child.stderr.on('data', (chunk) => {
        err += chunk
      })
      child.on('close', (code) => resolve({ code, out, err }))
    })
  const runDaemon = (): void => {
    const child = started(['run', '--every', '2s'])
    const log = createWriteStream(join(folder, 'provisioner.log'))
    child.stdout.pipe(log)
    child.stderr.pipe(log)
    const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
    endDaemon = async () => {
      child.kill('SIGTERM')
      await ended
    }
  }

  const devbox = async (name: string): Promise<Json> => {
    const { json } = await call(platform.baseUrl, owner, 'GET', '/api/devboxes')
    return json.devboxes.find((one: Json) => one.name === name)
  }
  const detail = async (name: string): Promise<Json> =>
    (await call(platform.baseUrl, owner, 'GET', `/api/devboxes/${(await devbox(name)).id}`)).json.devbox
  const comesTo = (name: string, state: string, timeoutMs = 180_000) =>
    eventually(`${name} to be ${state}`, async () => (await devbox(name))?.state === state, timeoutMs)
  /** @returns in how many seconds it ran */
  const isHad = async (name: string): Promise<number> => {
    const fromMs = Date.now()
    const shape = ['--size-class', 'XS', '--arch', ARCH, '--agents', 'gemini-cli']
    well(await cli(['devbox', 'reserve', name, ...shape]))
    await comesTo(name, 'running', READY_MS)
    return Math.round((Date.now() - fromMs) / 1000)
  }
  const withKey = () => ['--identity', boxes.identityFile]
  const ssh = (name: string, identity: string, command: string) =>
    cli(['devbox', 'ssh', name, '--identity', identity, '--', command])
  const inside = async (name: string, command: string): Promise<string> => {
    const { code, out, err } = await ssh(name, boxes.identityFile, command)
    assert.is(code, 0, err)
    return out.trim()
  }
  /** One report from its beginning to its end, whether another was under way or not. */
  const reports = (name: string) =>
    // more of them follow each other than systemd allows of a service
    inside(name, 'sudo systemctl reset-failed bottega-report.service; sudo systemctl restart bottega-report.service')
  const standsWell = async (name: string): Promise<void> => {
    const told = await inside(name, 'whoami; systemctl is-system-running; cloud-init status')
    assert.is(told, 'dev\nrunning\nstatus: done')
    assert.match(await inside(name, 'gemini --version'), /\d+\.\d+\.\d+/)
  }
  /** A machine that has just begun to run lets nobody in yet. */
  const letsIn = (name: string) =>
    eventually(
      `the sshd of ${name}`,
      async () => (await cli(['devbox', 'ssh', name, ...withKey(), '--', 'true'])).code === 0,
      60_000,
    )
  /** As if nobody had used it for 20 minutes, and it had warned of that: the watcher's own notes, put back. */
  const fallsIdle = async (name: string): Promise<void> => {
    const { id } = await devbox(name)
    await call(platform.baseUrl, owner, 'PATCH', `/api/devboxes/${id}`, { policy: { idleMinutes: 15 } })
    await reports(name)
    const notes = `sed -i "s/^active .*/active $(($(date +%s) - 1200))/" /run/bottega/idle
mkdir -p /run/bottega-idle
printf 'step 2\\nat 0\\n' > /run/bottega-idle/step
systemctl start --no-block bottega-idle.service`
    await inside(name, `sudo sh -c '${notes.replaceAll("'", "'\\''")}'`)
  }
  const well = ({ code, out, err }: CliRun | Ended): void => assert.is(code, 0, out + err)

  t.before(
    async () => {
      platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
      boxes = await startBoxes({
        folder,
        owner: process.env.BOTTEGA_OWNER ?? `test-${process.pid}`,
        logFile: join(folder, 'dockerd.log'),
        apiPort: Number(new URL(platform.baseUrl).port),
        progress: createProgress(),
      })
      owner = await addAccount(platform, 'boxer', { capabilities: ['devbox.manage'] })
      operator = await addAccount(platform, 'root', { capabilities: ['devbox.manage'], role: 'admin' })
      await setCap(platform, { account: 'boxer', token: owner }, 500)
      cli = makeCli({
        env: { BOTTEGA_URL: platform.baseUrl, BOTTEGA_TOKEN: owner, XDG_STATE_HOME: join(folder, 'state') },
      })
      runDaemon()
    },
    // the first time on a machine an image is made
    { timeoutMs: 900_000 },
  )
  t.after(
    async () => {
      await endDaemon()
      await boxes?.docker.remove()
      await removeBoxes(folder, { purge: true })
      await platform?.end()
    },
    { timeoutMs: 120_000 },
  )

  t(
    'is had by a reservation, and is logged in to by the keys that it attested',
    async () => {
      coldSeconds = await isHad('september')
      const { publicIp, hostKeys } = await detail('september')
      assert.equal(counts(), [1, 1, 1])
      const [name = ''] = containers('{{.Names}}')
      assert.match(name, /^i-[0-9a-f]{17}\..*\.30g\.boxer_2fseptember$/)
      const known = await cli(['devbox', 'known-hosts', 'september'])
      assert.is(known.code, 0, known.err)
      const told = await inside('september', 'for key in /etc/ssh/ssh_host_*_key.pub; do ssh-keygen -lf $key; done')
      assert.equal(told.match(/SHA256:\S+/g)?.sort(), hostKeys.toSorted())
      await standsWell('september')
      assert.ok(publicIp.startsWith(`${boxes.docker.network}.64.`), publicIp)
    },
    { timeoutMs: READY_MS + 30_000 },
  )

  t(
    'is made an image, and one that starts warm from it takes no archive, and is a machine of its own',
    async () => {
      const own = 'cat /etc/machine-id; stat -c "%n %Y" /opt/bottega/installed /opt/bottega/node /opt/bottega/agents/*'
      const cold = await detail('september')
      const [coldId, ...installed] = (await inside('september', own)).split('\n')
      // it turns off amid the command
      await ssh('september', boxes.identityFile, 'sudo /opt/bottega/bin/bake')
      await comesTo('september', 'stopped')
      const image = docker('commit', ...containers('{{.Names}}'))
      well(await provisioner('terminate', 'september'))
      assert.equal(counts(), [0, 0, 0])

      await endDaemon()
      boxes.env.BOTTEGA_DOCKER_IMAGE = image
      runDaemon()
      const warmSeconds = await isHad('october')
      console.log(`\ncounted: ${coldSeconds} s until one ran cold, ${warmSeconds} s until one ran warm`)
      const warm = await detail('october')
      const baked = await inside('october', 'cat /etc/bottega/baked')
      assert.match(baked, /^[0-9a-f]{64}$/)
      assert.equal([warm.launched.imageId, warm.launched.bakedSha256], [image, baked])
      assert.is(cold.launched.bakedSha256, null)
      assert.equal([cold.hostKeys.length, new Set([...cold.hostKeys, ...warm.hostKeys]).size], [2, 4])
      const [warmId, ...there] = (await inside('october', own)).split('\n')
      assert.is.not(warmId, coldId)
      assert.equal(there, installed, 'what was taken for the other one lies there as it was')
      await standsWell('october')
      const attests = async () => (await inside('october', 'ls /run/bottega-attest 2>/dev/null || true')) === 'said'
      await eventually('it to attest by itself', attests, 60_000)
    },
    { timeoutMs: READY_MS + 120_000 },
  )

  t(
    'reports, and lets in whose keys its account has, for as long as it has them',
    async () => {
      await reports('october')
      const { lastReport } = await detail('october')
      assert.equal(lastReport.agents, { 'gemini-cli': await inside('october', 'gemini --version') })
      assert.is(await inside('october', 'cat /etc/bottega/url'), platform.baseUrl)
      // one that goes by its timer meanwhile lies there until it is sent
      await eventually(
        'none to be left unsent',
        async () => (await inside('october', 'ls /var/lib/bottega/reports')) === '',
      )

      const own = join(folder, 'own')
      makeKey(own)
      const logsIn = async () => (await ssh('october', own, 'whoami')).out.trim()
      assert.is(await logsIn(), '')
      well(await cli(['keys', 'add', `${own}.pub`]))
      await reports('october')
      assert.is(await logsIn(), 'dev')
      await reports('october')
      assert.is((await detail('october')).authorizedKeys.onMachine, true)
      well(await cli(['keys', 'remove', 'own', '--yes']))
      await reports('october')
      assert.is(await logsIn(), '')
    },
    { timeoutMs: PATIENT_MS },
  )

  t(
    'attests again what it was finalized as, and tells when somebody has changed it',
    async () => {
      const attests = async (): Promise<string[]> => {
        await inside('october', 'sudo systemctl reset-failed; sudo systemctl start bottega-attest.service')
        await reports('october')
        const { attestation, conditions } = await detail('october')
        assert.equal(
          attestation.faults.length > 0,
          conditions.some(({ type }: Json) => type === 'AttestationDiffers'),
        )
        return attestation.faults
      }
      const faulty = (one: boolean) => eventually('it', async () => (await attests()).length > 0 === one, 60_000)
      await faulty(false)
      assert.is(await inside('october', 'systemctl is-active bottega-attest.timer'), 'active')
      await inside('october', 'sudo systemctl disable --now bottega-idle.timer && echo dev:secret | sudo chpasswd')
      await faulty(true)
      const [units, accounts] = (await detail('october')).attestation.faults
      assert.match(units, /^facts[.]units must be .*, and was /)
      assert.is(accounts, 'facts.openAccounts must be [], and was ["dev"]')
      await inside('october', 'sudo systemctl enable --now bottega-idle.timer && sudo passwd -l dev')
      await faulty(false)
    },
    { timeoutMs: PATIENT_MS },
  )

  t(
    'is given a good report token by repair where its own was spoiled, and the one before opens nothing',
    async () => {
      const { id } = await devbox('october')
      const tokenOn = () => inside('october', 'sudo cat /etc/bottega/token')
      const answered = async (token: string): Promise<number> => {
        const report = { at: new Date().toISOString() }
        return (await call(platform.baseUrl, token, 'POST', `/api/devboxes/${id}/report`, report)).status
      }
      const isSilent = async () => (await detail('october')).conditions.some(({ type }: Json) => type === 'ReportStale')
      const before = await tokenOn()
      assert.is(await answered(before), 200)
      await inside('october', "sudo sed -i 's/....$/0000/' /etc/bottega/token")
      const spoiled = await tokenOn()
      const report = `sudo systemctl reset-failed bottega-report.service
sudo systemctl restart bottega-report.service || sudo journalctl -u bottega-report.service -n 20 -o cat`
      const { out } = await ssh('october', boxes.identityFile, report)
      assert.match(out, /the report token is not good any more/)
      // the clock of all stays: by another one than its own the provisioner would wait for what it sees
      await silence(platform.database.url, id)
      await call(platform.baseUrl, operator, 'POST', '/api/dev/clock', { advance: 'PT1S' })
      await eventually('its silence to be told', isSilent)

      well(await provisioner('repair', 'october'))
      await reports('october')
      await eventually('it to be heard', async () => !(await isSilent()))
      assert.equal([await answered(before), await answered(spoiled), await answered(await tokenOn())], [401, 401, 200])
      assert.is((await detail('october')).events.filter(({ kind }: Json) => kind === 'token.rotated').length, 1)
    },
    { timeoutMs: PATIENT_MS },
  )

  t(
    'is brought its environment, sealed, into memory, once for each start',
    async () => {
      const { id } = await devbox('october')
      const env = { GIT_TOKEN: `it's ${canaryValue('box-env')}` }
      await call(platform.baseUrl, owner, 'PUT', `/api/devboxes/${id}/env`, { env })
      await reports('october')
      const look =
        'findmnt -no FSTYPE --target /run/bottega/env; stat -c "%U %a" /run/bottega/env; bash -lc \'echo "$GIT_TOKEN"\''
      assert.is(await inside('october', look), `tmpfs\ndev 600\n${env.GIT_TOKEN}`)
      await reports('october')
      const events = (await detail('october')).events.map(({ kind }: Json) => kind)
      assert.equal(events.filter((kind: string) => kind.startsWith('env.')).toSorted(), ['env.fetched', 'env.replaced'])
    },
    { timeoutMs: PATIENT_MS },
  )

  t(
    'is a remote of git, and keeps work and address while it stands still',
    async () => {
      const before = await devbox('october')
      const work = join(folder, 'work')
      mkdirSync(work)
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', work, '-c', 'user.name=Dev', '-c', 'user.email=dev@demo.test', ...args], {
          encoding: 'utf8',
          env: { ...process.env, GIT_SSH_COMMAND: `ssh -F ${join(folder, 'config')}` },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
      const config = await cli(['devbox', 'config', 'october', ...withKey()])
      writeFileSync(join(folder, 'config'), config.out)
      git('init', '--quiet', '--initial-branch=main')
      writeFileSync(join(work, 'README'), 'what was pushed\n')
      git('add', '.')
      git('commit', '--quiet', '-m', 'Begin')
      git('push', '--quiet', 'ssh://bottega-october/home/dev/repo', 'main')
      assert.is(await inside('october', 'cat repo/README'), 'what was pushed')

      well(await cli(['devbox', 'stop', 'october', ...withKey()]))
      await comesTo('october', 'stopped')
      assert.equal([counts(), containers('{{.State}}')], [[1, 1, 1], ['exited']])
      well(await cli(['devbox', 'start', 'october']))
      await comesTo('october', 'running')
      await letsIn('october')
      const after = await devbox('october')
      assert.equal([after.publicIp, after.instanceId], [before.publicIp, before.instanceId])
      assert.is(await inside('october', 'cat repo/README'), 'what was pushed')
    },
    { timeoutMs: PATIENT_MS },
  )

  t(
    'becomes larger, with the limits of its class, and is called otherwise',
    async () => {
      well(await cli(['devbox', 'resize', 'october', '--size-class', 'S']))
      await eventually(
        'october to be an S',
        async () => {
          const { sizeClass, state } = await devbox('october')
          return sizeClass === 'S' && state === 'running'
        },
        240_000,
      )
      await letsIn('october')
      well(await provisioner('rename', 'october', 'november'))
      const [name = ''] = containers('{{.Names}}')
      assert.match(name, /\.50g\.boxer_2fnovember$/)
      const limits = docker('inspect', name, '--format', '{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}}')
      assert.is(limits, `${8 * 1024 ** 3} 2000000000`)
      assert.is(await inside('november', 'cat repo/README'), 'what was pushed')
    },
    { timeoutMs: PATIENT_MS },
  )

  t(
    'gives its address back, is taken down with all it had, and its cost stays on record',
    async () => {
      const { id, price } = await detail('november')
      await backdate(platform.database.url, id, 10)
      await fallsIdle('november')
      await comesTo('november', 'stopped')
      const { events } = await detail('november')
      assert.match(events.find(({ kind }: Json) => kind === 'stopping').data.reason, /^idle for 20 minutes$/)
      well(await provisioner('stop', 'november'))
      well(await provisioner('release-eip', 'november'))
      assert.equal(counts(), [1, 1, 0])
      well(await provisioner('terminate', 'november'))
      assert.equal(counts(), [0, 0, 0])
      const gone = await detail('november')
      assert.equal([gone.state, gone.eipAllocId, gone.addresses], ['terminated', null, []])
      // ten days as what it was at the end, in one month or over the end of one
      const { costs, present } = (await call(platform.baseUrl, owner, 'GET', '/api/devboxes/costs')).json
      const ran = costs.filter((one: Json) => one.state === 'running')
      const actualUsd = ran.reduce((sum: number, one: Json) => sum + one.actualUsd, 0)
      const promisedUsd = (price.runningMonthlyUsd * 240) / 730
      assert.ok(Math.abs(actualUsd - promisedUsd) < 0.1, `${actualUsd}, and ${promisedUsd} were promised`)
      assert.equal(present, [])
    },
    { timeoutMs: PATIENT_MS },
  )

  t(
    'tells apart what is whose, and finds what was made of an order',
    async () => {
      const { docker: of, env } = boxes
      const driver = (installation: string) =>
        makeDocker({
          installation,
          socketPath: of.socket,
          image: env.BOTTEGA_DOCKER_IMAGE ?? '',
          authorizedKey: env.BOTTEGA_DOCKER_AUTHORIZED_KEY ?? '',
          network: 'bridge',
          // two addresses
          addressRange: `${of.network}.65.0/29`,
          loopback: '',
          region: 'docker',
          isEncrypted: false,
          timeoutMs: 60_000,
        })
      const [mine, others] = [driver('mine'), driver('others')]
      const none = { machineIds: [], allocationIds: [] }
      const tagsOf = (installation: string) => ({ installation, box: 'dev-1', label: 'demo/October.1' })
      const order = {
        clientToken: '0123456789abcdef'.repeat(4),
        tags: tagsOf('mine'),
        instanceType: ARCH === 'arm64' ? 't4g.medium' : 't3.medium',
        arch: ARCH,
        diskGb: 30,
        userData: Buffer.from('#cloud-config\n{}\n'),
      } as const
      const refusal = async (work: Promise<unknown>): Promise<string> => {
        const fault = await work.then(
          () => null,
          (error) => error,
        )
        return fault instanceof CloudFault ? `${fault.sort} ${fault.code}` : String(fault)
      }

      const [{ machineId }, again] = [await mine.launch(order), await mine.launch(order)]
      assert.is(again.machineId, machineId)
      const { machines, volumes } = await mine.inventory(none)
      assert.equal([machines.length, volumes.length, machines[0]?.label], [1, 1, 'demo/October.1'])
      assert.is(volumes[0]?.attachedTo, machineId)
      assert.is((await mine.facts(machineId)).volumeEncrypted, false)

      assert.equal((await others.inventory(none)).machines, [])
      const [foreign] = (await others.inventory({ machineIds: [machineId], allocationIds: [] })).machines
      assert.is(foreign?.installation, 'mine')
      for (const verb of [others.stop, others.start, others.terminate])
        assert.is(await refusal(verb(machineId)), 'missing NotFound')
      assert.is(await refusal(others.removeVolume(volumes[0]?.volumeId ?? '')), 'missing NotFound')

      const [first, second] = [await mine.allocate(tagsOf('mine')), await others.allocate(tagsOf('others'))]
      assert.is(await refusal(mine.allocate(tagsOf('mine'))), 'limit AddressLimitExceeded')
      assert.is(await refusal(mine.release(second.allocationId)), 'missing NotFound')
      const { associationId } = await mine.associate(first.allocationId, machineId)
      assert.is(await refusal(mine.release(first.allocationId)), 'busy InUse')
      await mine.stop(machineId)
      await mine.retype(machineId, 'm7i.4xlarge')
      const cores = Number(docker('info', '--format', '{{.NCPU}}'))
      if (cores < 16) assert.is(await refusal(mine.start(machineId)), 'capacity InsufficientCpu')
      assert.is((await mine.inventory(none)).addresses[0]?.associated?.associationId, associationId)
      await mine.disassociate(associationId)
      await mine.terminate(machineId)
      await mine.removeVolume(volumes[0]?.volumeId ?? '')
      await mine.release(first.allocationId)
      await others.release(second.allocationId)
      for (const one of [mine, others])
        assert.equal(await one.inventory(none), { machines: [], volumes: [], addresses: [] })
    },
    { timeoutMs: 120_000 },
  )
})
