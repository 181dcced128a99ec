import { FORM } from '../../support/builders/account.ts'
import { canaryValue } from '../../support/canaries/answers.ts'
import { openings } from '../../support/judges/policy.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Json, type Platform, startPlatform } from '../../support/stage/invoicing.ts'

/** Apps over REST and kubectl, on a host that is approved and cannot be reached: everything but the releases themselves. */

const HOST_KEY = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`

spec('apps over REST', (t) => {
  let platform: Platform
  let other: string
  let app: Json
  const api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    call(platform.baseUrl, platform.owner, method, path, body, headers)
  const host = (name: string, more: object = {}) =>
    platform.kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Host',
      metadata: { name },
      spec: { address: '127.0.0.1', port: 9, user: 'deploy', hostKey: HOST_KEY, baseDomain: `${name}.test`, ...more },
    })
  const grant = (account: string) =>
    platform.kubectl(['patch', 'acct', account, '--type=merge', '-p', '{"spec":{"capabilities":["app.deploy"]}}'])
  const allowed = (token: string) =>
    eventually('the capability', async () => {
      const { json } = await call(platform.baseUrl, token, 'GET', '/api/apps/publishing-capabilities')
      return json.deploy?.reason !== 'The account lacks the capability app.deploy.'
    })

  t.before(async () => {
    platform = await startPlatform()
    other = await platform.token('other')
  })
  t.after(() => platform.end())

  t('need the capability, which is told before anything else', async () => {
    const { status, json } = await api('POST', '/api/apps', { slug: 'shop' })
    assert.equal([status, json.code], [403, 'CAPABILITY_REQUIRED'])
    const { json: seen } = await api('GET', '/api/apps/publishing-capabilities')
    assert.equal(seen.deploy, { enabled: false, reason: 'The account lacks the capability app.deploy.' })
    await grant('demo')
    await grant('other')
    await allowed(platform.owner)
    await allowed(other)
  })

  t('need an approved host', async () => {
    assert.is((await api('POST', '/api/apps', { slug: 'shop' })).json.code, 'NO_HOST')
    await host('waiting', { class: 'shared' })
    assert.is((await api('POST', '/api/apps', { slug: 'shop' })).json.code, 'NO_HOST')
    assert.is((await api('POST', '/api/apps', { slug: 'shop', host_id: 'waiting' })).json.code, 'HOST_NOT_APPROVED')
    assert.is((await api('POST', '/api/apps', { slug: 'shop', host_id: 'nowhere' })).json.code, 'HOST_MISSING')
    await host('theirs', { approved: true, account: 'other' })
    assert.is((await api('POST', '/api/apps', { slug: 'shop', host_id: 'theirs' })).json.code, 'HOST_MISSING')
    await host('alone', { approved: true, class: 'isolated' })
    await eventually(
      "a host that is nobody's",
      async () => (await platform.kubectl(['get', 'bhost', 'alone', '-o', 'jsonpath={.status.phase}'])) !== '',
    )
    assert.is((await api('POST', '/api/apps', { slug: 'shop', host_id: 'alone' })).json.code, 'HOST_MISSING')
    assert.is((await api('POST', '/api/apps', { slug: 'shop' })).json.code, 'NO_HOST')
    const { json: seen } = await api('GET', '/api/apps/publishing-capabilities')
    assert.equal(seen.hosts.map(({ id }: Json) => id).includes('alone'), false)
    assert.is((await api('GET', '/api/apps/hosts/alone')).status, 404)
    await host('local', { approved: true, class: 'shared' })
  })

  t('are made, listed and read', async () => {
    const made = await api('POST', '/api/apps', { slug: 'shop', application_policy: 'none', route: { port: 8080 } })
    assert.is(made.status, 201, made.text)
    app = made.json.app
    assert.is(made.headers.get('location'), `/api/apps/${app.id}`)
    assert.equal(
      [app.slug, app.host_id, app.access, app.status, app.release, app.url],
      ['shop', 'local', 'public', 'empty', null, 'https://shop.local.test'],
    )
    assert.equal(app.budget, { cpu_millis: 1_000, memory_mib: 1_024, disk_gib: 10 })
    assert.equal(app.readiness.state, 'not_ready')
    assert.is((await api('GET', `/api/apps/${app.id}`)).json.app.id, app.id)
    const { json } = await api('GET', '/api/apps')
    assert.equal([json.total, json.apps.length], [1, 1])
  })

  t('are not there for another account, whose own they cannot be', async () => {
    const paths = ['', '/env', '/releases', '/readiness', '/logs']
    for (const path of paths) {
      const { status, json } = await call(platform.baseUrl, other, 'GET', `/api/apps/${app.id}${path}`)
      assert.equal([path, status, json.code], [path, 404, 'NOT_FOUND'])
    }
    const taken = await call(platform.baseUrl, other, 'POST', '/api/apps', { slug: 'shop', host_id: 'local' })
    assert.equal([taken.status, taken.json.code], [409, 'SLUG_TAKEN'])
  })

  t('are made once under one Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'once' }
    const one = await api('POST', '/api/apps', { slug: 'twice' }, key)
    const two = await api('POST', '/api/apps', { slug: 'twice' }, key)
    assert.equal([one.status, two.status, two.json.app.id], [201, 201, one.json.app.id])
    assert.is((await api('DELETE', `/api/apps/${one.json.app.id}`)).status, 204)
  })

  const bad: [string, object, string, string][] = [
    ['a slug with a dot', { slug: 'a.b' }, 'INVALID_FIELD', '/slug'],
    ['an upper-case slug', { slug: 'Shop' }, 'INVALID_FIELD', '/slug'],
    ['a reserved slug', { slug: 'admin' }, 'SLUG_TAKEN', '/slug'],
    ['a slug that reads as punycode', { slug: 'xn--a' }, 'INVALID_FIELD', '/slug'],
    ['an unknown field', { slug: 'x', acess: 'public' }, 'UNKNOWN_FIELD', '/acess'],
    ['a field that only controllers may set', { slug: 'x', env_version: 3 }, 'UNKNOWN_FIELD', '/env_version'],
    ['private without a password', { slug: 'x', access: 'private' }, 'PASSWORD_REQUIRED', '/password'],
    ['a short password', { slug: 'x', access: 'private', password: 'short' }, 'INVALID_FIELD', '/password'],
    ['a port out of range', { slug: 'x', route: { port: 70_000 } }, 'INVALID_FIELD', '/route/port'],
  ]
  for (const [what, body, code, pointer] of bad) {
    t(`refuse ${what} with its pointer`, async () => {
      const { status, json } = await api('POST', '/api/apps', body)
      assert.ok(status === 400 || status === 409, `${status}`)
      assert.equal([json.code, json.errors[0].pointer], [code, pointer])
    })
  }

  t('answer the same env again from a first look, while nobody decides anything', async () => {
    const put = (headers = {}) => {
      const body = { env: { SAME: 'as-before' } }
      return call(platform.baseUrl, platform.owner, 'PUT', `/api/apps/${app.id}/env`, body, headers)
    }
    const first = await put()
    assert.is(first.status, 200, first.text)
    await platform.controllers.stop()
    const again = await put({ prefer: 'respond-async' })
    await platform.controllers.start()
    assert.equal([again.status, again.json], [200, first.json])
  })

  t('keep their env by version, and show names only', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map(canaryValue)
    const put = await api('PUT', `/api/apps/${app.id}/env`, { env: { B: two, A: one } })
    assert.equal(put.json.env, { stored_version: 2, applied_version: null, keys: ['A', 'B'] })
    const merged = await api('PATCH', `/api/apps/${app.id}/env`, { env: { B: null, C: three } })
    assert.equal([merged.status, merged.json.operation.state], [200, 'succeeded'], merged.text)
    assert.match(merged.json.operation.result.detail, /next deploy/)
    const { json, text } = await api('GET', `/api/apps/${app.id}/env`)
    assert.equal(json.env, { stored_version: 3, applied_version: null, keys: ['A', 'C'] })
    assert.not.match(put.text + merged.text + text, 'canary-')
    const shown = await api('GET', `/api/apps/${app.id}`)
    assert.equal(shown.json.app.env, json.env)
  })

  const badEnv: [string, unknown, string][] = [
    ['a name with a dash', { 'A-B': 'x' }, '/env/A-B'],
    ['a name of the platform', { DOCKER_HOST: 'x' }, '/env/DOCKER_HOST'],
    ['a value with NUL', { A: 'x\0y' }, '/env/A'],
  ]
  for (const [what, env, pointer] of badEnv) {
    t(`refuse ${what} in the env`, async () => {
      const { json } = await api('PUT', `/api/apps/${app.id}/env`, { env })
      assert.equal([json.code, json.errors[0].pointer], ['BAD_ENV', pointer])
    })
  }

  t('say of a text with a NUL that it holds one, also where nothing judges it before the database', async () => {
    const { status, json, text } = await api('POST', `/api/apps/${app.id}/rollback`, { release: 'a\0' })
    assert.equal([status, json.code], [400, 'INVALID_FIELD'], text)
  })

  t('are scaled over REST as an operation, once under one key, and say how many before anything is live', async () => {
    assert.equal(app.replicas, { asked: null, wanted: 1, live: null, ready: null })
    const key = { 'idempotency-key': 'three' }
    const scale = (replicas: unknown, headers = {}) => api('POST', `/api/apps/${app.id}/scale`, { replicas }, headers)
    const one = await scale(3, key)
    assert.equal([one.status, one.json.operation.kind, one.json.operation.state], [200, 'scale', 'succeeded'], one.text)
    assert.match(one.json.operation.result.detail, /next deploy starts as many/)
    assert.equal(one.json.app.replicas, { asked: 3, wanted: 3, live: null, ready: null })
    const again = await scale(3, key)
    assert.is(again.json.operation_id, one.json.operation_id)
    assert.is((await scale(2, key)).json.code, 'IDEMPOTENCY_MISMATCH')
    for (const bad of [0, -1, 9, 1.5, '3', 1e12, null]) {
      const { status, json } = await scale(bad)
      assert.equal([status, json.errors?.[0]?.pointer], [400, '/replicas'], JSON.stringify(json))
    }
    const theirs = await call(platform.baseUrl, other, 'POST', `/api/apps/${app.id}/scale`, { replicas: 2 })
    assert.equal([theirs.status, theirs.json.code], [404, 'NOT_FOUND'])
  })

  t('are scaled by kubectl, within the same bounds, and by a change', async () => {
    await platform.kubectl(['scale', 'bapp', app.id, '--replicas=2'])
    const asked = async () => (await api('GET', `/api/apps/${app.id}`)).json.app.replicas.asked
    await eventually('what kubectl said', async () => (await asked()) === 2)
    for (const bad of ['0', '9']) {
      const refused = await platform
        .kubectl(['scale', 'bapp', app.id, `--replicas=${bad}`])
        .catch((error) => String(error))
      assert.match(refused, /spec\.replicas/)
    }
    const changed = await api('PATCH', `/api/apps/${app.id}`, { replicas: 4, websockets: 'cut' })
    assert.equal([changed.status, changed.json.app?.replicas.wanted, changed.json.app?.websockets], [200, 4, 'cut'])
    const none = await api('PATCH', `/api/apps/${app.id}`, { replicas: null, websockets: null })
    assert.equal([none.json.app?.replicas.asked, none.json.app?.websockets], [null, 'drain'])
    // What says nothing yet is scaled as well.
    await platform.kubectl(['scale', 'bapp', app.id, '--replicas=2'])
    await eventually('what kubectl said', async () => (await asked()) === 2)
    await api('PATCH', `/api/apps/${app.id}`, { replicas: null })
  })

  t('are private with a password that nobody can read again', async () => {
    const wanted = { access: 'private', password: 'correct horse battery' }
    const { status, json, text } = await api('PATCH', `/api/apps/${app.id}`, wanted)
    assert.is(status, 200, text)
    assert.equal([json.app.access, json.app.password_version], ['private', 1])
    assert.not.match(text, /correct horse/)
    const open = await api('PATCH', `/api/apps/${app.id}`, { access: 'public' })
    assert.is(open.json.app.access, 'public')
    assert.is((await api('PATCH', `/api/apps/${app.id}`, { slug: 'other' })).json.errors[0].pointer, '/slug')
  })

  t('tell their gate to nobody but their own proxy', async () => {
    for (const path of ['/_bottega/verify', '/_bottega/access']) {
      assert.is((await call(platform.baseUrl, null, 'GET', path)).status, 404)
      const forged = { 'x-bottega-gate': `${app.id}.${'A'.repeat(22)}` }
      assert.is((await call(platform.baseUrl, null, 'GET', path, undefined, forged)).status, 404)
    }
    const { keys } = platform
    const gate = { 'x-bottega-gate': keys.gateToken(app.id) }
    assert.is((await call(platform.baseUrl, null, 'GET', '/_bottega/verify', undefined, gate)).status, 204)
    await api('PATCH', `/api/apps/${app.id}`, { access: 'private' })
    for (const method of ['GET', 'POST']) {
      const page = await call(platform.baseUrl, null, method, '/_bottega/access', undefined, { ...gate, ...FORM })
      assert.match(page.headers.get('content-type') ?? '', 'text/html')
      assert.equal(openings(page.headers.get('content-security-policy')), [], `${method} ${page.status}`)
    }
    const visitor = { ...gate, accept: 'text/html', 'x-forwarded-method': 'GET' }
    const to = async (uri: string) => {
      const headers = { ...visitor, 'x-forwarded-uri': uri }
      return (await call(platform.baseUrl, null, 'GET', '/_bottega/verify', undefined, headers)).headers.get('location')
    }
    assert.is(await to('/a?b=1'), '/_bottega/access?next=%2Fa%3Fb%3D1')
    for (const uri of ['//evil.test/', '/\\evil.test', '/_bottega/access']) {
      assert.is(await to(uri), '/_bottega/access?next=%2F', uri)
    }
    const session = keys.accessSession(app.id, 2, Date.now() + 60_000)
    const stale = { ...visitor, cookie: `__Host-bottega_access=${session}` }
    assert.is((await call(platform.baseUrl, null, 'GET', '/_bottega/verify', undefined, stale)).status, 303)
  })

  t('are not deployed to a host that was never inspected, and have no log yet', async () => {
    const sent = { compose: 'services: {web: {image: docker.io/library/nginx:1, expose: ["80"]}}' }
    assert.is((await api('POST', `/api/apps/${app.id}/deploy`, sent)).json.code, 'HOST_UNFIT')
    assert.is((await api('GET', `/api/apps/${app.id}/logs`)).json.code, 'NOT_RELEASED')
    assert.is((await api('POST', `/api/apps/${app.id}/rollback`, { release: 1 })).json.code, 'UNKNOWN_RELEASE')
    assert.is((await api('GET', '/api/apps/operations/op-none')).json.code, 'NOT_FOUND')
  })

  t('follow the same rules by kubectl', async () => {
    const manifest = (name: string, spec: object) => ({
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'App',
      metadata: { name },
      spec: { account: 'demo', hostId: 'local', ...spec },
    })
    const apply = (name: string, spec: object) => platform.kubectl(['apply', '-f', '-'], manifest(name, spec))
    const stalled = (name: string) =>
      eventually(`${name} to be stalled`, async () => {
        const path = '{.status.conditions[?(@.type=="Stalled")].message}'
        return (await platform.kubectl(['get', 'bapp', name, '-o', `jsonpath=${path}`])) || null
      })
    await apply('app-second', { slug: 'shop' })
    assert.match(await stalled('app-second'), /^SLUG_TAKEN/)
    await apply('app-ghost', { slug: 'ghost', source: { digest: 'a'.repeat(64) } })
    assert.match(await stalled('app-ghost'), /^RELEASE_FAILED: .*upload/)
    const both = { source: { digest: 'a'.repeat(64) }, restore: { release: 1 } }
    await assert.rejects(() => apply('app-both', { slug: 'both', ...both }), /source or restore/)
    await assert.rejects(() => apply('app-ghost', { slug: 'renamed' }), /fixed at creation/)
  })

  t('go, and free their name', async () => {
    assert.is((await api('DELETE', `/api/apps/${app.id}`)).status, 204)
    assert.is((await api('GET', `/api/apps/${app.id}`)).status, 404)
    const again = await call(platform.baseUrl, other, 'POST', '/api/apps', { slug: 'shop', host_id: 'local' })
    assert.is(again.status, 201, again.text)
  })
})
