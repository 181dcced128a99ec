import { query } from '../../../hack/platform/postgres.ts'
import { canaryValue } from '../../support/canaries/answers.ts'
import { CHANGES, codeOf, ENDPOINTS, READS, REPORT, startWalk, type Walk } from '../../support/devbox/document.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { cloud, type Provisioner, reservation, setCap } from '../../support/stage/devinstances.ts'
import { call, type Json, type Platform } from '../../support/stage/invoicing.ts'

/** Document 3, walked on (document.test.ts): who may do what, what only the owner sees, the cap, the lease, the description. */

spec('document 3, its rights', (t) => {
  let walk: Walk
  let box: Provisioner
  let platform: Platform
  const ask: Walk['ask'] = (...of) => walk.ask(...of)
  const good: Walk['good'] = (...of) => walk.good(...of)
  const refused: Walk['refused'] = (...of) => walk.refused(...of)
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

  /** Who may ask for one endpoint, and who is refused with which code. */
  const judgeCallers = async (one: (typeof ENDPOINTS)[number], id: string): Promise<void> => {
    const [method = '', path = ''] = one.split(' ')
    const at = path.replace(':id', id).replace(':team', 'studio')
    const body = ['POST', 'PUT', 'PATCH'].includes(method) ? {} : undefined
    const by = async (who: string | null): Promise<string> => codeOf(await ask(who, method, at, body))
    assert.is(await by(null), '401 UNAUTHENTICATED', one)
    if (one === REPORT) return
    const [allowed, other] = READS.includes(one) ? ['reads', 'manages'] : ['manages', 'reads']
    assert.is(await by(other ?? ''), '403 FORBIDDEN', `${one} by ${other}`)
    // what is deleted could not be asked for the rest of the list
    if (one === 'DELETE /:id') return
    const judged = await by(allowed ?? '')
    const isAdmins = one === 'POST /:id/cap-override'
    if (isAdmins) assert.is(judged, '403 ROLE_REQUIRED')
    else assert.not.match(judged, /^40[13] /, `${one} by ${allowed}`)
    if (!CHANGES.includes(one)) return
    // explicit only: neither a full-access token nor the role of an admin has it by itself
    assert.is(await by('bareAdmin'), '403 CAPABILITY_REQUIRED', `${one} by an admin`)
    assert.is(await by('member'), isAdmins ? '403 ROLE_REQUIRED' : '403 CAPABILITY_REQUIRED', `${one} by a member`)
  }

  t(
    'environment: encrypted, names only; revealed to the owner alone, with an audit of names',
    async () => {
      const { id } = await box.toReady()
      const secret = canaryValue('walked')
      assert.equal(await good('owner', 'PUT', `/${id}/env`, { env: { GIT_TOKEN: secret, VENDOR: 'x' } }), {
        keys: ['GIT_TOKEN', 'VENDOR'],
      })
      assert.equal(
        await good('owner', 'PUT', `/${id}/env`, { env: { GIT_TOKEN: secret } }),
        { keys: ['GIT_TOKEN'] },
        'replaced',
      )
      await good('owner', 'POST', `/${id}/teams`, { teamId: 'studio' })
      await refused('403 FORBIDDEN', 'admin', 'POST', `/${id}/env/reveal`)
      await refused('403 CAPABILITY_REQUIRED', 'member', 'POST', `/${id}/env/reveal`)
      const shown = await ask('owner', 'POST', `/${id}/env/reveal`)
      assert.equal(
        [shown.json, shown.headers.get('cache-control')],
        [{ env: { GIT_TOKEN: secret } }, 'private, no-store'],
      )
      const audit = await query(
        platform.database.url,
        "select entry from audit where account = 'walker' and entry like '%env/reveal%'",
      )
      assert.ok(audit.some(({ entry }) => String(entry).includes('GIT_TOKEN')))
      assert.ok(audit.every(({ entry }) => !String(entry).includes(secret)))
      assert.not.match(await platform.kubectl(['get', 'dbx', id, '-o', 'yaml']), secret)
    },
    { timeoutMs: 60_000 },
  )

  t(
    'cap: per owner, at reservation and at resizing; an admin lets the next resize exceed it, once and on record',
    async () => {
      const { id } = await box.toReady()
      const { committedMonthlyUsd } = await good('owner', 'GET', '')
      await setCap(platform, { account: 'walker', token: walk.callers.owner ?? '' }, Math.ceil(committedMonthlyUsd) + 1)
      await refused('409 CAP_EXCEEDED', 'owner', 'POST', '', reservation())
      const resize = async () => ({ ...(await version(id)), sizeClass: 'S' })
      await refused('409 CAP_EXCEEDED', 'owner', 'POST', `/${id}/resizing`, await resize())
      await refused('403 ROLE_REQUIRED', 'owner', 'POST', `/${id}/cap-override`)
      await refused('403 CAPABILITY_REQUIRED', 'bareAdmin', 'POST', `/${id}/cap-override`)
      await good('admin', 'POST', `/${id}/cap-override`)
      await say(id, 'resizing', { sizeClass: 'S' })
      await say(id, 'resized', { sizeClass: 'S', arch: 'arm64', diskGb: 50, verifiedDf: '50G', state: 'ready' })
      await refused('409 CAP_EXCEEDED', 'owner', 'POST', `/${id}/resizing`, { ...(await version(id)), sizeClass: 'M' })
      assert.is((await kinds(id)).filter((kind) => kind === 'cap.overridden').length, 1)
      await setCap(platform, { account: 'walker', token: walk.callers.owner ?? '' }, 2_000)
    },
    { timeoutMs: 90_000 },
  )

  t(
    'visibility: owner, team read-only, admins all that is not deleted; nobody else',
    async () => {
      const { id, version: at } = await box.toReady()
      await refused('404 NOT_FOUND', 'member', 'GET', `/${id}`)
      await good('owner', 'POST', `/${id}/teams`, { teamId: 'studio' })
      const sees = async (who: string): Promise<boolean> =>
        (await good(who, 'GET', '?limit=200')).devboxes.some((one: Json) => one.id === id)
      assert.equal([await sees('member'), await sees('admin'), await sees('stranger')], [true, true, false])
      await good('member', 'GET', `/${id}`)
      await good('member', 'GET', `/${id}/proposal`)
      await refused('403 CAPABILITY_REQUIRED', 'member', 'POST', `/${id}/started`, { version: at })
      await refused('403 CAPABILITY_REQUIRED', 'bareAdmin', 'POST', `/${id}/started`, { version: at })
      await refused('404 NOT_FOUND', 'stranger', 'POST', `/${id}/started`, { version: at })
      await refused('404 NOT_FOUND', 'owner', 'POST', `/${id}/teams`, { teamId: 'of-others' })
      await good('owner', 'DELETE', `/${id}/teams/studio`)
      await refused('404 NOT_FOUND', 'member', 'GET', `/${id}`)
    },
    { timeoutMs: 60_000 },
  )

  t(
    'authentication: scopes per operation, a session and a token without scopes alike, nobody without either',
    async () => {
      const { id } = await box.toReady()
      for (const one of ENDPOINTS) await judgeCallers(one, id)
      await good('session', 'GET', '')
      await good('session', 'PATCH', `/${id}`, { policy: { idleMinutes: 40 } })
      const catalogue = (await call(platform.baseUrl, null, 'GET', '/api/auth/scopes')).json
      assert.match(JSON.stringify(catalogue), 'devboxes:manage')
      const held = (await call(platform.baseUrl, walk.callers.reads ?? '', 'GET', '/api/auth/tokens/self')).json
      assert.equal(held.scopes, ['devboxes:read'])
    },
    { timeoutMs: 120_000 },
  )

  t(
    'versioning and the lease: 2026-09-15, and half an hour from the report that it is there',
    async () => {
      const described = (await call(platform.baseUrl, null, 'GET', '/api/openapi-devboxes.json')).json
      assert.is(described.info.version, '2026-09-15')
      for (const one of ENDPOINTS) {
        const [method = '', path = ''] = one.split(' ')
        const at = `/api/devboxes${path.replace(':id', '{id}').replace(':team', '{teamId}')}`
        assert.ok(described.paths[at]?.[method.toLowerCase()], `${one} is described`)
      }
      const { id } = (await box.reserve()).devbox
      await good('owner', 'POST', `/${id}/provisioning`, { instanceId: cloud().instanceId })
      assert.is((await walk.advance('PT29M')).status, 200)
      await good('owner', 'POST', `/${id}/token`)
      const late = (await box.reserve()).devbox
      await good('owner', 'POST', `/${late.id}/provisioning`, { instanceId: cloud().instanceId })
      await walk.advance('PT31M')
      await refused('409 LEASE_EXPIRED', 'owner', 'POST', `/${late.id}/token`)
    },
    { timeoutMs: 60_000 },
  )
})
