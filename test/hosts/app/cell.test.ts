import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { givenFiles, packFiles } from '../../../api/io/archive.ts'
import { type BuildCell, cellLines } from '../../../controllers/kinds/app/cell.ts'
import { CLEAR, IMAGES, UPLOAD } from '../../../controllers/kinds/app/scripts.ts'
import { putGuard } from '../../../controllers/kinds/host/guard.ts'
import { sha256Of } from '../../../controllers/store/blobs.ts'
import { cellOf } from '../../../crds/app/compose/printing/bridges.ts'
import { EXIT } from '../../../crds/app/start.ts'
import { listingOf } from '../../../crds/files/archive.ts'
import { LOCAL_BUILDER } from '../../../hack/stage/builds/builder.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { busybox } from '../../support/stage/apps.ts'
import { startNeighbours } from '../../support/stage/around/neighbours.ts'
import { type AppHost, docker, HOST_NAME, openHosts, startAppHost, type TestHosts } from '../../support/stage/host.ts'
import { eventually } from '../../support/stage/invoicing.ts'

/** The cells that images are built in, script by script: what no judge has read, what does not end, what is left behind. */

const HEAD = 'FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\n'
const SECRET = 'SECRET-OF-THE-VICTIM'
const THEIRS = 'bottega.local/alpha/web:1'
const BUDGET = { cpuMillis: 1_000, memoryMib: 1_024, diskGib: 1 }

type Asked = { slug: string; args?: Record<string, string>; cell?: Partial<BuildCell>; seconds?: number }

spec('a cell', (t) => {
  let host: AppHost
  let open: TestHosts
  const link = () => open.hosts.link(HOST_NAME)

  const upload = async (slug: string, recipe: string): Promise<string> => {
    const all = [
      { path: 'Dockerfile', mode: 0o644, content: Buffer.from(recipe) },
      { path: 'busybox', mode: 0o755, content: Buffer.from(busybox(), 'base64') },
    ]
    const facts = all.map(({ path, mode, content }) => ({
      path,
      mode: mode as 0o644,
      bytes: content.length,
      sha256: sha256Of(content),
    }))
    const listing = listingOf(facts)
    const body = await packFiles(givenFiles(all), 10_000_000)
    const lines = [slug, '1', listing, '1795341600.123456789']
    assert.is((await link().run({ script: UPLOAD, lines, body, deadlineMs: 20_000 })).code, 0)
    return listing
  }
  const imageOf = (slug: string) => `bottega.local/${slug}/web:1`
  const forget = (slug: string) =>
    spawnSync('docker', ['-H', `unix://${process.env.BOTTEGA_TEST_DOCKER}`, 'image', 'rm', imageOf(slug)])
  const linesFor = (listing: string, { slug, args = {}, cell = {}, seconds = 60 }: Asked): string[] => {
    const image = imageOf(slug)
    const build = { context: '.', dockerfile: 'Dockerfile', args, noCache: false, pull: false }
    const given = {
      origin: slug,
      budget: BUDGET,
      builder: LOCAL_BUILDER,
      registries: [],
      gate: null,
      isGuarded: true,
      ...cell,
    }
    const told = cellLines({ project: { slug, services: [{ name: 'web', image, build }] } } as never, given)
    const limited = told.map((line, place) => (place === 8 ? String(seconds) : line))
    return [slug, '1', image, '', listing, 'build', '', ...limited, '0']
  }
  const build = async (recipe: string, asked: Asked): Promise<{ code: number; log: string }> => {
    const lines = linesFor(await upload(asked.slug, recipe), asked)
    // a name ends with the digest of all that goes in, but here: what is there would be taken for it
    forget(asked.slug)
    const { code, stdout } = await link().run({ script: IMAGES, lines, deadlineMs: 90_000 })
    return { code, log: stdout.toString('utf8') }
  }
  const cellsOf = (slug: string) => docker('ps', '-aq', '--filter', `name=bottega-build-${cellOf(slug)}`)

  t.before(async () => {
    host = await startAppHost()
    await host.prepareBuilds()
    open = await openHosts(host)
    await putGuard(link())
  })
  t.after(async () => {
    for (const slug of ['alpha', 'beta']) forget(slug)
    await open.end()
    await host.end()
  })

  t(
    'gives a build nothing but its upload and the registries of the host, whatever its Dockerfile says',
    async () => {
      const victim = await build(`${HEAD}RUN echo ${SECRET} > /secret\n`, { slug: 'alpha' })
      assert.is(victim.code, 0, victim.log)
      const id = docker('image', 'inspect', '-f', '{{.Id}}', THEIRS)
      const neighbours = await startNeighbours()
      const metadata = `http://${neighbours.addresses.metadata}/index.html`
      const theirs = /alpha/
      const tries: Record<string, { recipe: string; args?: Record<string, string>; never?: RegExp }> = {
        'their image': { recipe: `FROM ${THEIRS}\n` },
        'their image by its id': { recipe: `FROM ${id}\n` },
        'their image by what an argument hides': { recipe: `ARG B=x${THEIRS}\nFROM \${B#x}\n` },
        'files of their image': { recipe: `${HEAD}COPY --from=${THEIRS} /secret /loot\n` },
        'a mount of their image': {
          recipe: `${HEAD}RUN --mount=type=bind,from=${THEIRS},target=/m /bin/busybox cat /m/secret\n`,
        },
        'a cache that begins as their image': {
          recipe: `${HEAD}RUN --mount=type=cache,from=${THEIRS},target=/m /bin/busybox cat /m/secret\n`,
        },
        'their image as a frontend': { recipe: `# syntax=${THEIRS}\n${HEAD}`, never: theirs },
        'their image as a frontend of an argument': {
          recipe: HEAD,
          args: { BUILDKIT_SYNTAX: THEIRS },
          never: theirs,
        },
        'an image of a registry that is not named': {
          recipe: 'FROM registry.example.com/x\n',
          never: /dial|lookup|no such host/,
        },
        'a server of the host': { recipe: `${HEAD}ADD http://127.0.0.1:${neighbours.hostPort}/index.html /loot\n` },
        'a server of the gateway': { recipe: `${HEAD}ADD http://172.17.0.1:${neighbours.hostPort}/index.html /loot\n` },
        'the metadata service': { recipe: `${HEAD}ADD ${metadata} /loot\n` },
        'the network of the host': { recipe: `${HEAD}RUN --network=host true\n` },
        'all rights': { recipe: `${HEAD}RUN --security=insecure true\n` },
        'keys of the host': { recipe: `${HEAD}RUN --mount=type=ssh,required true\n` },
        'a secret of the host': { recipe: `${HEAD}RUN --mount=type=secret,id=x,required true\n` },
        'files beside the upload': { recipe: `${HEAD}COPY ../cell/policy.json ../../../../etc/hostname /loot/\n` },
        'a mount of files beside it': {
          recipe: `${HEAD}RUN --mount=type=bind,source=/../cell,target=/m /bin/busybox cat /m/policy.json\n`,
        },
      }
      const through: string[] = []
      const tryAll = async () => {
        for (const [what, { recipe, args, never }] of Object.entries(tries)) {
          const { code, log } = await build(recipe, { slug: 'beta', ...(args && { args }) })
          const isOwn = never === theirs
          if (log.includes(SECRET) || (code === 0) !== isOwn) through.push(`${what}: ${code} ${log.slice(-300)}`)
          if (never?.test(log.replace(/^.*syntax.*$/gim, ''))) through.push(`${what}: ${log.slice(-300)}`)
        }
      }
      await tryAll().finally(() => neighbours.end())
      assert.equal(through, [])
    },
    { timeoutMs: 600_000 },
  )

  t('says why when it ends a build: for its time, or for want of the image that builds', async () => {
    const slow = await build(`${HEAD}RUN /bin/busybox sleep 300\n`, { slug: 'beta', seconds: 3 })
    assert.is(slow.code, EXIT.buildFailed)
    assert.match(slow.log, /took more than 3 s/)
    const none = await build(HEAD, { slug: 'beta', cell: { builder: 'bottega.local/nothing:1' } })
    assert.is(none.code, EXIT.buildFailed)
    assert.match(none.log, /bottega\.local\/nothing:1, is not on the host/)
    assert.is(cellsOf('beta'), '')
  })

  t('ends with the job that waits for it, and leaves no cell behind', async () => {
    const sleepers = () => /sleep 4321/.test(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }))
    const lines = linesFor(await upload('beta', `${HEAD}RUN /bin/busybox sleep 4321\n`), { slug: 'beta' })
    forget('beta')
    await link().startJob({ id: 'cell-cancel', script: IMAGES, lines, limitMs: 60_000 })
    await eventually('its step to run', async () => sleepers(), 30_000)
    const state = await link().cancelJob('cell-cancel')
    assert.is(state.state, 'exited')
    await eventually('the cell to leave', async () => cellsOf('beta') === '' && !sleepers(), 10_000)
    const after = await build(HEAD, { slug: 'beta' })
    assert.is(after.code, 0, after.log)
  })

  t('is cleared away with its app, with all that it kept', async () => {
    const place = `bottega-build-${cellOf('beta')}`
    const left = () =>
      ['volume', 'network'].map((kind) => docker(kind, 'ls', '-q', '--filter', `name=${place}`)).join('')
    assert.is.not(left(), '')
    const lines = ['beta', '0', 'keep', 'beta-base', '', cellOf('beta'), '0']
    const { code, stderr } = await link().run({ script: CLEAR, lines, deadlineMs: 60_000 })
    assert.is(code, 0, stderr)
    assert.is(left(), '')
  })
})

spec('what comes out of a cell', (t) => {
  const part = new URL('../../../controllers/kinds/app/scripts/parts/building/cell.sh', import.meta.url).pathname
  const [a, b] = ['a'.repeat(64), 'b'.repeat(64)]
  const good = `[{"Config":"blobs/sha256/${a}","RepoTags":null,"Layers":["blobs/sha256/${b}"]}]`
  const index = '{"schemaVersion":2,"manifests":[]}'
  const isTaken = async (manifest: string, more: { index?: string; change?: (folder: string) => void } = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'bottega-image-'))
    mkdirSync(join(folder, 'in/blobs/sha256'), { recursive: true })
    for (const name of [a, b]) writeFileSync(join(folder, 'in/blobs/sha256', name), '')
    writeFileSync(join(folder, 'in/manifest.json'), manifest)
    writeFileSync(join(folder, 'in/index.json'), more.index ?? index)
    writeFileSync(join(folder, 'in/oci-layout'), '{}')
    more.change?.(join(folder, 'in'))
    const script = `cd "$1/in" && tar -cf ../image.tar * && . "$2" && is_nameless ../image.tar`
    const { error } = await promisify(execFile)('sh', ['-c', script, 'sh', folder, part]).then(
      () => ({ error: null }),
      (error) => ({ error }),
    )
    rmSync(folder, { recursive: true })
    return error === null
  }

  t('is an image without a name', async () => assert.is(await isTaken(good), true))

  const forged: [string, string, Parameters<typeof isTaken>[1]?][] = [
    ['a name', good.replace('null', '["bottega.local/alpha/web:1"]')],
    ['a name beside none', good.replace('null,', 'null,"RepoTags":["bottega.local/alpha/web:1"],')],
    ['a name in other letters', good.replace('null,', 'null,"repotags":["x/y:1"],')],
    ['a name behind an escape', good.replace('null,', 'null,"Repo\\u0054ags":["x/y:1"],')],
    ['a name in letters that are read alike', good.replace('null,', 'null,"RepoTag\u017f":["x/y:1"],')],
    ['a second image', `${good.slice(0, -1)},${good.slice(1)}`],
    ['a line before it', `[{"RepoTags":["x/y:1"]}]\n${good}`],
    ['a line after it', `${good}\n[{"RepoTags":["x/y:1"]}]`],
    ['a path of its own', good.replace(`blobs/sha256/${b}`, '../../etc/passwd')],
    ['a name in the index', good, { index: '{"annotations":{"org.opencontainers.image.ref.name":"x/y:1"}}' }],
    ['an escaped name in the index', good, { index: '{"annotations":{"io.containerd.image\\u002ename":"x/y:1"}}' }],
    ['a file more', good, { change: (folder) => writeFileSync(join(folder, 'repositories'), '{}') }],
    ['a link', good, { change: (folder) => symlinkSync('/etc/passwd', join(folder, 'blobs/sha256', 'c'.repeat(64))) }],
  ]
  for (const [what, manifest, more] of forged) {
    t(`is refused with ${what}`, async () => assert.is(await isTaken(manifest, more), false))
  }
})
