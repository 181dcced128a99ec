/** The recipes for receivers, each run as its users run it: over the same vectors, to the same verdicts. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Webhook } from 'standardwebhooks'
import { signatureHeaders } from '../../../crds/webhook/signature.ts'
import { judge } from '../../../crds/webhook/verify.ts'
import { ensurePackages, type SystemPackage } from '../../../hack/lib/apt.ts'
import { type Vector, vectors, vectorsText } from '../../support/builders/webhookvectors.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { scratchFolder } from '../../support/stage/stage.ts'

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'api', 'client', 'receivers')
const recipe = (name: string) => join(FOLDER, name)
const scratch = scratchFolder('receivers')
const RECEIVER = join(scratch, 'receiver')

/** A program that is found by its name, and the package that brings it. */
const program = (name: string, pkg = name): SystemPackage => ({
  name: pkg,
  files: [...(process.env.PATH ?? '').split(':'), '/usr/bin'].map((folder) => join(folder, name)),
})
const PROGRAMS = [program('python3'), program('openssl'), program('go', 'golang-go')]
const BUILD_MS = 240_000

/** How each recipe is started; what follows are its own words. */
const RECIPES: Record<string, readonly [string, ...string[]]> = {
  'node.mjs': [process.execPath, recipe('node.mjs')],
  'python.py': ['python3', '-B', recipe('python.py')],
  'receiver.go': [RECEIVER],
  'curl.sh': ['sh', recipe('curl.sh')],
}
const SERVERS = ['node.mjs', 'python.py', 'receiver.go']

const prepare = (): void => {
  ensurePackages(PROGRAMS, { what: 'Running the recipes for receivers' })
  const env = { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0' }
  const words = ['build', '-trimpath', '-o', RECEIVER, recipe('receiver.go')]
  const built = spawnSync('go', words, { env, encoding: 'utf8', timeout: BUILD_MS })
  if (built.status !== 0) throw new Error(`receiver.go does not build: ${built.stderr}`)
}

const written = (name: string, text: string): string => {
  const path = join(scratch, name)
  writeFileSync(path, text)
  return path
}

/** What a recipe says of a saved request. */
const verdictOf = (name: string, { headers, body, secret, now }: Vector): { said: string; status: number | null } => {
  const lines = Object.entries(headers).map(([header, value]) => `${header.toUpperCase()}: ${value}\r\n`)
  const files = [written('headers', `HTTP/1.1 200 OK\r\n${lines.join('')}\r\n`), written('body', body)]
  const [file, ...words] = RECIPES[name] ?? ['false']
  const { stdout, stderr, status } = spawnSync(file, [...words, 'check', ...files, String(now)], {
    encoding: 'utf8',
    env: { ...process.env, WEBHOOK_SECRET: secret },
  })
  return { said: `${stdout}${stderr}`, status }
}

const word = (valid: boolean) => (valid ? 'valid' : 'invalid')

spec('the vectors for receivers', (t) => {
  t('are what our signatures give', () => assert.is(readFileSync(recipe('vectors.json'), 'utf8'), vectorsText()))

  t('hold good and bad ones of each scheme', () => {
    for (const scheme of ['service', 'standard'] as const) {
      for (const valid of [true, false]) assert.ok(vectors().filter((one) => one[scheme] === valid).length >= 8)
    }
  })

  for (const vector of vectors()) {
    t(`are judged so by us, and by the library of Standard Webhooks: ${vector.name}`, () => {
      const { secret, headers, body, now, service, standard } = vector
      const received_at = new Date(now * 1000).toISOString()
      const endpoints = [{ name: 'shop', secret }]
      const verdict = judge({ body, headers, secret, received_at }, { now: new Date(), event: null, endpoints })
      assert.equal([verdict.schemes.service.valid, verdict.schemes.standard.valid], [service, standard])
      assert.is(
        verdict.valid,
        (service || headers['x-service-signature'] === '') && (standard || headers['webhook-signature'] === ''),
      )
      assert.is(acceptedByLibrary(vector), standard)
    })
  }
})

/** The library asks the clock of the process, which stands at the vector's time meanwhile. */
const acceptedByLibrary = ({ secret, headers, body, now }: Vector): boolean => {
  const { now: clock } = Date
  Date.now = () => now * 1000
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false })
    return true
  } catch (error) {
    if (error instanceof Error && error.name === 'WebhookVerificationError') return false
    // it reads a signature before it looks at it
    if (error instanceof Error && error.constructor.name === 'WebhookVerificationError') return false
    throw error
  } finally {
    Date.now = clock
  }
}

spec('the recipes for receivers', (t) => {
  t.before(prepare, { timeoutMs: BUILD_MS + 60_000 })
  for (const name of Object.keys(RECIPES)) {
    t(`give the verdicts of the vectors: ${name}`, () => {
      for (const vector of vectors()) {
        const { said, status } = verdictOf(name, vector)
        assert.is(said, `service ${word(vector.service)}\nstandard ${word(vector.standard)}\n`, vector.name)
        assert.is(status, vector.service && vector.standard ? 0 : 1, vector.name)
      }
    })
  }
})

const secret = vectors()[0]?.secret ?? ''
const ID = `evt_${'5'.repeat(32)}`
const eventOf = (id: string, sequence: number) =>
  JSON.stringify({ id, type: 'invoice.paid', created_at: '', sequence, test: false, data: { note: 'Žluťoučký 🧾' } })

type Running = { child: ChildProcess; port: number; lines: string[] }

const started = async (name: string): Promise<Running> => {
  const [file, ...words] = RECIPES[name] ?? ['false']
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' }
  const child = spawn(file, words, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  const [first] = (await Promise.race([once(reader, 'line'), once(child, 'exit').then(() => ['it ended'])])) as [string]
  reader.on('line', (line) => lines.push(line))
  return { child, port: Number(/^listening on http:\/\/127\.0\.0\.1:(\d+)$/.exec(first)?.[1]), lines }
}

const posted = (port: number, body: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    sent.on('error', reject).end(body)
  })

spec('the recipes that listen', (t) => {
  t.before(prepare, { timeoutMs: BUILD_MS + 60_000 })
  t.after(() => rmSync(scratch, { recursive: true, force: true }))
  for (const name of SERVERS) {
    t(`take what is signed, once, and refuse the rest: ${name}`, async () => {
      const { child, port, lines } = await started(name)
      try {
        const post = (body: string, signedBody = body, secrets = [secret], ageSeconds = 0) => {
          const at = new Date(Date.now() - ageSeconds * 1000)
          return posted(port, body, signatureHeaders({ secrets, id: ID, body: signedBody, at }))
        }
        const [event, later] = [eventOf(ID, 7), eventOf(`evt_${'6'.repeat(32)}`, 8)]
        const other = vectors().find((one) => one.secret !== secret)?.secret ?? ''
        assert.is(await post(event), 204)
        assert.is(await post(event), 204)
        assert.is(await post(later, later, [other, secret]), 204)
        assert.is(await post(event, later), 400)
        assert.is(await post(event, event, [other]), 400)
        assert.is(await post(event, event, [secret], 400), 400)
        assert.is(await posted(port, event, {}), 400)
        assert.equal(lines, [`event 7 invoice.paid ${ID}`, `event 8 invoice.paid evt_${'6'.repeat(32)}`])
      } finally {
        const ended = once(child, 'exit')
        child.kill()
        await ended
      }
    })
  }
})
