import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { cloud, finalizeBody, makeProvisioner, type Provisioner, setCap } from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Power, size class and disk of a dev instance, wished by kubectl, and what comes of it over REST (rules/devinstance.md#wishes). */

spec('wishes of kubectl', (t) => {
  let platform: Platform
  let box: Provisioner
  let owner: string
  let admin: string

  t.before(
    async () => {
      platform = await startPlatform({ env: { BOTTEGA_DEV_CLOCK: 'on' } })
      const capabilities = ['devbox.manage']
      owner = await addAccount(platform, 'boxer', { capabilities })
      admin = await addAccount(platform, 'root', { capabilities, role: 'admin' })
      await setCap(platform, { account: 'boxer', token: owner }, 200)
      box = makeProvisioner(platform, owner)
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => platform.end())

  const manifest = (name: string, change: Json = {}) => ({
    apiVersion: 'bottega.dev/v1alpha1',
    kind: 'DevInstance',
    metadata: { name },
    spec: { account: 'boxer', name, sizeClass: 'XS', arch: 'arm64', agents: [], ...change },
  })
  const apply = (name: string, change: Json = {}) => platform.kubectl(['apply', '-f', '-'], manifest(name, change))
  const isReady = (name: string) => platform.kubectl(['wait', '--for=condition=Ready', `dbx/${name}`, '--timeout=60s'])
  const object = async (name: string): Promise<Json> =>
    JSON.parse(await platform.kubectl(['get', 'dbx', name, '-o', 'json']))
  /** Ready, Reconciling and Stalled as they stand for the present generation. */
  const said = async (name: string): Promise<Json> => {
    const { metadata, status } = await object(name)
    if (status?.observedGeneration !== metadata.generation) return {}
    const of = (type: string) => status.conditions.find((one: Json) => one.type === type && one.status === 'True')
    return { ready: of('Ready')?.reason, reconciling: of('Reconciling'), stalled: of('Stalled'), status }
  }
  const reconciling = (name: string, reason: string) =>
    eventually(`${name} to be ${reason}`, async () => {
      const { ready, reconciling: one } = await said(name)
      return ready === undefined && one?.reason === reason && one
    })
  const stalled = (name: string, code: string) =>
    eventually(`${name} to be stalled`, async () => {
      const { ready, stalled: one } = await said(name)
      return ready === undefined && one?.message.startsWith(`${code}:`) && one
    })
  const say = async (id: string, word: string, body: Json = {}): Promise<Json> => {
    const reply = await box.on(id, 'POST', word, { version: (await box.detail(id)).version, ...body })
    assert.is(reply.status, 200, `${word}: ${reply.text}`)
    return reply.json.devbox
  }
  /** From the reservation by kubectl to an instance that runs. */
  const isUp = async (name: string): Promise<string> => {
    await apply(name)
    await eventually('it to be reserved', async () => (await box.on(name, 'GET', '')).status === 200)
    const of = cloud()
    const must = async (word: string, body?: unknown) => {
      const reply = await box.on(name, 'POST', word, body)
      assert.ok(reply.status < 300, reply.text)
    }
    await must('provisioning', { instanceId: of.instanceId })
    await must('token')
    await must('finalize', finalizeBody({ ...(await box.detail(name)), instanceId: of.instanceId }, of))
    await say(name, 'started')
    await isReady(name)
    return name
  }

  t(
    'say what is awaited and of whom, are read over REST, and end in Ready once it is so',
    async () => {
      const id = await isUp('wish-one')
      await apply(id, { power: 'stopped' })
      // what was said of the spec before is not taken for an answer
      const early = ['wait', '--for=condition=Ready', `dbx/${id}`, '--timeout=2s']
      await assert.rejects(platform.kubectl(early), 'timed out')
      const stop = await reconciling(id, 'StopWished')
      assert.match(
        stop.message,
        /waits for the provisioner \(bottega-devbox run\) to stop it, wished by generation 2 at/,
      )
      const { wanted, version } = await box.detail(id)
      assert.equal([wanted.power, wanted.sizeClass, wanted.diskGb, wanted.generation], ['stopped', null, null, 2])
      const [listed] = (await call(platform.baseUrl, owner, 'GET', '/api/devboxes')).json.devboxes
      assert.equal(listed.wanted, wanted)
      assert.is((await box.on(id, 'POST', 'stopped', { version: version - 1 })).json.code, 'VERSION_CONFLICT')
      await say(id, 'stopped')
      await isReady(id)
      assert.equal([(await said(id)).ready, (await box.detail(id)).wanted], ['Stopped', null])

      await apply(id, { power: 'stopped', sizeClass: 'S' })
      const size = await reconciling(id, 'ResizeWished')
      assert.match(size.message, /from XS with 30 GB to S with 50 GB/)
      await say(id, 'resizing', { sizeClass: 'S', diskGb: 50 })
      await say(id, 'resized', { sizeClass: 'S', diskGb: 50, verifiedDf: '49G', state: 'stopped' })
      await apply(id, { power: 'running', sizeClass: 'S', diskGb: 60 })
      await reconciling(id, 'ResizeWished')
      await say(id, 'resizing', { sizeClass: 'S', diskGb: 60 })
      await say(id, 'resized', { sizeClass: 'S', diskGb: 60, verifiedDf: '59G', state: 'stopped' })
      await reconciling(id, 'StartWished')
      await say(id, 'starting')
      await say(id, 'started')
      await isReady(id)
      const { status } = await said(id)
      assert.equal([status.state, status.sizeClass, status.diskGb], ['running', 'S', 60])
      const kinds = (await box.detail(id)).events.filter(({ kind }: Json) => kind === 'wished')
      assert.equal(
        kinds.map(({ data }: Json) => data.generation),
        [4, 4, 3, 2],
        'each is an entry with its generation',
      )
      const facts = await query(
        platform.database.url,
        "select kind, body->'said'->>'generation' as generation from facts where resource = $1 and kind like 'devbox.wish-%' order by seq",
        [id],
      )
      assert.equal(
        facts.map(({ kind, generation }) => `${kind} ${generation}`),
        ['devbox.wish-power 2', 'devbox.wish-size 3', 'devbox.wish-power 4', 'devbox.wish-size 4'],
      )
      await say(id, 'terminated', { instanceGone: true, eipGone: true, volumesGone: true })
    },
    { timeoutMs: 180_000 },
  )

  t(
    'are refused with the codes of REST: by the API server what can never be, by the table what cannot be now',
    async () => {
      const id = await isUp('wish-two')
      await assert.rejects(apply(id, { arch: 'x86_64' }), 'ARCH_CHANGE')
      await assert.rejects(apply(id, { diskGb: 20 }), 'DISK_SHRINK')
      await assert.rejects(apply(id, { sizeClass: 'XXL' }), 'the object was invalid')
      await assert.rejects(apply(id, { power: 'asleep' }), 'the object was invalid')
      await apply(id, { sizeClass: 'XL' })
      const cap = await stalled(id, 'CAP_EXCEEDED')
      assert.equal([cap.reason, (await box.detail(id)).wanted], ['CapExceeded', null])
      assert.match(cap.message, /the cap is 200\.00 USD/)
      await apply(id, { sizeClass: 'M', diskGb: 60 })
      await stalled(id, 'INVALID_FIELD')
      // what was refused may be taken back
      await apply(id)
      await isReady(id)
      // one after the other, and as soon as it may be
      await say(id, 'resizing', { sizeClass: 'S' })
      await apply(id, { sizeClass: 'M' })
      await stalled(id, 'RESIZE_PENDING')
      await say(id, 'resized', { sizeClass: 'S', diskGb: 50, verifiedDf: '49G', state: 'running' })
      await reconciling(id, 'ResizeWished')
      assert.is((await box.detail(id)).wanted.sizeClass, 'M')
      await say(id, 'terminated', { instanceGone: true, eipGone: true, volumesGone: true })
      await isReady(id)
      assert.equal([(await said(id)).ready, (await box.detail(id)).wanted], ['Terminated', null])
      await apply(id, { sizeClass: 'L' })
      await stalled(id, 'WRONG_STATE')
    },
    { timeoutMs: 180_000 },
  )

  t(
    'count once: what is done by REST or by the box itself is not undone, however often the manifest is applied',
    async () => {
      const id = await isUp('wish-three')
      await apply(id, { power: 'running' })
      await isReady(id)
      await say(id, 'stopped')
      await isReady(id)
      assert.match(await apply(id, { power: 'running' }), 'unchanged')
      await apply(id, { power: 'running', policy: { idleMinutes: 90, autoscale: 'ask' } })
      await isReady(id)
      const { ready, status } = await said(id)
      assert.equal([ready, (await box.detail(id)).wanted], ['Stopped', null])
      const overtaken = status.conditions.find(({ type }: Json) => type === 'SpecOvertaken')
      assert.match(overtaken.message, /spec says power running, and it is stopped since .* or raise spec\.wish/)

      await say(id, 'resizing', { sizeClass: 'S' })
      await say(id, 'resized', { sizeClass: 'S', diskGb: 50, verifiedDf: '49G', state: 'stopped' })
      await isReady(id)
      assert.equal([(await said(id)).ready, (await box.detail(id)).wanted], ['Stopped', null])

      await platform.kubectl(['patch', 'dbx', id, '--type=merge', '-p', '{"spec":{"wish":1}}'])
      await eventually('it to be wished again', async () => (await box.detail(id)).wanted?.power === 'running')
      assert.equal((await box.detail(id)).wanted.sizeClass, 'XS')
      await say(id, 'terminated', { instanceGone: true, eipGone: true, volumesGone: true })
    },
    { timeoutMs: 180_000 },
  )

  t(
    'show in a narrow table who has it, what it is, since when nobody used it, and what this month has cost',
    async () => {
      const id = await isUp('wish-four')
      const table = await platform.kubectl(['get', 'dbx', id])
      assert.match(table, /^NAME\s+OWNER\s+STATE\s+CLASS\s+IDLE\s+USD\s+AGE\n/)
      assert.match(table, new RegExp(`${id}\\s+boxer\\s+running\\s+XS\\s+0\\.00\\s+\\d+s`))
      await say(id, 'terminated', { instanceGone: true, eipGone: true, volumesGone: true })
    },
    { timeoutMs: 120_000 },
  )

  t(
    'leave no resource behind: a reservation that lapsed goes, so does what was terminated, and both are read on',
    async () => {
      const advance = async (duration: string) => {
        const moved = await call(platform.baseUrl, admin, 'POST', '/api/dev/clock', { advance: duration })
        assert.is(moved.status, 200, moved.text)
      }
      const isGone = (name: string) =>
        eventually(
          `${name} to go`,
          async () => (await platform.kubectl(['get', 'dbx', name, '--ignore-not-found'])) === '',
        )
      const old = async (name: string) =>
        (await call(platform.baseUrl, owner, 'GET', `/api/devboxes/${name}?deleted=1`)).json.devbox
      await apply('lapses')
      await eventually('it to be reserved', async () => (await box.on('lapses', 'GET', '')).status === 200)
      await advance('P1D')
      await isGone('lapses')
      const { deletedAt, events } = await old('lapses')
      assert.equal([typeof deletedAt, events[0].kind], ['string', 'deleted'])
      // applied again it is another one, and not unchanged
      assert.match(await apply('lapses'), 'created')
      const again = await eventually('it to be reserved anew', async () => {
        const reply = await box.on('lapses', 'GET', '')
        return reply.status === 200 && reply.json.devbox
      })
      assert.equal(
        [again.state, again.deletedAt, again.createdAt > deletedAt],
        ['reserved', null, again.createdAt > deletedAt],
      )

      assert.is((await box.detail('wish-one')).state, 'terminated')
      await advance('P30D')
      await isGone('wish-one')
      assert.equal([(await box.on('wish-one', 'GET', '')).status, (await old('wish-one')).state], [404, 'terminated'])
    },
    { timeoutMs: 180_000 },
  )
})
