import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT } from '../../../api/client/cli/net/outcome.ts'
import { ensureNode, OTHER_NODES } from '../../../hack/lib/nodes.ts'
import { type Cli, makeCli, writeTree } from '../../support/client/cli.ts'
import { CONVERSATIONS, HOSTILE_LINES, type Turn } from '../../support/client/conversations.ts'
import { type Agent, startAgent } from '../../support/client/mcp.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { type AppStage, busybox, project, startAppStage } from '../../support/stage/apps.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

/** The client as people and agents use it: a folder becomes a release on a real host, from each Node that it promises. */

const timeoutMs = 480_000
const NODES = ['20', '22', '24', '26'] as const

spec('the client with a host', (t) => {
  let stage: AppStage
  const nodes = new Map<string, string>([['26', process.execPath]])
  const folder = join(scratchFolder('client-host'), 'project')
  const surroundings = () => ({ BOTTEGA_URL: stage.platform.baseUrl, BOTTEGA_TOKEN: stage.platform.owner })
  const cliOn = (major: string): Cli => makeCli({ node: nodes.get(major) ?? '', env: surroundings(), cwd: folder })
  const within = { withinMs: 300_000 }

  /** A project on the disk, as somebody has it; `busybox` is to be runnable. */
  const write = (version: string, service?: Parameters<typeof project>[1]): void => {
    rmSync(folder, { recursive: true, force: true })
    const { compose, files } = project(version, service)
    const dockerfile = Buffer.from(files.Dockerfile ?? '', 'base64')
      .toString()
      .replace('COPY busybox', 'COPY --chmod=755 busybox')
    writeTree(folder, {
      'docker-compose.yml': compose,
      Dockerfile: dockerfile,
      busybox: Buffer.from(busybox(), 'base64'),
      '.gitignore': 'node_modules/\n',
      'node_modules/left/index.js': 'x',
      '.env': 'SECRET=never-sent\n',
      'refused/compose.yaml': 'services: {web: {image: busybox, privileged: true, expose: ["80"]}}\n',
    })
  }

  // the first run on a machine fetches three Nodes
  t.before(
    async () => {
      for (const major of OTHER_NODES) nodes.set(String(major), await ensureNode(major))
      stage = await startAppStage()
    },
    { timeoutMs: 900_000 },
  )
  t.after(() => stage?.end())

  for (const major of NODES) {
    const app = `shop-${major}`
    t(
      `plans and deploys a folder, and follows it until it serves, on Node ${major}`,
      async () => {
        const cli = cliOn(major)
        write('one')
        assert.is((await cli(['create', app, '--host-id', 'local', '--application-policy', 'none'])).code, 0)
        const planned = await cli(['plan', '--app', app], within)
        assert.is(planned.code, 0, planned.err)
        assert.match(planned.out, /SERVICE +ACTION[\s\S]*web +add +none/)
        assert.match(planned.err, /left out, \.gitignore: 1 entry$/m)
        assert.match(planned.err, /left out, never sent: 1 entry: \.env$/m)
        const { code, out, err } = await cli(['deploy', '.', '--app', app], within)
        assert.is(code, 0, out + err)
        assert.match(out, new RegExp(`✓ release 1 of ${app} serves at https://${app}\\.`))
        assert.match(err, /packed 5 files[\s\S]*uploaded [\d.]+ [kM]B[\s\S]*✓ upload[\s\S]*✓ start/)
        assert.is((await stage.visit(app)).text.trim(), 'one')
      },
      { timeoutMs },
    )

    t(
      `says why a release failed, with exit code 1, and that the old one goes on, on Node ${major}`,
      async () => {
        write('two', { command: 'echo no such table: users; exit 3' })
        const { code, json, err } = await cliOn(major)(['deploy', '.', '--app', app, '--json'], within)
        assert.is(code, EXIT.failed, err)
        assert.equal(
          [json.operation.state, json.operation.result.code, json.release.state],
          ['failed', 'RELEASE_FAILED', 'failed'],
        )
        assert.match(json.release.log_tail, /no such table: users/)
        assert.equal([json.app.release.number, (await stage.visit(app)).text.trim()], [1, 'one'])
        const followed = await cliOn(major)(['operation', json.operation.id, '--follow'])
        assert.equal([followed.code, /no such table/.test(followed.out)], [EXIT.failed, true])
        const refused = await cliOn(major)(['deploy', 'refused', '--app', app])
        assert.is(refused.code, EXIT.refused, refused.err)
        assert.match(refused.err, /COMPOSE_REFUSED[\s\S]*\/services\/web\/privileged/)
      },
      { timeoutMs },
    )

    t(
      `changes the env, and rolls back, on Node ${major}`,
      async () => {
        const cli = cliOn(major)
        const set = await cli(['env', 'set', '--app', app, '--file', '-', '--json'], {
          ...within,
          input: 'GREETING=hello\n',
        })
        assert.equal([set.code, set.json.operation.state], [0, 'succeeded'], set.err)
        assert.is((await stage.visit(app)).text.trim(), 'one hello')
        const back = await cli(['rollback', '1', '--app', app], within)
        assert.is(back.code, 0, back.err)
        assert.match(back.out, /✓ release \d+ of/)
        assert.is((await stage.visit(app)).text.trim(), 'one')
        const releases = await cli(['releases', app])
        assert.match(releases.out, /^NUMBER +STATE/)
        assert.is((await cli(['delete', app, '--yes', '--volumes', 'delete'], within)).code, 0)
      },
      { timeoutMs },
    )
  }
})

const operationIn = (data: { operation?: { id?: string } | null } | undefined): string | undefined =>
  data?.operation?.id

spec('twenty conversations of an agent, with an app that writes what it likes', (t) => {
  let stage: AppStage
  let agent: Agent
  const folder = join(scratchFolder('conversations'), 'project')
  const releases = async (id: string) => (await stage.api('GET', `/api/apps/${id}/releases`)).json.total as number
  let id = ''

  t.before(
    async () => {
      stage = await startAppStage()
      id = (await stage.app('shop', { application_policy: 'none' })).id
      const said = HOSTILE_LINES.map((line) => `echo '${line}'`).join('; ')
      const command = `${said}; /bin/busybox mkdir -p /tmp/www && echo hi > /tmp/www/index.html && exec /bin/busybox httpd -f -p 8080 -h /tmp/www`
      const { compose, files } = project('one', { command })
      writeTree(folder, {
        'docker-compose.yml': compose,
        Dockerfile: Buffer.from(files.Dockerfile ?? '', 'base64')
          .toString()
          .replace('COPY busybox', 'COPY --chmod=755 busybox'),
        busybox: Buffer.from(busybox(), 'base64'),
        'refused/compose.yaml': 'services: {web: {image: busybox, privileged: true, expose: ["80"]}}\n',
      })
      const env = { BOTTEGA_URL: stage.platform.baseUrl, BOTTEGA_TOKEN: stage.platform.owner }
      const first = await makeCli({ env, cwd: folder })(['deploy', '.', '--app', 'shop'], { withinMs: 300_000 })
      assert.is(first.code, 0, first.out + first.err)
      agent = await startAgent(env, { cwd: folder })
    },
    { timeoutMs },
  )
  t.after(async () => {
    await agent?.end()
    await stage?.end()
  })

  const take = async (turn: Turn, last: string): Promise<string> => {
    const args = Object.fromEntries(
      Object.entries(turn.args).map(([name, value]) => [name, value === '$op' ? last : value]),
    )
    const answer = await agent
      .call(turn.tool, args)
      .catch((error: Error) => ({ isError: true, text: error.message, data: null }))
    const { isError, text, data } = answer
    if (turn.refused) {
      assert.ok(isError, text)
      assert.match(text, turn.refused)
      return last
    }
    assert.not.ok(isError, text)
    assert.ok(turn.holds?.(data), text)
    return operationIn(data) ?? last
  }

  t('are twenty, and one of them deploys', () => {
    assert.equal([CONVERSATIONS.length, CONVERSATIONS.filter(({ deploys }) => deploys > 0).length], [20, 1])
  })

  for (const { about, turns, deploys } of CONVERSATIONS) {
    t(
      `deploy ${deploys === 0 ? 'nothing' : 'once'}: ${about}`,
      async () => {
        const before = await releases(id)
        let last = ''
        for (const turn of turns) last = await take(turn, last)
        assert.is((await releases(id)) - before, deploys)
      },
      { timeoutMs },
    )
  }
})
