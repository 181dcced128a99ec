/** Schemathesis against the description of invoicing: no failure of ours, and no answer that is not described. */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePythonPeer } from '../../../hack/lib/peer.ts'
import { createProgress } from '../../../hack/lib/progress.ts'
import { type Asked, type StandInLlm, says, startLlm } from '../../support/doubles/llm.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { call, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

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
const OUTPUT_BYTES = 64 * 1024 ** 2

const NOTHING_FOUND = Object.fromEntries(
  ['client_name', 'client_email', 'currency', 'due_date', 'terms', 'lang', 'tax_rate_bp', 'discount_cents'].map(
    (field) => [field, null],
  ),
)
const PROPOSAL = { ...NOTHING_FOUND, items: [{ description: 'A month', qty: 1, unit_cents: 100, tax_rate_bp: null }] }
/** What was asked for is known by the schema of the answer. */
const answer = (asked: Asked): unknown =>
  'reply' in (asked.body.response_format.json_schema.schema as { properties: object }).properties
    ? { reply: 'Here it is.', draft: PROPOSAL }
    : PROPOSAL

/** To its end, beside the stand-ins of this process. */
const run = (words: readonly string[], env: Record<string, string>, cwd: string) =>
  new Promise<{ isOk: boolean; said: string }>((resolve) => {
    const options = { env: { ...process.env, ...env }, cwd, timeout: runMs, maxBuffer: OUTPUT_BYTES }
    execFile('python3', words, options, (error, stdout, stderr) =>
      resolve({ isOk: error === null, said: `${stdout}\n${stderr}` }),
    )
  })

spec('invoicing under Schemathesis', (t) => {
  let platform: Platform
  let llm: StandInLlm
  let admin: string
  const folder = scratchFolder('schemathesis')

  t.before(async () => {
    llm = await startLlm()
    llm.will((asked, response) => says(answer(asked))(asked, response))
    const env = {
      BOTTEGA_RATE_PER_SECOND: '100000',
      BOTTEGA_RATE_SPARE: '100000',
      BOTTEGA_LLM_URL: llm.url,
      BOTTEGA_LLM_MODEL: 'small',
    }
    platform = await startPlatform({ env })
    admin = await addAccount(platform, 'admin', { role: 'admin', capabilities: [] })
    const made = await call(platform.baseUrl, admin, 'POST', '/api/invoices', order())
    assert.is(made.status, 201, made.text)
  })
  t.after(async () => {
    await platform?.end()
    await llm.end()
    rmSync(folder, { recursive: true, force: true })
  })

  t(
    'answers whatever is sent as it is described',
    async () => {
      const peer = await ensurePythonPeer('schemathesis', { progress: createProgress() })
      const words = [
        ...[join(peer, 'bin', 'st'), 'run', `${platform.baseUrl}/api/openapi-invoices.json`],
        ...['--url', platform.baseUrl],
        ...['--header', `Authorization: Bearer ${admin}`],
        ...['--checks', CHECKS.join(',')],
        ...['--phases', 'examples,coverage,fuzzing'],
        ...['--max-examples', String(EXAMPLES)],
        ...['--seed', '1'],
        // in two threads its own libraries race for the depth of recursion
        ...['--workers', '1'],
        ...['--request-timeout', '40'],
        '--no-color',
      ]
      const { isOk, said } = await run(words, { PYTHONPATH: peer }, folder)
      assert.ok(isOk, said.slice(-REPORT_CHARS))
      console.log(/\d+ generated[^\n]*/.exec(said)?.[0] ?? said.slice(-500))
    },
    { timeoutMs: runMs + 60_000 },
  )
})
