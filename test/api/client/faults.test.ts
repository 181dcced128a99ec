/** The client when things break on the way: what is repeated, under which key, and how it ends. */
import { join } from 'node:path'
import { EXIT } from '../../../api/client/cli/net/outcome.ts'
import { makeCli, writeTree } from '../../support/client/cli.ts'
import {
  answerJson,
  answerProblem,
  byPlace,
  type StandIn,
  type StandInAnswer,
  startStandIn,
} from '../../support/client/standin.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

const APP = 'app-00000000000000000000000000000000'
const operation = (state: string, more: object = {}) => ({
  id: 'op-1',
  app: APP,
  kind: 'deploy',
  state,
  steps: [
    {
      name: 'upload',
      state: 'succeeded',
      started_at: '2026-11-26T00:00:00Z',
      ended_at: '2026-11-26T00:00:01Z',
      message: null,
    },
  ],
  result: null,
  ended_at: null,
  ...more,
})
const ended = (state: string, result: object) => operation(state, { ended_at: '2026-11-26T00:01:00Z', result })
const taken = { operation_id: 'op-1', operation: operation('queued') }
const location = { location: '/api/apps/operations/op-1' }
const app = { app: { id: APP, slug: 'shop', url: 'https://shop.test', release: { number: 1 } } }

const json =
  (status: number, body: object, headers = {}): StandInAnswer =>
  (_asked, response) =>
    answerJson(response, status, body, headers)
const none: StandInAnswer = (_asked, response) => answerProblem(response, 404, 'NOT_FOUND')
/** What a deploy asks for, beside what a test says of it. */
const deployed = (more: readonly [string, StandInAnswer][], release: object = { number: 1, state: 'live' }) =>
  byPlace([
    ...more,
    ['POST', json(202, taken, location)],
    ['/logs', none],
    ['/operations/', json(200, { operation: ended('succeeded', { release: 1 }) })],
    ['/releases', json(200, { releases: [release] })],
    ['GET', json(200, app)],
  ])

spec('the client, when things break', (t) => {
  let standIn: StandIn | undefined
  const folder = join(scratchFolder('client-faults'), 'project')
  writeTree(folder, { 'compose.yaml': 'services: {}\n', 'big.bin': Buffer.alloc(3_000_000, 'x').fill(0) })
  const started = async (...given: Parameters<typeof startStandIn>): Promise<StandIn> => {
    await standIn?.end()
    standIn = await startStandIn(...given)
    return standIn
  }
  t.after(async () => standIn?.end())
  const run = ({ url }: StandIn, args: string[], more: Parameters<ReturnType<typeof makeCli>>[1] = {}) =>
    makeCli({ env: { BOTTEGA_URL: url, BOTTEGA_TOKEN: 'btg_a_b_c_d_e_f' }, cwd: folder })(args, more)

  t('repeats a deploy whose answer was lost, the same bytes under the same key', async () => {
    const lost: StandInAnswer = (_asked, response, nth) =>
      nth === 0 ? response.destroy() : answerJson(response, 202, taken, location)
    const server = await started(deployed([['POST', lost]]))
    const { code, err, json: said } = await run(server, ['deploy', '.', '--app', APP, '--json'])
    assert.is(code, 0, err)
    const posts = server.asked.filter(({ method }) => method === 'POST')
    assert.is(posts.length, 2)
    assert.equal(posts[0]?.headers['idempotency-key'], posts[1]?.headers['idempotency-key'])
    assert.ok(posts[0]?.body === posts[1]?.body && (posts[0]?.bytes ?? 0) > 0)
    assert.equal([said.operation.state, said.release.number, said.sent.files], ['succeeded', 1, 2])
    assert.match(err, /the connection was lost/)
    assert.match(err, /uploaded /)
  })

  t('goes on where an upload broke in the middle, and where the platform is away for a moment', async () => {
    const server = await started(
      (asked, response, nth) => {
        if (asked.method === 'POST' && nth === 1)
          answerProblem(response, 503, 'UNAVAILABLE', {}, { 'retry-after': '0' })
        else if (asked.method === 'POST' && nth === 2)
          answerProblem(response, 409, 'IDEMPOTENCY_IN_FLIGHT', {}, { 'retry-after': '0' })
        else if (asked.method === 'POST') answerJson(response, 200, { plan: { files: 2, bytes: 1 } })
        else answerJson(response, 200, app)
      },
      (request, _response, nth) => {
        if (request.method !== 'POST' || nth > 0) return false
        request.once('data', () => request.socket.destroy())
        return true
      },
    )
    const { code, err } = await run(server, ['plan', '.', '--app', APP, '--json'])
    assert.is(code, 0, err)
    const keys = new Set(
      server.asked.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']),
    )
    assert.is(keys.size, 1)
  })

  t('reads a refusal that comes while it still sends', async () => {
    const server = await started(
      (_asked, response) => answerJson(response, 200, app),
      (request, response) => {
        if (request.method !== 'POST') return false
        request.once('data', () => {
          answerProblem(response, 413, 'ARCHIVE_TOO_LARGE')
          request.resume()
        })
        return true
      },
    )
    const { code, json: said } = await run(server, ['deploy', '.', '--app', APP, '--json'])
    assert.equal([code, said.problem.code], [EXIT.failed, 'ARCHIVE_TOO_LARGE'])
  })

  const ENDS: [string, number, string, number][] = [
    ['a wrong token', 401, 'UNAUTHENTICATED', EXIT.notAuthorised],
    ['a capability that is missing', 403, 'CAPABILITY_REQUIRED', EXIT.notAuthorised],
    ['the policy', 400, 'COMPOSE_REFUSED', EXIT.refused],
    ['a host that is not approved', 409, 'HOST_NOT_APPROVED', EXIT.refused],
    ['a fault of the platform', 500, 'INTERNAL', EXIT.failed],
  ]
  for (const [what, status, problem, exit] of ENDS) {
    t(`ends with ${exit} because of ${what}, and shows place and next step`, async () => {
      const errors = [{ code: problem, pointer: '/services/web', detail: 'This place.' }]
      const server = await started((_asked, response) => answerProblem(response, status, problem, { errors }))
      const { code, err } = await run(server, ['deploy', '.', '--app', APP])
      assert.is(code, exit, err)
      for (const part of [problem, '/services/web', 'This place.', 'Do something else.'])
        assert.ok(err.includes(part), part)
    })
  }

  t('says of a page that is not the API what to check, and follows no redirect with its token', async () => {
    const server = await started((_asked, response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' })
      response.end('<html>')
    })
    const { code, err } = await run(server, ['apps'])
    assert.is(code, EXIT.failed)
    assert.match(err, /not carried there/)
    assert.is(server.asked.length, 1)
  })

  t('ends with 1, or with 5, as the operation that it followed, and shows the log', async () => {
    for (const [result, exit] of [
      ['RELEASE_FAILED', EXIT.failed],
      ['ROOT_REFUSED', EXIT.refused],
    ] as const) {
      const failed = ended('failed', { release: 2, code: result, detail: 'It exited.' })
      const release = { number: 2, state: 'failed', log_tail: 'one\n\u001b[2Jtwo\n' }
      const server = await started(deployed([['GET /api/apps/operations/', json(200, { operation: failed })]], release))
      const { code, out } = await run(server, ['deploy', '.', '--app', APP])
      assert.is(code, exit, out)
      assert.match(out, new RegExp(`${result}: It exited`))
      assert.match(out, /│ \\u001b\[2Jtwo/)
      assert.match(out, /release 1 goes on serving at https:\/\/shop\.test/)
    }
  })

  const endless = () =>
    started((asked, response) => {
      if (asked.method === 'POST') answerJson(response, 202, taken, location)
      else if (asked.url.includes('/logs')) answerProblem(response, 404, 'NOT_FOUND')
      else answerJson(response, 200, { operation: operation('running') })
    })

  t('ends with 3 when the time to wait is up, and says how to go on', async () => {
    const { code, err } = await run(await endless(), ['deploy', '.', '--app', APP, '--timeout', '3s'])
    assert.is(code, EXIT.timedOut, err)
    assert.match(err, /bottega operation op-1 --follow/)
  })

  t('ends with 130 on Ctrl-C, and says how to go on', async () => {
    let isSent = false
    const { code, err } = await run(await endless(), ['deploy', '.', '--app', APP], {
      onErr(text, child) {
        if (isSent || !text.includes('upload (1.0 s)')) return
        isSent = true
        child.kill('SIGINT')
      },
    })
    assert.is(code, EXIT.interrupted, err)
    assert.match(err, /bottega operation op-1 --follow/)
  })

  t('streams the log of what is built where the server has it, each line once over a broken connection', async () => {
    const log: StandInAnswer = (asked, response, nth) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (nth > 0)
        return void response.end(`id: 3\ndata: third, after ${asked.headers['last-event-id']}\n\nevent: end\ndata:\n\n`)
      response.write('id: 1\ndata: first\n\nid: 2\ndata: second\n\n')
      setTimeout(() => response.destroy(), 200)
    }
    const look: StandInAnswer = (_asked, response, nth) =>
      answerJson(response, 200, { operation: nth < 7 ? operation('running') : ended('succeeded', { release: 1 }) })
    const server = await started(
      deployed([
        ['/logs', log],
        ['GET /api/apps/operations/', look],
      ]),
    )
    const { code, err } = await run(server, ['deploy', '.', '--app', APP])
    assert.is(code, 0, err)
    assert.equal(
      [...err.matchAll(/│ (.*)/g)].map(([, line]) => line),
      ['first', 'second', 'third, after 2'],
    )
  })

  t('follows a verdict that is not of an app to its end, by its id alone', async () => {
    const verdict = (state: string, more = {}) => ({
      operation: { id: 'op-2', method: 'POST', path: '/api/apps', state, ...more },
    })
    const look: StandInAnswer = (_asked, response, nth) =>
      answerJson(response, 200, nth === 0 ? verdict('pending') : verdict('succeeded', { status: 201, result: app }))
    const server = await started(
      byPlace([
        ['/api/apps/operations/', none],
        ['/api/operations/op-2', look],
      ]),
    )
    const { code, json: said, err } = await run(server, ['operation', 'op-2', '--follow', '--json'])
    assert.equal([code, said?.operation.state], [0, 'succeeded'], err)
  })

  t('follows a log as lines of JSON, and leaves out what it has shown when the server has no ids', async () => {
    const server = await started((asked, response, nth) => {
      if (!asked.url.includes('/logs')) return answerJson(response, 200, app)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (nth === 0) response.end(': hello\n\ndata: a\n\ndata: b\n\n')
      else response.end('data: b\n\ndata: c\n\nevent: end\ndata: \n\n')
    })
    const { code, out } = await run(server, ['logs', APP, '-f', '--json'])
    assert.is(code, 0)
    assert.equal(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).line),
      ['a', 'b', 'c'],
    )
    assert.match(server.asked.at(-1)?.url ?? '', /tail=1/)
  })
})
