import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { type AppHost, startAppHost } from '../../support/stage/host.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

const capabilities = ['app.deploy']

spec('hosts over REST and kubectl', (t) => {
  let platform: Platform
  let host: AppHost
  const tokens = { builder: '', second: '', admin: '' }

  const body = (change: Json = {}): Json => ({
    name: 'My machine',
    address: '127.0.0.1',
    port: host.sshPort,
    user: host.user,
    host_key: host.hostKey,
    private_key: host.privateKey,
    base_domain: host.baseDomain,
    proxy: { admin: host.admin, bind: '127.0.0.1', http_port: host.httpPort, https_port: host.httpsPort },
    ...change,
  })
  const ask = (token: string, method: string, path = '', given?: Json) =>
    call(platform.baseUrl, token, method, `/api/apps/hosts${path}`, given)
  const approved = (token: string, id: string) =>
    eventually(`${id} to be approved and well`, async () => {
      const { json } = await ask(token, 'GET', `/${id}`)
      return json.host.state === 'approved' && json.host
    })

  t.before(async () => {
    host = await startAppHost()
    platform = await startPlatform({ env: { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true' } })
    tokens.builder = await addAccount(platform, 'builder', { capabilities })
    tokens.second = await addAccount(platform, 'second', { capabilities })
    tokens.admin = await addAccount(platform, 'boss', { role: 'admin', capabilities })
  })
  t.after(async () => {
    await platform?.end()
    await host?.end()
  })

  t('a host is registered, inspected, approved by an admin, and then ready', async () => {
    const made = await ask(tokens.builder, 'POST', '', body())
    assert.is(made.status, 201, made.text)
    const { id, inspection, host_key_status, state, class: sort } = made.json.host
    assert.equal([inspection?.ok, inspection?.problems, host_key_status], [true, [], 'pinned'])
    assert.equal([state, sort, made.json.host.approved], ['inspected', 'owned', false])
    const refused = await ask(tokens.builder, 'POST', `/${id}/approve`, {})
    assert.equal([refused.status, refused.json.code], [403, 'ROLE_REQUIRED'])
    const given = await ask(tokens.admin, 'POST', `/${id}/approve`, {})
    // a busy machine takes it and says so; that it is done is looked at below
    assert.ok([200, 202].includes(given.status), given.text)
    await approved(tokens.builder, id)
    const shown = JSON.parse(await platform.kubectl(['get', 'bhost', id, '-o', 'json']))
    assert.is(shown.status.hostKeyFingerprint, made.json.host.host_key_fingerprint)
    assert.equal(Object.keys(shown.status.versions).sort(), ['caddy', 'compose', 'docker', 'kernel'])
    assert.is((await ask(tokens.builder, 'DELETE', `/${id}`)).status, 204)
    assert.is((await ask(tokens.builder, 'GET', `/${id}`)).status, 404)
  })

  t('a private key is shown and kept nowhere but sealed', async () => {
    const made = await ask(tokens.builder, 'POST', '', body({ name: 'Sealed' }))
    const secret = host.privateKey.split('\n')[3] ?? ''
    assert.ok(secret.length > 40)
    const dump = await query(
      platform.database.url,
      "select string_agg(t::text, ' ') as all from (select row_to_json(m) t from mirror m union all select row_to_json(a) from audit a) x",
    )
    const places = [made.text, JSON.stringify(dump), await platform.kubectl(['get', 'bhost,events', '-o', 'yaml'])]
    for (const { logFile } of [platform.api, platform.controllers]) places.push(readFileSync(logFile, 'utf8'))
    for (const place of places) assert.not.ok(place.includes(secret))
    const [row] = await query(
      platform.database.url,
      `select sealed from host_credentials where host = '${made.json.host.id}'`,
    )
    assert.not.ok(String(row?.sealed).includes('PRIVATE KEY'))
    await ask(tokens.builder, 'DELETE', `/${made.json.host.id}`)
    assert.equal(await query(platform.database.url, 'select 1 from host_credentials'), [])
  })

  t('an approval before a good inspection is refused, over REST and with kubectl', async () => {
    const made = await ask(tokens.builder, 'POST', '', body({ name: 'Silent', port: 1 }))
    const { id, state } = made.json.host
    assert.is(state, 'unreachable')
    const refused = await ask(tokens.admin, 'POST', `/${id}/approve`, {})
    assert.equal([refused.status, refused.json.code], [409, 'NOT_INSPECTED'])
    const patch = ['patch', 'bhost', id, '--type=merge', '-p', '{"spec":{"approved":true}}']
    const error = await platform.kubectl(patch).catch((refusal) => refusal)
    assert.match(error.detail, /NOT_INSPECTED/)
    await ask(tokens.builder, 'DELETE', `/${id}`)
  })

  t('only who holds the verb approve may approve with kubectl', async () => {
    const made = await ask(tokens.builder, 'POST', '', body({ name: 'Guarded' }))
    const { id } = made.json.host
    const patch = ['patch', 'bhost', id, '--type=merge', '-p', '{"spec":{"approved":true}}']
    const user = 'carol'
    const may = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'writer' } }
    const rule = (verbs: string[]) => ({ apiGroups: ['bottega.dev'], resources: ['hosts'], verbs })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'writer' }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }]
    await platform.kubectl(['apply', '-f', '-'], { ...may, rules: [rule(['get', 'patch', 'create'])] })
    await platform.kubectl(['apply', '-f', '-'], { ...may, kind: 'RoleBinding', rules: undefined, roleRef, subjects })
    const asCarol = (args: string[]) => platform.kubectl([...args, `--as=${user}`])
    const error = await eventually('a refusal by the policy', async () => {
      const refusal = await asCarol(patch).catch((caught) => caught)
      return /ROLE_REQUIRED/.test(refusal.detail ?? '') && refusal
    })
    assert.match(error.detail, /verb approve/)
    await platform.kubectl(['apply', '-f', '-'], { ...may, rules: [rule(['get', 'patch', 'approve'])] })
    await eventually('the right to approve', () =>
      asCarol(patch).then(
        () => true,
        () => false,
      ),
    )
    await approved(tokens.builder, id)
    await ask(tokens.builder, 'DELETE', `/${id}`)
  })

  t('another port, user or key takes the approval away', async () => {
    const made = await ask(tokens.builder, 'POST', '', body({ name: 'Moved' }))
    const { id } = made.json.host
    await ask(tokens.admin, 'POST', `/${id}/approve`, {})
    await approved(tokens.builder, id)
    const patch = ['patch', 'bhost', id, '--type=merge', '-p', '{"spec":{"port":1}}']
    const error = await platform.kubectl(patch).catch((refusal) => refusal)
    assert.match(error.detail, /HOST_NOT_APPROVED/)
    const renamed = await ask(tokens.builder, 'PATCH', `/${id}`, { name: 'Still here' })
    assert.equal([renamed.json.host.name, renamed.json.host.approved], ['Still here', true])
    const moved = await ask(tokens.builder, 'PATCH', `/${id}`, { port: 1 })
    assert.equal([moved.json.host.approved, moved.json.host.state], [false, 'unreachable'])
    await ask(tokens.builder, 'DELETE', `/${id}`)
  })

  t('a host belongs to its owner; one of the platform is lent without the way in', async () => {
    const own = (await ask(tokens.builder, 'POST', '', body({ name: 'Mine' }))).json.host
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const { status } = await ask(tokens.second, method, `/${own.id}`, method === 'PATCH' ? { name: 'x' } : undefined)
      assert.is(status, 404)
    }
    const shared = await ask(tokens.admin, 'POST', '', body({ name: 'Lent', class: 'shared' }))
    assert.is(shared.status, 201, shared.text)
    const { id } = shared.json.host
    const seen = (await ask(tokens.second, 'GET', `/${id}`)).json.host
    assert.equal(
      [seen.name, seen.class, seen.address, seen.user, seen.host_key, seen.proxy],
      ['Lent', 'shared', undefined, undefined, undefined, undefined],
    )
    assert.is((await ask(tokens.second, 'DELETE', `/${id}`)).status, 404)
    const names = (json: Json) => json.hosts.map((one: Json) => one.name).sort()
    assert.equal(names((await ask(tokens.second, 'GET')).json), ['Lent'])
    assert.equal(names((await ask(tokens.builder, 'GET')).json), ['Lent', 'Mine'])
    assert.equal(names((await ask(tokens.admin, 'GET')).json), ['Lent', 'Mine'])
    const refused = await ask(platform.owner, 'GET')
    assert.equal([refused.status, refused.json.code], [403, 'CAPABILITY_REQUIRED'])
    for (const gone of [own.id, id]) assert.is((await ask(tokens.admin, 'DELETE', `/${gone}`)).status, 204)
  })

  t('a host that serves something is not deleted', async () => {
    const { id } = (await ask(tokens.builder, 'POST', '', body({ name: 'Busy' }))).json.host
    await query(
      platform.database.url,
      `insert into host_routes (host, id, owner, hostnames, handle) values ('${id}', 'app-x', 'App/x', '{x.test}', '[]')`,
    )
    const refused = await ask(tokens.builder, 'DELETE', `/${id}`)
    assert.equal([refused.status, refused.json.code], [409, 'HOST_IN_USE'])
    await query(platform.database.url, `delete from host_routes where host = '${id}'`)
    assert.is((await ask(tokens.builder, 'DELETE', `/${id}`)).status, 204)
  })

  t('bad input is refused with its code and a pointer', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const encrypted = privateKey.export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    const cases: [Json, string, string][] = [
      [{ address: '10.0.0.1' }, 'BAD_HOST_ADDRESS', '/address'],
      [{ address: 'a b' }, 'BAD_HOST_ADDRESS', '/address'],
      [{ host_key: 'ssh-ed25519 AAAA' }, 'BAD_HOST_KEY', '/host_key'],
      [{ host_key: 'none' }, 'BAD_HOST_KEY', '/host_key'],
      [{ private_key: 'none' }, 'BAD_PRIVATE_KEY', '/private_key'],
      [{ private_key: encrypted }, 'BAD_PRIVATE_KEY', '/private_key'],
      [{ private_key: host.hostKey }, 'BAD_PRIVATE_KEY', '/private_key'],
      [{ user: 'root;x' }, 'INVALID_FIELD', '/user'],
      [{ port: 0 }, 'INVALID_FIELD', '/port'],
      [{ approved: true }, 'UNKNOWN_FIELD', '/approved'],
      [{ class: 'platform' }, 'ROLE_REQUIRED', '/class'],
      [{ account: 'second' }, 'ROLE_REQUIRED', '/account'],
      [{ proxy: { admin: 'http://169.254.169.254' } }, 'INVALID_FIELD', '/proxy/admin'],
    ]
    for (const [change, code, pointer] of cases) {
      const { status, json } = await ask(tokens.builder, 'POST', '', body(change))
      assert.ok(status === 400 || status === 403, JSON.stringify(json))
      assert.equal([json.code, json.errors?.[0]?.pointer], [code, pointer], JSON.stringify(change))
    }
  })

  t('a key that changed stops all work, and is pinned anew by a new approval', async () => {
    const { id } = (await ask(tokens.builder, 'POST', '', body({ name: 'Swapped' }))).json.host
    await ask(tokens.admin, 'POST', `/${id}/approve`, {})
    await approved(tokens.builder, id)
    await host.swapKey()
    const looked = await ask(tokens.builder, 'POST', `/${id}/inspect`, {})
    assert.equal([looked.json.host.host_key_status, looked.json.host.stalled.code], ['changed', 'HOST_KEY_CHANGED'])
    const { detail } = looked.json.host.stalled
    assert.is(new Set(detail.match(/SHA256:[\w+/]{43}/g)).size, 2, detail)
    const { status } = JSON.parse(await platform.kubectl(['get', 'bhost', id, '-o', 'json']))
    const stated = status.conditions.map((one: Json) => `${one.type}=${one.status}`).sort()
    assert.equal(stated, ['BuildsApart=True', 'HostKeyChanged=True', 'Ready=False', 'Stalled=True'])
    const fresh = readFileSync(`${host.folder}/otherkey.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim()
    const pinned = await ask(tokens.builder, 'PATCH', `/${id}`, { host_key: fresh })
    assert.equal([pinned.json.host.approved, pinned.json.host.state], [false, 'inspected'])
    await ask(tokens.admin, 'POST', `/${id}/approve`, {})
    await approved(tokens.builder, id)
    await ask(tokens.builder, 'DELETE', `/${id}`)
  })
})
