import { startRepository } from '../../../support/builders/sources/repository.ts'
import { canaryValue } from '../../../support/canaries/answers.ts'
import { assert, spec } from '../../../support/runner/spec.ts'
import { type AppStage, bodyOf, busybox, project, SERVE, startAppStage } from '../../../support/stage/apps.ts'
import { eventually, type Json } from '../../../support/stage/invoicing.ts'

/** Content that comes without a deploy, and who says which of it runs, on a real host. */

const base64 = (text: string): string => Buffer.from(text).toString('base64')

spec('an upload without a deploy', (t) => {
  let stage: AppStage
  let app: Json
  const at = (rest: string) => `/api/apps/${app.id}${rest}`
  const upload = async (version: string): Promise<string> => {
    const reply = await stage.api('POST', at('/sources'), bodyOf(project(version)))
    assert.is(reply.status, 201, reply.text)
    return reply.json.source.digest
  }
  const shown = async () => (await stage.visit(app.slug)).text.trim()
  const live = async (): Promise<Json> => (await stage.api('GET', at(''))).json.app
  const manifest = (spec: object) => ({
    apiVersion: 'bottega.dev/v1alpha1',
    kind: 'App',
    metadata: { name: app.id },
    spec: { account: 'demo', slug: app.slug, hostId: 'local', applicationPolicy: 'none', ...spec },
  })
  const apply = (spec: object, ...how: string[]) => stage.platform.kubectl(['apply', ...how, '-f', '-'], manifest(spec))
  const serverSide = ['--server-side', '--force-conflicts', '--field-manager=gitops']
  const stalled = async (): Promise<string> => (await live()).stalled?.code ?? ''
  let first: string

  t.before(async () => {
    // the repository stands on this machine
    stage = await startAppStage({ env: { BOTTEGA_EGRESS_ALLOW_LOOPBACK: 'true' } })
    app = await stage.app('sources', { application_policy: 'none' })
  })
  t.after(() => stage.end())

  t('is stored and listed, runs nothing, and is deployed by its digest', async () => {
    first = await upload('one')
    assert.is((await live()).release, null)
    const listed = (await stage.api('GET', at('/sources'))).json
    assert.equal([listed.total, listed.sources[0].digest, listed.sources[0].releases], [1, first, []])
    assert.is(listed.account.sources, 1)
    const plan = (await stage.api('POST', at('/deploy?dry_run=1'), { source: first })).json.plan
    assert.is(plan.source_digest, first)
    const done = await stage.operate('POST', at('/deploy'), { source: first })
    assert.is(done.json.operation.state, 'succeeded', done.text)
    assert.match(await shown(), 'one')
    const [source] = (await stage.api('GET', at('/sources'))).json.sources
    assert.equal(source.releases, [1])
  })

  t('that this account never sent is not deployed, whoever else did', async () => {
    const unknown = await stage.api('POST', at('/deploy'), { source: 'f'.repeat(64) })
    assert.equal([unknown.status, unknown.json.code], [409, 'UNKNOWN_SOURCE'])
    const other = await stage.as('other')
    const theirs = await other.app('foreign')
    const reply = await other.api('POST', `/api/apps/${theirs.id}/deploy`, { source: first })
    assert.equal([reply.status, reply.json.code], [409, 'UNKNOWN_SOURCE'])
    assert.is((await other.api('GET', `/api/apps/${app.id}/sources`)).status, 404)
    assert.is((await other.api('POST', `/api/apps/${app.id}/sources`, bodyOf(project('evil')))).status, 404)
    const odd = await stage.api('POST', at('/deploy'), { source: 'x', compose: '' })
    assert.equal([odd.json.code, odd.json.errors[0].pointer], ['UNKNOWN_FIELD', '/compose'])
  })

  t('without a compose file is recognised, shown in the plan, and runs', async () => {
    const page = await stage.app('page', { application_policy: 'none' })
    const command = ['/bin/busybox', 'sh', '-c', SERVE.replace('8080', '9000').replace('$VERSION', 'recognised')]
    const recipe = `FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\nEXPOSE 9000\nCMD ${JSON.stringify(command)}\n`
    const body = { files: { Dockerfile: base64(recipe), busybox: { base64: busybox(), mode: '755' } } }
    const { plan } = (await stage.api('POST', `/api/apps/${page.id}/deploy?dry_run=1`, body)).json
    assert.is(plan.recognised.kind, 'dockerfile')
    assert.match(plan.recognised.files[0].text, 'services:')
    const done = await stage.operate('POST', `/api/apps/${page.id}/deploy`, body)
    assert.is(done.json.operation.state, 'succeeded', done.text)
    assert.match((await stage.visit('page')).text, 'recognised')
    const [source] = (await stage.api('GET', `/api/apps/${page.id}/sources`)).json.sources
    assert.is(source.recognised.kind, 'dockerfile')
  })

  t('is fetched from a branch of a repository, and its commit is on record', async () => {
    const served = await startRepository()
    const cloned = await stage.app('cloned', { application_policy: 'none' })
    const recipe = (word: string) =>
      `FROM scratch\nCOPY busybox /bin/busybox\nWORKDIR /tmp\nEXPOSE 8080\nCMD ${JSON.stringify(['/bin/busybox', 'sh', '-c', SERVE.replace('$VERSION', word)])}\n`
    try {
      const commit = served.commit({
        Dockerfile: recipe('fetched'),
        busybox: { run: Buffer.from(busybox(), 'base64') },
      })
      const deploy = (body: object) => stage.operate('POST', `/api/apps/${cloned.id}/deploy`, body)
      const done = await deploy({ git: { url: served.url, ref: 'main' } })
      assert.is(done.json.operation?.state, 'succeeded', done.text)
      assert.match((await stage.visit('cloned')).text, 'fetched')
      const [source] = (await stage.api('GET', `/api/apps/${cloned.id}/sources`)).json.sources
      assert.equal(source.git, { url: served.url, ref: 'main', commit })
      assert.equal(source.releases, [1])
      const none = await deploy({ git: { url: served.url, ref: 'nothing' } })
      assert.equal([none.status, none.json.code], [409, 'GIT_FAILED'])
      for (const url of ['file:///etc', 'ssh://git@example.com/a.git', 'https://a:b@example.com/a.git', 7]) {
        const reply = await deploy({ git: { url } })
        assert.equal([reply.json.code, reply.json.errors[0].pointer], ['INVALID_FIELD', '/git/url'])
      }
      const ref = await deploy({ git: { url: served.url, ref: '../x' } })
      assert.is(ref.json.errors[0].pointer, '/git/ref')
    } finally {
      await served.end()
    }
  })

  t('is deployed by a manifest that names it, which then alone says what runs', async () => {
    const second = await upload('two')
    await apply({ source: { digest: second } }, ...serverSide)
    await eventually('release 2', async () => /two/.test(await shown()), 60_000)
    for (const [path, body] of [
      ['/deploy', bodyOf(project('three'))],
      ['/deploy', { source: first }],
      ['/rollback', { release: 1 }],
    ] as const) {
      const reply = await stage.api('POST', at(path), body)
      assert.equal([reply.status, reply.json.code], [409, 'FIELD_IN_MANIFEST'], path)
      assert.match(reply.json.detail, 'gitops')
    }
    const listed = (await stage.api('GET', at('/sources'))).json
    assert.is(listed.total, 2, 'what was refused was not stored')
    // visitors have it a moment before it is on record
    await eventually('release 2 to be told', async () => (await live()).release.number === 2)
    // what the manifest does not say is still said over REST
    const env = await stage.operate('PATCH', at('/env'), { env: { GREETING: 'hello' } })
    assert.is(env.json.operation.state, 'succeeded', env.text)
    assert.match(await shown(), 'two hello')
  })

  for (const [how, ...flags] of [['server-side apply', ...serverSide], ['plain apply']] as const) {
    t(`that is older than what was deployed over REST is not deployed by a manifest: ${how}`, async () => {
      await stage.platform.kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', '{"spec":{"source":null}}'])
      const version = `rest-${how.slice(0, 5)}`
      const done = await stage.operate('POST', at('/deploy'), bodyOf(project(version)))
      assert.is(done.json.operation.state, 'succeeded', done.text)
      const { number } = done.json.release
      await apply({ source: { digest: first } }, ...flags)
      await eventually('that it is behind', async () => (await stalled()) === 'MANIFEST_BEHIND', 40_000)
      assert.is((await live()).release.number, number)
      assert.match(await shown(), version)
      const said = await stage.platform.kubectl(['get', 'bapp', app.id, '-o', 'jsonpath={.status.conditions}'])
      assert.match(said, 'MANIFEST_BEHIND: /source')
      // meant all the same: sent again it is the newest
      assert.is(await upload('one'), first)
      await eventually('the older one', async () => /^one/.test(await shown()), 60_000)
      await eventually('nothing to be behind', async () => (await stalled()) === '', 40_000)
    })
  }

  t('may come from registries that the account has logins for, whose passwords nobody reads', async () => {
    const one = '/api/apps/registries/ghcr.io'
    const login = { username: 'robot', password: canaryValue('registry') }
    assert.is((await stage.api('PUT', one, login)).status, 200)
    assert.is((await stage.api('PUT', one, { ...login, username: 'other' })).status, 200)
    const listed = await stage.api('GET', '/api/apps/registries')
    assert.equal(
      listed.json.registries.map(({ host, username }: Json) => [host, username]),
      [['ghcr.io', 'other']],
    )
    assert.not.match(listed.text, login.password)
    const other = await stage.as('other')
    assert.is((await other.api('GET', '/api/apps/registries')).json.total, 0)
    assert.is((await other.api('DELETE', one)).status, 404)
    for (const host of ['localhost', '127.0.0.1:5000', 'registry.internal', 'GHCR.io', 'ghcr.io%2Fowner']) {
      assert.is((await stage.api('PUT', `/api/apps/registries/${host}`, login)).json.code, 'BAD_REGISTRY', host)
    }
    assert.is((await stage.api('DELETE', one)).status, 204)
    assert.is((await stage.api('GET', '/api/apps/registries')).json.total, 0)
  })

  t('of an earlier release is built again from it', async () => {
    await stage.platform.kubectl(['patch', 'bapp', app.id, '--type=merge', '-p', '{"spec":{"source":null}}'])
    const { releases } = (await stage.api('GET', at('/releases'))).json
    const oldest = releases.at(-1)
    assert.equal([oldest.number, oldest.restorable.source], [1, true])
    const done = await stage.operate('POST', at('/rollback'), { release: 2, rebuild: true })
    assert.is(done.json.operation.state, 'succeeded', done.text)
    assert.is(done.json.operation.kind, 'deploy')
    assert.match(await shown(), 'two')
  })
})
