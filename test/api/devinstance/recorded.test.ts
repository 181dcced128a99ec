import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { cloud, finalizeBody, makeProvisioner, type Provisioner, setCap } from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'

/** Reports that are refused, over REST: each is on record, and shown to the owner and to admins (hack/decisions/086). */

const NOTHING = { instanceGone: false, eipGone: false, volumesGone: false }
const ALL = { instanceGone: true, eipGone: true, volumesGone: true }

spec('a report on a dev instance that is refused', (t) => {
  let platform: Platform
  let box: Provisioner
  let owner: string
  let admin: string
  let stranger: string
  const codeOf = ({ status, json }: Reply) => `${status} ${json?.code ?? ''}`.trim()
  const ask = (token: string, path: string) => call(platform.baseUrl, token, 'GET', `/api/devboxes${path}`)
  const typesOf = ({ conditions }: Json) => conditions.map(({ type }: Json) => type)
  /** Kind and code of the latest entry, and whether the fact stands as refused with that code. */
  const onRecord = async (id: string, wanted: string) => {
    const { events } = await box.detail(id)
    const told = events.find(({ kind }: Json) => kind === 'contradicted')
    const facts = await query(
      platform.database.url,
      "select refused_code as code from facts where resource = $1 and state = 'refused' order by seq desc limit 1",
      [id],
    )
    assert.equal([told?.data.code, facts.map(({ code }) => code)], [wanted, [wanted]])
  }

  t.before(
    async () => {
      platform = await startPlatform()
      const capabilities = ['devbox.manage']
      owner = await addAccount(platform, 'boxer', { capabilities })
      admin = await addAccount(platform, 'root', { capabilities, role: 'admin' })
      stranger = await addAccount(platform, 'stranger', { capabilities })
      await setCap(platform, { account: 'boxer', token: owner }, 5_000)
      box = makeProvisioner(platform, owner)
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => platform.end())

  t(
    'is on record: half an address, an end of nothing, the instance of another, one that is not as reserved',
    async () => {
      const { id, version, instanceId } = await box.toReady()
      const half = await box.on(id, 'POST', 'started', { version, publicIp: '203.0.113.9' })
      assert.equal(
        [codeOf(half), half.json.errors.map(({ pointer }: Json) => pointer)],
        ['400 ADDRESS_PAIR_REQUIRED', ['/eipAllocId']],
      )
      await onRecord(id, 'ADDRESS_PAIR_REQUIRED')
      assert.is(codeOf(await box.on(id, 'POST', 'terminated', { version, ...NOTHING })), '409 INSTANCE_LIVE')
      await onRecord(id, 'INSTANCE_LIVE')
      const shown = await box.detail(id)
      assert.equal([shown.version, shown.state, typesOf(shown)], [version, 'ready', ['AddressUnknown', 'NothingGone']])
      assert.match(shown.conditions[1].message, /it costs 30\.58 USD a month as it stands.*confirm by terminated/)
      assert.equal(typesOf((await ask(admin, `/${id}`)).json.devbox), ['AddressUnknown', 'NothingGone'])
      assert.is((await ask(stranger, `/${id}`)).status, 404)

      const { devbox } = await box.reserve()
      const taken = await box.on(devbox.id, 'POST', 'provisioning', { instanceId })
      assert.is(codeOf(taken), '409 INSTANCE_MISMATCH')
      await onRecord(devbox.id, 'INSTANCE_MISMATCH')
      const reserved = await box.detail(devbox.id)
      assert.equal([reserved.state, reserved.instanceId, typesOf(reserved)], ['reserved', null, ['SecondInstance']])

      const of = cloud()
      const launched = await box.on(devbox.id, 'POST', 'provisioning', { instanceId: of.instanceId })
      assert.equal([launched.json.devbox.state, typesOf(launched.json.devbox)], ['provisioning', []])
      assert.is((await box.on(devbox.id, 'POST', 'token')).status, 201)
      const good = finalizeBody({ ...devbox, instanceId: of.instanceId }, of)
      const bad = await box.on(devbox.id, 'POST', 'finalize', {
        ...good,
        facts: { ...good.facts, httpTokens: 'optional' },
        assertions: { ...good.assertions, passwordauthentication: 'yes' },
      })
      assert.equal(
        [codeOf(bad), bad.json.errors.map(({ pointer }: Json) => pointer)],
        ['422 ASSERTION_FAILED', ['/facts/httpTokens', '/assertions/passwordauthentication']],
      )
      await onRecord(devbox.id, 'ASSERTION_FAILED')
      const unready = await box.detail(devbox.id)
      assert.equal(
        [unready.state, typesOf(unready), unready.addresses.map(({ eipAllocId }: Json) => eipAllocId)],
        ['configuring', ['NotAsReserved'], [of.eipAllocId]],
      )
      const fine = await box.on(devbox.id, 'POST', 'finalize', good)
      assert.equal([fine.json.devbox.state, typesOf(fine.json.devbox)], ['ready', []])
    },
    { timeoutMs: 90_000 },
  )

  t(
    'is kept as it was launched: a type of the same shape at its own price, and one that costs more as a condition',
    async () => {
      const launch = async (instanceType: string, facts = {}) => {
        const { devbox } = await box.reserve({ sizeClass: 'M' })
        const { instanceId, ...of } = cloud()
        await box.on(devbox.id, 'POST', 'provisioning', { instanceId })
        await box.on(devbox.id, 'POST', 'token')
        const { facts: as, ...body } = finalizeBody({ ...devbox, instanceId }, { instanceId, ...of })
        const said = { ...body, facts: { ...as, instanceType, ...facts } }
        return { reply: await box.on(devbox.id, 'POST', 'finalize', said), shown: await box.detail(devbox.id) }
      }
      const { reply, shown } = await launch('t4g.xlarge', { creditMode: 'standard' })
      assert.is(reply.status, 200, reply.text)
      const { instanceType, price, currentMonthlyUsd, launched } = shown
      assert.equal([instanceType, price.runningMonthlyUsd, currentMonthlyUsd], ['t4g.xlarge', 108.16, 108.16])
      assert.equal([launched.region, launched.volumeType, typesOf(shown)], ['us-east-1', 'gp3', []])

      const dear = await launch('m8g.xlarge')
      assert.is(codeOf(dear.reply), '422 ASSERTION_FAILED')
      assert.equal([dear.shown.state, dear.shown.currentMonthlyUsd], ['configuring', 141.1])
      assert.equal(typesOf(dear.shown).sort(), ['LaunchDiffers', 'NotAsReserved'])
    },
    { timeoutMs: 60_000 },
  )

  t(
    'is on record of one that was deleted: what is there again costs until it is confirmed gone',
    async () => {
      const { id, version, name } = await box.toReady()
      assert.is((await box.on(id, 'POST', 'terminated', { version, ...ALL })).status, 200)
      assert.is((await box.on(id, 'DELETE', '')).status, 200)
      const committed = async () => (await ask(owner, '?limit=1')).json.committedMonthlyUsd
      const before = await committed()
      const kept = async (token = owner) => (await ask(token, `/${id}?deleted=1`)).json.devbox
      assert.equal([(await kept()).currentMonthlyUsd, typesOf(await kept())], [0, []])

      const start = { version: version + 2 }
      assert.is(
        codeOf(await call(platform.baseUrl, stranger, 'POST', `/api/devboxes/${id}/started`, start)),
        '404 NOT_FOUND',
      )
      const { events: untouched } = await kept()
      assert.is(untouched[0].kind, 'deleted', 'nobody else is heard')
      const refused = await box.on(id, 'POST', 'started', start)
      assert.equal([codeOf(refused), refused.json.detail.includes(`/${id}?deleted=1`)], ['404 NOT_FOUND', true])
      const seen = await kept()
      assert.equal([seen.machine.is, typesOf(seen)], ['up', ['SeenAfterDeletion', 'SeenRunning']])
      assert.match(seen.conditions[0].message, /it costs 26\.93 USD a month as it stands.*confirm it by terminated/)
      assert.equal([seen.events[0].kind, seen.events[0].data.code], ['contradicted', 'NOT_FOUND'])
      assert.ok((await committed()) > before, 'it counts against the cap')
      assert.equal(typesOf(await kept(admin)), ['SeenAfterDeletion', 'SeenRunning'])
      assert.is(codeOf(await box.on(id, 'POST', 'started', start)), '404 NOT_FOUND')
      assert.is((await kept()).events.length, seen.events.length, 'the same again is on record')
      assert.is((await box.reserve({ name })).devbox.name, name, 'its name is free')

      const other = cloud().instanceId
      const later = await box.on(id, 'POST', 'provisioning', { instanceId: other }, { prefer: 'respond-async' })
      assert.is(later.status, 202, later.text)
      const operation = await eventually('the verdict', async () => {
        const path = `/api/operations/${later.json.operation_id}`
        const { json } = await call(platform.baseUrl, owner, 'GET', path)
        return json.operation.state !== 'pending' && json.operation
      })
      assert.equal([operation.state, operation.problem.code], ['refused', 'NOT_FOUND'])
      assert.equal(
        (await kept()).otherInstances.map(({ instanceId }: Json) => instanceId),
        [other],
      )

      const gone = await box.on(id, 'POST', 'terminated', { version, ...ALL, instanceId: other })
      assert.equal([gone.status, gone.json.devbox?.otherInstances], [200, []], gone.text)
      const over = await box.on(id, 'POST', 'terminated', { version, ...ALL })
      assert.equal([over.status, over.json.devbox?.currentMonthlyUsd], [200, 0], over.text)
      const end = await kept()
      assert.equal([end.deletedAt, typesOf(end), end.costToDateUsd >= 0], [seen.deletedAt, [], true])
      assert.is(codeOf(await box.on(id, 'POST', 'terminated', { version, ...ALL })), '404 NOT_FOUND')
      const pending = await query(platform.database.url, "select 1 from facts where state = 'pending'")
      assert.is(pending.length, 0, 'nothing stays undecided')
    },
    { timeoutMs: 120_000 },
  )
})
