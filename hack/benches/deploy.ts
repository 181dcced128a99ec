import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type AppStage, type Project, project, startAppStage } from '../../test/support/stage/apps.ts'
import { eventually, type Json } from '../../test/support/stage/invoicing.ts'
import { toolPath } from '../lib/tools.ts'
import { type BenchContext, median } from './sides/figure.ts'
import { onHostStage } from './sides/hoststage.ts'

/**
 * A deploy over REST, from the request to visitors on the new release, beside a bare `docker compose up -d --wait` of the
 * same image on the same Docker, taking turns. The image was built before. Then deploys that build, one behind the other: who mends
 * and deploys again waits for a place no longer than the first time.
 */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9)
const RATIO_MAX = 1.15
const SPARE_MS = 500
const PEER = 'bench-peer'
const APP = 'bench'
/** What is forgotten of it after that. */
const RETIRED_MS = 2_000
/** Commands on the host: whether it has the images, the start, the switch. Looks, which go on by the clock, and a wait of over two seconds come on top. */
const CHANNELS_MAX = 3
/** Of one account, one behind the other: more than a host builds at once. */
const BUILDS = 6
/** Of the second build, the first that finds a cache: what comes later does the same. */
const LATER_MAX = 2

const run = promisify(execFile)

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

/** What a person without a platform would write. */
const peerFile = (image: string, version: string): string =>
  JSON.stringify({
    name: PEER,
    services: {
      web: {
        image,
        command: ['/bin/busybox', 'sh', '-c', 'cd /tmp && exec /bin/busybox httpd -f -p 8080'],
        environment: { VERSION: version },
        ports: ['127.0.0.1::8080'],
        init: true,
      },
    },
  })

const compose = (file: string, ...args: string[]) =>
  run(toolPath('docker-compose'), ['-p', PEER, '-f', file, ...args], {
    env: { ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}` },
  })

/** The release before has left: neither side is measured beside its going. */
const settled = async (): Promise<void> => {
  const env = { ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}` }
  const args = ['ps', '-aq', '--filter', `label=dev.bottega.app=${APP}`]
  await eventually('the release before to leave', async () => {
    const { stdout } = await run('docker', args, { env })
    return stdout.trim().split('\n').length === 1
  })
  await sleep(RETIRED_MS)
}

/** Its image stands apart from its compose file, so that another version needs no other image. */
const released = (version: string): Project => {
  const { compose, files } = project(version)
  const inFolder = Object.entries(files).map(([path, content]) => [`web/${path}`, content])
  return { compose: compose.replace('build: .', 'build: ./web'), files: Object.fromEntries(inFolder) }
}

const deployOf = async (stage: AppStage, app: string, sent: Project): Promise<Json> => {
  const { json, text } = await stage.deploy(app, sent)
  if (json?.operation?.state !== 'succeeded') throw new Error(`the deploy answered ${text.slice(0, 2_000)}`)
  return json
}

const deployed = async (stage: AppStage, app: string, version: string): Promise<string> => {
  const { release } = await deployOf(stage, app, released(version))
  return release.images[0].id
}

/** How many commands the host has been given while something was done, by the log of its sshd. */
const channelsOf = async ({ sshdLog }: AppStage['host'], work: () => Promise<unknown>): Promise<number> => {
  const before = readFileSync(sshdLog, 'utf8').length
  await work()
  return readFileSync(sshdLog, 'utf8').slice(before).split('Starting session: command').length - 1
}

const measure = async ({ figure, progress, scratch }: BenchContext, stage: AppStage) => {
  const app = await stage.app(APP, { watch_seconds: 0 })
  const image = await deployed(stage, app.id, 'first')
  const file = join(scratch, 'compose.json')
  const ours: number[] = []
  const bare: number[] = []
  const channels: number[] = []
  const step = progress.step('deploys')
  for (let round = 0; round < ROUNDS; round++) {
    step.update(`${round + 1} of ${ROUNDS}`, round / ROUNDS)
    writeFileSync(file, peerFile(image, `v${round}`))
    bare.push(await timed(() => compose(file, 'up', '-d', '--wait')))
    await compose(file, 'down', '-t', '1')
    const deploy = async () => ours.push(await timed(() => deployed(stage, app.id, `v${round}`)))
    channels.push(await channelsOf(stage.host, deploy))
    await settled()
  }
  step.done()
  const limitMs = RATIO_MAX * median(bare) + SPARE_MS
  figure({
    name: 'a deploy of a pre-built image',
    value: median(ours),
    unit: 'ms',
    peer: `${RATIO_MAX} × docker compose up -d --wait (${Math.round(median(bare))} ms) + ${SPARE_MS} ms`,
    peerValue: limitMs,
    goal: { atMost: 1 },
  })
  figure({
    name: 'commands on the host in a deploy',
    value: median(channels),
    unit: '',
    peer: 'limit',
    peerValue: CHANNELS_MAX,
    goal: { atMost: 1 },
  })
}

/** Its compose file lies in what is built, so that each is another image. */
const measureBuilds = async ({ figure, progress }: BenchContext, stage: AppStage) => {
  const app = await stage.app('builds', { watch_seconds: 0 })
  const took: number[] = []
  const step = progress.step('deploys that build')
  for (let round = 0; round < BUILDS; round++) {
    step.update(`${round + 1} of ${BUILDS}`, round / BUILDS)
    took.push(await timed(() => deployOf(stage, app.id, project(`b${round}`))))
  }
  step.done()
  const [, second = 0, ...later] = took
  figure({
    name: 'the slowest of later deploys that build',
    value: Math.max(...later),
    unit: 'ms',
    peer: `${LATER_MAX} × the second (${Math.round(second)} ms)`,
    peerValue: LATER_MAX * second,
    goal: { atMost: 1 },
  })
}

export const bench = (context: BenchContext): Promise<void> =>
  onHostStage(context, async () => {
    const stage = await startAppStage()
    const both = async () => {
      await measure(context, stage)
      await measureBuilds(context, stage)
    }
    await both().finally(() => stage.end())
  })
