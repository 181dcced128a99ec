import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { givenFiles, packFiles } from '../../../../api/io/archive.ts'
import { cellLines } from '../../../../controllers/kinds/app/cell.ts'
import { IMAGES, UPLOAD } from '../../../../controllers/kinds/app/scripts.ts'
import { putGuard } from '../../../../controllers/kinds/host/guard.ts'
import { sha256Of } from '../../../../controllers/store/blobs.ts'
import { dockerConfig } from '../../../../crds/app/sources/registries.ts'
import { EXIT } from '../../../../crds/app/start.ts'
import { listingOf } from '../../../../crds/files/archive.ts'
import { LOCAL_BUILDER } from '../../../../hack/stage/builds/builder.ts'
import { type PrivateRegistry, startRegistry } from '../../../support/builders/sources/registry.ts'
import { tarGz } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { busybox } from '../../../support/stage/apps.ts'
import {
  type AppHost,
  docker,
  HOST_NAME,
  openHosts,
  startAppHost,
  type TestHosts,
} from '../../../support/stage/host.ts'
import { eventually } from '../../../support/stage/invoicing.ts'

/** Images that are not for everybody, taken by a real Docker and built in a real cell; and what is left of the login after it. */

const LOGIN = { username: 'robot', password: 'opens-the-private-registry-4711' }
const TOKEN = Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString('base64')
const SLUG = 'private'
const HOLD_KEYS = readFileSync(
  new URL('../../../../controllers/kinds/app/scripts/parts/keys.sh', import.meta.url),
  'utf8',
)

spec('a login for a registry', (t) => {
  let host: AppHost
  let open: TestHosts
  let registry: PrivateRegistry
  const link = () => open.hosts.link(HOST_NAME)
  const run = async (text: string): Promise<string> =>
    (await link().run({ script: { name: 'look', text }, deadlineMs: 20_000 })).stdout.toString('utf8').trim()
  const image = () => `${registry.host}/team/web:1`
  const keysOf = (login = LOGIN) => dockerConfig([{ host: registry.host, ...login }])
  const pull = async (keys: string, name = image()): Promise<{ code: number; log: string }> => {
    const lines = [SLUG, '1', name, '', '', 'none', keys, '0', '1', 'web', name, 'pull']
    const { code, stdout, stderr } = await link().run({ script: IMAGES, lines, deadlineMs: 60_000 })
    return { code, log: `${stdout}${stderr}` }
  }
  /** Where it, or what Docker makes of it, is still to be found on the host. */
  const left = async (): Promise<string> => {
    const found = await run(
      `grep -rls -e '${LOGIN.password}' -e '${TOKEN}' "$HOME/.bottega" "$HOME/.docker" /dev/shm 2>/dev/null; find /dev/shm -maxdepth 1 -user "$(id -u)" -name 'bottega-keys-*' 2>/dev/null; true`,
    )
    return found
  }
  const drop = () => spawnSync('docker', ['-H', `unix://${process.env.BOTTEGA_TEST_DOCKER}`, 'image', 'rm', image()])

  t.before(async () => {
    host = await startAppHost()
    await host.prepareBuilds()
    open = await openHosts(host)
    await putGuard(link())
    const layer = tarGz([{ path: 'bin/busybox', content: Buffer.from(busybox(), 'base64'), mode: 0o755 }])
    registry = await startRegistry(LOGIN, { layer, arch: process.arch === 'arm64' ? 'arm64' : 'amd64' })
  })
  t.after(async () => {
    drop()
    await registry.end()
    await open.end()
    await host.end()
  })

  t('opens it to a pull, and nothing of it is left on the host or said', async () => {
    const without = await pull('')
    assert.is(without.code, EXIT.pullFailed, without.log)
    const wrong = await pull(keysOf({ ...LOGIN, password: 'another' }))
    assert.is(wrong.code, EXIT.pullFailed, wrong.log)
    const done = await pull(keysOf())
    assert.is(done.code, 0, done.log)
    assert.match(done.log, /image sha256:[0-9a-f]{64}/)
    for (const { log } of [without, wrong, done]) assert.not.match(log, new RegExp(`${LOGIN.password}|${TOKEN}`))
    await eventually('that the folder is gone', async () => (await left()) === '')
    const told = `${docker('image', 'inspect', image())}${docker('image', 'history', '--no-trunc', image())}`
    assert.not.match(told, new RegExp(`${LOGIN.password}|${TOKEN}`))
  })

  t('is kept for as long as it is needed, right after another run of the same app as well', () => {
    const holding = (keys: string, seconds: string): string => {
      const text = `slug=again here=/tmp keys=$1\n${HOLD_KEYS}hold_keys && sleep "$2" && cat "$key_folder/config.json"`
      return spawnSync('sh', ['-c', text, 'hold', keys, seconds], { encoding: 'utf8' }).stdout
    }
    assert.is(holding('first', '0'), 'first\n')
    assert.is(holding('second', '1'), 'second\n')
  })

  t('is not needed for a layer where a list of images has none for this processor', async () => {
    const before = registry.seen.layers
    const name = `${registry.host}/team/listed/web:1`
    const { code, log } = await pull(keysOf(), name)
    assert.is(code, EXIT.wrongProcessor, log)
    assert.match(log, new RegExp(`^bottega: reason web: ${name} is not made for linux/(amd64|arm64)$`, 'm'))
    assert.is(registry.seen.layers, before)
  })

  t('goes too when the job is killed in the middle', async () => {
    drop()
    const text = `${IMAGES.text.replace('hold_keys || exit 1', 'hold_keys || exit 1; ls "$key_folder" >&2; kill -KILL 0')}`
    const lines = [SLUG, '1', image(), '', '', 'none', keysOf(), '0', '1', 'web', image(), 'pull']
    // a process group of its own, as jobs have
    const script = { name: 'killed', text: `cat > in; setsid sh -s <<'JOB'\nexec < in\n${text}\nJOB\ntrue` }
    await link()
      .run({ script, lines, deadlineMs: 20_000 })
      .catch(() => undefined)
    await run('rm -f in')
    await eventually('that the folder is gone', async () => (await left()) === '')
  })

  t('lies before the one who builds, and before no step of a build', async () => {
    const recipe =
      'FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\nRUN /bin/busybox env; /bin/busybox ls -a / /root /run; if /bin/busybox grep -rs -e auths -e opens-the-private /keys /cell /run /tmp /root /proc/1/environ /proc/self/environ; then exit 9; fi; if [ -e /keys ]; then exit 8; fi\n'
    const all = [
      { path: 'Dockerfile', mode: 0o644, content: Buffer.from(recipe) },
      { path: 'busybox', mode: 0o755, content: Buffer.from(busybox(), 'base64') },
    ]
    const listing = listingOf(
      all.map(({ path, mode, content }) => ({
        path,
        mode: mode as 0o644,
        bytes: content.length,
        sha256: sha256Of(content),
      })),
    )
    const body = await packFiles(givenFiles(all), 10_000_000)
    const sent = [SLUG, '1', listing, '1795341600.123456789']
    assert.is((await link().run({ script: UPLOAD, lines: sent, body, deadlineMs: 20_000 })).code, 0)
    const name = `bottega.local/${SLUG}/web:1`
    const build = { context: '.', dockerfile: 'Dockerfile', args: {}, noCache: false, pull: false }
    const budget = { cpuMillis: 1_000, memoryMib: 1_024, diskGib: 1 }
    const cell = { origin: SLUG, budget, builder: LOCAL_BUILDER, registries: [], gate: null, isGuarded: true }
    const told = cellLines({ project: { slug: SLUG, services: [{ name: 'web', image: name, build }] } } as never, cell)
    const lines = [SLUG, '1', name, '', listing, 'build', keysOf(), ...told, '0']
    // whoever reads the script of the cell sees that buildctl has it
    const looks = {
      ...IMAGES,
      text: IMAGES.text.replace(
        'ctl build --progress plain',
        'echo "keys: $(cat $DOCKER_CONFIG/config.json | cut -c1-9)"; ctl build --progress plain',
      ),
    }
    const { code, stdout } = await link().run({ script: looks, lines, deadlineMs: 160_000 })
    const log = stdout.toString('utf8')
    assert.is(code, 0, log)
    assert.match(log, 'keys: {"auths":')
    assert.not.match(log, new RegExp(`${LOGIN.password}|${TOKEN}`))
    await eventually('that the folder is gone', async () => (await left()) === '')
    spawnSync('docker', ['-H', `unix://${process.env.BOTTEGA_TEST_DOCKER}`, 'image', 'rm', name])
  })
})
