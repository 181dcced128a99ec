/** Schemathesis against the description of invoicing: no failure of ours, and no answer that is not described. */
import { join } from 'node:path'
import { attempt } from '../../hack/lib/command.ts'
import { ensurePythonPeer } from '../../hack/lib/peer.ts'
import { createProgress } from '../../hack/lib/progress.ts'
import { addAccount } from '../support/callers.ts'
import { call, order, type Platform, startPlatform } from '../support/invoicing.ts'
import { assert, spec } from '../support/spec.ts'

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
]
const REPORT_CHARS = 30_000
const isFull = Boolean(process.env.BOTTEGA_TEST_FULL)
const EXAMPLES = isFull ? 200 : 8
const runMs = (isFull ? 60 : 10) * 60_000

spec('invoicing under Schemathesis', (t) => {
  let platform: Platform
  let admin: string

  t.before(async () => {
    platform = await startPlatform({ env: { BOTTEGA_RATE_PER_SECOND: '100000', BOTTEGA_RATE_SPARE: '100000' } })
    admin = await addAccount(platform, 'admin', { role: 'admin', capabilities: [] })
    const made = await call(platform.baseUrl, admin, 'POST', '/api/invoices', order())
    assert.is(made.status, 201, made.text)
  })
  t.after(() => platform?.end())

  t(
    'answers whatever is sent as it is described',
    async () => {
      const folder = await ensurePythonPeer('schemathesis', { progress: createProgress() })
      const { ok, stdout, stderr } = attempt(
        'env',
        [
          ...[`PYTHONPATH=${folder}`, 'python3', join(folder, 'bin', 'st')],
          'run',
          `${platform.baseUrl}/api/openapi-invoices.json`,
          ...['--url', platform.baseUrl],
          ...['--header', `Authorization: Bearer ${admin}`],
          ...['--checks', CHECKS.join(',')],
          ...['--phases', 'examples,coverage,fuzzing'],
          ...['--max-examples', String(EXAMPLES)],
          ...['--seed', '1'],
          ...['--workers', '2'],
          ...['--request-timeout', '40'],
          '--no-color',
        ],
        { timeoutMs: runMs },
      )
      assert.ok(ok, `${stdout}\n${stderr}`.slice(-REPORT_CHARS))
      console.log(/\d+ generated[^\n]*/.exec(stdout)?.[0] ?? stdout.slice(-500))
    },
    { timeoutMs: runMs + 60_000 },
  )
})
