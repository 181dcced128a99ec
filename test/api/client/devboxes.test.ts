/** Dev instances by the client: the registry as its table decides, asked over HTTP. What logs in is in login.test.ts. */
import { EXIT } from '../../../api/client/cli/net/outcome.ts'
import { resizeProposal } from '../../../crds/devinstance/bootstrap/report.ts'
import { committedMicroUsd, type DevInstanceRow } from '../../../crds/devinstance/life/row.ts'
import { T0 } from '../../support/builders/devinstance.ts'
import { type Cli, makeCli } from '../../support/client/cli.ts'
import { answerJson, byPlace, startStandIn } from '../../support/client/standin.ts'
import { type MemoryRegistry, startRegistry } from '../../support/devbox/registry.ts'
import { assert, spec } from '../../support/runner/spec.ts'

const TOKEN = 'btg_0123456789abcdef_0123456789abcdef'
const PRINT = `SHA256:${'a'.repeat(43)}`

spec('dev instances, by the client', (t) => {
  let registry: MemoryRegistry
  let cli: Cli
  t.before(async () => {
    registry = await startRegistry(() => Date.parse(T0))
    cli = makeCli({ env: { BOTTEGA_URL: registry.url, BOTTEGA_TOKEN: TOKEN } })
  })
  t.after(() => registry.end())

  /** One that stands still, as the registry would have it. */
  const stopped = (name: string, more: Partial<DevInstanceRow> = {}): string => {
    const id = registry.reserve({ name, repo: { url: 'https://git.example.org/shop.git', ref: 'main' } })
    const kept = registry.kept.get(id)
    assert.ok(kept)
    const held = [{ eipAllocId: 'eipalloc-1', publicIp: '203.0.113.7', heldFrom: T0 }]
    const machine = { machine: 'down', instanceId: `i-${'0'.repeat(17)}`, eipAllocId: 'eipalloc-1', held } as const
    kept.row = { ...kept.row, ...machine, state: 'stopped', hostKeys: [PRINT], ...more }
    return id
  }

  t('are listed with what they cost', async () => {
    const id = stopped('listed')
    const { code, out, err } = await cli(['devbox', 'list'])
    assert.is(code, 0, err)
    assert.match(out, /^NAME +STATE +SIZECLASS +PUBLICIP +PRICE\.RUNNINGMONTHLYUSD/)
    assert.match(out, new RegExp(`^listed +stopped +S +203\\.0\\.113\\.7 +56\\.71 .*${id}$`, 'm'))
    assert.is((await cli(['devbox', 'list', '--json'])).json.devboxes.length, 1)
  })

  t('are shown with links that open them in an editor', async () => {
    const id = stopped('october')
    const { code, out, err } = await cli(['devbox', 'show', 'october'])
    assert.is(code, 0, err)
    for (const line of [
      `october (${id}) is stopped since ${T0}: S, arm64, 50 GB, t4g.large`,
      'price: 56.71 USD a month while it runs, 7.65 while it is stopped; 0.00 until now',
      'repo: https://git.example.org/shop.git at main',
      `host keys: ${PRINT}`,
      'VS Code: vscode://vscode-remote/ssh-remote+bottega-october/home/dev/repo',
      `JetBrains Gateway: jetbrains-gateway://connect#type=ssh&deploy=false&host=bottega-october&port=22&user=dev&projectPath=%2Fhome%2Fdev%2Frepo`,
    ]) {
      assert.ok(out.split('\n').includes(line), `${line}\nin\n${out}`)
    }
    const { json } = await cli(['devbox', 'show', id, '--json'])
    assert.equal([json.devbox.id, json.links.host], [id, 'bottega-october'])
  })

  t('are asked to start, on the version that is there', async () => {
    const id = stopped('start')
    const { version } = registry.row(id)
    const { code, out, err } = await cli(['devbox', 'start', 'start'])
    assert.is(code, 0, err)
    assert.match(out, /^asked: a start, at /m)
    assert.match(err, /the provisioner starts it/)
    assert.equal([registry.row(id).version, registry.row(id).starting?.newAddress], [version + 1, false])
    const seen = await cli(['devbox', 'start', 'start', '--version', String(version), '--json'])
    assert.equal([seen.code, seen.json.problem.code], [EXIT.failed, 'VERSION_CONFLICT'])
    assert.ok(seen.json.problem.next)
  })

  t('are asked to stop without a login, on the version that is there', async () => {
    const id = stopped('halt', { state: 'running', machine: 'up' })
    const { version } = registry.row(id)
    const { code, out, err } = await cli(['devbox', 'halt', 'halt'])
    assert.is(code, 0, err)
    assert.match(out, /^wished: stopped, over REST, at /m)
    assert.match(err, /the provisioner stops it/)
    assert.is(registry.row(id).version, version + 1)
    const again = await cli(['devbox', 'halt', 'halt', '--json'])
    assert.equal([again.code, again.json.devbox.wanted.power, registry.row(id).version], [0, 'stopped', version + 1])
    const seen = await cli(['devbox', 'halt', 'halt', '--version', String(version), '--json'])
    assert.equal([seen.code, seen.json.problem.code], [EXIT.failed, 'VERSION_CONFLICT'])
    const off = await cli(['devbox', 'halt', stopped('halted'), '--json'])
    assert.equal([off.code, off.json.problem.code], [EXIT.failed, 'WRONG_STATE'])
  })

  t('are not started beyond the cap: exit code 5, with the figures', async () => {
    const id = stopped('capped')
    registry.capOf.set(id, { othersMicroUsd: 0, capMicroUsd: committedMicroUsd(registry.row(id)) })
    const { code, err } = await cli(['devbox', 'start', 'capped', '--new-address'])
    assert.is(code, EXIT.refused, err)
    assert.match(err, /CAP_EXCEEDED \(409\)[\s\S]*→/)
    assert.is(registry.row(id).starting, null)
  })

  t('are resized by the very command that a proposal tells', async () => {
    const id = stopped('small', { state: 'running', machine: 'up' })
    const row = registry.row(id)
    const full = { at: T0, body: { disk: { totalGb: 50, usedGb: 49 } } }
    const proposal = resizeProposal(
      { id, box: row, policy: row.policy },
      { reports: [full], committedMicroUsd: 0, capMicroUsd: 10 ** 9, now: new Date(T0) },
    )
    const [program, ...words] = (proposal?.command ?? '').split(' ')
    assert.is(program, 'bottega')
    const { code, err } = await cli(words)
    assert.is(code, 0, err)
    assert.equal([registry.row(id).state, registry.row(id).intent?.to.diskGb], ['resizing', proposal?.diskGb])
    const again = await cli(['devbox', 'resize', 'small'])
    assert.equal([again.code, /--size-class/.test(again.err)], [EXIT.usage, true])
  })

  t('are not resized over work that was not pushed, unless that is acknowledged', async () => {
    const id = stopped('work')
    registry.report(id, { git: { dirty: 2, untracked: 0, unpushed: 0 } })
    const asked = ['devbox', 'resize', 'work', '--size-class', 'M']
    const { code, json } = await cli([...asked, '--json'])
    assert.equal([code, json.problem.code, registry.row(id).state], [EXIT.refused, 'WORK_AT_RISK', 'stopped'])
    assert.is((await cli([...asked, '--acknowledge-work-at-risk'])).code, 0)
    assert.is(registry.row(id).state, 'resizing')
  })

  t('have an environment of which names are shown', async () => {
    stopped('env', { env: { key: 'k', keys: ['A', 'GIT_TOKEN'] } })
    assert.is((await cli(['devbox', 'env', 'env'])).out, 'A\nGIT_TOKEN\n')
    assert.equal((await cli(['devbox', 'env', '--devbox', 'env', '--json'])).json, { keys: ['A', 'GIT_TOKEN'] })
  })

  t('get an environment from a file, and never from what others may read', async () => {
    const api = await startStandIn(
      byPlace([
        ['PUT', (asked, response) => answerJson(response, 200, { keys: Object.keys(JSON.parse(asked.body).env) })],
        ['GET', (_, response) => answerJson(response, 200, { devboxes: [{ id: 'dev-1', name: 'october' }] })],
      ]),
    )
    const asked = ['devbox', 'env', 'replace', '--devbox', 'october', '--file', '-', '--json']
    const { code, out, json } = await cli(asked, { input: "A='two words'\nB=1\n", env: { BOTTEGA_URL: api.url } })
    assert.equal([code, json], [0, { keys: ['A', 'B'] }])
    assert.not.match(out, /two words/)
    assert.equal(JSON.parse(api.asked.at(-1)?.body ?? ''), { env: { A: 'two words', B: '1' } })
    await api.end()
  })

  t('are named, and never guessed', async () => {
    const none = await cli(['devbox', 'show', 'nobody'], { env: { BOTTEGA_APP: 'listed', BOTTEGA_DEVBOX: 'listed' } })
    assert.is(none.code, EXIT.failed)
    assert.match(none.err, /has no devbox "nobody"[\s\S]*→ bottega devbox list/)
    assert.match((await cli(['devbox', 'config'])).err, /Which devbox\? Say --devbox NAME/)
  })

  const WRONG: [string, string[], RegExp][] = [
    ['a port that is none', ['devbox', 'ports', 'x', 'http'], /takes a port from 1 to 65535/],
    ['a port too many', ['devbox', 'ports', 'x', '1:2:3'], /no HERE:THERE/],
    ['no port', ['devbox', 'ports', 'x'], /Which ports\?/],
    ['a word too many', ['devbox', 'config', 'x', 'y'], /takes no "y"/],
    ['a command for JSON without one', ['devbox', 'ssh', 'x', '--json'], /there has to be a command/],
    ['an environment of nothing', ['devbox', 'env', 'replace', '--devbox', 'x'], /replaces all of it/],
    ['a class that is none', ['devbox', 'resize', 'x', '--size', 'M'], /Did you mean --size-class\?|has no flag/],
  ]
  for (const [what, args, said] of WRONG) {
    t(`are not asked for what was typed wrong: ${what}`, async () => {
      const { code, out, err } = await cli(args)
      assert.is(code, EXIT.usage, err)
      assert.match(out + err, said)
    })
  }

  t('leave to the command there what stands behind --, whatever it looks like', async () => {
    const id = stopped('dashes', { hostKeys: [] })
    // refused for the want of host keys, and neither a version, nor help, nor JSON of the client's own
    for (const word of ['--version', '--help', '--json', '--quiet']) {
      const { code, out, err } = await cli(['devbox', 'ssh', id, '--', 'node', word])
      assert.equal([code, out], [EXIT.refused, ''], word)
      assert.match(err, /NO_HOST_KEYS/)
    }
  })
})
