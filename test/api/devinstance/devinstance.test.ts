import { gunzipSync } from 'node:zlib'
import { query } from '../../../hack/platform/postgres.ts'
import { PROFILE } from '../../support/builders/devinstance.ts'
import { canaryValue } from '../../support/canaries/answers.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import {
  cloud,
  finalizeBody,
  makeProvisioner,
  type Provisioner,
  reservation,
  setCap,
} from '../../support/stage/devinstances.ts'
import { call, eventually, type Json, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'

/** The protocol of dev instances over REST, whole: a provisioner without a cloud walks it, and is refused at each turn. */

const freshProfile = (change: Record<string, unknown> = {}) => ({
  ...PROFILE,
  scannedAt: new Date().toISOString(),
  ...change,
})

spec('the protocol of dev instances', (t) => {
  let platform: Platform
  let box: Provisioner
  let owner: string
  const tokens: Record<string, string> = {}

  const ask = (token: string | null, method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(platform.baseUrl, token, method, `/api/devboxes${path}`, body, headers)
  const codeOf = ({ status, json }: Reply) => `${status} ${json?.code ?? ''}`.trim()
  const kinds = async (id: string) => (await box.detail(id)).events.map(({ kind }: Json) => kind).reverse()
  const sql = (text: string, values: unknown[] = []) => query(platform.database.url, text, values)

  t.before(
    async () => {
      platform = await startPlatform()
      const capabilities = ['devbox.manage']
      owner = await addAccount(platform, 'boxer', { capabilities, teams: ['studio'] })
      tokens.admin = await addAccount(platform, 'root', { capabilities, role: 'admin' })
      tokens.mate = await addAccount(platform, 'mate', { capabilities, teams: ['studio'] })
      tokens.stranger = await addAccount(platform, 'stranger', { capabilities })
      tokens.plain = await addAccount(platform, 'plain', { teams: ['studio'] })
      await setCap(platform, { account: 'boxer', token: owner }, 5_000)
      box = makeProvisioner(platform, owner)
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => platform.end())

  t(
    'goes from a reservation to a tombstone, with a version, an event and a price for each step',
    async () => {
      const made = await box.reserve({ sizeClass: 'S' })
      const { id, version, state, price } = made.devbox
      assert.equal([state, version, price.runningMonthlyUsd, made.clientToken], ['reserved', 1, 56.71, id])
      assert.match(made.bootstrapUrl, new RegExp(`/api/devboxes/${id}/bootstrap$`))
      const day = Date.parse(made.reservationExpiresAt) - Date.now()
      assert.ok(day > 23 * 3_600_000 && day <= 24 * 3_600_000, 'a day')

      const of = cloud()
      const launched = await box.on(id, 'POST', 'provisioning', { instanceId: of.instanceId })
      assert.equal(
        [launched.status, launched.json.devbox.state, launched.json.devbox.version],
        [200, 'provisioning', 2],
      )
      const issued = await box.on(id, 'POST', 'token')
      assert.equal([issued.status, issued.json.devbox.state], [201, 'configuring'])
      assert.match(issued.json.token, new RegExp(`^dbr_${id}_`))
      const finalized = await box.on(id, 'POST', 'finalize', finalizeBody(launched.json.devbox, of))
      assert.equal([finalized.status, finalized.json.devbox.state], [200, 'ready'], finalized.text)

      const say = async (word: string, body: Record<string, unknown>) => {
        const reply = await box.on(id, 'POST', word, { version: (await box.detail(id)).version, ...body })
        assert.is(reply.status, 200, `${word}: ${reply.text}`)
        return reply.json.devbox
      }
      assert.is((await say('started', {})).state, 'running')
      assert.is((await say('stopped', {})).currentMonthlyUsd, 7.65)
      assert.is((await say('eip-released', { allocationId: of.eipAllocId })).currentMonthlyUsd, 4)
      const second = cloud()
      const { publicIp, eipAllocId } = second
      assert.is((await say('started', { publicIp, eipAllocId })).publicIp, publicIp)
      const resizing = await say('resizing', { sizeClass: 'M' })
      assert.equal([resizing.state, resizing.intent.to], ['resizing', { sizeClass: 'M', diskGb: 80 }])
      const resized = await say('resized', {
        sizeClass: 'M',
        arch: 'arm64',
        diskGb: 80,
        verifiedDf: '79G',
        state: 'running',
      })
      assert.equal([resized.state, resized.sizeClass, resized.diskGb, resized.publicIp], ['running', 'M', 80, publicIp])
      assert.equal((await say('renamed', { name: `n-${id.slice(4, 20)}` })).targetLabel, `boxer/n-${id.slice(4, 20)}`)
      const gone = await say('terminated', { instanceGone: true, eipGone: true, volumesGone: true })
      assert.equal(
        [gone.state, gone.publicIp, gone.currentMonthlyUsd, gone.allowedActions],
        ['terminated', null, 0, ['teams', 'delete']],
      )
      assert.equal(await kinds(id), [
        'reserved',
        'provisioning',
        'configuring',
        'ready',
        'started',
        'stopped',
        'address.released',
        'started',
        'address.changed',
        'resizing',
        'resized',
        'renamed',
        'terminated',
      ])
      const told = await sql(
        "select payload->'data'->'devbox'->>'state' as state from outbox where resource = $1 and channel = 'event' order by id",
        [id],
      )
      assert.equal(
        told.map((row) => row.state),
        [
          'reserved',
          'provisioning',
          'configuring',
          'ready',
          'running',
          'stopped',
          'running',
          'resizing',
          'running',
          'terminated',
        ],
      )

      const tombstone = await box.on(id, 'DELETE', '')
      assert.equal([tombstone.status, typeof tombstone.json.devbox.deletedAt], [200, 'string'])
      assert.is(codeOf(await box.on(id, 'GET', '')), '404 NOT_FOUND')
      assert.is(codeOf(await box.on(id, 'DELETE', '')), '404 NOT_FOUND')
      await eventually(
        'the resource to go',
        async () => (await platform.kubectl(['get', 'dbx', id, '--ignore-not-found'])) === '',
      )
      assert.is((await sql('select 1 from devboxes where resource = $1', [id])).length, 1, 'the row is kept')
      assert.is(
        (await sql('select 1 from devbox_addresses where resource = $1 and released_at is null', [id])).length,
        0,
      )
    },
    { timeoutMs: 120_000 },
  )

  t(
    'refuses what does not fit, naming the code, the version, the state and what may be done',
    async () => {
      const { devbox: reserved, ...made } = await box.reserve()
      const { id, name } = reserved
      const cell = async (wanted: string, word: string, body?: unknown, method = 'POST') => {
        const reply = await box.on(id, method, word, body)
        assert.is(codeOf(reply), wanted, `${word}: ${reply.text}`)
        return reply.json
      }
      assert.is(codeOf(await ask(owner, 'POST', '', reservation({ name: name.toUpperCase() }))), '409 NAME_TAKEN')
      assert.is(codeOf(await ask(owner, 'POST', '', reservation({ agents: ['codex', 'codex'] }))), '400 INVALID_FIELD')
      assert.is(codeOf(await ask(owner, 'POST', '', reservation({ sizeclass: 'S' }))), '400 UNKNOWN_FIELD')
      const early = await cell('409 WRONG_STATE', 'stopped', { version: 1 })
      assert.equal([early.version, early.state], [1, 'reserved'])
      assert.ok(early.allowedActions.includes('provisioning') && early.next.length > 10)
      await cell('409 WRONG_STATE', 'token')
      await cell('400 INVALID_FIELD', 'provisioning', { instanceId: 'i-XYZ' })
      const of = cloud()
      await cell('200', 'provisioning', { instanceId: of.instanceId })
      await cell('200', 'provisioning', { instanceId: of.instanceId })
      await cell('409 INSTANCE_MISMATCH', 'provisioning', { instanceId: 'i-ffffffffffff' })
      const { devbox: other } = await box.reserve()
      assert.is(
        codeOf(await box.on(other.id, 'POST', 'provisioning', { instanceId: of.instanceId })),
        '409 INSTANCE_MISMATCH',
      )
      await cell('409 INSTANCE_LIVE', '', undefined, 'DELETE')
      await cell('409 WRONG_STATE', 'finalize', finalizeBody({ ...reserved, instanceId: of.instanceId }, of))
      await cell('201', 'token')
      const good = finalizeBody({ ...reserved, instanceId: of.instanceId }, of)
      const bad = await cell('422 ASSERTION_FAILED', 'finalize', {
        ...good,
        facts: { ...good.facts, httpTokens: 'optional' },
        assertions: { ...good.assertions, passwordauthentication: 'yes' },
      })
      assert.equal(
        bad.errors.map(({ pointer }: Json) => pointer),
        ['/facts/httpTokens', '/assertions/passwordauthentication'],
      )
      await cell('409 INSTANCE_MISMATCH', 'finalize', { ...good, instanceId: 'i-ffffffffffff' })
      await cell('200', 'finalize', good)
      await cell('200', 'finalize', good)
      const at = async () => ({ version: (await box.detail(id)).version })
      const stale = await cell('409 VERSION_CONFLICT', 'started', { version: 1 })
      assert.is(stale.version, 4)
      await cell('400 ADDRESS_PAIR_REQUIRED', 'started', { ...(await at()), publicIp: '203.0.113.9' })
      const neighbour = await box.toReady()
      await cell('409 ADDRESS_MISMATCH', 'eip-released', { ...(await at()), allocationId: neighbour.eipAllocId })
      await cell('400 ARCH_CHANGE', 'resizing', { ...(await at()), sizeClass: 'S', arch: 'x86_64' })
      await cell('400 DISK_SHRINK', 'resizing', { ...(await at()), sizeClass: 'S', diskGb: 10 })
      await cell('409 NO_RESIZE_INTENT', 'resized', {
        ...(await at()),
        sizeClass: 'S',
        verifiedDf: '50G',
        state: 'ready',
      })
      await cell('409 NAME_TAKEN', 'renamed', { ...(await at()), name: neighbour.name })
      await cell('200', 'resizing', { ...(await at()), sizeClass: 'S' })
      for (const word of ['started', 'starting'] as const) await cell('409 RESIZE_PENDING', word, await at())
      await cell('409 RESIZE_PENDING', 'resizing', { ...(await at()), sizeClass: 'M' })
      await cell('409 VERSION_CONFLICT', 'resized', { version: 4, sizeClass: 'S', verifiedDf: '50G', state: 'ready' })
      await cell('200', 'resized', { ...(await at()), sizeClass: 'S', verifiedDf: '50G', state: 'ready' })
      await cell('409 INSTANCE_LIVE', 'terminated', {
        ...(await at()),
        instanceGone: false,
        eipGone: false,
        volumesGone: false,
      })
      await cell(
        '409 PROFILE_STALE',
        'repo',
        { repo: { url: 'https://git.acme.test/b.git' }, profile: freshProfile({ scannedAt: '2026-01-01T00:00:00Z' }) },
        'PUT',
      )
      const large = {
        repo: { url: 'https://git.acme.test/b.git' },
        profile: freshProfile({ resolvedPackages: 90_000 }),
        requiredClass: 'XS',
      }
      const required = await cell('409 RESIZE_REQUIRED', 'repo', large, 'PUT')
      assert.ok(required.sizing.proposal.diskGb > 100 && required.sizing.reasons.length > 2, 'the full proposal')
      await cell('409 VERSION_CONFLICT', 'repo', { ...large, version: 1 }, 'PUT')
      await cell('400 UNKNOWN_FIELD', '', { name: 'other' }, 'PATCH')
      await cell('400 INVALID_FIELD', '', { policy: { idleMinutes: 14 } }, 'PATCH')
      assert.is(made.clientToken, id)
      const refused = await sql(
        "select distinct refused_code as code from facts where resource = $1 and state = 'refused' order by 1",
        [id],
      )
      // Of what is asked only what the table cannot see for itself goes as far as the controllers; of what happened all of it.
      assert.equal(
        refused.map(({ code }) => code),
        [
          'ADDRESS_MISMATCH',
          'ADDRESS_PAIR_REQUIRED',
          'ASSERTION_FAILED',
          'INSTANCE_LIVE',
          'INSTANCE_MISMATCH',
          'NAME_TAKEN',
          'NO_RESIZE_INTENT',
          'RESIZE_PENDING',
          'VERSION_CONFLICT',
          'WRONG_STATE',
        ],
      )
    },
    { timeoutMs: 180_000 },
  )

  t(
    'answers a repeat under an Idempotency-Key as it did, though the version has moved on',
    async () => {
      const { id, version } = await box.toReady()
      const key = { 'idempotency-key': `start-${id}` }
      const first = await box.on(id, 'POST', 'started', { version }, key)
      const again = await box.on(id, 'POST', 'started', { version }, key)
      assert.equal([first.status, again.status, again.headers.get('idempotency-replayed')], [200, 200, 'true'])
      assert.is(again.text, first.text)
      assert.is(codeOf(await box.on(id, 'POST', 'started', { version: version + 1 }, key)), '409 IDEMPOTENCY_MISMATCH')
      assert.is(codeOf(await box.on(id, 'POST', 'started', { version })), '409 VERSION_CONFLICT')
      const resize = { 'idempotency-key': `resize-${id}` }
      const body = { version: version + 1, sizeClass: 'S' }
      await box.on(id, 'POST', 'resizing', body, resize)
      await box.on(id, 'POST', 'resizing', body, resize)
      assert.is((await kinds(id)).filter((kind: string) => kind === 'resizing').length, 1)
      assert.is((await box.detail(id)).version, version + 2)
      const reserving = reservation()
      const [one, two] = [
        await ask(owner, 'POST', '', reserving, { 'idempotency-key': 'a-reservation' }),
        await ask(owner, 'POST', '', reserving, { 'idempotency-key': 'a-reservation' }),
      ]
      assert.is(two.text, one.text)
    },
    { timeoutMs: 60_000 },
  )

  t(
    'shows an instance to its owner, its team and admins, and lets only owner and admins change it',
    async () => {
      const { id, version } = await box.toReady()
      const see = async (who: string) => (await ask(tokens[who] ?? '', 'GET', `/${id}`)).status
      const listed = async (who: string) =>
        (await ask(tokens[who] ?? '', 'GET', '?limit=200')).json.devboxes.some((one: Json) => one.id === id)
      assert.equal(
        [await see('admin'), await see('mate'), await see('plain'), await see('stranger')],
        [200, 404, 404, 404],
      )
      assert.is(codeOf(await box.on(id, 'POST', 'teams', { teamId: 'elsewhere' })), '404 NOT_FOUND')
      assert.equal((await box.on(id, 'POST', 'teams', { teamId: 'studio' })).json.devbox.teams, ['studio'])
      assert.equal([await see('mate'), await see('plain'), await see('stranger')], [200, 200, 404])
      assert.equal([await listed('mate'), await listed('stranger'), await listed('admin')], [true, false, true])
      const stop = { version, sizeClass: 'M' }
      assert.is(codeOf(await ask(tokens.mate ?? '', 'POST', `/${id}/resizing`, stop)), '403 FORBIDDEN')
      assert.is(codeOf(await ask(tokens.plain ?? '', 'POST', `/${id}/resizing`, stop)), '403 CAPABILITY_REQUIRED')
      assert.is(codeOf(await ask(tokens.stranger ?? '', 'POST', `/${id}/resizing`, stop)), '404 NOT_FOUND')
      assert.is(codeOf(await ask(tokens.mate ?? '', 'GET', `/${id}/bootstrap`)), '403 FORBIDDEN')
      assert.is((await ask(tokens.admin ?? '', 'POST', `/${id}/started`, { version })).status, 200)
      const audit = await sql("select entry from audit where account = 'boxer' and entry like '%/started%'")
      assert.ok(
        audit.some(({ entry }) => String(entry).includes(id)),
        'what an admin did stands in the audit of the owner',
      )
      assert.equal((await box.on(id, 'DELETE', 'teams/studio')).json.devbox.teams, [])
      assert.equal([await see('mate'), codeOf(await box.on(id, 'DELETE', 'teams/studio'))], [404, '404 NOT_FOUND'])
      const mine = (await ask(owner, 'GET', '?limit=1')).json
      assert.equal([mine.devboxes.length, mine.limit, mine.capMonthlyUsd, mine.total > 1], [1, 1, 5000, true])
    },
    { timeoutMs: 60_000 },
  )

  t(
    'keeps the environment sealed, shows it to the owner alone, and erases it with the instance',
    async () => {
      const { id } = await box.toReady()
      const secret = canaryValue('vendor')
      const put = await box.on(id, 'PUT', 'env', { env: { OPENAI_API_KEY: secret, GIT_TOKEN: 'g' } })
      assert.equal([put.status, put.json], [200, { keys: ['GIT_TOKEN', 'OPENAI_API_KEY'] }])
      assert.is(codeOf(await box.on(id, 'PUT', 'env', { env: { '1BAD': 'x' } })), '400 INVALID_FIELD')
      const replaced = await box.on(id, 'PUT', 'env', { env: { OPENAI_API_KEY: secret } })
      assert.equal(replaced.json.keys, ['OPENAI_API_KEY'])
      const shown = await box.on(id, 'POST', 'env/reveal')
      assert.equal(
        [shown.status, shown.json, shown.headers.get('cache-control')],
        [200, { env: { OPENAI_API_KEY: secret } }, 'private, no-store'],
      )
      assert.is(codeOf(await ask(tokens.admin ?? '', 'POST', `/${id}/env/reveal`)), '403 FORBIDDEN')
      await box.on(id, 'POST', 'teams', { teamId: 'studio' })
      assert.is(codeOf(await ask(tokens.mate ?? '', 'POST', `/${id}/env/reveal`)), '403 FORBIDDEN')
      assert.ok((await kinds(id)).includes('env.revealed'))
      const [seen] = await sql("select entry from audit where account = 'boxer' and entry like '%env/reveal%'")
      assert.match(String(seen?.entry), 'env.OPENAI_API_KEY')
      for (const table of ['facts', 'devboxes', 'devbox_history', 'devbox_envs', 'mirror', 'audit', 'outbox']) {
        const found = await sql(`select 1 from ${table} r where r::text like '%' || $1 || '%' limit 1`, [secret])
        assert.is(found.length, 0, `${table} holds the value`)
      }
      assert.is(
        (await sql('select 1 from devbox_envs where resource = $1', [id])).length,
        1,
        'what was replaced is gone',
      )
      const { version } = await box.detail(id)
      await box.on(id, 'POST', 'terminated', { version, instanceGone: true, eipGone: true, volumesGone: true })
      assert.is((await sql('select 1 from devbox_envs where resource = $1', [id])).length, 0)
      assert.equal((await box.on(id, 'POST', 'env/reveal')).json, { env: {} })
      assert.is(codeOf(await box.on(id, 'PUT', 'env', { env: { A: 'b' } })), '409 WRONG_STATE')
    },
    { timeoutMs: 60_000 },
  )

  t(
    'takes reports by the one report token of the instance, and by nothing else',
    async () => {
      const { id, version } = await box.toReady()
      await box.on(id, 'POST', 'started', { version })
      const issue = async () => (await box.on(id, 'POST', 'token')).json.token as string
      const old = await issue()
      const now = await issue()
      const { devbox: other } = await box.reserve()
      const report = (change: Record<string, unknown> = {}) => ({
        at: new Date().toISOString(),
        uptimeSeconds: 60,
        memory: { totalGb: 4, usedGb: 1.5, peakRssGb: 0.8 },
        disk: { totalGb: 30, usedGb: 10 },
        oom: { count: 0 },
        git: { dirty: 0, untracked: 0, unpushed: 0, head: 'abc1234' },
        agents: { 'claude-code': '2.1.330' },
        activity: ['ssh'],
        ...change,
      })
      const tell = (token: string | null, body: unknown = report(), to = id) =>
        ask(token, 'POST', `/${to}/report`, body)
      const taken = await tell(now)
      assert.equal([taken.status, taken.json], [200, { policy: { idleMinutes: 30, autoscale: 'ask' } }], taken.text)
      for (const token of [old, owner, null]) assert.is(codeOf(await tell(token)), '401 UNAUTHENTICATED')
      assert.is(codeOf(await tell(`${now.slice(0, -1)}${now.endsWith('0') ? '1' : '0'}`)), '401 UNAUTHENTICATED')
      assert.is(codeOf(await tell(now, report(), other.id)), '403 FORBIDDEN')
      assert.is(codeOf(await ask(now, 'GET', `/${id}`)), '401 UNAUTHENTICATED')
      assert.is(codeOf(await tell(now, report({ state: 'stopped' }))), '400 UNKNOWN_FIELD')
      await box.on(id, 'PATCH', '', { policy: { idleMinutes: 45 } })
      assert.is((await tell(now)).json.policy.idleMinutes, 45)
      assert.equal(
        (await sql("select 1 from audit where entry like '%/report%'")).length,
        0,
        'reports are no entry of the audit',
      )

      const detail = await box.detail(id)
      assert.equal([detail.lastReport.memory.usedGb, detail.state], [1.5, 'running'])
      assert.equal((await box.on(id, 'GET', 'proposal')).json, { proposal: null })
      await tell(
        now,
        report({
          oom: { count: 1, victim: 'cc1plus', at: new Date().toISOString() },
          git: { dirty: 2, untracked: 1, unpushed: 3 },
        }),
      )
      const { proposal } = (await box.on(id, 'GET', 'proposal')).json
      assert.equal([proposal.sizeClass, proposal.diskGb], ['S', 50])
      assert.match(proposal.command, `resize ${id}`)
      const types = async () => (await box.detail(id)).conditions.map(({ type }: Json) => type)
      await eventually('WorkAtRisk', async () => (await types()).includes('WorkAtRisk'))
      const at = { version: detail.version }
      assert.is(codeOf(await box.on(id, 'POST', 'resizing', { ...at, sizeClass: 'S' })), '409 WORK_AT_RISK')
      assert.is(
        (await box.on(id, 'POST', 'resizing', { ...at, sizeClass: 'S', acknowledgeWorkAtRisk: true })).status,
        200,
      )
      assert.equal((await box.on(id, 'GET', 'proposal')).json, { proposal: null })
    },
    { timeoutMs: 90_000 },
  )

  t(
    'serves the catalogue, the sizing and the very user data whose digest it demands',
    async () => {
      const sizes = (await ask(owner, 'GET', '/sizes')).json
      assert.equal([sizes.sizes.length, sizes.sizes[0].runningMonthlyUsd], [10, 30.58])
      assert.equal(
        (await ask(owner, 'GET', '/agents')).json.agents.map(({ id }: Json) => id),
        ['claude-code', 'codex', 'gemini-cli'],
      )
      const sized = await ask(tokens.plain ?? '', 'POST', '/size', {
        profile: PROFILE,
        concurrency: 2,
        overrides: { sizeClass: 'L' },
      })
      assert.equal(
        [sized.status, sized.json.chosen.sizeClass, sized.json.price.runningMonthlyUsd],
        [200, 'L', 253.92],
        sized.text,
      )
      assert.ok(sized.json.reasons.some(({ code }: Json) => code === 'CAP_LEFT'))
      const { devbox } = await box.reserve({ agents: ['claude-code', 'codex', 'gemini-cli'] })
      const response = await fetch(`${platform.baseUrl}/api/devboxes/${devbox.id}/bootstrap`, {
        headers: { authorization: `Bearer ${owner}`, 'accept-encoding': 'identity' },
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      const digest = await crypto.subtle.digest('SHA-256', bytes)
      assert.is(Buffer.from(digest).toString('hex'), devbox.bootstrapSha256)
      const text = bytes[0] === 0x1f ? gunzipSync(bytes).toString('utf8') : bytes.toString('utf8')
      assert.match(text, /^#cloud-config\n/)
      const described = (await call(platform.baseUrl, null, 'GET', '/api/openapi-devboxes.json')).json
      assert.equal([described.info.version, Object.keys(described.paths).length], ['2026-09-15', 32])
    },
    { timeoutMs: 60_000 },
  )

  t(
    'stores a repository with its profile, and sizes by what was measured',
    async () => {
      const { id, version } = await box.toReady()
      const body = { repo: { url: 'https://git.acme.test/b.git', ref: 'main' }, profile: freshProfile(), version }
      const put = await box.on(id, 'PUT', 'repo', body)
      assert.equal(
        [put.status, put.json.devbox.repo.url, put.json.devbox.version],
        [200, body.repo.url, version + 1],
        put.text,
      )
      const measured = await box.on(id, 'PUT', 'measurements', { peakRssGb: 10.5, diskUsedGb: 12, repoHead: 'abcdef0' })
      assert.equal([measured.status, measured.json.proposal.sizeClass], [200, 'M'], measured.text)
      assert.ok(measured.json.reasons.some(({ code }: Json) => code === 'RAM_MEASURED'))
      assert.is((await box.detail(id)).sizing.proposal.sizeClass, 'M')
    },
    { timeoutMs: 60_000 },
  )

  t(
    'shows kubectl the owner, the state, the class, the cost and the address, and keeps a live one from being deleted',
    async () => {
      const { id, publicIp } = await box.toReady()
      const table = await platform.kubectl(['get', 'dbx', id, '-o', 'wide'])
      assert.match(table, /NAME\s+OWNER\s+STATE\s+CLASS\s+IDLE\s+USD\s+AGE\s+IP/)
      assert.match(table, new RegExp(`${id}\\s+boxer\\s+ready\\s+XS\\s+0\\.00\\s+\\d+s\\s+${publicIp}`))
      await assert.rejects(platform.kubectl(['delete', 'dbx', id]), 'INSTANCE_LIVE')
      await assert.rejects(
        platform.kubectl(['patch', 'dbx', id, '--type=merge', '-p', '{"spec":{"name":"another"}}']),
        'name is fixed at creation',
      )
    },
    { timeoutMs: 60_000 },
  )
})
