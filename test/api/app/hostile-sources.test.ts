import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { AppNeeds } from '../../../api/app/needs.ts'
import {
  makeUploadReader,
  READ_LIMITS,
  sentBody,
  sentPack,
  type UploadReader,
} from '../../../api/app/sources/reading/reader.ts'
import { uploadOf } from '../../../api/app/sources/sent.ts'
import type { Upload } from '../../../api/app/sources/upload.ts'
import { Problem } from '../../../api/http/problem.ts'
import { makeByteBudget } from '../../../api/http/reading/budget.ts'
import type { ByteMeter } from '../../../api/http/reading/take.ts'
import type { ApiRequest } from '../../../api/http/route.ts'
import { makeChunks } from '../../../controllers/net/chunks.ts'
import { type Egress, makeEgress } from '../../../controllers/net/egress.ts'
import {
  byteByByte,
  gitBomb,
  type HostileServer,
  inPackets,
  plainCommit,
  startHostileServer,
} from '../../support/builders/sources/hostilegit.ts'
import { rawTar } from '../../support/builders/sources/upload.ts'
import { assert, spec } from '../../support/runner/spec.ts'

/** What a caller sends, or has fetched, to be read at the cost of everybody: it is read aside, and what is too dear is refused. */

const COMPOSE = 'services: {web: {image: "nginx:1.27", expose: ["80"]}}\n'
const GZIP = 'application/gzip'
const JSON_TYPE = 'application/json'

/** The share of the time in which this loop was at work, since all that is read had come. */
let before = performance.eventLoopUtilization()
const hasCome = (): void => {
  before = performance.eventLoopUtilization()
}
const busyDuring = async <R>(work: Promise<R>): Promise<{ result: R; share: number }> => {
  const result = await work
  return { result, share: performance.eventLoopUtilization(before).utilization }
}

const problemOf = (work: Promise<unknown>): Promise<Problem> =>
  work.then(
    () => Promise.reject(new Error('it was taken')),
    (error: unknown) => (error instanceof Problem ? error : Promise.reject(error)),
  )

const told = (upload: Promise<Upload>): Promise<string> =>
  upload.then(
    ({ index }) => index.entries.map(({ path, bytes }) => `${path} ${bytes}`).join(),
    (error: unknown) => {
      if (error instanceof Problem) return `${error.code} ${error.message}`
      throw error
    },
  )

spec('what is costly to read', (t) => {
  let egress: Egress
  let server: HostileServer
  let uploadReader: UploadReader
  const read = (
    named: Parameters<typeof uploadOf>[2]['named'],
    form?: Buffer,
    contentType = GZIP,
    meter?: ByteMeter,
  ) => {
    hasCome()
    const exchange: Egress['exchange'] = (asked) => egress.exchange(asked).finally(hasCome)
    const deps = { egress: { exchange }, uploadReader, registries: { open: async () => [] } } as unknown as AppNeeds
    const request = { caller: { account: 'demo' }, form, meter, headers: { 'content-type': contentType } }
    return uploadOf(deps, request as unknown as ApiRequest, {
      row: {} as Parameters<typeof uploadOf>[2]['row'],
      named,
      namedFiles: async () => [],
    })
  }
  const fetched = () => read({ git: { url: server.url, ref: 'main' } })

  t.before(async () => {
    egress = makeEgress({ allowLoopback: true })
    server = await startHostileServer()
    uploadReader = makeUploadReader()
  })
  t.after(async () => {
    await server.end()
    await egress.close()
    await uploadReader.close()
  })

  t('as a repository whose folders name each other is refused for its files, whoever waits beside it', async () => {
    server.serve(gitBomb(10, 10))
    const { result } = await busyDuring(told(fetched()))
    assert.match(result, /^ARCHIVE_TOO_LARGE The repository .* has more than 40000 files and folders/)
  })

  t('as a file that is made of another byte by byte takes no turn of the loop', async () => {
    server.serve(byteByByte(8_000_000))
    const { result, share } = await busyDuring(told(fetched()))
    assert.match(result, 'NO_COMPOSE_FILE')
    assert.ok(share < 0.5, `the loop was at work for ${share}`)
  })

  t('as packets of one byte each takes no turn of the loop', async () => {
    const content = randomBytes(3_000_000)
    server.serve(plainCommit(COMPOSE, content), 1)
    const { result, share } = await busyDuring(told(fetched()))
    assert.is(result, `compose.yaml ${COMPOSE.length},data.bin ${content.length}`)
    assert.ok(share < 0.5, `the loop was at work for ${share}`)
  })

  t('as a tar of thousands of files, which unpacks to a hundred times as much, is read beside the loop', async () => {
    const zeros = Buffer.alloc(9_950)
    const content = () => Buffer.concat([randomBytes(50), zeros])
    const files = Array.from({ length: 6_000 }, (_, n) => ({ path: `data/${n}`, content: content() }))
    const sent = gzipSync(rawTar([{ path: 'compose.yaml', content: COMPOSE }, ...files]))
    const upload = read(null, sent)
    const { share } = await busyDuring(upload)
    assert.is((await upload).files, files.length + 1)
    assert.ok(share < 0.25, `the loop was at work for ${share}`)
  })

  t('as sixty megabytes of JSON is read beside the loop', async () => {
    const content = randomBytes(45_000_000)
    const body = Buffer.from(JSON.stringify({ compose: COMPOSE, files: { 'data.bin': content.toString('base64') } }))
    const { result, share } = await busyDuring(told(read(null, body, JSON_TYPE)))
    assert.is(result, `data.bin ${content.length},docker-compose.yml ${COMPOSE.length}`)
    assert.ok(share < 0.5, `the loop was at work for ${share}`)
  })

  t(
    'is refused as too large once it needs more than it may take, with what to leave out, and the next is read',
    async () => {
      const tar = gzipSync(rawTar([{ path: 'compose.yaml', content: COMPOSE }]))
      const limits = { ...READ_LIMITS, cpuMaxMs: 0, lookMs: 1 }
      const strict = makeUploadReader(limits, limits)
      const noise = gzipSync(rawTar([{ path: 'noise', content: randomBytes(20_000_000) }]), { level: 1 })
      const refused = await problemOf(strict.read(sentBody(noise, GZIP), { account: 'demo' }, async () => []))
      assert.is(refused.message, 'To read the upload needs more than 0 ms of CPU time.')
      assert.match(refused.next, 'Leave out what a build makes')
      const { commit, pack } = plainCommit(COMPOSE, randomBytes(5_000_000))
      const sent = sentPack(inPackets(pack, 1), { url: server.url, commit })
      assert.is((await problemOf(strict.read(sent, { account: 'demo' }, async () => []))).code, 'ARCHIVE_TOO_LARGE')
      await strict.close()
      assert.is(await told(read(null, tar)), `compose.yaml ${COMPOSE.length}`)
    },
  )

  t('is refused as too large once it takes more memory than a thread may have', async () => {
    const limits = { ...READ_LIMITS, memoryMaxMib: 64, lookMs: 5 }
    const strict = makeUploadReader(limits, limits)
    const { commit, pack } = plainCommit(COMPOSE, Buffer.alloc(100_000_000))
    const sent = sentPack(inPackets(pack, 60_000), { url: server.url, commit })
    const refused = await problemOf(strict.read(sent, { account: 'demo' }, async () => []))
    assert.equal(
      [refused.code, refused.message],
      ['ARCHIVE_TOO_LARGE', 'To read the upload needs more than 64 MiB of memory.'],
    )
    await strict.close()
  })

  t('of one account is read one after the other, while that of another is read', async () => {
    const noise = gzipSync(
      rawTar([
        { path: 'compose.yaml', content: COMPOSE },
        { path: 'n', content: randomBytes(20_000_000) },
      ]),
    )
    const order: string[] = []
    const asked = (account: string) =>
      uploadReader.read(sentBody(Buffer.from(noise), GZIP), { account }, async () => []).then(() => order.push(account))
    // both threads are there: what one takes to start is no turn of anybody
    await Promise.all([asked('x'), asked('y')])
    await Promise.all([asked('a'), asked('a'), asked('b')])
    assert.ok(order.slice(2).indexOf('b') < 2, order.join())
  })

  t('is fetched for one account so often at once, and for others beside it', async () => {
    const end = Promise.withResolvers<void>()
    const running = [1, 2].map(() => uploadReader.fetching('demo', () => end.promise))
    const refused = await problemOf(uploadReader.fetching('demo', async () => {}))
    assert.equal([refused.code, refused.headers['retry-after']], ['TOO_MANY_REQUESTS', '2'])
    assert.is(await uploadReader.fetching('other', async () => 'fetched'), 'fetched')
    end.resolve()
    await Promise.all(running)
    assert.is(await uploadReader.fetching('demo', async () => 'fetched'), 'fetched')
  })

  t('is held for the caller while it is fetched, and given up once there is no place for it', async () => {
    const content = randomBytes(2_000_000)
    server.serve(plainCommit(COMPOSE, content))
    let held = 0
    const counted = read({ git: { url: server.url, ref: 'main' } }, undefined, GZIP, (bytes) => {
      held += bytes
    })
    assert.is(await told(counted), `compose.yaml ${COMPOSE.length},data.bin ${content.length}`)
    assert.ok(held > content.length, `${held} bytes`)
    const { take, end } = makeByteBudget({ heldMegabytes: 1, heldMegabytesPerParty: 1 }).open('account demo')
    assert.match(
      await told(read({ git: { url: server.url, ref: 'main' } }, undefined, GZIP, take)),
      /^TOO_MANY_REQUESTS/,
    )
    end()
  })
})

spec('pieces of what arrives', (t) => {
  t('are put together while they come: none is kept by itself', () => {
    const source = randomBytes(1_024)
    const sent = Buffer.from(source)
    const chunks = makeChunks()
    for (let at = 0; at < source.length; at++) chunks.add(source.subarray(at, at + 1))
    // what is still looked at where it came would be nothing now
    source.fill(0)
    assert.ok(chunks.joined().equals(sent))
  })

  for (const [what, declares] of [
    ['as it was declared', (bytes: number) => bytes],
    ['without a word', () => 0],
    ['as less than it is', (bytes: number) => bytes / 2],
    ['as far more', () => 1_000_000_000],
  ] as const)
    t(`that come ${what} are what was sent, and have room for a few times as much at most`, () => {
      const sent = randomBytes(9_000_001)
      for (const length of [1, 1_048_575, 1_048_576, 1_048_577, 5_000_000, sent.length]) {
        const chunks = makeChunks(declares(length))
        for (let at = 0; at < length; at += 65_536) chunks.add(sent.subarray(at, Math.min(at + 65_536, length)))
        const joined = chunks.joined()
        assert.ok(joined.equals(sent.subarray(0, length)), `${length} bytes`)
        if (length > 1_048_576) assert.ok(joined.buffer.byteLength <= 4 * length, `${joined.buffer.byteLength} bytes`)
      }
    })

  t('that are large stay what they are', () => {
    const large = randomBytes(100_000)
    const chunks = makeChunks()
    chunks.add(large)
    assert.ok(chunks.joined() === large)
    for (let n = 0; n < 600; n++) chunks.add(large)
    assert.is(chunks.joined().length, 601 * large.length)
  })
})
