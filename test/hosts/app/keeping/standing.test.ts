import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { lookIn } from '../../../../controllers/kinds/app/acts/keeping/carryjobs.ts'
import { BACKUP_LAY, CARRY } from '../../../../controllers/kinds/app/scripts.ts'
import { fateIn, packsIn } from '../../../../crds/app/lifecycle/keeping/moving/carry.ts'
import { EXIT } from '../../../../crds/app/start.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { busybox } from '../../../support/stage/apps.ts'
import { docker } from '../../../support/stage/host.ts'
import { eventually } from '../../../support/stage/invoicing.ts'
import { scratchFolder } from '../../../support/stage/stage.ts'

/** Who may run while what an app keeps is on its way, as the scripts of one host decide it, with nobody there to ask. */

const timeoutMs = 200_000
const SLUG = 'standing'
const IMAGE = 'bottega.local/standing:1'
const VOLUME = `${SLUG}-base_data`
const OLD_VOLUME = `${SLUG}-base_old`
const LAPSE = readFileSync(
  fileURLToPath(new URL('../../../../controllers/kinds/app/scripts/keeping/carry/lapse.sh', import.meta.url)),
  'utf8',
)
const WRITE = 'i=0; while :; do i=$((i+1)); echo $i >> /data/rows; /bin/busybox sleep 0.1; done'
const ROOM_MIB = '1000000'
const MIB = 1_048_576
const LIMIT = String(8 * 1024 * MIB)
/** Seconds until the watch goes back: for any move, and more for each GiB. */
const SECONDS = ['60', '864']

spec('an app that stands still while it moves', (t) => {
  let folder: string
  let moves = 0
  const env = () => ({ ...process.env, DOCKER_HOST: `unix://${process.env.BOTTEGA_TEST_DOCKER}`, HOME: folder })
  const begun = (text: string, lines: readonly string[]) => {
    const child = spawn('sh', ['-c', text], { env: env(), cwd: folder })
    child.stdin.end(lines.map((line) => `${line}\n`).join(''))
    let log = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes) => {
        log += bytes
      })
    const ended = new Promise<{ code: number | null; log: string }>((resolve) => {
      child.on('close', (code) => resolve({ code, log }))
    })
    return ended
  }
  const run = (what: keyof typeof CARRY, move: string, ...more: string[]) =>
    begun(CARRY[what].text, [SLUG, '0', move, ...more])
  const watch = (move: string, seconds: number) => run('watch', move, String(seconds), '', '', '')
  const runs = () => docker('ps', '-q', '--filter', `label=dev.bottega.app=${SLUG}`) !== ''
  const policy = () => docker('inspect', '--format', '{{.HostConfig.RestartPolicy.Name}}', SLUG)
  const rows = () => {
    const mount = ['run', '--rm', '-v', `${VOLUME}:/v:ro`, IMAGE, '/bin/busybox', 'wc', '-l', '/v/rows']
    return Number(docker(...mount).split(' ')[0])
  }
  const next = () => `op-standing-${++moves}`
  const moveFolder = (move: string) => join(folder, '.bottega/apps', SLUG, 'moves', move)
  /** As a start makes it that is on a lease (parts/handing/lease.sh). */
  const leased = (move: string, seconds: number) => {
    mkdirSync(moveFolder(move), { recursive: true })
    const [id] = [docker('inspect', '--format', '{{.Id}}', SLUG)]
    writeFileSync(join(moveFolder(move), 'policies'), `${id} unless-stopped\n`)
    docker('update', '--restart', 'no', SLUG)
    const until = Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])) + seconds
    // Who starts it has come to his end.
    const starter = String(spawnSync('true').pid)
    const child = spawn('sh', ['-c', LAPSE, 'lapse', moveFolder(move), String(until), SLUG, starter], { env: env() })
    return new Promise<void>((resolve) => child.on('close', () => resolve()))
  }

  t.before(
    () => {
      folder = scratchFolder('standing')
      mkdirSync(join(folder, 'image/bin'), { recursive: true })
      writeFileSync(join(folder, 'image/bin/busybox'), Buffer.from(busybox(), 'base64'), { mode: 0o755 })
      const pack = (args: string, image: string) =>
        spawnSync('sh', ['-c', `tar -cf - ${args} | docker import - ${image}`], { env: env(), encoding: 'utf8' })
      assert.is(pack(`-C ${join(folder, 'image')} .`, IMAGE).status, 0)
      assert.is(pack('-T /dev/null', 'bottega.local/empty:1').status, 0)
      const project = `com.docker.compose.project=${SLUG}-base`
      docker('volume', 'create', '--label', project, VOLUME)
      const labels = [
        '--label',
        project,
        '--label',
        `dev.bottega.app=${SLUG}`,
        '--label',
        'com.docker.compose.service=db',
      ]
      const how = ['--restart', 'unless-stopped', '--stop-timeout', '1', '-v', `${VOLUME}:/data`]
      docker('run', '-d', '--name', SLUG, ...labels, ...how, IMAGE, '/bin/busybox', 'sh', '-c', WRITE)
    },
    { timeoutMs },
  )
  t.after(() => {
    docker('rm', '-f', SLUG)
    docker('volume', 'rm', '-f', VOLUME, OLD_VOLUME)
  })

  t(
    'is not stopped where there is no room for what it keeps, or nobody watches over it',
    async () => {
      const unwatched = await run('hold', next(), LIMIT, ROOM_MIB, ...SECONDS)
      assert.is(unwatched.code, EXIT.notPacked, unwatched.log)
      const move = next()
      const watching = watch(move, 60)
      const full = await run('hold', move, LIMIT, '0', ...SECONDS)
      assert.is(full.code, EXIT.noRoom, full.log)
      assert.match(full.log, /its volumes hold [1-9]\d* MiB, and the other host has room for 0/)
      assert.ok(runs())
      assert.is((await watch(move, 0)).code, 0)
      assert.is(fateIn((await watching).log), 'back')
      assert.ok(runs())
    },
    { timeoutMs },
  )

  t(
    'goes by all that is packed, a volume that no release has any more as well',
    async () => {
      docker('volume', 'create', '--label', `com.docker.compose.project=${SLUG}-base`, OLD_VOLUME)
      docker(
        'run',
        '--rm',
        '-v',
        `${OLD_VOLUME}:/v`,
        IMAGE,
        '/bin/busybox',
        'dd',
        'if=/dev/zero',
        'of=/v/large',
        'bs=1M',
        'count=5',
      )
      const move = next()
      const watchedMs = performance.now()
      const watching = watch(move, 40)
      const large = await run('hold', move, String(4 * MIB), ROOM_MIB, ...SECONDS)
      assert.is(large.code, EXIT.tooLarge, large.log)
      assert.match(large.log, /its volumes hold \d+ MiB$/m)
      assert.ok(runs())
      // twenty seconds for each MiB
      const held = await run('hold', move, LIMIT, ROOM_MIB, '60', '20480')
      assert.is(held.code, 0, held.log)
      assert.equal(
        packsIn(held.log)?.map(({ name }) => name),
        ['data', 'old'],
      )
      const { seconds } = lookIn((await run('look', move)).log.trim())
      assert.ok(seconds > 130 && seconds <= 60 + 20 * 10, String(seconds))
      // Its watch goes by the same: what starts elsewhere counts on that.
      await sleep(Math.max(0, 42_000 - (performance.now() - watchedMs)))
      assert.not(runs())
      assert.is((await watch(move, 0)).code, 0)
      assert.is(fateIn((await watching).log), 'back')
      docker('volume', 'rm', OLD_VOLUME)
    },
    { timeoutMs },
  )

  t(
    'says where the disk of the other host takes no more of it, and keeps what lies there whole',
    async () => {
      const home = join(folder, 'small')
      mkdirSync(home)
      assert.is(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', home]).status, 0)
      try {
        const lay = (from: number, piece: Buffer) => {
          const input = Buffer.concat([Buffer.from(`${SLUG}\n0\nop-1\n${from}\n${piece.length}\n`), piece])
          const options = { input, env: { ...env(), HOME: home }, encoding: 'utf8' } as const
          const { status, stdout } = spawnSync('sh', ['-c', BACKUP_LAY.text], options)
          return [status, stdout.trim()]
        }
        const piece = Buffer.alloc(MIB / 4, 1)
        assert.equal(lay(0, piece), [0, String(piece.length)])
        assert.equal(lay(piece.length, Buffer.alloc(MIB, 2)), [EXIT.noRoom, ''])
        assert.equal(lay(-1, Buffer.alloc(0)), [0, String(piece.length)])
        assert.equal(lay(piece.length, piece), [0, String(2 * piece.length)])
      } finally {
        spawnSync('umount', [home])
      }
    },
    { timeoutMs },
  )

  t(
    'runs again by itself when nobody comes back, and never beside what was told to begin elsewhere',
    async () => {
      const move = next()
      const watching = watch(move, 30)
      const held = await run('hold', move, LIMIT, ROOM_MIB, '30', '0')
      assert.is(held.code, 0, held.log)
      assert.equal(
        packsIn(held.log)?.map(({ name }) => name),
        ['data'],
      )
      assert.equal([runs(), policy()], [false, 'no'])
      const before = rows()
      const seen = lookIn((await run('look', move)).log.trim())
      assert.ok(seen.seconds <= 30 && seen.endedIn <= 30, JSON.stringify(seen))
      const { log } = await watching
      assert.is(fateIn(log), 'back', log)
      assert.equal([runs(), policy()], [true, 'unless-stopped'])
      await eventually('more rows', async () => rows() > before, 30_000)
      assert.is((await run('leave', move)).log.trim(), 'back', 'what comes too late is told so')
      assert.equal(lookIn((await run('look', move)).log.trim()), { seconds: 0, endedIn: 0 })
      // A second word changes nothing: what runs is not started anew.
      const started = docker('inspect', '--format', '{{.State.StartedAt}}', SLUG)
      assert.is(fateIn((await watch(move, 0)).log), 'back')
      assert.is(docker('inspect', '--format', '{{.State.StartedAt}}', SLUG), started)
    },
    { timeoutMs },
  )

  t(
    'never runs again once it is left, whoever asks for it',
    async () => {
      const move = next()
      const watching = watch(move, 120)
      assert.is((await run('hold', move, LIMIT, ROOM_MIB, ...SECONDS)).code, 0)
      const before = rows()
      assert.is((await run('leave', move)).log.trim(), 'left')
      assert.is(fateIn((await watching).log), 'left')
      assert.is(fateIn((await watch(move, 0)).log), 'left')
      assert.equal([runs(), policy(), rows()], [false, 'no', before])
      docker('update', '--restart', 'unless-stopped', SLUG)
      docker('start', SLUG)
    },
    { timeoutMs },
  )

  t(
    'what begins elsewhere ends by itself unless it is told to stay, and is started again until then',
    async () => {
      const move = next()
      const lapsing = leased(move, 20)
      docker('kill', SLUG)
      await eventually('it to be started again', async () => runs(), 15_000)
      await lapsing
      assert.not(runs())
      assert.is((await run('keep', move)).code, 0)
      assert.equal([runs(), policy()], [true, 'unless-stopped'], 'once it may stay it is started')

      const kept = next()
      const staying = leased(kept, 10)
      assert.is((await run('keep', kept)).code, 0)
      await staying
      assert.equal([runs(), policy()], [true, 'unless-stopped'])
      assert.is((await run('end', kept)).code, 3, 'what was told to stay stays')
      assert.ok(runs())

      const ended = next()
      const ending = leased(ended, 60)
      assert.is((await run('end', ended)).code, 0)
      await ending
      assert.not(runs())
    },
    { timeoutMs },
  )
})
