import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { givenFiles, packFiles } from '../../../../api/io/archive.ts'
import { type BuildCell, cellLines } from '../../../../controllers/kinds/app/cell.ts'
import { CLEAR, IMAGES, UPLOAD } from '../../../../controllers/kinds/app/scripts.ts'
import { putGuard } from '../../../../controllers/kinds/host/guard.ts'
import { sha256Of } from '../../../../controllers/store/blobs.ts'
import { cellOf } from '../../../../crds/app/compose/printing/bridges.ts'
import { EXIT } from '../../../../crds/app/start.ts'
import { listingOf } from '../../../../crds/files/archive.ts'
import { LOCAL_BUILDER } from '../../../../hack/stage/builds/builder.ts'
import { LOCAL_GATE } from '../../../../hack/stage/builds/gate.ts'
import { clientHello } from '../../../support/builders/sources/hello.ts'
import { tarGz } from '../../../support/builders/sources/upload.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { busybox } from '../../../support/stage/apps.ts'
import { ADDRESSES } from '../../../support/stage/around/neighbours.ts'
import { type PublicNet, type PublicServer, startPublic } from '../../../support/stage/around/public.ts'
import {
  type AppHost,
  docker,
  HOST_NAME,
  openHosts,
  startAppHost,
  type TestHosts,
} from '../../../support/stage/host.ts'
import { eventually } from '../../../support/stage/invoicing.ts'

/** The gate of a build, script by script, on a real Docker: what a list lets through, and what gets past it. */

const timeoutMs = 600_000
const HEAD = 'FROM scratch\nCOPY busybox /bin/busybox\nCOPY busybox /bin/sh\n'
const BUDGET = { cpuMillis: 1_000, memoryMib: 1_024, diskGib: 1 }
/** The builder, which trusts the servers of this test. */
const TRUSTING = 'bottega.local/buildkit-trusting:1'

const FILES = { address: '11.77.77.7', name: 'files.example.org' }
const MIRROR = { address: '11.77.77.8', name: 'a.b.mirror.example.org' }
const EVIL = { address: '11.77.77.9', name: 'evil.example' }
const REGISTRY = { address: '11.77.77.10', name: 'registry.example.org' }
/** Names of the list that lead where no build gets to. */
const INNER = { metadata: 'inner.example.org', private: 'private.example.org', loopback: 'loop.example.org' }
const NOWHERE = 'nowhere.example.org'

const PACKAGES = [FILES.name, '*.mirror.example.org', ...Object.values(INNER), NOWHERE]
const HELLOS = [FILES.name, MIRROR.name, EVIL.name, INNER.metadata, '']

/** What a server of images has under `/v2/team/web`, by its paths (distribution-spec 1.1, pull). */
const imageFiles = (): NonNullable<PublicServer['files']> => {
  const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`
  const layer = tarGz([{ path: 'bin/busybox', content: Buffer.from(busybox(), 'base64'), mode: 0o755 }])
  const diff = spawnSync('gunzip', ['-c'], { input: layer, maxBuffer: 1e9 }).stdout
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64'
  const rootfs = { type: 'layers', diff_ids: [digestOf(diff)] }
  const config = Buffer.from(JSON.stringify({ architecture, os: 'linux', config: {}, rootfs }))
  const type = 'application/vnd.oci.image.manifest.v1+json'
  const one = (mediaType: string, bytes: Buffer) => ({ mediaType, size: bytes.length, digest: digestOf(bytes) })
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: type,
      config: one('application/vnd.oci.image.config.v1+json', config),
      layers: [one('application/vnd.oci.image.layer.v1.tar+gzip', layer)],
    }),
  )
  const file = (mediaType: string, bytes: Buffer) => ({ type: mediaType, base64: bytes.toString('base64') })
  const blob = (bytes: Buffer) => [`/v2/team/web/blobs/${digestOf(bytes)}`, file('application/octet-stream', bytes)]
  return Object.fromEntries([
    ...['1', digestOf(manifest)].map((tag) => [`/v2/team/web/manifests/${tag}`, file(type, manifest)]),
    blob(config),
    blob(layer),
  ])
}

const SERVERS = (): PublicServer[] => [
  {
    address: FILES.address,
    names: [FILES.name],
    files: { '/x': { type: 'text/plain', base64: btoa('from files\n') } },
  },
  { address: MIRROR.address, names: [MIRROR.name] },
  { address: EVIL.address, names: [EVIL.name] },
  { address: REGISTRY.address, names: [REGISTRY.name], files: imageFiles() },
]

const NC = '/bin/busybox timeout 4 /bin/busybox nc -w 3'
/** What a request to an address says, with a Host header. */
const plain = (address: string, host: string, port = 80): string =>
  `printf 'GET /y HTTP/1.0\\r\\nHost: ${host}\\r\\n\\r\\n' | ${NC} ${address} ${port} 2>/dev/null | /bin/busybox tail -n 1`
/** Which server answers a ClientHello at an address. */
const tls = (address: string, server: string): string =>
  `${NC} ${address} 443 < /hello-${server} 2>/dev/null | /bin/busybox strings | /bin/busybox grep -o -m 1 -e '[a-z.]*[.]example[.]org' -e 'evil[.]example'`

type Asked = { slug: string; cell?: Partial<BuildCell> }

const forget = (image: string): void =>
  void spawnSync('docker', ['-H', `unix://${process.env.BOTTEGA_TEST_DOCKER}`, 'image', 'rm', image])

spec('the gate of a build', (t) => {
  let host: AppHost
  let open: TestHosts
  let net: PublicNet
  let hellos: { path: string; mode: number; content: Buffer }[]
  const link = () => open.hosts.link(HOST_NAME)
  const gate = (packages: string[] = PACKAGES) => ({ image: LOCAL_GATE, packages })

  const prepared = async (recipe: string, { slug, cell = {} }: Asked): Promise<string[]> => {
    const all = [
      { path: 'Dockerfile', mode: 0o644, content: Buffer.from(recipe) },
      { path: 'busybox', mode: 0o755, content: Buffer.from(busybox(), 'base64') },
      ...hellos,
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
    const lines = [slug, '1', listing, '1795341600.123456789']
    assert.is((await link().run({ script: UPLOAD, lines, body, deadlineMs: 20_000 })).code, 0)
    const image = `bottega.local/${slug}/web:1`
    const build = { context: '.', dockerfile: 'Dockerfile', args: {}, noCache: false, pull: false }
    const of = { origin: slug, budget: BUDGET, builder: LOCAL_BUILDER, registries: [], gate: gate(), isGuarded: true }
    const told = cellLines({ project: { slug, services: [{ name: 'web', image, build }] } } as never, {
      ...of,
      ...cell,
    })
    // a name ends with the digest of all that goes in, but here: what is there would be taken for it
    forget(image)
    return [slug, '1', image, '', listing, 'build', '', ...told, '0']
  }
  const build = async (recipe: string, asked: Asked): Promise<{ code: number; log: string }> => {
    const lines = await prepared(recipe, asked)
    const { code, stdout } = await link().run({ script: IMAGES, lines, deadlineMs: 120_000 })
    return { code, log: stdout.toString('utf8') }
  }
  /** What steps of a build hear, by the name of each try. */
  const heard = async (
    tries: Record<string, string>,
    asked: Asked,
  ): Promise<{ said: Record<string, string>; log: string }> => {
    const steps = Object.entries(tries).map(([name, command]) => `echo "<${name}>$( ${command} )</>"`)
    const { code, log } = await build(`${HEAD}COPY hello-* /\nRUN ${steps.join('; ')}; true\n`, asked)
    assert.is(code, 0, log)
    const said = [...log.matchAll(/^#\d+ [\d.]+ <([a-z-]+)>(.*)<\/>$/gm)].map(([, name, text]) => [name, text])
    return { said: Object.fromEntries(said), log }
  }
  const left = (slug: string): string =>
    [
      docker('ps', '-aq', '--filter', `name=${cellOf(slug)}`),
      docker('network', 'ls', '-q', '--filter', `name=${cellOf(slug)}`),
    ].join('')

  /** One that trusts the servers: BuildKit ends TLS itself where it fetches by itself. */
  const makeTrusting = () => {
    const folder = mkdtempSync(join(tmpdir(), 'bottega-trusting-'))
    const roots = join(folder, 'ca-certificates.crt')
    writeFileSync(roots, [FILES, EVIL, REGISTRY].map(({ name }) => net.certificateOf(name)).join(''))
    const id = docker('create', LOCAL_BUILDER, '/bin/sh')
    const tar = spawnSync('tar', [
      '-C',
      folder,
      '--transform',
      's#^#etc/ssl/certs/#',
      '-cf',
      '-',
      'ca-certificates.crt',
    ])
    const put = spawnSync('docker', ['-H', `unix://${process.env.BOTTEGA_TEST_DOCKER}`, 'cp', '-', `${id}:/`], {
      input: tar.stdout,
    })
    assert.is(put.status, 0, String(put.stderr))
    docker('commit', id, TRUSTING)
    docker('rm', id)
    rmSync(folder, { recursive: true })
  }

  t.before(async () => {
    host = await startAppHost()
    await host.prepareBuilds()
    open = await openHosts(host)
    await putGuard(link())
    const { metadata, 'a private network of class A': inner } = ADDRESSES
    net = await startPublic(SERVERS(), {
      [INNER.metadata]: [metadata],
      [INNER.private]: [inner],
      [INNER.loopback]: ['127.0.0.1'],
    })
    makeTrusting()
    hellos = await Promise.all(
      HELLOS.map(async (name) => ({ path: `hello-${name}`, mode: 0o644, content: await clientHello(name) })),
    )
  })
  t.after(async () => {
    net?.end()
    for (const image of [TRUSTING, 'bottega.local/narrow/web:1', 'bottega.local/other/web:1']) forget(image)
    await open.end()
    await host.end()
  })

  t(
    'leads to names of the list, by what is asked for and not by where it is asked, and to nothing else',
    async () => {
      const { metadata, 'a private network of class A': inner } = net.neighbours.addresses
      const tries = {
        'a-listed-name': plain(FILES.address, FILES.name),
        'a-listed-name-elsewhere': plain(EVIL.address, FILES.name),
        'below-a-listed-name': plain(MIRROR.address, MIRROR.name),
        'a-listed-name-by-tls': tls(FILES.address, FILES.name),
        'a-listed-name-by-tls-elsewhere': tls(EVIL.address, FILES.name),
        'below-a-listed-name-by-tls': tls(MIRROR.address, MIRROR.name),
      }
      const refused = {
        'another-name': plain(EVIL.address, EVIL.name),
        'another-name-at-a-listed-address': plain(FILES.address, EVIL.name),
        'another-name-by-tls': tls(EVIL.address, EVIL.name),
        'another-name-by-tls-at-a-listed-address': tls(FILES.address, EVIL.name),
        'the-name-above-all-listed-ones': plain(MIRROR.address, 'mirror.example.org'),
        'no-name': plain(EVIL.address, EVIL.address),
        'no-name-by-tls': tls(EVIL.address, ''),
        'no-tls': `echo hello | ${NC} ${EVIL.address} 443`,
        'another-port': plain(FILES.address, FILES.name, 4443),
        udp: `echo x | /bin/busybox timeout 4 /bin/busybox tftp -g -r x -l - ${FILES.address} 443 2>/dev/null`,
        'the-metadata-service': plain(metadata, metadata),
        'the-metadata-service-by-a-listed-name': plain(metadata, INNER.metadata),
        'the-metadata-service-by-tls': tls(metadata, INNER.metadata),
        'a-private-network': plain(inner, inner),
        'a-private-network-by-a-listed-name': plain(inner, INNER.private),
        'loopback-by-a-listed-name': plain(FILES.address, INNER.loopback),
        'a-name-that-leads-nowhere': plain(FILES.address, NOWHERE),
        'a-server-of-the-machine': plain(
          '$(/bin/busybox ip route | /bin/busybox sed -n "s/^default via \\([0-9.]*\\).*/\\1/p")',
          'x',
          net.neighbours.hostPort,
        ),
      }
      const open = await heard({ ...tries, ...refused }, { slug: 'other', cell: { gate: null } })
      assert.match(
        open.said['another-name'] ?? '',
        /reached evil/,
        'where no packages are named every public address is reached',
      )
      assert.match(open.said['another-name-by-tls'] ?? '', /evil/)
      assert.match(open.said['another-port'] ?? '', /reached files/)
      assert.ok(net.seen().some(({ by }) => by === 'udp'))
      const { said, log } = await heard({ ...tries, ...refused }, { slug: 'narrow' })
      assert.equal(
        Object.keys(tries).map((name) => `${name}: ${said[name]}`),
        [
          `a-listed-name: reached ${FILES.name}`,
          `a-listed-name-elsewhere: reached ${FILES.name}`,
          `below-a-listed-name: reached ${MIRROR.name}`,
          `a-listed-name-by-tls: ${FILES.name}`,
          `a-listed-name-by-tls-elsewhere: ${FILES.name}`,
          `below-a-listed-name-by-tls: ${MIRROR.name}`,
        ],
      )
      const through = Object.keys(refused).filter((name) => /reached|neighbour-/.test(said[name] ?? ''))
      assert.equal(through, [])
      for (const name of [
        'another-name-by-tls',
        'another-name-by-tls-at-a-listed-address',
        'no-name-by-tls',
        'the-metadata-service-by-tls',
        'no-tls',
      ])
        assert.is(said[name], '', name)
      assert.is(said['another-name'], `${EVIL.name} is not on the list of this host.`)
      const reached = net.seen()
      assert.equal(
        reached.filter(({ at, by }) => at === EVIL.address || by === 'udp' || by === 'port'),
        [],
      )
      assert.ok(reached.length >= 6, 'the listed ones were reached')
      assert.match(log, /^not on the list of this host: .*evil\.example.*mirror\.example\.org/m)
      assert.match(log, /at no public address: inner\.example\.org, loop\.example\.org, private\.example\.org/)
      assert.match(log, /not found: nowhere\.example\.org/)
      assert.match(log, /without the name of its host/)
      assert.is(left('narrow'), '')
    },
    { timeoutMs },
  )

  t(
    'holds what BuildKit fetches by itself to the same list, and lets images of registries through',
    async () => {
      const cell = { builder: TRUSTING, registries: [REGISTRY.name] }
      for (const url of [`http://${FILES.name}/x`, `https://${FILES.name}/x`]) {
        const added = await build(`${HEAD}ADD ${url} /x\nRUN /bin/busybox cat /x # ${url}\n`, { slug: 'narrow', cell })
        assert.is(added.code, 0, added.log)
        assert.match(added.log, /from files/)
      }
      const image = await build(`FROM ${REGISTRY.name}/team/web:1\nRUN ["/bin/busybox", "echo", "of the registry"]\n`, {
        slug: 'narrow',
        cell,
      })
      assert.is(image.code, 0, image.log)
      assert.match(image.log, /of the registry/)
      net.seen()
      for (const url of [`http://${EVIL.name}/x`, `https://${EVIL.name}/x`]) {
        const { code, log } = await build(`${HEAD}ADD ${url} /x\n`, { slug: 'narrow', cell })
        assert.is(code, EXIT.packageRefused, log)
        assert.match(log, /^bottega: reason not on the list of this host: evil\.example$/m)
      }
      const none = await build(`${HEAD}ADD http://${FILES.name}/x /x2\n`, {
        slug: 'narrow',
        cell: { ...cell, gate: gate([]) },
      })
      assert.is(none.code, EXIT.packageRefused, none.log)
      assert.equal(net.seen(), [])
      const still = await build(
        `FROM ${REGISTRY.name}/team/web:1\nRUN ["/bin/busybox", "echo", "with an empty list"]\n`,
        { slug: 'narrow', cell: { ...cell, gate: gate([]) } },
      )
      assert.is(still.code, 0, still.log)
    },
    { timeoutMs },
  )

  t(
    'is one of its own for each build: nobody with rights, on its own bridge, and reached by no other cell',
    async () => {
      const waits = 'i=0; while [ ! -e /go ] && [ $i -lt 40 ]; do /bin/busybox sleep 1; i=$((i+1)); done'
      const theirs = await prepared(`${HEAD}RUN ${waits}\n`, { slug: 'narrow' })
      await link().startJob({ id: 'gate-narrow', script: IMAGES, lines: theirs, limitMs: 90_000 })
      const name = `bottega-gate-${cellOf('narrow')}`
      const stands = async () =>
        docker('ps', '-q', '--filter', `name=${name}`) !== '' &&
        docker('ps', '-q', '--filter', `name=bottega-build-${cellOf('narrow')}`) !== ''
      await eventually('the gate and the cell to stand', stands, 30_000)
      const [{ Config, HostConfig, NetworkSettings }] = JSON.parse(docker('inspect', name))
      assert.is(Config.User, '65534:65534')
      assert.equal([HostConfig.ReadonlyRootfs, HostConfig.CapDrop, HostConfig.CapAdd], [true, ['ALL'], null])
      assert.equal(HostConfig.SecurityOpt, ['no-new-privileges'])
      assert.equal([HostConfig.Memory, HostConfig.PidsLimit], [64 * 1024 * 1024, 16])
      const addresses = Object.values<{ IPAddress: string }>(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
      assert.is(addresses.length, 2)
      const kernel = ['ip_forward', 'conf/all/rp_filter'].map((setting) => `/proc/sys/net/ipv4/${setting}`)
      assert.is(docker('exec', name, '/bin/busybox', 'cat', ...kernel), '0\n1')
      assert.match(docker('exec', name, '/bin/busybox', 'grep', 'CapEff', '/proc/1/status'), /\s0{16}$/)
      const others = addresses.flatMap((address, place) =>
        [80, 443, 8080, 8443].map(
          (port) =>
            [
              `at-${'ab'[place]}-${['http', 'https', 'plain', 'tls'][[80, 443, 8080, 8443].indexOf(port)]}`,
              plain(address, FILES.name, port),
            ] as const,
        ),
      )
      // Of another list, which has nothing on it.
      const { said } = await heard(Object.fromEntries(others), { slug: 'other', cell: { gate: gate([]) } })
      assert.equal(
        Object.entries(said).filter(([, text]) => text.includes(`reached ${FILES.name}`)),
        [],
      )
      const { said: open } = await heard(Object.fromEntries(others), { slug: 'other', cell: { gate: null } })
      assert.equal(
        Object.entries(open).filter(([, text]) => text !== ''),
        [],
      )
      const ended = await link().cancelJob('gate-narrow')
      assert.is(ended.state, 'exited')
      await eventually(
        'the gate to leave with its cell',
        async () => docker('ps', '-aq', '--filter', `name=${cellOf('narrow')}`) === '',
        15_000,
      )
      const lines = ['narrow', '0', 'keep', 'narrow-base', '', cellOf('narrow'), '0']
      assert.is((await link().run({ script: CLEAR, lines, deadlineMs: 60_000 })).code, 0)
      assert.is(left('narrow'), '')
    },
    { timeoutMs },
  )

  t('is demanded where packages are named: without it, or a guard that leads to it, nothing is built', async () => {
    const none = await build(HEAD, {
      slug: 'narrow',
      cell: { gate: { image: 'bottega.local/nothing:1', packages: [] } },
    })
    assert.is(none.code, EXIT.buildFailed)
    assert.match(none.log, /bottega\.local\/nothing:1, is not on the host/)
    const broken = await build(`${HEAD}RUN echo broken\n`, {
      slug: 'narrow',
      cell: { gate: { image: LOCAL_BUILDER, packages: [] } },
    })
    assert.is(broken.code, EXIT.buildFailed)
    assert.match(broken.log, /The gate of the build does not stand/)
    assert.is(left('narrow'), '')
  })
})
