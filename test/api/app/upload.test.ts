import { randomFillSync } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { makeUploadReader, sentBody } from '../../../api/app/sources/reading/reader.ts'
import type { Upload } from '../../../api/app/sources/upload.ts'
import { Problem } from '../../../api/http/problem.ts'
import { envFilesOf, recipesOf } from '../../../crds/app/compose/judge.ts'
import { openIndex, packIndex, type SourceIndex } from '../../../crds/app/sources/source.ts'
import { rawTar, shared, type TarEntry, tarGz } from '../../support/builders/sources/upload.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const COMPOSE = 'services: {web: {image: "nginx:1.27", expose: ["80"]}}\n'
const compose: TarEntry = { path: 'docker-compose.yml', content: COMPOSE }

const envFiles = async (source: SourceIndex) => [...envFilesOf(source, shared), ...recipesOf(source, shared)]
const reader = makeUploadReader()
const send = async (form: Buffer, contentType: string): Promise<Upload> =>
  reader.read(sentBody(form, contentType), { account: 'demo' }, envFiles)
const sendTar = (form: Buffer): Promise<Upload> => send(form, 'application/gzip')
const sendJson = (body: unknown): Promise<Upload> => send(Buffer.from(JSON.stringify(body)), 'application/json')

const base64 = (text: string): string => Buffer.from(text).toString('base64')

const packedOf = async ({ pack }: Upload): Promise<Buffer> => (await pack?.()) ?? Buffer.alloc(0)

/** What a refusal says: its code, and the pointer of its first finding. */
const refusal = async (upload: Promise<Upload>): Promise<string> => {
  try {
    await upload
    return 'accepted'
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return `${error.code} ${error.faults[0]?.pointer ?? ''}`.trim()
  }
}

const hostileEntries: [sentence: string, entry: TarEntry | TarEntry[], refused: string][] = [
  ['an absolute path', { path: '/etc/passwd' }, 'UNSAFE_PATH /files/~1etc~1passwd'],
  ['a path that climbs', { path: '../evil' }, 'UNSAFE_PATH /files/..~1evil'],
  ['a path that climbs in the middle', { path: 'a/../../evil' }, 'UNSAFE_PATH /files/a~1..~1..~1evil'],
  ['a path that climbs behind ./', { path: './../evil' }, 'UNSAFE_PATH /files/..~1evil'],
  ['a path that climbs at its end', { path: 'a/..' }, 'UNSAFE_PATH /files/a~1..'],
  ['a folder that climbs', { path: '../up/', type: '5' }, 'UNSAFE_PATH /files/..~1up'],
  ['a climbing path in a pax header', { path: 'ok', pax: { path: '../evil' } }, 'UNSAFE_PATH /files/..~1evil'],
  ['an absolute path in a pax header', { path: 'ok', pax: { path: '/root/x' } }, 'UNSAFE_PATH /files/~1root~1x'],
  [
    'a GNU long name that climbs',
    [{ path: '././@LongLink', type: 'L', content: '../evil\0' }, { path: 'ok' }],
    'UNSAFE_PATH /files/..~1evil',
  ],
  ['a backslash', { path: 'a\\..\\evil' }, 'UNSAFE_PATH /files/a\\..\\evil'],
  ['a drive letter', { path: 'C:/evil' }, 'UNSAFE_PATH /files/C:~1evil'],
  ['a home folder', { path: '~/evil' }, 'UNSAFE_PATH /files/~0~1evil'],
  ['a doubled slash', { path: 'a//b' }, 'UNSAFE_PATH /files/a~1~1b'],
  ['a dot in the middle', { path: 'a/./b' }, 'UNSAFE_PATH /files/a~1.~1b'],
  ['a line break', { path: 'a\nb' }, 'UNSAFE_PATH /files/a\nb'],
  ['a NUL in a pax header', { path: 'ok', pax: { path: 'a\0b' } }, 'UNSAFE_PATH /files/a\0b'],
  ['a character that turns the text', { path: 'a\u202egpj.sh' }, 'UNSAFE_PATH /files/a\u202egpj.sh'],
  ['bytes that are no UTF-8', { path: 'ok', pax: { path: 'a\ufffdb' } }, 'UNSAFE_PATH /files/a\ufffdb'],
  [
    'the same path twice',
    [
      { path: 'a', content: '1' },
      { path: 'a', content: '2' },
    ],
    'UNSAFE_PATH /files/a',
  ],
  [
    'the compose file twice',
    [{ path: './docker-compose.yml', content: 'services: {}' }],
    'UNSAFE_PATH /files/docker-compose.yml',
  ],
  ['two paths that differ by case', [{ path: 'A.txt' }, { path: 'a.txt' }], 'UNSAFE_PATH /files/a.txt'],
  ['two folders that differ by case', [{ path: 'Dir/a' }, { path: 'dir/b' }], 'UNSAFE_PATH /files/dir~1b'],
  ['two forms of one letter', [{ path: 'caf\u00e9' }, { path: 'cafe\u0301' }], 'UNSAFE_PATH /files/cafe\u0301'],
  ['a file where a folder is', [{ path: 'a/b' }, { path: 'a' }], 'UNSAFE_PATH /files/a'],
  ['a folder where a file is', [{ path: 'a' }, { path: 'a/b' }], 'UNSAFE_PATH /files/a~1b'],
  ['a name of 256 bytes', { path: 'ok', pax: { path: 'x'.repeat(256) } }, `UNSAFE_PATH /files/${'x'.repeat(256)}`],
  [
    'a path of 513 bytes',
    { path: 'ok', pax: { path: `${'abc/'.repeat(128)}x` } },
    `UNSAFE_PATH /files/${'abc~1'.repeat(128)}`,
  ],
  [
    'a name of megabytes',
    { path: 'ok', pax: { path: `${'/'.repeat(3_000_000)}x` } },
    `UNSAFE_PATH /files/${'~1'.repeat(512)}`,
  ],
  ['33 folders', { path: 'ok', pax: { path: `${'d/'.repeat(32)}x` } }, `UNSAFE_PATH /files/${'d~1'.repeat(32)}x`],
  ['a link to nothing', { path: 'l', type: '2', link: 'a' }, 'BAD_ARCHIVE /files/l'],
  ['a link without an end', { path: 'l', type: '2', link: '' }, 'BAD_ARCHIVE /files/l'],
  ['a link to a place of the host', { path: 'l', type: '2', link: '/var/run/docker.sock' }, 'BAD_ARCHIVE /files/l'],
  ['a link that climbs out', { path: 'a/l', type: '2', link: '../../etc/passwd' }, 'BAD_ARCHIVE /files/a~1l'],
  [
    'a link that climbs out and in again',
    { path: 'l', type: '2', link: '../x/docker-compose.yml' },
    'BAD_ARCHIVE /files/l',
  ],
  ['a link to the home folder', { path: 'l', type: '2', link: '~/.ssh' }, 'BAD_ARCHIVE /files/l'],
  ['a link with a backslash', { path: 'l', type: '2', link: '..\\x' }, 'BAD_ARCHIVE /files/l'],
  ['a link to itself', { path: 'l', type: '2', link: 'l' }, 'BAD_ARCHIVE /files/l'],
  ['a link to the upload itself', { path: 'a/l', type: '2', link: '..' }, 'BAD_ARCHIVE /files/a~1l'],
  ['a link to its own folder', { path: 'a/b/l', type: '2', link: '../../a' }, 'BAD_ARCHIVE /files/a~1b~1l'],
  [
    'a link that leads out by another',
    [
      { path: 'a/b/c/x' },
      { path: 'up', type: '2', link: 'a/b/c' },
      { path: 'l', type: '2', link: 'up/../../../../etc/passwd' },
    ],
    'BAD_ARCHIVE /files/l',
  ],
  [
    'two links that lead to each other',
    [
      { path: 'l', type: '2', link: 'm' },
      { path: 'm', type: '2', link: 'l' },
    ],
    'BAD_ARCHIVE /files/l',
  ],
  [
    'a file behind a link',
    [
      { path: 'd', type: '2', link: '/etc' },
      { path: 'd/passwd', content: 'x' },
    ],
    'UNSAFE_PATH /files/d~1passwd',
  ],
  [
    'a link over a file',
    [
      { path: 'd', content: 'x' },
      { path: 'd', type: '2', link: 'docker-compose.yml' },
    ],
    'UNSAFE_PATH /files/d',
  ],
  ['a link at a path that climbs', { path: '../l', type: '2', link: 'docker-compose.yml' }, 'UNSAFE_PATH /files/..~1l'],
  ['a link with content', { path: 'l', type: '2', link: 'docker-compose.yml', content: 'x' }, 'BAD_ARCHIVE /files/l'],
  ['a hard link to a place of the host', { path: 'l', type: '1', link: '/etc/shadow' }, 'BAD_ARCHIVE /files/l'],
  ['a hard link that climbs out', { path: 'l', type: '1', link: '../x' }, 'BAD_ARCHIVE /files/l'],
  ['a hard link to itself', { path: 'l', type: '1', link: 'l' }, 'BAD_ARCHIVE /files/l'],
  [
    'a hard link to a link',
    [
      { path: 's', type: '2', link: 'docker-compose.yml' },
      { path: 'l', type: '1', link: 's' },
    ],
    'BAD_ARCHIVE /files/l',
  ],
  ['a character device', { path: 'd', type: '3' }, 'BAD_ARCHIVE /files/d'],
  ['a block device', { path: 'd', type: '4' }, 'BAD_ARCHIVE /files/d'],
  ['a pipe', { path: 'p', type: '6' }, 'BAD_ARCHIVE /files/p'],
  ['a sparse file of GNU', { path: 's', type: 'S' }, 'BAD_ARCHIVE /files/s'],
  ['a sparse file of pax', { path: 's', pax: { 'GNU.sparse.major': '1' } }, 'BAD_ARCHIVE /files/s'],
  ['a sort of entry that nobody knows', { path: 'u', type: 'Z' }, 'BAD_ARCHIVE /files/u'],
  ['a folder with content', { path: 'd/', type: '5', content: 'x' }, 'BAD_ARCHIVE /files/d'],
  ['a size larger than what follows', { path: 'x', content: 'abc', size: 99_999 }, 'BAD_ARCHIVE'],
  ['a size below zero', { path: 'x', size: `\xff${'\0'.repeat(10)}\x01` }, 'BAD_ARCHIVE'],
  ['a size in pax that is no number', { path: 'x', content: 'abc', pax: { size: 'zzz' } }, 'BAD_ARCHIVE'],
  ['a size beyond the cap', { path: 'x', size: 500_000_000 }, 'ARCHIVE_TOO_LARGE /files/x'],
]

spec('an upload as tar', (t) => {
  for (const [sentence, entry, refused] of hostileEntries) {
    t(`${sentence} is refused with its pointer`, async () => {
      assert.is(await refusal(sendTar(tarGz([compose, ...[entry].flat()]))), refused)
    })
  }

  t('takes links that stay in it as links, by the shortest way, and hard links as files', async () => {
    const body = tarGz([
      { path: 'app/compose.yaml', content: COMPOSE },
      { path: 'app/lib/x.js', content: 'x', mode: 0o755 },
      { path: 'app/bin/x', type: '2', link: '../../app/./lib/../lib/x.js' },
      { path: 'app/current', type: '2', link: 'lib' },
      { path: 'app/deep/y', type: '2', link: '../current/x.js' },
      { path: 'app/twin', type: '1', link: 'app/lib/x.js' },
      { path: 'app/third', type: '1', link: 'app/twin' },
    ])
    const sent = await sendTar(body)
    const { index, files, bytes, digest } = sent
    const shown = index.entries.map(
      ({ path, mode, link, bytes }) => `${path} ${mode.toString(8)} ${bytes} ${link ?? ''}`,
    )
    assert.equal(shown, [
      'bin/x 644 0 ../lib/x.js',
      `compose.yaml 644 ${COMPOSE.length} `,
      'current 644 0 lib',
      'deep/y 644 0 ../lib/x.js',
      'lib/x.js 755 1 ',
      'third 755 1 ',
      'twin 755 1 ',
    ])
    assert.equal([files, bytes], [7, COMPOSE.length + 3])
    const again = await sendTar(await packedOf(sent))
    assert.equal(again.index, index)
    assert.is(again.digest, digest)
    const other = tarGz([compose, { path: 'a' }, { path: 'b' }, { path: 'l', type: '2', link: 'a' }])
    const one = tarGz([compose, { path: 'a' }, { path: 'b' }, { path: 'l', type: '2', link: 'b' }])
    assert.is.not((await sendTar(other)).digest, (await sendTar(one)).digest)
  })

  t('names everything that it does not take, at once', async () => {
    const entries: TarEntry[] = [
      compose,
      { path: 'd', type: '3' },
      { path: 'out', type: '2', link: '/etc/passwd' },
      { path: 'gone', type: '1', link: 'nothing' },
      { path: 'pipe', type: '6' },
      { path: 'well', type: '2', link: 'docker-compose.yml' },
    ]
    const faults = await sendTar(tarGz(entries)).then(
      () => [],
      (error: Problem) => error.faults.map(({ pointer }) => pointer),
    )
    assert.equal(faults, ['/files/d', '/files/gone', '/files/out', '/files/pipe'])
  })

  t('gives out no file of several names that is too large to be held', async () => {
    const large = {
      path: 'z',
      content: Buffer.from(
        Array.from({ length: 3_000_000 }, (_, n) => String(n))
          .join('')
          .repeat(1),
      ),
    }
    const twins = Array.from({ length: 2 }, (_, n) => ({ path: `t${n}`, type: '1', link: 'z' }))
    assert.is(await refusal(sendTar(tarGz([compose, large, ...twins]))), 'BAD_ARCHIVE /files/t1')
  })

  const bodies: [string, Buffer, string][] = [
    ['nothing', Buffer.alloc(0), 'BAD_ARCHIVE'],
    ['text', Buffer.from('hello'), 'BAD_ARCHIVE'],
    ['a tar without compression', rawTar([compose]), 'BAD_ARCHIVE'],
    ['a zip', Buffer.from('PK\x03\x04aaaaaaaaaaaaaaaaaaaa'), 'BAD_ARCHIVE'],
    ['gzip of no tar', gzipSync(Buffer.alloc(2048, 'x')), 'BAD_ARCHIVE'],
    ['gzip that is cut short', tarGz([compose]).subarray(0, -20), 'BAD_ARCHIVE'],
    ['a tar that is cut short', gzipSync(rawTar([compose]).subarray(0, 530)), 'BAD_ARCHIVE'],
    [
      'garbage behind the end of the tar',
      gzipSync(Buffer.concat([rawTar([compose]), Buffer.alloc(4096, 'g')])),
      'BAD_ARCHIVE',
    ],
    ['an empty tar', tarGz([]), 'NO_COMPOSE_FILE /files'],
    ['no compose file', tarGz([{ path: 'README' }]), 'NO_COMPOSE_FILE /files'],
    [
      'a compose file that lies too deep',
      tarGz([{ path: 'a/b/compose.yaml', content: COMPOSE }]),
      'NO_COMPOSE_FILE /files',
    ],
    ['a compose file that is a folder', tarGz([{ path: 'compose.yaml/', type: '5' }]), 'NO_COMPOSE_FILE /files'],
    [
      'a compose file that is no text',
      tarGz([{ path: 'compose.yaml', content: Buffer.from([0xff, 0xfe, 0x80]) }]),
      'BAD_ARCHIVE /files/compose.yaml',
    ],
    [
      'a bomb of zeros in a file',
      gzipSync(rawTar([compose, { path: 'z', content: Buffer.alloc(40_000_000) }])),
      'ARCHIVE_TOO_LARGE',
    ],
    [
      'a bomb of zeros behind the end',
      gzipSync(Buffer.concat([rawTar([compose]), Buffer.alloc(40_000_000)])),
      'ARCHIVE_TOO_LARGE',
    ],
    [
      'a bomb in a second gzip behind the first',
      Buffer.concat([tarGz([compose]), gzipSync(Buffer.alloc(40_000_000))]),
      'ARCHIVE_TOO_LARGE',
    ],
    [
      'a header of pax without end',
      tarGz([compose, { path: 'p', type: 'x', content: Buffer.alloc(5_000_000, 'x') }]),
      'BAD_ARCHIVE',
    ],
    [
      '20,001 files',
      tarGz([compose, ...Array.from({ length: 20_000 }, (_, n) => ({ path: `f${n}` }))]),
      'ARCHIVE_TOO_LARGE',
    ],
  ]
  for (const [sentence, body, refused] of bodies) {
    t(`${sentence} is refused`, async () => assert.is(await refusal(sendTar(body)), refused))
  }

  t(
    'is refused when its files have more than 400 MB together, without unpacking them all',
    async () => {
      // As many gzips behind each other as there are files: the content is compressed once.
      const content = Buffer.alloc(4_194_304)
      for (let at = 0; at < content.length; at += 1024) randomFillSync(content, at, 16)
      const packed = gzipSync(content, { level: 1 })
      const head = (path: string) => gzipSync(rawTar([{ path, size: content.length }]).subarray(0, 512))
      const files = Array.from({ length: 100 }, (_, n) => [head(`n${n}`), packed]).flat()
      const body = Buffer.concat([gzipSync(rawTar([compose]).subarray(0, 1024)), ...files])
      // were they held, the thread would need more memory than it may have, and no file would be named
      assert.is(await refusal(sendTar(body)), 'ARCHIVE_TOO_LARGE /files/n95')
    },
    { timeoutMs: 60_000 },
  )

  t('keeps plain files with one of two modes and forgets owners, dates and set-uid', async () => {
    const { index } = await sendTar(
      tarGz([
        compose,
        { path: './bin/run', content: 'x', mode: 0o6755 },
        { path: 'bin/', type: '5' },
        { path: 'secret', mode: 0o600 },
      ]),
    )
    const shown = index.entries.map(({ path, mode, bytes }) => `${path} ${mode.toString(8)} ${bytes}`)
    assert.equal(shown, ['bin/run 755 1', `docker-compose.yml 644 ${COMPOSE.length}`, 'secret 644 0'])
  })

  t('may have one folder around everything', async () => {
    const { index } = await sendTar(
      tarGz([
        { path: 'my-app/', type: '5' },
        { path: 'my-app/compose.yaml', content: COMPOSE },
        { path: 'my-app/web/x', content: '1' },
      ]),
    )
    assert.is(index.composePath, 'compose.yaml')
    assert.equal(
      index.entries.map(({ path }) => path),
      ['compose.yaml', 'web/x'],
    )
    assert.is(index.texts.get('compose.yaml'), COMPOSE)
  })

  t('takes no folder off when something lies beside it', async () => {
    const body = tarGz([
      { path: 'my-app/compose.yaml', content: COMPOSE },
      { path: 'other', content: '' },
    ])
    assert.is(await refusal(sendTar(body)), 'NO_COMPOSE_FILE /files')
  })

  t('has the same digest however it was packed, and another for another byte or mode', async () => {
    const a = await sendTar(tarGz([compose, { path: 'b', content: '1' }, { path: 'a', content: '2' }]))
    const b = await sendTar(
      gzipSync(rawTar([{ path: './a', content: '2', mode: 0o640 }, { path: 'b', content: '1' }, compose]), {
        level: 1,
      }),
    )
    const c = await sendTar(tarGz([compose, { path: 'b', content: '1' }, { path: 'a', content: '2', mode: 0o755 }]))
    const json = await sendJson({ compose: COMPOSE, files: { a: base64('2'), b: base64('1') } })
    assert.is(a.digest, b.digest)
    assert.is(a.digest, json.digest)
    assert.is.not(a.digest, c.digest)
  })

  t('is packed as a tar that gives the same files again, byte for byte the same each time', async () => {
    const upload = await sendTar(
      tarGz([
        { path: 'x/compose.yaml', content: COMPOSE },
        { path: 'x/e', content: '' },
        { path: 'x/big', content: 'abc'.repeat(100_000), mode: 0o700 },
        { path: 'x/y', pax: { path: `x/${'long/'.repeat(28)}name` }, content: 'deep' },
      ]),
    )
    const packed = await packedOf(upload)
    assert.equal(await packedOf(upload), packed)
    const again = await sendTar(packed)
    assert.equal(again.index, upload.index)
    assert.is(again.digest, upload.digest)
    assert.is(again.bytes, COMPOSE.length + 300_000 + 4)
  })

  t('brings the texts of env files that the compose file names, and no other', async () => {
    const text =
      'services: {web: {image: "a:1", env_file: ["conf/app.env", {path: missing.env, required: false}], expose: [80]}}'
    const { index } = await sendTar(
      tarGz([
        { path: 'conf/app.env', content: 'A=1' },
        { path: 'other.env', content: 'B=2' },
        { path: 'docker-compose.yml', content: text },
      ]),
    )
    assert.equal(
      [...index.texts],
      [
        ['docker-compose.yml', text],
        ['conf/app.env', 'A=1'],
      ],
    )
    assert.equal(openIndex(packIndex(index)), { ...index, texts: new Map([...index.texts].sort()) })
  })
})

spec('an upload as JSON', (t) => {
  const cases: [string, unknown, string][] = [
    ['a list', [], 'BAD_ARCHIVE'],
    ['no compose and no project', { files: { README: '' } }, 'NO_COMPOSE_FILE /files'],
    ['nothing', {}, 'NO_COMPOSE_FILE /files'],
    ['a compose that is no text', { compose: {} }, 'NO_COMPOSE_FILE /compose'],
    ['an unknown field', { compose: COMPOSE, file: {} }, 'UNKNOWN_FIELD /file'],
    ['files as a list', { compose: COMPOSE, files: [] }, 'BAD_ARCHIVE /files'],
    ['a second compose file', { compose: COMPOSE, files: { 'compose.yaml': '' } }, 'BAD_ARCHIVE /files/compose.yaml'],
    ['a climbing path', { compose: COMPOSE, files: { '../x': '' } }, 'UNSAFE_PATH /files/..~1x'],
    ['an absolute path', { compose: COMPOSE, files: { '/x': '' } }, 'UNSAFE_PATH /files/~1x'],
    ['an empty path', { compose: COMPOSE, files: { '': '' } }, 'UNSAFE_PATH /files/'],
    ['a folder as a path', { compose: COMPOSE, files: { 'a/': '' } }, 'UNSAFE_PATH /files/a~1'],
    ['a half of a character', { compose: COMPOSE, files: { 'a\ud800': '' } }, 'UNSAFE_PATH /files/a\ud800'],
    ['two paths that differ by case', { compose: COMPOSE, files: { a: '', A: '' } }, 'UNSAFE_PATH /files/A'],
    [
      'the compose file in capitals',
      { compose: COMPOSE, files: { 'Docker-Compose.yml': '' } },
      'UNSAFE_PATH /files/Docker-Compose.yml',
    ],
    ['content that is not base64', { compose: COMPOSE, files: { a: '%%%%' } }, 'BAD_ARCHIVE /files/a'],
    ['base64 without its padding', { compose: COMPOSE, files: { a: 'YQ' } }, 'BAD_ARCHIVE /files/a'],
    ['content that is a number', { compose: COMPOSE, files: { a: 1 } }, 'BAD_ARCHIVE /files/a'],
    ['an object without content', { compose: COMPOSE, files: { a: { mode: '755' } } }, 'BAD_ARCHIVE /files/a/base64'],
    ['a set-uid mode', { compose: COMPOSE, files: { a: { base64: '', mode: '4755' } } }, 'BAD_ARCHIVE /files/a/mode'],
    [
      'an unknown field of a file',
      { compose: COMPOSE, files: { a: { base64: '', link: '/etc' } } },
      'UNKNOWN_FIELD /files/a/link',
    ],
  ]
  for (const [sentence, body, refused] of cases) {
    t(`${sentence} is refused`, async () => assert.is(await refusal(sendJson(body)), refused))
  }

  t('without a compose file is given one, and is the same upload as with it', async () => {
    const page = { 'index.html': base64('<h1>Shop</h1>') }
    const upload = await sendJson({ files: page })
    assert.is(upload.recognised?.kind, 'static')
    assert.is(upload.index.composePath, 'docker-compose.yml')
    assert.equal(
      upload.index.entries.map(({ path }) => path),
      ['.dockerignore', 'Dockerfile', 'docker-compose.yml', 'index.html'],
    )
    const written = Object.fromEntries(upload.recognised?.files.map(({ path, text }) => [path, base64(text)]) ?? [])
    const whole = await sendJson({ files: { ...page, ...written } })
    assert.is(whole.recognised, null)
    assert.is(whole.digest, upload.digest)
    assert.equal(whole.index, upload.index)
    const again = await sendTar(await packedOf(upload))
    assert.is(again.digest, upload.digest)
    const inFolder = await sendTar(tarGz([{ path: 'shop/index.html', content: '<h1>Shop</h1>' }]))
    assert.is(inFolder.digest, upload.digest)
  })

  t('is given nothing where something stands in the way of it', async () => {
    const at = (path: string) => refusal(sendJson({ files: { 'index.html': '', [path]: '' } }))
    assert.is(await at('Docker-Compose.yml'), 'NO_COMPOSE_FILE /files/Docker-Compose.yml')
    assert.is(await at('docker-compose.yml/x'), 'NO_COMPOSE_FILE /files/docker-compose.yml~1x')
    assert.is(await at('Dockerfile/x'), 'NO_COMPOSE_FILE /files/Dockerfile~1x')
  })

  t('takes modes as they are usually written', async () => {
    const { index } = await sendJson({
      compose: COMPOSE,
      files: { a: { base64: '', mode: '0755' }, b: { base64: '', mode: 644 }, c: '' },
    })
    assert.equal(
      index.entries.map(({ mode }) => mode),
      [0o755, 0o644, 0o644, 0o644],
    )
  })

  t('takes no other content type', async () => {
    assert.is(await refusal(send(Buffer.from('x'), 'application/zip')), 'UNSUPPORTED_MEDIA_TYPE')
    assert.is(await refusal(send(Buffer.from('{'), 'application/json')), 'MALFORMED_JSON')
  })
})
