import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { type JudgedBy, saidBy } from '../../../crds/devinstance/facts.ts'
import { type DecidedCall, rebuilt } from '../../../crds/devinstance/life/rebuilt.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { PROFILE } from '../../support/builders/devinstance.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { cloud, makeProvisioner, type Provisioner, setCap } from '../../support/stage/devinstances.ts'
import { call, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'

/** What has happened to a dev instance, over REST: it is on record whatever rule it breaks (rules/devinstance.md#reports-and-requests). */

type FactOnRecord = { kind: string; body: Record<string, unknown>; at: string; outcome: JudgedBy }

const decidedCall = ({ kind, body, at, outcome: { around } }: FactOnRecord) =>
  ({ ...saidBy({ kind, body }), at, around }) as DecidedCall

spec('what has happened to a dev instance', (t) => {
  let platform: Platform
  let box: Provisioner
  let owner: string
  let admin: string
  let stranger: string
  const codeOf = ({ status, json }: Reply) => `${status} ${json?.code ?? ''}`.trim()
  const sql = (text: string) => query(platform.database.url, text)

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
    'is asked for without being done: a resize, a start and an end, as each would be taken or refused',
    async () => {
      const { id } = await box.toReady()
      const { token } = (await box.on(id, 'POST', 'token')).json
      const git = { dirty: 1, untracked: 0, unpushed: 2 }
      const report = { at: new Date().toISOString(), git }
      assert.is((await call(platform.baseUrl, token, 'POST', `/api/devboxes/${id}/report`, report)).status, 200)
      const { version, state } = await box.detail(id)
      const committedUsd = async () => (await call(platform.baseUrl, owner, 'GET', '/api/devboxes')).json
      const before = (await committedUsd()).committedMonthlyUsd
      const dry = (word: string, body: object) => box.on(id, 'POST', `${word}?dryRun=1`, { version, ...body })
      const work = { acknowledgeWorkAtRisk: true }
      const taken: [string, object, string][] = [
        ['resizing', { sizeClass: 'S', ...work }, 'resizing'],
        ['starting', { newAddress: true }, 'ready'],
        ['terminating', work, 'ready'],
      ]
      for (const [word, body, wouldBe] of taken) {
        const { status, json, text } = await dry(word, body)
        assert.equal([status, json?.dryRun?.state], [200, wouldBe], `${word}: ${text}`)
        const refused = await dry(word, { ...body, version: version + 3 })
        assert.is(codeOf(refused), '409 VERSION_CONFLICT', word)
      }
      assert.is(codeOf(await dry('resizing', { sizeClass: 'S' })), '409 WORK_AT_RISK')
      assert.is(codeOf(await dry('terminating', {})), '409 WORK_AT_RISK')
      await setCap(platform, { account: 'boxer', token: owner }, Math.ceil(before))
      assert.is(codeOf(await dry('resizing', { sizeClass: 'XL', ...work })), '409 CAP_EXCEEDED')
      assert.is(codeOf(await dry('starting', { newAddress: true })), '409 CAP_EXCEEDED')
      await setCap(platform, { account: 'boxer', token: owner }, 5_000)
      const after = await box.detail(id)
      assert.equal(
        [after.version, after.state, after.intent, after.asked],
        [version, state, null, { starting: null, terminating: null }],
      )
      assert.is((await committedUsd()).committedMonthlyUsd, before, 'and nothing is committed by it')
      const told = after.events.map(({ kind }: Json) => kind)
      assert.equal(
        ['resizing', 'starting', 'terminating', 'contradicted'].filter((kind) => told.includes(kind)),
        [],
      )
    },
    { timeoutMs: 180_000 },
  )

  t(
    'has on record what happened, whatever rule it breaks, with its price and the next step',
    async () => {
      const { id, publicIp, eipAllocId } = await box.toReady()
      const neighbour = await box.toReady()
      const at = async () => ({ version: (await box.detail(id)).version })
      const types = async () => (await box.detail(id)).conditions.map(({ type }: Json) => type)
      const say = async (wanted: string, word: string, body: object) => {
        const reply = await box.on(id, 'POST', word, { ...(await at()), ...body })
        assert.is(codeOf(reply), wanted, `${word}: ${reply.text}`)
        return reply.json.devbox
      }
      const taken = { eipAllocId: neighbour.eipAllocId, publicIp: neighbour.publicIp }
      const started = await say('200', 'started', taken)
      assert.equal([started.state, started.publicIp, await types()], ['running', publicIp, ['AddressContested']])
      await say('409 VERSION_CONFLICT', 'stopped', { version: 1 })
      await say('409 VERSION_CONFLICT', 'stopped', { version: 1 })
      const { conditions, events } = await box.detail(id)
      const conflict = conditions.find(({ type }: Json) => type === 'ReportConflicts')
      assert.match(conflict.message, /it costs 30\.58 USD a month as it stands.*read the instance/)
      assert.is(events.filter(({ kind }: Json) => kind === 'contradicted').length, 1, 'the same again is on record')
      assert.is((await say('200', 'stopped', {})).state, 'stopped')
      assert.equal(await types(), [])

      const dry = await box.on(id, 'POST', 'starting?dryRun=1', { ...(await at()), newAddress: true })
      assert.equal([dry.status, dry.json.dryRun.committedMonthlyUsd], [200, 34.23], dry.text)
      assert.is((await say('200', 'starting', { newAddress: true })).asked.starting.newAddress, true)
      const part = { instanceGone: false, eipGone: false, volumesGone: false }
      const left = await say('200', 'terminated', { ...part, instanceGone: true })
      assert.equal([left.state, left.machine.is, left.currentMonthlyUsd > 0], ['stopped', 'gone', true])
      assert.equal(await types(), ['LeftBehind'])
      assert.is((await say('200', 'eip-released', { allocationId: eipAllocId })).state, 'stopped')
      const end = await say('200', 'terminated', { ...part, volumesGone: true })
      assert.equal([end.state, end.currentMonthlyUsd], ['terminated', 0])
    },
    { timeoutMs: 90_000 },
  )

  t(
    'shows what is kept of one that was deleted to its owner and admins, with its cost and its history',
    async () => {
      const { id, version } = await box.toReady()
      const gone = { version, instanceGone: true, eipGone: true, volumesGone: true }
      const { costToDateUsd } = (await box.on(id, 'POST', 'terminated', gone)).json.devbox
      assert.is((await box.on(id, 'DELETE', '')).status, 200)
      const ask = (token: string, path: string) => call(platform.baseUrl, token, 'GET', `/api/devboxes${path}`)
      const kept = (await ask(owner, `/${id}?deleted=1`)).json.devbox
      assert.equal([kept.state, kept.costToDateUsd, typeof kept.deletedAt], ['terminated', costToDateUsd, 'string'])
      assert.equal(
        [(await ask(admin, `/${id}?deleted=1`)).status, (await ask(stranger, `/${id}?deleted=1`)).status],
        [200, 404],
      )
      const { devboxes } = (await ask(owner, '?deleted=1&limit=200')).json
      assert.ok(devboxes.some((one: Json) => one.id === id && one.costToDateUsd === costToDateUsd))
      const { events, total } = (await ask(owner, `/${id}/events?deleted=1&limit=2&offset=1`)).json
      assert.equal([events.map(({ kind }: Json) => kind), total], [['terminated', 'ready'], 6])
    },
    { timeoutMs: 60_000 },
  )

  t(
    'is launched as what it was called and given last, while it was reserved',
    async () => {
      const { devbox } = await box.reserve({ sizeClass: 'S' })
      const { id } = devbox
      /** The user data, whose digest is the one that the row tells. */
      const userData = async () => {
        const headers = { authorization: `Bearer ${owner}`, 'accept-encoding': 'identity' }
        const response = await fetch(`${platform.baseUrl}/api/devboxes/${id}/bootstrap`, { headers })
        const bytes = Buffer.from(await response.arrayBuffer())
        assert.is(createHash('sha256').update(bytes).digest('hex'), (await box.detail(id)).bootstrapSha256)
        return (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('utf8')
      }
      assert.match(await userData(), 'https://git.acme.test/shop.git')
      const assign = async (url: string) => {
        const body = { repo: { url, ref: 'main' }, profile: { ...PROFILE, scannedAt: new Date().toISOString() } }
        const put = await box.on(id, 'PUT', 'repo', body)
        assert.is(put.status, 200, put.text)
      }
      await assign('https://git.acme.test/other.git')
      const assigned = await userData()
      assert.match(assigned, 'https://git.acme.test/other.git')
      assert.not.match(assigned, 'https://git.acme.test/shop.git')
      const { version } = await box.detail(id)
      const named = await box.on(id, 'POST', 'renamed', { version, name: 'called-otherwise' })
      assert.is(named.status, 200, named.text)
      assert.match(await userData(), /^hostname: "called-otherwise"$/m)

      await box.on(id, 'POST', 'provisioning', { instanceId: cloud().instanceId })
      const { bootstrapSha256 } = await box.detail(id)
      await assign('https://git.acme.test/too-late.git')
      assert.is((await box.detail(id)).bootstrapSha256, bootstrapSha256, 'what was launched is what is kept')
    },
    { timeoutMs: 60_000 },
  )

  t(
    'makes each row again of its facts',
    async () => {
      const facts = await sql(
        "select resource, kind, body, iso_ms(at) as at, coalesce(outcome, body -> 'outcome') as outcome from facts where kind like 'devbox.%' and state <> 'pending' order by resource, (coalesce(outcome, body -> 'outcome') ->> 'rev')::int",
      )
      const rows = await sql('select resource, box from devboxes where box is not null')
      assert.ok(rows.length > 1)
      for (const { resource, box: row } of rows) {
        const calls = facts.filter((fact) => fact.resource === resource) as unknown as FactOnRecord[]
        assert.equal(rebuilt(calls.map(decidedCall)), row, String(resource))
      }
    },
    { timeoutMs: 60_000 },
  )
})
