/** The client against the real API, on each Node that it promises; and how it is fetched. What needs a host is in test/hosts/app. */
import { createHash } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT } from '../../../api/client/cli/net/outcome.ts'
import { ensureNode, OTHER_NODES } from '../../../hack/lib/nodes.ts'
import { CLIENT, type Cli, makeCli } from '../../support/client/cli.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

const HOST_KEY = `ssh-ed25519 ${Buffer.from('not a real key, and never asked for it.').toString('base64')}`

spec('the client', (t) => {
  let platform: Platform
  const nodes = new Map<string, string>([['26', process.execPath]])
  const cliOn = (node: string): Cli =>
    makeCli({ node, env: { BOTTEGA_URL: platform.baseUrl, BOTTEGA_TOKEN: platform.owner } })

  // the first run on a machine fetches three Nodes
  t.before(
    async () => {
      for (const major of OTHER_NODES) nodes.set(String(major), await ensureNode(major))
      platform = await startPlatform()
      const spec = { address: '127.0.0.1', port: 9, user: 'deploy', hostKey: HOST_KEY, baseDomain: 'local.test' }
      await platform.kubectl(['apply', '-f', '-'], {
        apiVersion: 'bottega.dev/v1alpha1',
        kind: 'Host',
        metadata: { name: 'local' },
        spec: { ...spec, approved: true, class: 'shared' },
      })
    },
    { timeoutMs: 900_000 },
  )
  t.after(() => platform.end())

  t('says who lacks what, with exit code 4, before the capability is granted', async () => {
    const { code, err } = await cliOn(process.execPath)(['create', 'shop'])
    assert.is(code, EXIT.notAuthorised, err)
    assert.match(err, /CAPABILITY_REQUIRED \(403\)/)
    const grant = '{"spec":{"capabilities":["app.deploy"]}}'
    await platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', grant])
    await eventually('the capability', async () => {
      const { json } = await call(platform.baseUrl, platform.owner, 'GET', '/api/apps/publishing-capabilities')
      return json.deploy?.reason !== 'The account lacks the capability app.deploy.'
    })
  })

  for (const major of ['20', '22', '24', '26']) {
    t(`makes, changes, shows and deletes an app on Node ${major}`, async () => {
      const cli = cliOn(nodes.get(major) ?? '')
      const slug = `shop-${major}`
      const made = await cli([
        'create',
        slug,
        '--host-id',
        'local',
        '--application-policy',
        'none',
        '--route-port',
        '8080',
        '--json',
      ])
      assert.is(made.code, 0, made.err)
      assert.equal(
        [made.json.app.slug, made.json.app.route.port, made.json.app.application_policy],
        [slug, 8080, 'none'],
      )
      const { id } = made.json.app
      const stored = await cli(['env', 'replace', slug, 'A=1', '--file', '-', '--json'], {
        input: "B='two words'\n# no\n",
      })
      assert.equal([stored.code, stored.json.env.keys], [0, ['A', 'B']], stored.err)
      assert.not.match(stored.out, /two words/)
      const status = await cli(['status', slug])
      assert.match(
        status.out,
        new RegExp(`${slug} \\(${id}\\) is empty, public, on local[\\s\\S]*env: A, B \\(stored 1`),
      )
      const list = await cli(['apps'])
      assert.match(list.out, new RegExp(`^SLUG +STATUS[\\s\\S]*^${slug} +empty`, 'm'))
      assert.equal(
        [(await cli(['readiness', slug])).code, (await cli(['readiness', id, '--json'])).json.readiness.state],
        [EXIT.failed, 'not_ready'],
      )
      const changed = await cli(['update', '--app', slug, '--application-policy', 'unknown', '--json'])
      assert.is(changed.json.app.application_policy, 'unknown', changed.err)
      const gone = await cli(['delete', slug, '--yes', '--json'])
      assert.equal([gone.code, gone.json], [0, {}], gone.err)
      const missing = await cli(['status', slug, '--json'])
      assert.equal([missing.code, missing.json.problem.code], [EXIT.failed, 'NOT_FOUND'])
    })
  }

  t('reserves, lists, shows and deletes a dev instance, and logs in to none that is not ready', async () => {
    const cli = cliOn(process.execPath)
    const asked = ['devbox', 'reserve', 'october', '--size-class', 'XS', '--agents', 'codex', '--json']
    const lacking = await cli(asked)
    assert.equal([lacking.code, lacking.json.problem.code], [EXIT.notAuthorised, 'CAPABILITY_REQUIRED'])
    const grant = '{"spec":{"capabilities":["app.deploy","devbox.manage"]}}'
    await platform.kubectl(['patch', 'acct', 'demo', '--type=merge', '-p', grant])
    let made = lacking
    await eventually('the capability', async () => {
      made = await cli(asked)
      return made.code === 0
    })
    const { id, state, agents } = made.json.devbox
    assert.equal([state, agents], ['reserved', ['codex']])
    assert.match((await cli(['devbox', 'list'])).out, new RegExp(`^october +reserved +XS .*${id}$`, 'm'))
    const shown = await cli(['devbox', 'show', 'october'])
    assert.match(shown.out, /^host keys: none attested yet$[\s\S]*^VS Code: vscode:/m)
    const login = await cli(['devbox', 'ssh', 'october', '--json', '--', 'true'])
    assert.equal([login.code, login.json.problem.code], [EXIT.refused, 'NO_HOST_KEYS'])
    const start = await cli(['devbox', 'start', 'october', '--json'])
    assert.equal([start.code, start.json.problem.code], [EXIT.failed, 'WRONG_STATE'])
    const env = await cli(['devbox', 'env', 'replace', 'A=1', '--devbox', 'october', '--json'])
    assert.equal([env.code, env.json.keys], [0, ['A']], env.err)
    assert.is((await cli(['devbox', 'env', 'october'])).out, 'A\n')
    const policy = await cli(['devbox', 'update', 'october', '--policy-idle-minutes', '45', '--json'])
    assert.equal([policy.code, policy.json.devbox.policy.idleMinutes], [0, 45], policy.err)
    const dear = await cli(['devbox', 'reserve', 'november', '--size-class', 'XL', '--json'])
    assert.equal([dear.code, dear.json.problem.code], [EXIT.refused, 'CAP_EXCEEDED'])
    assert.is((await cli(['devbox', 'delete', 'october', '--yes', '--json'])).code, 0)
    assert.is((await cli(['devbox', 'show', 'october'])).code, EXIT.failed)
  })

  t('shows what was refused: code, place and next step', async () => {
    const { code, err } = await cliOn(process.execPath)(['create', 'Shop', '--access', 'private'])
    assert.is(code, EXIT.failed)
    assert.match(err, /INVALID_FIELD[\s\S]*\/slug[\s\S]*→/)
  })

  t('refuses to deploy where no host was inspected, in words of the platform', async () => {
    const cli = cliOn(process.execPath)
    const folder = scratchFolder('client-project')
    writeFileSync(join(folder, 'compose.yaml'), 'services: {web: {image: busybox}}\n')
    writeFileSync(join(folder, 'bottega.json'), '{"app": "dry"}')
    const made = await cli(['create', 'dry', '--host-id', 'local'])
    assert.is(made.code, 0)
    // How it stands, and not all that is known of it.
    assert.match(made.out, /^dry \(app-\w+\) is empty, public, on local\nurl: https:/)
    assert.ok(made.out.split('\n').length < 12, made.out)
    const { code, json } = await cli(['plan', '--json'], { cwd: folder })
    assert.equal([code, json.problem.code], [EXIT.failed, 'HOST_UNFIT'])
  })

  t('takes its token from a file or from what comes in, and is told of a wrong one', async () => {
    const folder = scratchFolder('client-token')
    const path = join(folder, 'token')
    writeFileSync(path, `${platform.owner}\n`)
    chmodSync(path, 0o644)
    const cli = makeCli({ env: { BOTTEGA_URL: platform.baseUrl } })
    const open = await cli(['apps', '--token-file', path])
    assert.is(open.code, 0, open.err)
    assert.match(open.err, /can be read by others/)
    chmodSync(path, 0o600)
    assert.is((await cli(['apps', '--token-file', path])).err, '')
    assert.is((await cli(['apps', '--token', '-'], { input: `${platform.owner}\n` })).code, 0)
    const wrong = await cli(['apps', '--token', '-'], { input: `${platform.owner}x\n` })
    assert.is(wrong.code, EXIT.notAuthorised, wrong.err)
    assert.not.match(open.out + open.err + wrong.out + wrong.err, platform.owner)
  })

  t('runs the same change once under a key that is named', async () => {
    const cli = cliOn(process.execPath)
    const asked = ['create', 'once', '--host-id', 'local', '--idempotency-key', 'once-1', '--json']
    const [one, two] = [await cli(asked), await cli(asked)]
    assert.equal([two.code, two.json.app.id], [0, one.json.app.id])
  })

  t('is served as it lies in the tree, with its digest, and not sent again', async () => {
    for (const [path, type] of [
      ['/client/bottega.mjs', 'text/javascript; charset=utf-8'],
      ['/client/SKILL.md', 'text/markdown; charset=utf-8'],
    ] as const) {
      const file = readFileSync(join(CLIENT, '..', path.slice('/client/'.length)))
      const digest = createHash('sha256').update(file)
      const sha256 = digest.copy().digest('hex')
      const response = await fetch(`${platform.baseUrl}${path}`)
      assert.is(response.headers.get('content-type'), type)
      assert.is(response.headers.get('etag'), `"${sha256}"`)
      assert.is(response.headers.get('repr-digest'), `sha-256=:${digest.digest('base64')}:`)
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(file), path)
      const again = await fetch(`${platform.baseUrl}${path}`, { headers: { 'if-none-match': `"${sha256}"` } })
      assert.equal([again.status, await again.text()], [304, ''])
      const other = await fetch(`${platform.baseUrl}${path}`, { headers: { 'if-none-match': '"other"' } })
      assert.is(other.status, 200)
    }
    const skill = readFileSync(join(CLIENT, '..', 'SKILL.md'), 'utf8')
    const { out } = await cliOn(process.execPath)(['version'])
    const sha256 = createHash('sha256').update(readFileSync(CLIENT)).digest('hex')
    assert.ok(out.includes(sha256) && skill.includes(sha256))
  })
})
