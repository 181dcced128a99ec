import { PROFILE } from '../../support/builders/devinstance.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { cloud, makeProvisioner, type Provisioner, reservation, setCap } from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'

/** What is asked of a dev instance under `respond-async`: its operation ends as a caller who waited would be answered. */

const ASYNC = { prefer: 'respond-async' }

spec('a call of a dev instance that is answered before it is decided', (t) => {
  let platform: Platform
  let box: Provisioner
  let owner: string

  /** Nobody decides anything until the work is done. */
  const whileResting = async <T>(work: () => Promise<T>): Promise<T> => {
    await platform.controllers.stop()
    try {
      return await work()
    } finally {
      await platform.controllers.start()
    }
  }
  const say = (id: string, method: string, word: string, body?: unknown) => box.on(id, method, word, body, ASYNC)
  const pending = (id: string, { status, headers, json, text }: Reply): void => {
    const { operation_id: operation, devbox } = json
    assert.equal([status, devbox], [202, { id }], text)
    assert.is(headers.get('location'), `/api/operations/${operation}`)
  }
  const settled = (reply: Reply): Promise<Json> =>
    eventually('the verdict', async () => {
      const { json } = await call(platform.baseUrl, owner, 'GET', `/api/operations/${reply.json.operation_id}`)
      return json.operation.state !== 'pending' && json.operation
    })
  t.before(
    async () => {
      platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '1000' } })
      owner = await addAccount(platform, 'boxer', { capabilities: ['devbox.manage'] })
      await setCap(platform, { account: 'boxer', token: owner }, 5_000)
      box = makeProvisioner(platform, owner)
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => platform.end())

  t(
    'is refused where it contradicts an earlier one, with the version, the state and what may be done',
    async () => {
      const { id, version } = await box.toReady()
      const [started, stopped] = await whileResting(async () => [
        await say(id, 'POST', 'started', { version }),
        await say(id, 'POST', 'stopped', { version }),
      ])
      assert.ok(started && stopped)
      pending(id, started)
      pending(id, stopped)
      const first = await settled(started)
      assert.equal([first.state, first.status, first.result.devbox.state], ['succeeded', 200, 'running'])
      const { state, problem, ...rest } = await settled(stopped)
      assert.equal([state, 'result' in rest], ['refused', false])
      const waited = await box.on(id, 'POST', 'stopped', { version })
      const { request_id: _one, instance: _here, ...told } = problem
      const { request_id: _other, instance: _there, ...expected } = waited.json
      assert.equal(told, expected)
      assert.equal(
        [problem.status, problem.code, problem.version, problem.state, problem.allowedActions.includes('stopped')],
        [409, 'VERSION_CONFLICT', version + 1, 'running', true],
      )
    },
    { timeoutMs: 120_000 },
  )

  t(
    'tells the client token of a reservation, and the report token, which opens',
    async () => {
      const reserved = await whileResting(() =>
        call(platform.baseUrl, owner, 'POST', '/api/devboxes', reservation(), ASYNC),
      )
      const { status: made, result: held } = await settled(reserved)
      const { clientToken, bootstrapUrl, devbox, reservationExpiresAt } = held
      const { id } = devbox
      pending(id, reserved)
      assert.equal([made, clientToken, devbox.state], [201, id, 'reserved'])
      assert.match(bootstrapUrl, new RegExp(`/api/devboxes/${id}/bootstrap$`))
      assert.ok(Date.parse(reservationExpiresAt) > 0)

      const { instanceId } = cloud()
      assert.is((await box.on(id, 'POST', 'provisioning', { instanceId })).status, 200)
      const issued = await whileResting(() => say(id, 'POST', 'token'))
      pending(id, issued)
      const { status, result } = await settled(issued)
      assert.equal([status, result.devbox.state], [201, 'configuring'])
      const report = {
        at: new Date().toISOString(),
        uptimeSeconds: 60,
        memory: { totalGb: 4, usedGb: 1.5, peakRssGb: 0.8 },
        disk: { totalGb: 30, usedGb: 10 },
        oom: { count: 0 },
        git: { dirty: 0, untracked: 0, unpushed: 0, head: 'abc1234' },
        agents: { 'claude-code': '2.1.330' },
        activity: ['ssh'],
      }
      const taken = await call(platform.baseUrl, result.token, 'POST', `/api/devboxes/${id}/report`, report)
      assert.is(taken.status, 200, taken.text)
    },
    { timeoutMs: 120_000 },
  )

  t(
    'leaves no resource of what was deleted',
    async () => {
      const { devbox } = await box.reserve()
      const { id } = devbox
      const deleted = await whileResting(() => say(id, 'DELETE', ''))
      pending(id, deleted)
      const { status, result } = await settled(deleted)
      assert.equal([status, result.devbox.version, typeof result.devbox.deletedAt], [200, 2, 'string'])
      const rest = ['get', 'dbx', id, '--ignore-not-found']
      await eventually('the resource to go', async () => (await platform.kubectl(rest)) === '')
    },
    { timeoutMs: 120_000 },
  )

  t(
    'answers with the policy, the sizing and the names',
    async () => {
      const { id, version } = await box.toReady()
      const { result: policy } = await settled(
        await whileResting(() => say(id, 'PATCH', '', { policy: { idleMinutes: 45 } })),
      )
      assert.is(policy.devbox.policy.idleMinutes, 45)
      const [measured, env] = await whileResting(async () => [
        await say(id, 'PUT', 'measurements', { peakRssGb: 10.5, diskUsedGb: 12, repoHead: 'abcdef0' }),
        await say(id, 'PUT', 'env', { env: { TOKEN: 'x' } }),
      ])
      assert.ok(measured && env)
      assert.is((await settled(measured)).result.proposal.sizeClass, 'M')
      assert.equal((await settled(env)).result, { keys: ['TOKEN'] })
      assert.is((await box.detail(id)).version, version)
    },
    { timeoutMs: 120_000 },
  )

  t(
    'says what size a repository needs that came before a smaller one was seen',
    async () => {
      const { id, version } = await box.toReady({ sizeClass: 'M', diskGb: 200 })
      const small = { sizeClass: 'XS', diskGb: 200 }
      assert.is((await box.on(id, 'POST', 'resizing', { version, ...small })).status, 200)
      const resized = { ...small, version: version + 1, verifiedDf: '200G', state: 'ready' }
      const profile = { ...PROFILE, scannedAt: new Date().toISOString(), hostRequirements: { memoryGb: 16 } }
      const repo = { repo: { url: 'https://git.acme.test/b.git' }, profile }
      const refused = await whileResting(async () => {
        pending(id, await say(id, 'POST', 'resized', resized))
        return say(id, 'PUT', 'repo', repo)
      })
      pending(id, refused)
      const { state, problem } = await settled(refused)
      assert.equal([state, problem.code], ['refused', 'RESIZE_REQUIRED'])
      assert.equal(problem.sizing, (await box.on(id, 'PUT', 'repo', repo)).json.sizing)
      assert.is(problem.sizing.proposal.sizeClass, 'M')
    },
    { timeoutMs: 120_000 },
  )
})
