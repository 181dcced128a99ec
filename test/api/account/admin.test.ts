import { setTimeout as sleep } from 'node:timers/promises'
import { ensureFirstAdmin } from '../../../api/auth/signin/first-admin.ts'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { kubectlFor, makeNamespace, serviceKubeconfig } from '../../support/stage/stage.ts'

const ALL = '/api/admin/accounts'

spec('accounts by administrators', (t) => {
  let platform: Platform
  let admin: string
  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_ADMIN_EMAIL: 'root@demo.test' } })
    admin = await platform.token('admin')
    const look = async () => (await call(platform.baseUrl, admin, 'GET', ALL)).status === 200
    await eventually('the first administrator', look)
  })
  t.after(() => platform.end())
  const as = (token: string | null) => (method: string, path: string, body?: unknown) =>
    call(platform.baseUrl, token, method, path, body)
  const ask = (method: string, path: string, body?: unknown) => as(admin)(method, path, body)
  const specOf = async (name: string) => JSON.parse(await platform.kubectl(['get', 'acct', name, '-o', 'json'])).spec

  t('the first one comes from the settings and has no password', async () => {
    const { email, role } = (await ask('GET', `${ALL}/admin`)).json.account
    assert.equal([email, role], ['root@demo.test', 'admin'])
  })

  t('are made, with what is not said left to the defaults, and are there at once in list and cluster', async () => {
    const made = await ask('POST', ALL, { id: 'studio', email: 'studio@demo.test', plan: 'pro', teams: ['red'] })
    assert.is(made.status, 201, made.text)
    assert.is(made.headers.get('location'), `${ALL}/studio`)
    const { created_at, version, fact_seq, ...account } = made.json.account
    assert.equal(account, {
      id: 'studio',
      email: 'studio@demo.test',
      name: '',
      plan: 'pro',
      role: 'member',
      capabilities: [],
      teams: ['red'],
      cost_cap_usd: null,
      template_lock: null,
      rails: [],
      ai_per_day: null,
      limits: {},
    })
    assert.equal([typeof created_at, version, fact_seq], ['string', 1, 0])
    assert.is((await specOf('studio')).plan, 'pro')
    const { accounts, total } = (await ask('GET', `${ALL}?limit=2`)).json
    assert.equal([accounts[0].id, accounts.length, total], ['studio', 2, 4])
    const drawn = await ask('POST', ALL, { email: 'drawn@demo.test' })
    assert.match(drawn.json.account.id, /^acct-[0-9a-f]{16}$/)
  })

  t('are made once under one key, also when the process died before it could keep its answer', async () => {
    const key = { 'idempotency-key': 'made-once' }
    const make = () => call(platform.baseUrl, admin, 'POST', ALL, { email: 'once@demo.test' }, key)
    const first = await make()
    assert.is(first.status, 201, first.text)
    const forget = "update idempotency set state = 'failed', sealed = null where key = 'made-once' returning 1 as one"
    assert.is((await query(platform.database.url, forget)).length, 1)
    const again = await make()
    assert.equal([again.status, again.json.account.id], [201, first.json.account.id])
    const { accounts } = (await ask('GET', `${ALL}?limit=200`)).json
    assert.is(accounts.filter(({ email }: { email: string }) => email === 'once@demo.test').length, 1)
  })

  t('are changed; what REST wrote kubectl shows, and what kubectl wrote REST shows', async () => {
    const change = {
      plan: 'team',
      ai_per_day: 5,
      cost_cap_usd: 300,
      limits: { sends_per_day: 7 },
      template_lock: 'lumen',
    }
    const { status, json } = await ask('PATCH', `${ALL}/studio`, change)
    assert.is(status, 200)
    for (const [field, value] of Object.entries(change)) assert.equal(json.account[field], value, field)
    const { plan, aiPerDay, costCapUsd, limits, templateLock } = await specOf('studio')
    assert.equal([plan, aiPerDay, costCapUsd, limits, templateLock], ['team', 5, 300, { sendsPerDay: 7 }, 'lumen'])

    const patch = JSON.stringify({ spec: { limits: { sites: 9 }, templateLock: null, role: 'reviewer' } })
    await platform.kubectl(['patch', 'acct', 'studio', '--type=merge', '-p', patch])
    const shown = await eventually('the change', async () => {
      const { account } = (await ask('GET', `${ALL}/studio`)).json
      return account.role === 'reviewer' && account
    })
    assert.equal([shown.limits, shown.template_lock], [{ sends_per_day: 7, sites: 9 }, null])
    const back = (await ask('PATCH', `${ALL}/studio`, { limits: null, ai_per_day: null, cost_cap_usd: null })).json
      .account
    assert.equal([back.limits, back.ai_per_day, back.cost_cap_usd], [{}, null, null])
  })

  t('are locked to a template that there is, over REST and by kubectl', async () => {
    const refused = await ask('PATCH', `${ALL}/studio`, { template_lock: 'jungle' })
    assert.equal([refused.status, refused.json.code], [400, 'INVALID_FIELD'], refused.text)
    assert.is(refused.json.errors[0].pointer, '/template_lock')
    assert.match(refused.json.errors[0].detail, /studio, harbor/)
    const patch = JSON.stringify({ spec: { templateLock: 'jungle' } })
    const byHand = (lock: string) =>
      platform.kubectl(['patch', 'acct', 'studio', '--type=merge', '-p', patch.replace('jungle', lock)])
    await assert.rejects(byHand('jungle'), 'the object was invalid')
    assert.is((await specOf('studio')).templateLock, undefined)
    await byHand('lumen')
    assert.is((await specOf('studio')).templateLock, 'lumen')
    for (const [lock, shown] of [
      ['garden', 'garden'],
      [null, null],
    ]) {
      const { status, json } = await ask('PATCH', `${ALL}/studio`, { template_lock: lock })
      assert.equal([status, json.account.template_lock], [200, shown])
    }
  })

  t('are granted capabilities and lose them; saying it again changes nothing', async () => {
    const path = `${ALL}/studio/capabilities`
    for (const _ of [1, 2]) {
      const { status, json } = await ask('PUT', `${path}/app.deploy`)
      assert.equal([status, json.account.capabilities], [200, ['app.deploy']])
    }
    const both = await Promise.all(['app.deploy', 'devbox.manage'].map((one) => ask('PUT', `${path}/${one}`)))
    assert.equal(new Set(both.map(({ status }) => status)), new Set([200]))
    assert.equal((await specOf('studio')).capabilities, ['app.deploy', 'devbox.manage'])
    for (const _ of [1, 2]) {
      const { status, json } = await ask('DELETE', `${path}/app.deploy`)
      assert.equal([status, json.account.capabilities], [200, ['devbox.manage']])
    }
    const unknown = await ask('PUT', `${path}/everything`)
    assert.equal([unknown.status, unknown.json.code], [404, 'NOT_FOUND'])
  })

  const refused: [string, unknown, number, string, string][] = [
    ['an unknown field', { email: 'x@demo.test', plann: 'pro' }, 400, 'UNKNOWN_FIELD', '/plann'],
    [
      'a field in the names of the resource',
      { email: 'x@demo.test', costCapUsd: 1 },
      400,
      'UNKNOWN_FIELD',
      '/costCapUsd',
    ],
    ['an unknown limit', { email: 'x@demo.test', limits: { burst: 1 } }, 400, 'UNKNOWN_FIELD', '/limits/burst'],
    [
      'a limit beyond the most',
      { email: 'x@demo.test', limits: { sites: 1_000_001 } },
      400,
      'INVALID_FIELD',
      '/limits/sites',
    ],
    ['no address', {}, 400, 'INVALID_FIELD', '/email'],
    ['two addresses', { email: 'a@demo.test,b@demo.test' }, 400, 'INVALID_FIELD', '/email'],
    ['an unknown plan', { email: 'x@demo.test', plan: 'gold' }, 400, 'INVALID_FIELD', '/plan'],
    [
      'a capability twice',
      { email: 'x@demo.test', capabilities: ['app.deploy', 'app.deploy'] },
      400,
      'INVALID_FIELD',
      '/capabilities/1',
    ],
    ['an id that is none', { id: 'A b', email: 'x@demo.test' }, 400, 'INVALID_FIELD', '/id'],
    ["another account's address", { email: 'OWNER@demo.test' }, 409, 'EMAIL_TAKEN', '/email'],
  ]
  for (const [say, body, status, code, pointer] of refused) {
    t(`are not made with ${say}`, async () => {
      const reply = await ask('POST', ALL, body)
      assert.equal([reply.status, reply.json.code, reply.json.errors[0].pointer], [status, code, pointer])
    })
  }

  t('are never called as the platform, whose its hosts are', async () => {
    const refused = await ask('POST', ALL, { id: 'platform', email: 'platform@demo.test' })
    assert.equal([refused.status, refused.json.code], [409, 'NAME_TAKEN'], refused.text)
    const account = { apiVersion: 'bottega.dev/v1alpha1', kind: 'Account', metadata: { name: 'platform' } }
    const applied = platform.kubectl(['apply', '-f', '-'], { ...account, spec: { email: 'platform@demo.test' } })
    await applied.then(
      () => assert.unreachable('it was made'),
      (error) => assert.match(error.detail, /NAME_TAKEN: platform is whose the platform's hosts are/),
    )
  })

  t('are not made twice under one id, and not changed when they are not there', async () => {
    const twice = await ask('POST', ALL, { id: 'demo', email: 'twice@demo.test' })
    assert.equal([twice.status, twice.json.code], [409, 'NAME_TAKEN'])
    for (const [method, path] of [
      ['GET', `${ALL}/nobody`],
      ['PATCH', `${ALL}/nobody`],
      ['PUT', `${ALL}/nobody/capabilities/app.deploy`],
    ] as const) {
      const { status, json } = await ask(method, path, method === 'PATCH' ? { name: 'x' } : undefined)
      assert.equal([status, json.code], [404, 'NOT_FOUND'], `${method} ${path}`)
    }
    const taken = await ask('PATCH', `${ALL}/studio`, { email: 'owner@demo.test' })
    assert.equal([taken.status, taken.json.code], [409, 'EMAIL_TAKEN'])
    assert.is((await ask('PATCH', `${ALL}/studio`, { email: 'studio@demo.test' })).status, 200)
  })

  t(
    'are nobody else’s to look at or change: members and reviewers are told the role, and nothing happens',
    async () => {
      const reviewer = await platform.token('studio')
      const before = await platform.kubectl(['get', 'acct', '-o', 'jsonpath={.items[*].metadata.resourceVersion}'])
      for (const token of [platform.owner, reviewer]) {
        for (const [method, path, body] of [
          ['GET', ALL],
          ['POST', ALL, { email: 'x@demo.test' }],
          ['GET', `${ALL}/other`],
          ['GET', `${ALL}/nobody`],
          ['PATCH', `${ALL}/demo`, { role: 'admin' }],
          ['PUT', `${ALL}/demo/capabilities/app.deploy`],
          ['DELETE', `${ALL}/other/capabilities/app.deploy`],
        ] as const) {
          const { status, json } = await as(token)(method, path, body)
          assert.is(status, 403, `${method} ${path}`)
          assert.match(json.detail, /admin/)
        }
      }
      assert.is((await as(null)('GET', ALL)).status, 401)
      const after = await platform.kubectl(['get', 'acct', '-o', 'jsonpath={.items[*].metadata.resourceVersion}'])
      assert.is(after, before)
    },
  )

  t('who are administrators no longer are refused within ten seconds', async () => {
    await ask('POST', ALL, { id: 'second', email: 'second@demo.test', role: 'admin' })
    const second = await platform.token('second')
    assert.is((await as(second)('GET', ALL)).status, 200)
    await ask('PATCH', `${ALL}/second`, { role: 'member' })
    const gone = async () => (await as(second)('GET', ALL)).status === 403
    await eventually('the refusal', gone)
  })

  t('a second start makes no second administrator', async () => {
    await platform.kubectl(['patch', 'acct', 'admin', '--type=merge', '-p', '{"spec":{"email":"moved@demo.test"}}'])
    await platform.api.stop()
    await platform.api.start()
    await sleep(500)
    assert.is((await specOf('admin')).email, 'moved@demo.test')
  })
})

spec('the first administrator', (t) => {
  t('is made once by the API under its own rights, and a name in use is left alone', async () => {
    const namespace = await makeNamespace()
    const kube = makeKube({ kubeconfig: serviceKubeconfig('api') })
    const kubectl = kubectlFor()
    const ensure = () => ensureFirstAdmin({ kube, namespace: namespace.name, email: 'root@demo.test' })
    try {
      assert.equal((await Promise.all([ensure(), ensure()])).includes('made'), true)
      assert.is(await ensure(), 'there is one')
      const at = ['-n', namespace.name]
      await kubectl(['patch', 'acct', 'admin', ...at, '--type=merge', '-p', '{"spec":{"role":"member"}}'])
      assert.is(await ensure(), 'name in use')
      assert.is(await kubectl(['get', 'acct', 'admin', ...at, '-o', 'jsonpath={.spec.role}']), 'member')
    } finally {
      await kube.close()
      await namespace.remove()
    }
  })
})
