import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { assert, spec } from '../../../support/runner/spec.ts'
import { busybox } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually } from '../../../support/stage/invoicing.ts'
import { scratchFolder } from '../../../support/stage/stage.ts'

/** Copies of volumes that are being written to, on the Docker of the run: one moment of them, and nobody left paused. */

const timeoutMs = 120_000
const SCRIPTS = fileURLToPath(new URL('../../../../controllers/kinds/app/scripts/', import.meta.url))
const textOf = (name: string) => readFileSync(join(SCRIPTS, `${name}.sh`), 'utf8')
const IMAGE = 'bottega.local/copytest:1'
const VOLUMES = ['copytest_one', 'copytest_two']
const COPIES = ['copytest-r1-try_one', 'copytest-r1-try_two']
/** Counts in both volumes, the first one before the second, and makes, renames and removes files beside. */
const WRITE = `export PATH=/bin; busybox --install -s /bin; i=0
while :; do i=$((i+1)); printf '%08d' $i | dd of=/one/n conv=notrunc 2>/dev/null; printf '%08d' $i | dd of=/two/n conv=notrunc 2>/dev/null
mkdir -p /one/d$((i % 7)); echo $i > /one/d$((i % 7))/f; mv /one/d$((i % 7)) /one/e$((i % 5)) 2>/dev/null || rm -rf /one/e$((i % 5)); done`

spec('a copy of volumes', (t) => {
  let folder: string
  const env = { ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}` }
  const script = (rest: string) => {
    const file = join(folder, 'script')
    const copier = `copier=$(cat <<'COPIER'\n${textOf('copier')}COPIER\n)\n`
    writeFileSync(file, `slug=copytest here=${folder}\n${copier}${textOf('parts/handing/copy')}${rest}\n`)
    return file
  }
  const pairs = VOLUMES.map((volume, place) => `${volume} ${COPIES[place]}`).join(' ')
  const state = () => docker('inspect', '-f', '{{.State.Status}}', 'copytest')
  const read = (volume: string, command: string) =>
    docker('run', '--rm', '-v', `${volume}:/v`, IMAGE, '/bin/busybox', 'sh', '-c', command)

  t.before(
    () => {
      folder = scratchFolder('copy')
      mkdirSync(join(folder, 'image/bin'), { recursive: true })
      mkdirSync(join(folder, 'image/tmp'))
      writeFileSync(join(folder, 'image/bin/busybox'), Buffer.from(busybox(), 'base64'), { mode: 0o755 })
      const pack = (args: string, image: string) =>
        spawnSync('sh', ['-c', `tar -cf - ${args} | docker import - ${image}`], { env, encoding: 'utf8' })
      assert.is(pack(`-C ${join(folder, 'image')} .`, IMAGE).status, 0)
      assert.is(pack('-T /dev/null', 'bottega.local/empty:1').status, 0)
      const mounts = ['-v', `${VOLUMES[0]}:/one`, '-v', `${VOLUMES[1]}:/two`]
      const label = ['--label', 'com.docker.compose.project=copytest-base']
      docker('run', '-d', '--name', 'copytest', ...label, ...mounts, IMAGE, '/bin/busybox', 'sh', '-c', WRITE)
    },
    { timeoutMs },
  )
  t.after(() => {
    docker('rm', '-f', 'copytest')
    docker('volume', 'rm', '-f', ...VOLUMES, ...COPIES)
  })

  t(
    'is one moment of all of them, while their service goes on',
    async () => {
      await sleep(1_000)
      const copy = script(`copy_volumes copytest-copy 1000 60 ${pairs}; echo "$? $why"`)
      const { stdout, stderr } = spawnSync('sh', [copy], { env, encoding: 'utf8' })
      assert.is(stdout.trim().split('\n').at(-1)?.trim(), '0', stdout + stderr)
      const [first = 0, second = 0] = COPIES.map((volume) => Number(read(volume, '/bin/busybox cat /v/n')))
      assert.ok(first > 0 && (first === second || first === second + 1), `${first} in one, ${second} in the other`)
      assert.is(state(), 'running')
      const now = Number(read(VOLUMES[0] as string, '/bin/busybox cat /v/n'))
      assert.ok(now > first, 'what was copied goes on')
      assert.is(docker('ps', '-aq', '--filter', 'label=dev.bottega.copier'), '')
    },
    { timeoutMs },
  )

  t(
    'is not made of more than may be copied, and that is said',
    () => {
      const { stdout } = spawnSync('sh', [script(`copy_volumes copytest-copy 0 60 ${pairs}; echo "$? $why"`)], {
        env,
        encoding: 'utf8',
      })
      assert.match(stdout, /1 its volumes hold \d+ MiB, and 0 are copied at most/)
    },
    { timeoutMs },
  )

  t(
    'is given up at once when what copies cannot be started, or ends',
    () => {
      const said = (rest: string): string => {
        const beganMs = performance.now()
        const { stdout } = spawnSync('sh', [script(rest)], { env, encoding: 'utf8' })
        assert.ok(performance.now() - beganMs < 60_000, 'nobody waits for what has ended')
        return stdout.trim()
      }
      const up = (volume: string) =>
        `copier_up copytest-copy -v ${volume}:/from/one:ro -v ${join(folder, 'kept')}:/to/kept`
      mkdirSync(join(folder, 'kept'), { recursive: true })
      const answer = 'asked measure 90; echo "answer $? $said"; copier_down'
      assert.match(said(`${up('copytest_one')}; ${answer}`), /^answer 0 \d+ \d+$/)
      assert.is(said(`${up('not/a/volume')}; ${answer}`), 'answer 1')
      const held = 'asked measure 60; docker pause copytest-copy >/dev/null'
      const ended = '{ sleep 1; docker rm -f copytest-copy; } >/dev/null 2>&1 &'
      assert.is(said(`${up('copytest_one')}; ${held}; ${ended} ${answer}`), 'answer 1')
    },
    { timeoutMs: 4 * timeoutMs },
  )

  t(
    'is made again under its name as soon as the last one went',
    () => {
      const once = `copier_up copytest-copy -v copytest_one:/from/one:ro -v ${join(folder, 'kept')}:/to/kept; asked measure 60; echo "$?"; copier_down`
      const { stdout } = spawnSync('sh', [script(`for n in 1 2 3 4 5 6 7 8; do ${once}; done`)], {
        env,
        encoding: 'utf8',
      })
      assert.equal(stdout.trim().split('\n'), Array(8).fill('0'))
    },
    { timeoutMs },
  )

  t(
    'leaves nobody paused when whoever makes it is killed meanwhile',
    async () => {
      const held = script('pause "$(users_of copytest_one)" 5; sleep 100')
      const child = spawn('sh', [held], { env, detached: true, stdio: 'ignore' })
      await eventually('it to be paused', async () => state() === 'paused')
      process.kill(-(child.pid as number), 'SIGKILL')
      await eventually('it to go on', async () => state() === 'running', 20_000)
    },
    { timeoutMs },
  )
})
