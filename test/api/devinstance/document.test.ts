import { gunzipSync } from 'node:zlib'
import { query } from '../../../hack/platform/postgres.ts'
import {
  DETAIL,
  ENDPOINTS,
  FIELDS,
  GONE,
  profile,
  STATES,
  startWalk,
  type Walk,
} from '../../support/devbox/document.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { cloud, finalizeBody, type Provisioner, reservation } from '../../support/stage/devinstances.ts'
import { eventually, type Json, type Platform } from '../../support/stage/invoicing.ts'

/**
 * Document 3, walked clause by clause as it is printed, over REST and kubectl. What is awaited here was read out of the
 * document and written by hand: nothing of it comes from our own tables, so it sees what those forgot. The last test asks
 * whether each row of the document's own lists was met on the way.
 */

/** Endpoints that are walked beside this file (document-rights.test.ts). */
const ELSEWHERE = [
  'PUT /:id/env',
  'POST /:id/env/reveal',
  'POST /:id/cap-override',
  'POST /:id/teams',
  'DELETE /:id/teams/:team',
]

spec('document 3, clause by clause', (t) => {
  let walk: Walk
  let box: Provisioner
  let platform: Platform
  const ask: Walk['ask'] = (...of) => walk.ask(...of)
  const good: Walk['good'] = (...of) => walk.good(...of)
  const refused: Walk['refused'] = (...of) => walk.refused(...of)
  const detail = (id: string) => walk.detail(id)
  const version = (id: string) => walk.version(id)
  const say: Walk['say'] = (...of) => walk.say(...of)
  const kinds = (id: string) => walk.kinds(id)

  t.before(
    async () => {
      walk = await startWalk()
      box = walk.box
      platform = walk.platform
    },
    { timeoutMs: 240_000 },
  )
  t.after(() => walk.end())

  t(
    'provisioning protocol: 1 to 5 in their order, each step seen by kubectl as well',
    async () => {
      const made = await good('owner', 'POST', '', reservation({ sizeClass: 'S', agents: ['codex'] }))
      const { id } = made.devbox
      assert.match(made.bootstrapUrl, `/api/devboxes/${id}/bootstrap`)
      const of = cloud()
      await refused('409 WRONG_STATE', 'owner', 'POST', `/${id}/token`)
      const launched = await good('owner', 'POST', `/${id}/provisioning`, { instanceId: of.instanceId })
      assert.is(launched.devbox.state, 'provisioning')
      const leaseMs = Date.parse(launched.devbox.lease.expiresAt) - Date.now()
      assert.ok(leaseMs > 25 * 60_000 && leaseMs <= 30 * 60_000 + 1_000, `a lease of ${leaseMs} ms`)
      const first = await good('owner', 'POST', `/${id}/token`)
      assert.match(first.token, new RegExp(`^dbr_${id}_.+`))
      assert.is((await detail(id)).state, 'configuring')
      const second = await good('owner', 'POST', `/${id}/token`)
      assert.is.not(second.token, first.token, 'each issue rotates')
      assert.is((await detail(id)).state, 'configuring', 'only the first moves it')
      const body = finalizeBody(launched.devbox, of)
      assert.is((await good('owner', 'POST', `/${id}/finalize`, body)).devbox.state, 'ready')
      const at = await version(id)
      assert.is(
        (await good('owner', 'POST', `/${id}/finalize`, body)).devbox.state,
        'ready',
        'idempotent on the instance',
      )
      assert.equal(await version(id), at)
      const listed = await good('owner', 'GET', '')
      assert.ok(listed.devboxes.every((one: Json) => typeof one.costToDateUsd === 'number'))
      assert.is(listed.committedMonthlyUsd, 56.71)
      await refused('409 INSTANCE_MISMATCH', 'owner', 'POST', `/${id}/finalize`, {
        ...body,
        instanceId: 'i-0ffffffffff',
      })
      assert.equal(
        [await walk.ofKube(id, '.status.state'), await walk.ofKube(id, '.status.version')],
        ['ready', String(at.version)],
      )
      assert.equal(
        (await detail(id)).otherInstances.map(({ instanceId }: Json) => instanceId),
        ['i-0ffffffffff'],
        'another machine was said to be there: it is known, and paid for',
      )

      const shown = await detail(id)
      for (const field of [...FIELDS, ...DETAIL]) assert.ok(field in shown, `the detail has ${field}`)
      assert.match(shown.eipAllocId, /^eipalloc-[a-z0-9]+$/)
      assert.not.match(JSON.stringify(shown), second.token.split('_').at(-1), 'the token is shown once')
    },
    { timeoutMs: 120_000 },
  )

  t(
    'the service: a registry that sizes by one pure function, and reserves in one transaction before any cloud call',
    async () => {
      const { sizes, pricingVersion } = await good('reads', 'GET', '/sizes')
      assert.equal([...new Set(sizes.map(({ sizeClass }: Json) => sizeClass))].sort(), ['L', 'M', 'S', 'XL', 'XS'])
      assert.equal([...new Set(sizes.map(({ arch }: Json) => arch))].sort(), ['arm64', 'x86_64'])
      assert.ok(typeof pricingVersion === 'string')
      for (const { runningMonthlyUsd, stoppedMonthlyUsd, parts } of sizes) {
        const { computeUsd, storageUsd, ipv4Usd } = parts
        assert.ok(
          Math.abs(computeUsd + storageUsd + ipv4Usd - runningMonthlyUsd) < 0.02,
          'compute, storage and address',
        )
        assert.ok(Math.abs(storageUsd + ipv4Usd - stoppedMonthlyUsd) < 0.02, 'stopped')
      }
      const { agents } = await good('reads', 'GET', '/agents')
      assert.equal(agents.length, 3)
      for (const agent of agents) assert.ok(/^\d+[.]\d+[.]\d+/.test(agent.version) && agent.loginHint.length > 0)

      const asked = { profile: profile({ resolvedPackages: 1200 }), concurrency: 2 }
      const [one, two] = [await good('manages', 'POST', '/size', asked), await good('manages', 'POST', '/size', asked)]
      assert.equal(one, two, 'the same profile has the same answer')
      for (const key of ['proposal', 'chosen', 'price', 'reasons']) assert.ok(key in one, key)
      const overridden = await good('manages', 'POST', '/size', {
        ...asked,
        overrides: { sizeClass: 'XL', diskGb: 300 },
      })
      assert.equal([overridden.chosen.sizeClass, overridden.chosen.diskGb], ['XL', 300])
      const measured = await good('manages', 'POST', '/size', {
        ...asked,
        measurements: { peakRssGb: 20, diskUsedGb: 10, repoHead: 'abcdef0' },
      })
      assert.is.not(measured.proposal.sizeClass, one.proposal.sizeClass, 'what was measured counts')

      const name = `walk-${process.pid}`
      await refused('403 CAPABILITY_REQUIRED', 'member', 'POST', '', reservation())
      await good('owner', 'POST', '', reservation({ name }))
      await refused('409 NAME_TAKEN', 'owner', 'POST', '', reservation({ name }))
      const before = await good('owner', 'GET', '')
      await refused('409 CAP_EXCEEDED', 'stranger', 'POST', '', reservation({ sizeClass: 'XL' }))
      assert.equal(
        [(await good('owner', 'GET', '')).total, (await good('stranger', 'GET', '')).total],
        [before.total, 0],
        'what is refused is not kept',
      )
      await refused('400 INVALID_FIELD', 'owner', 'POST', '', reservation({ sizeClass: 'XXL' }))
      await refused('400 INVALID_FIELD', 'owner', 'POST', '', reservation({ arch: 'riscv64' }))
      for (const bad of [{ idleMinutes: 14 }, { idleMinutes: 721 }, { autoscale: 'perhaps' }])
        await refused(
          '400 INVALID_FIELD',
          'owner',
          'POST',
          '',
          reservation({ policy: { autoscale: 'ask', idleMinutes: 30, ...bad } }),
        )
    },
    { timeoutMs: 120_000 },
  )

  t(
    'fields: what PATCH may change, and what only a confirmation may',
    async () => {
      const { id } = (await box.reserve()).devbox
      for (const idleMinutes of [15, 720])
        assert.is(
          (await good('owner', 'PATCH', `/${id}`, { policy: { idleMinutes } })).devbox.policy.idleMinutes,
          idleMinutes,
        )
      for (const autoscale of ['never', 'ask', 'auto'])
        assert.is(
          (await good('owner', 'PATCH', `/${id}`, { policy: { autoscale } })).devbox.policy.autoscale,
          autoscale,
        )
      for (const idleMinutes of [14, 721, 30.5])
        await refused('400 INVALID_FIELD', 'owner', 'PATCH', `/${id}`, { policy: { idleMinutes } })
      for (const field of FIELDS.filter((one) => one !== 'policy'))
        await refused('400 UNKNOWN_FIELD', 'owner', 'PATCH', `/${id}`, { [field]: 'x' })
      assert.is(await walk.ofKube(id, '.spec.policy.idleMinutes'), '720')
      const renamed = await say(id, 'renamed', { name: `moved-${process.pid}` })
      assert.equal([renamed.name, renamed.targetLabel], [`moved-${process.pid}`, `walker/moved-${process.pid}`])
      assert.ok((await kinds(id)).includes('renamed'), 'name, label, version and event at once')
      await refused('409 VERSION_CONFLICT', 'owner', 'POST', `/${id}/renamed`, { version: 1, name: 'late' })
    },
    { timeoutMs: 60_000 },
  )

  t(
    'bootstrap: user data without a secret, with pinned installers, for the owner',
    async () => {
      const { devbox } = await box.reserve({ agents: ['claude-code', 'codex', 'gemini-cli'] })
      const response = await fetch(`${platform.baseUrl}/api/devboxes/${devbox.id}/bootstrap`, {
        headers: { authorization: `Bearer ${walk.callers.manages}`, 'accept-encoding': 'identity' },
      })
      walk.met.endpoints.add('GET /:id/bootstrap')
      const bytes = Buffer.from(await response.arrayBuffer())
      const isPacked = bytes[0] === 0x1f
      assert.match(response.headers.get('content-type') ?? '', isPacked ? 'gzip' : 'text/plain')
      assert.ok(isPacked || bytes.length <= 16_384, 'gzip when over 16 KB')
      assert.ok(bytes.length <= 16_384, 'no cloud takes more')
      const text = isPacked ? gunzipSync(bytes).toString('utf8') : bytes.toString('utf8')
      assert.match(text, /^#cloud-config\n/)
      const { agents } = await good('reads', 'GET', '/agents')
      for (const { version: pinned } of agents) assert.match(text, pinned)
      assert.not.match(text, /dbr_dev-|btg_|PRIVATE KEY/)
      await refused('403 FORBIDDEN', 'reads', 'GET', `/${devbox.id}/bootstrap`)
    },
    { timeoutMs: 60_000 },
  )

  t(
    'states: DELETE of a live one is refused, of another one leaves a tombstone; terminated from any state',
    async () => {
      const reserved = (await box.reserve()).devbox
      assert.ok((await good('owner', 'DELETE', `/${reserved.id}`)).devbox.deletedAt, 'without an instance')
      const live = await box.toReady()
      await refused('409 INSTANCE_LIVE', 'owner', 'DELETE', `/${live.id}`)
      await assert.rejects(platform.kubectl(['delete', 'dbx', live.id]), 'INSTANCE_LIVE')
      assert.is((await say(live.id, 'terminated', GONE)).state, 'terminated')
      assert.ok((await good('owner', 'DELETE', `/${live.id}`)).devbox.deletedAt, 'the row is kept')
      const [row] = await query(platform.database.url, 'select resource from devboxes where resource = $1', [live.id])
      assert.is(row?.resource, live.id)

      const untouched = (await box.reserve()).devbox
      assert.is((await say(untouched.id, 'terminated', GONE)).state, 'terminated', 'any: reserved')
      const launched = (await box.reserve()).devbox
      await good('owner', 'POST', `/${launched.id}/provisioning`, { instanceId: cloud().instanceId })
      assert.is((await say(launched.id, 'terminated', GONE)).state, 'terminated', 'any: provisioning')
      const running = await box.toRunning()
      await say(running.id, 'stopped')
      assert.is((await say(running.id, 'terminated', GONE)).state, 'terminated', 'any: stopped')
      await good('admin', 'GET', '')
    },
    { timeoutMs: 120_000 },
  )

  t(
    'confirmations: compare-and-set on the version, replay-safe under an Idempotency-Key',
    async () => {
      const { id } = await box.toReady()
      const words: [string, Json][] = [
        ['started', {}],
        ['stopped', {}],
        ['resizing', { sizeClass: 'S' }],
        ['resized', { sizeClass: 'S', arch: 'arm64', diskGb: 50, verifiedDf: '50G', state: 'stopped' }],
        ['renamed', { name: `said-${process.pid}` }],
        ['terminated', GONE],
      ]
      for (const [word, body] of words) {
        const at = await version(id)
        await refused('409 VERSION_CONFLICT', 'owner', 'POST', `/${id}/${word}`, { ...body, version: at.version + 7 })
        const key = { 'idempotency-key': `${word}-of-${id}` }
        const first = await ask('owner', 'POST', `/${id}/${word}`, { ...body, ...at }, key)
        assert.is(first.status, 200, `${word}: ${first.text}`)
        const told = await kinds(id)
        const again = await ask('owner', 'POST', `/${id}/${word}`, { ...body, ...at }, key)
        assert.equal([again.status, again.text], [200, first.text], word)
        assert.equal(await kinds(id), told, `${word} once`)
      }
    },
    { timeoutMs: 120_000 },
  )

  t(
    'resize: needs an intent, which a conflict does not use up; addresses in pairs; a start is no way round',
    async () => {
      const { id, publicIp, eipAllocId } = await box.toReady()
      await say(id, 'started')
      await say(id, 'stopped')
      const done = { sizeClass: 'S', arch: 'arm64', diskGb: 50, verifiedDf: '50G', state: 'stopped' }
      await refused('409 NO_RESIZE_INTENT', 'owner', 'POST', `/${id}/resized`, { ...done, ...(await version(id)) })
      await say(id, 'resizing', { sizeClass: 'S' })
      await refused('409 RESIZE_PENDING', 'owner', 'POST', `/${id}/started`, await version(id))
      await refused('409 VERSION_CONFLICT', 'owner', 'POST', `/${id}/resized`, { ...done, version: 1 })
      assert.ok((await detail(id)).intent, 'the intent is there')
      for (const half of [{ publicIp: '198.51.100.77' }, { eipAllocId: 'eipalloc-77' }])
        await refused('400 ADDRESS_PAIR_REQUIRED', 'owner', 'POST', `/${id}/resized`, {
          ...done,
          ...half,
          ...(await version(id)),
        })
      await refused('400 INVALID_FIELD', 'owner', 'POST', `/${id}/resized`, {
        ...done,
        state: 'resizing',
        ...(await version(id)),
      })
      const kept = await say(id, 'resized', done)
      assert.equal(
        [kept.state, kept.sizeClass, kept.diskGb, kept.publicIp, kept.eipAllocId, kept.intent],
        ['stopped', 'S', 50, publicIp, eipAllocId, null],
        'the stored address is kept',
      )
      await say(id, 'resizing', { sizeClass: 'M' })
      const { publicIp: newIp, eipAllocId: newId } = cloud()
      const moved = await say(id, 'resized', {
        ...done,
        sizeClass: 'M',
        diskGb: 80,
        verifiedDf: '80G',
        state: 'running',
        publicIp: newIp,
        eipAllocId: newId,
      })
      assert.equal([moved.state, moved.publicIp, moved.eipAllocId], ['running', newIp, newId])
      const told = await kinds(id)
      for (const kind of ['resizing', 'resized', 'address.changed']) assert.ok(told.includes(kind), kind)
    },
    { timeoutMs: 120_000 },
  )

  t(
    'addresses: a start allocates and confirms a new one; a release is explicit, exact and never by itself',
    async () => {
      const { id, eipAllocId } = await box.toReady()
      await say(id, 'started')
      assert.is((await say(id, 'stopped')).eipAllocId, eipAllocId, 'kept by a stop')
      await refused('409 ADDRESS_MISMATCH', 'owner', 'POST', `/${id}/eip-released`, {
        ...(await version(id)),
        allocationId: 'eipalloc-0none',
      })
      const released = await say(id, 'eip-released', { allocationId: eipAllocId })
      assert.equal([released.publicIp, released.eipAllocId], [null, null])
      const again = await good('owner', 'POST', `/${id}/eip-released`, {
        ...(await version(id)),
        allocationId: eipAllocId,
      })
      assert.is(again.devbox.version, released.version, 'idempotent')
      const of = cloud()
      const started = await say(id, 'started', { publicIp: of.publicIp, eipAllocId: of.eipAllocId })
      assert.equal([started.state, started.publicIp], ['running', of.publicIp])
      const told = await kinds(id)
      for (const kind of ['address.released', 'address.changed']) assert.ok(told.includes(kind), kind)
    },
    { timeoutMs: 60_000 },
  )

  t(
    'telemetry: by the report token alone; out of memory gives one class up, a disk over 90 % half as much again',
    async () => {
      const { id } = await box.toRunning()
      const { token } = await good('owner', 'POST', `/${id}/token`)
      const report = (change: Json = {}) => ({
        at: new Date().toISOString(),
        uptimeSeconds: 60,
        memory: { totalGb: 2, usedGb: 1, peakRssGb: 0.5 },
        disk: { totalGb: 30, usedGb: 10 },
        oom: { count: 0 },
        git: { dirty: 0, untracked: 0, unpushed: 0, head: 'abc1234' },
        agents: {},
        activity: [],
        ...change,
      })
      for (const who of ['owner', 'session', 'admin', null])
        await refused('401 UNAUTHENTICATED', who, 'POST', `/${id}/report`, report())
      for (const [method, word] of [
        ['GET', ''],
        ['POST', '/stopped'],
        ['POST', '/env/reveal'],
      ] as const)
        await refused('401 UNAUTHENTICATED', token, method, `/${id}${word}`, method === 'POST' ? {} : undefined)
      const taken = await good(token, 'POST', `/${id}/report`, report())
      assert.equal(taken.policy.idleMinutes, 30)
      await good('owner', 'PATCH', `/${id}`, { policy: { idleMinutes: 60 } })
      assert.is(
        (await good(token, 'POST', `/${id}/report`, report())).policy.idleMinutes,
        60,
        'the policy as it is now',
      )
      const proposal = async () => (await good('reads', 'GET', `/${id}/proposal`)).proposal
      assert.is(await proposal(), null)
      await good(token, 'POST', `/${id}/report`, report({ disk: { totalGb: 30, usedGb: 27 } }))
      assert.is(await proposal(), null, '90 % is not over 90 %')
      await good(token, 'POST', `/${id}/report`, report({ disk: { totalGb: 30, usedGb: 27.5 } }))
      const disk = await proposal()
      assert.equal([disk.sizeClass, disk.diskGb], ['XS', 45])
      assert.match(disk.command, /^bottega devbox resize /)
      const oom = { count: 1, victim: 'node', at: new Date().toISOString() }
      await good(token, 'POST', `/${id}/report`, report({ oom }))
      assert.is((await proposal()).sizeClass, 'S', 'one class up')
      const next = await good('owner', 'POST', `/${id}/token`)
      await refused('401 UNAUTHENTICATED', token, 'POST', `/${id}/report`, report())
      await good(next.token, 'POST', `/${id}/report`, report())
    },
    { timeoutMs: 90_000 },
  )

  t(
    'repository: the class is computed here, a required class of the caller is not asked; a guard on the version is optional',
    async () => {
      const { id } = await box.toReady()
      const repo = { url: 'https://git.acme.test/other.git', ref: 'main' }
      const put = await good('owner', 'PUT', `/${id}/repo`, { repo, profile: profile(), requiredClass: 'XL' })
      assert.equal([put.devbox.repo.url, put.devbox.sizeClass], [repo.url, 'XS'])
      await refused('409 VERSION_CONFLICT', 'owner', 'PUT', `/${id}/repo`, { repo, profile: profile(), version: 1 })
      await refused('400 INVALID_FIELD', 'owner', 'PUT', `/${id}/repo`, { repo })
      const large = await refused('409 RESIZE_REQUIRED', 'owner', 'PUT', `/${id}/repo`, {
        repo,
        profile: profile({ resolvedPackages: 90_000 }),
        requiredClass: 'XS',
      })
      for (const key of ['proposal', 'price', 'reasons']) assert.ok(key in large.sizing, `the full proposal: ${key}`)
      const measured = await good('owner', 'PUT', `/${id}/measurements`, {
        peakRssGb: 10.5,
        diskUsedGb: 12,
        repoHead: 'abcdef0',
      })
      assert.is(measured.proposal.sizeClass, 'M', 'by what was measured')
      const { committedMonthlyUsd, capMonthlyUsd } = await good('owner', 'GET', '')
      const { leftUsd } = measured.reasons.find(({ code }: Json) => code === 'CAP_LEFT')
      const othersUsd = committedMonthlyUsd - 30.58
      assert.is(leftUsd.toFixed(2), (capMonthlyUsd - othersUsd).toFixed(2), 'left beside what it costs itself')
      await good('admin', 'PUT', `/${id}/measurements`, { peakRssGb: 10.5, diskUsedGb: 12, repoHead: 'abcdef0' })
      await refused('404 NOT_FOUND', 'stranger', 'PUT', `/${id}/measurements`, {
        peakRssGb: 1,
        diskUsedGb: 1,
        repoHead: 'abcdef0',
      })
    },
    { timeoutMs: 60_000 },
  )

  t('whole: each endpoint, state and code of the document was met, here or beside', async () => {
    assert.equal(
      ENDPOINTS.filter((one) => !ELSEWHERE.includes(one) && !walk.met.endpoints.has(one)),
      [],
      'endpoints that never answered well',
    )
    assert.equal(
      STATES.filter((state) => !walk.met.states.has(state)),
      [],
      'states that were not met',
    )
    for (const code of ['409 INSTANCE_LIVE', '409 RESIZE_REQUIRED']) assert.ok(walk.met.codes.has(code), code)
    await eventually('kubectl to have them all', async () => {
      const listed = await platform.kubectl(['get', 'dbx', '-o', 'name'])
      const { devboxes } = await good('admin', 'GET', '?limit=200')
      return devboxes.every(({ id }: Json) => listed.includes(id))
    })
  })
})
