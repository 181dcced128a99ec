import { randomBytes } from 'node:crypto'
import { query } from '../../../hack/platform/postgres.ts'
import { addAwayHost } from '../../support/builders/app/awayhost.ts'
import {
  byteByByte,
  gitBomb,
  type HostileServer,
  startHostileServer,
} from '../../support/builders/sources/hostilegit.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** What is costly to read, over REST: refused or taken while others are served, and nothing of what is refused is stored. */

const COMPOSE = 'services: {web: {image: "docker.io/library/nginx:1.29", expose: ["80"]}}\n'
const MACHINE = { arch: 'amd64', capacity: { cpuMillis: 64_000, memoryMib: 131_072, diskGib: 2_000 } }

spec('a costly upload over REST', (t) => {
  let platform: Platform
  let other: string
  let server: HostileServer
  let app: Json
  const sources = (body: unknown) => call(platform.baseUrl, platform.owner, 'POST', `/api/apps/${app.id}/sources`, body)
  const fetched = () => sources({ git: { url: server.url, ref: 'main' } })
  /** All that an upload leaves. */
  const stored = async () => {
    const counts = ['blobs', 'app_sources', 'app_uploads'].map(async (table) => {
      const [row] = await query(platform.database.url, `select count(*)::int as n from ${table}`)
      return `${table} ${row?.n}`
    })
    return (await Promise.all(counts)).join()
  }
  /** How many requests of another account are answered while something is under way. */
  const servedBeside = async <R>(work: Promise<R>): Promise<{ result: R; served: number }> => {
    let [served, isOver] = [0, false]
    const all = work.finally(() => {
      isOver = true
    })
    while (!isOver) {
      const { status } = await call(platform.baseUrl, other, 'GET', '/api/apps')
      assert.is(status, 200)
      if (!isOver) served += 1
    }
    return { result: await all, served }
  }

  t.before(async () => {
    platform = await startPlatform({
      env: { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true', BOTTEGA_RATE_PER_SECOND: '100000' },
    })
    other = await platform.token('other')
    const capable = '{"spec":{"capabilities":["app.deploy"]}}'
    for (const account of ['demo', 'other'])
      await platform.kubectl(['patch', 'acct', account, '--type=merge', '-p', capable])
    await addAwayHost(platform, { name: 'away', machine: MACHINE, spec: { approved: true, class: 'shared' } })
    server = await startHostileServer()
    app = await eventually('the app', async () => {
      const made = await call(platform.baseUrl, platform.owner, 'POST', '/api/apps', { slug: 'shop', host_id: 'away' })
      return made.status === 201 && (made.json.app as Json)
    })
  })
  t.after(async () => {
    await server.end()
    await platform.end()
  })

  t(
    'of a repository that is a bomb, or made byte by byte, is refused beside the others, and leaves nothing',
    async () => {
      const before = await stored()
      server.serve(gitBomb(10, 10))
      const bomb = await servedBeside(fetched())
      assert.equal([bomb.result.status, bomb.result.json.code], [413, 'ARCHIVE_TOO_LARGE'], bomb.result.text)
      assert.match(bomb.result.json.next, 'Leave out')
      server.serve(byteByByte(8_000_000))
      const slow = await servedBeside(fetched())
      assert.equal([slow.result.status, slow.result.json.code], [400, 'NO_COMPOSE_FILE'], slow.result.text)
      assert.ok(slow.served > 0, 'somebody was served beside it')
      assert.is(await stored(), before)
    },
  )

  t('of sixty megabytes of JSON is taken beside the others', async () => {
    const files = { 'data.bin': randomBytes(45_000_000).toString('base64') }
    const { result, served } = await servedBeside(sources({ compose: COMPOSE, files }))
    assert.is(result.status, 201, result.text)
    assert.is(result.json.source.bytes, 45_000_000 + COMPOSE.length)
    assert.ok(served > 0, 'somebody was served beside it')
  })
})
