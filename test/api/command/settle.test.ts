/** Requests that are answered before they are decided, and where their verdicts stand; on a platform whose controllers rest. */

import { makePg } from '../../../controllers/store/pg/pg.ts'
import { sweepOperations } from '../../../controllers/store/request/operations.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type Minter, makeMinter } from '../../support/stage/callers.ts'
import { call, eventually, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'

const ASYNC = { prefer: 'respond-async' }

spec('a request that is answered before it is decided', (t) => {
  let platform: Platform
  let minter: Minter
  const as = (token: string, method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
    call(platform.baseUrl, token, method, path, body, headers)
  const owner = (method: string, path: string, body?: unknown, headers = {}) =>
    as(platform.owner, method, path, body, headers)
  const makeSite = async (): Promise<Json> => {
    const made = await owner('POST', '/api/website/generate', { content: siteContent() })
    assert.is(made.status, 201, made.text)
    return made.json.site
  }
  const rename = (id: string, name: string, headers: Record<string, string> = ASYNC) =>
    owner('POST', `/api/website/${id}/update`, { content: { meta: { company_name: name } } }, headers)

  /** Nobody decides anything until the work is done. */
  const whileResting = async <T>(work: () => Promise<T>): Promise<T> => {
    await platform.controllers.stop()
    try {
      return await work()
    } finally {
      await platform.controllers.start()
    }
  }
  const read = async ({ headers, json }: Reply, token = platform.owner): Promise<Json> => {
    const location = headers.get('location') ?? ''
    assert.is(location, `/api/operations/${json.operation_id}`)
    const reply = await as(token, 'GET', location)
    assert.is(reply.status, 200, reply.text)
    return reply.json.operation
  }
  const settled = (pending: Reply): Promise<Json> =>
    eventually('the verdict', async () => {
      const operation = await read(pending)
      return operation.state !== 'pending' && operation
    })

  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000' } })
    minter = makeMinter(platform)
  })
  t.after(async () => {
    await minter.end()
    await platform.end()
  })

  t('has an address at which its answer stands as soon as there is one', async () => {
    const site = await makeSite()
    const pending = await whileResting(async () => {
      const asked = await rename(site.id, 'Later')
      assert.equal([asked.status, asked.headers.get('retry-after')], [202, '2'], asked.text)
      const { id, created_at, ...operation } = await read(asked)
      assert.equal(operation, {
        method: 'POST',
        path: `/api/website/${site.id}/update`,
        resource: `/api/website/${site.id}`,
        state: 'pending',
      })
      assert.equal([id, Date.parse(created_at) > 0], [asked.json.operation_id, true])
      return asked
    })
    const { state, status, result, settled_at } = await settled(pending)
    assert.equal([state, status, Date.parse(settled_at) > 0], ['succeeded', 200, true])
    assert.equal(result.site.content.meta.company_name, 'Later')
    assert.equal(Object.keys(result), ['site', 'warnings'])
  })

  t('is answered at once where the first look finds the verdict, and enters nothing', async () => {
    const site = await makeSite()
    const again = await rename(site.id, site.content.meta.company_name)
    assert.is(again.status, 200, again.text)
    const known = `select count(*)::int as count from operations where resource = '/api/website/${site.id}'`
    assert.equal(await query(platform.database.url, known), [{ count: 0 }])
  })

  t(
    'is the same operation under the same Idempotency-Key, which answers with the verdict once it is there',
    async () => {
      const site = await makeSite()
      const headers = { ...ASYNC, 'idempotency-key': 'twice' }
      const first = await whileResting(async () => {
        const asked = await rename(site.id, 'Twice', headers)
        const again = await rename(site.id, 'Twice', headers)
        assert.equal([asked.status, again.status], [202, 202])
        assert.equal([again.json, again.headers.get('idempotency-replayed')], [asked.json, 'true'])
        return asked
      })
      const { result } = await settled(first)
      const replay = await rename(site.id, 'Twice', headers)
      assert.equal([replay.status, replay.headers.get('idempotency-replayed')], [200, 'true'], replay.text)
      assert.equal(replay.json, result)
    },
  )

  t('is refused in the words that a caller who waited would get, to each replay too', async () => {
    const site = await makeSite()
    const late = { ...ASYNC, 'idempotency-key': 'late' }
    const submit = () => owner('POST', `/api/website/${site.id}/submit-review`, {}, late)
    // It changes before anybody has seen what was submitted.
    const pending = await whileResting(async () => {
      await rename(site.id, 'Changed')
      return submit()
    })
    assert.is(pending.status, 202, pending.text)
    const { state, problem, ...rest } = await settled(pending)
    assert.equal([state, 'result' in rest, problem.code, problem.status], ['refused', false, 'CHANGED_SINCE', 409])
    const replay = await submit()
    assert.equal([replay.status, replay.json.code, replay.json.detail], [409, problem.code, problem.detail])
  })

  t('is unknown, with where to look, when something else was asked before it could be judged', async () => {
    const site = await makeSite()
    const pending = await whileResting(async () => {
      const first = await rename(site.id, 'First')
      assert.is((await rename(site.id, 'Second')).status, 202)
      return first
    })
    const { state, problem } = await settled(pending)
    assert.equal([state, problem.code], ['unknown', 'OUTCOME_UNKNOWN'])
    assert.match(
      problem.detail,
      `changed again before a verdict on this change could be seen; how it stands is at /api/website/${site.id}`,
    )
  })

  t('is unknown when its resource went first', async () => {
    const site = await makeSite()
    const pending = await whileResting(async () => {
      const asked = await rename(site.id, 'Gone')
      await platform.kubectl(['delete', 'wsite', site.id, '--wait=false'])
      return asked
    })
    const { state, problem } = await settled(pending)
    assert.equal([state, problem.code], ['unknown', 'OUTCOME_UNKNOWN'])
    assert.match(problem.detail, 'was deleted before a verdict could be seen')
  })

  t('is judged by whoever is asked, when the process that took it in has died', async () => {
    const site = await makeSite()
    const pending = await whileResting(async () => {
      const asked = await rename(site.id, 'Survivor')
      await platform.api.stop()
      return asked
    })
    await platform.api.start()
    const { state, result } = await settled(pending)
    assert.equal([state, result.site.content.meta.company_name], ['succeeded', 'Survivor'])
  })

  t('is nobody else’s, and nothing for a token that may not ask for it', async () => {
    const site = await makeSite()
    const asked = await whileResting(() => rename(site.id, 'Mine'))
    const location = asked.headers.get('location') ?? ''
    const other = await as(await platform.token('other'), 'GET', location)
    assert.equal([other.status, other.json.code], [404, 'NOT_FOUND'])
    const scoped = async (scope: 'websites:read' | 'websites:write') =>
      (await as((await minter.token('demo', { scopes: [scope] })).secret, 'GET', location)).status
    assert.equal([await scoped('websites:read'), await scoped('websites:write')], [403, 200])
  })

  t('is sealed where it is kept, and gone after seven days', async () => {
    const site = await makeSite()
    const asked = await whileResting(() => rename(site.id, 'Sealed-away'))
    await settled(asked)
    const id = asked.json.operation_id
    const [row] = await query(platform.database.url, 'select outcome, goal from operations where id = $1', [id])
    const { outcome, goal } = row as { outcome: Buffer; goal: Buffer }
    assert.not.ok(outcome.includes('Sealed-away') || goal.includes(site.id))
    const pg = makePg({ url: platform.database.url, max: 1 })
    const sweepAt = (days: number) => sweepOperations({ pg, now: () => new Date(Date.now() + days * 86_400_000) })
    assert.is(await sweepAt(6.9), 0)
    assert.ok((await sweepAt(7.1)) > 0)
    await pg.close()
    assert.is((await owner('GET', `/api/operations/${id}`)).status, 404)
  })
})
