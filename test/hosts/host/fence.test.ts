/** A host that knows a later leader than database and Lease do: both were put back, and the leader goes above that one. */
import { appendFileSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ending } from '../../../hack/lib/processes.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { approve, makeSite, publish, type SitePlatform, startSitePlatform } from '../../support/stage/publishing.ts'

/** Far above the epochs of a test. */
const MARK = 1_000

spec('a host that knows a later leader', (t) => {
  let platform: SitePlatform
  t.before(async () => {
    platform = await startSitePlatform()
  })
  t.after(() => platform?.end())

  const epoch = async () => Number((await query(platform.database.url, 'select epoch from epochs'))[0]?.epoch)
  const approved = async (subdomain: string): Promise<string> => {
    const { id } = await makeSite(platform)
    assert.is((await platform.as('PUT', `/api/website/${id}/domain`, { subdomain })).status, 200)
    await approve(platform, id)
    return id
  }
  /** Of the host's own: the last line of each is the newest epoch that it has seen. */
  const fences = () => globSync(join(platform.host.folder, 'home', '.bottega', 'fence-*'))
  const markOf = (file: string) => Number(readFileSync(file, 'utf8').trim().split('\n').at(-1))

  t(
    'has the epoch raised above its mark on both sides, refuses who is older, and is worked on by the next',
    async () => {
      const { controllers, standby } = platform
      await publish(platform, await approved('first'))
      const [fence] = fences()
      if (fence === undefined) throw new Error('the host keeps no fence')
      const before = await epoch()
      assert.is(markOf(fence), before)

      // whoever looks at the host next finds the mark, which may be at once
      const ended = new Promise<Ending>((resolve) => controllers.onDeath(resolve))
      appendFileSync(fence, `${MARK}\n`)
      await standby.start()
      const live = publish(platform, await approved('second'))
      assert.is((await ended).code, 1, 'whoever led by the older epoch ends')
      await live
      const raised = await epoch()
      assert.ok(raised > MARK + 1, `${raised}: above the mark, and one more for who leads now`)
      assert.is(markOf(fence), raised)
      const lease = JSON.parse(await platform.kubectl(['get', 'lease', 'bottega-controllers', '-o', 'json']))
      assert.is(lease.metadata.annotations['bottega.dev/epoch'], String(raised))
      const said = `"msg":"a host knows a leader that the database and the Lease have lost"`
      assert.is(readFileSync(controllers.logFile, 'utf8').split(said).length - 1, 1, 'one line')
    },
    { timeoutMs: 240_000 },
  )
})
