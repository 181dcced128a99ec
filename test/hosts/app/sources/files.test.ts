import { givenFiles, packFiles } from '../../../../api/io/archive.ts'
import { cellLines } from '../../../../controllers/kinds/app/cell.ts'
import { IMAGES, IMAGES_HERE, TAKE_DOWN, UPLOAD } from '../../../../controllers/kinds/app/scripts.ts'
import { sha256Of } from '../../../../controllers/store/blobs.ts'
import { EXIT } from '../../../../crds/app/start.ts'
import { listingOf } from '../../../../crds/files/archive.ts'
import { LOCAL_BUILDER } from '../../../../hack/stage/builds/builder.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppHost, HOST_NAME, openHosts, startAppHost, type TestHosts } from '../../../support/stage/host.ts'

/** The files of a release on its host, and the images that are made of them, script by script. */

const budget = { cpuMillis: 1_000, memoryMib: 1_024, diskGib: 1 }

/** Names that shells, tools and orders of letters take in different ways. */
const ODD = ['a b', '-n', "it's", '$HOME `x`', 'ﬁ', '𝒳', 'é/ü', '.hidden/.dot', 'Z', 'a', '*', 'a.b/c', 'a b/c d']

spec('what a build is made of', (t) => {
  let host: AppHost
  let open: TestHosts
  const link = () => open.hosts.link(HOST_NAME)
  const given = [
    ...ODD.map((path) => ({
      path: `src/${path}/file`,
      mode: path.length % 2 ? 0o644 : 0o755,
      content: Buffer.from(path),
    })),
    { path: 'Dockerfile', mode: 0o644, content: Buffer.from('FROM scratch\nCOPY src /src\n') },
  ]
  const listing = listingOf(
    given.map(({ path, mode, content }) => ({
      path,
      mode: mode as 0o644,
      bytes: content.length,
      sha256: sha256Of(content),
    })),
  )
  const folder = (number: number) => `.bottega/apps/made/r${number}/source`
  const upload = async (number: number) => {
    const body = await packFiles(givenFiles(given), 1_000_000)
    const lines = ['made', String(number), listing, '1795341600.123456789']
    return (await link().run({ script: UPLOAD, lines, body, deadlineMs: 20_000 })).code
  }
  const build = async (number: number, needed: 'mounts' | 'build') => {
    const recipe = { context: '.', dockerfile: 'Dockerfile', args: {}, noCache: false, pull: false }
    const image = `bottega.local/made/web:${number}`
    const services = [{ name: 'web', image, build: recipe }]
    const cell = { origin: 'made', budget, builder: LOCAL_BUILDER, registries: [], gate: null, isGuarded: false }
    const told = cellLines({ project: { slug: 'made', services } } as never, cell)
    const lines = ['made', String(number), image, image, listing, needed, '', ...told, '0']
    return (await link().run({ script: IMAGES, lines, deadlineMs: 60_000 })).code
  }
  const run = async (text: string) => (await link().run({ script: { name: 'look', text }, deadlineMs: 20_000 })).stdout

  t.before(async () => {
    host = await startAppHost()
    await host.prepareBuilds()
    open = await openHosts(host)
  })
  t.after(async () => {
    await open.end()
    await host.end()
  })

  t('is what was uploaded, by whatever names, all of one time', async () => {
    assert.is(await upload(1), 0)
    assert.is(await build(1, 'build'), 0)
    assert.is(await upload(1), 0, 'a second time, too')
    const times = await run(`find ${folder(1)} -printf '%T@\\n' | sort -u`)
    assert.match(times.toString(), /^1795341600\.1234567890?\n$/)
  })

  const changes: [string, (source: string) => string][] = [
    [
      'a file that was changed to one of the same size and time',
      (s) => `touch -r ${s}/Dockerfile mark && sed -i s/COPY/ADDY/ ${s}/Dockerfile && touch -r mark ${s}/Dockerfile`,
    ],
    ['a file more', (s) => `touch ${s}/src/more`],
    ['a file less', (s) => `rm ${s}/src/Z/file`],
    ['a file under another name', (s) => `mv ${s}/src/Z/file ${s}/src/Z/other`],
    ['a file that may be run', (s) => `chmod +x ${s}/Dockerfile`],
    ['a link to the same content', (s) => `mv ${s}/Dockerfile ${s}/../moved && ln -s ../moved ${s}/Dockerfile`],
    ['no folder at all', (s) => `rm -rf ${s}`],
  ]
  changes.forEach(([sentence, change], place) => {
    t(`is refused with ${sentence} on the host, and put right by the next upload`, async () => {
      const number = place + 10
      await upload(number)
      await run(change(folder(number)))
      assert.is(await build(number, 'build'), EXIT.filesDiffer)
      assert.is(await build(number, 'mounts'), EXIT.filesDiffer)
      assert.is(await upload(number), 0)
      assert.is(await build(number, 'mounts'), 0)
    })
  })

  t('stands while a release of it does, also one that is only being made when another is taken down', async () => {
    const name = 'bottega.local/made/web:3'
    const isHere = async () =>
      (await link().run({ script: IMAGES_HERE, lines: ['made', '4', name], deadlineMs: 20_000 })).code === 0
    const takeDown = async (number: number) =>
      (await link().run({ script: TAKE_DOWN, lines: ['made', String(number), '', '', '', ''], deadlineMs: 60_000 }))
        .code
    await upload(2)
    await upload(3)
    assert.is(await build(3, 'build'), 0)
    assert.is(await takeDown(2), 0)
    const look = () => run(`docker image inspect -f '{{.Id}}' ${name}`)
    assert.match((await look()).toString(), /^sha256:/)
    // Another release of the same files finds it, and from then on wants it.
    assert.is(await isHere(), true)
    assert.is(await takeDown(3), 0)
    assert.match((await look()).toString(), /^sha256:/)
    assert.is(await takeDown(4), 0)
    assert.is((await look()).toString().trim(), '')
  })
})
