/**
 * A database that belongs to another cluster: the one that was given it leads nobody and takes nothing, until a person binds it
 * there by reconciling; then it leads, with all that there was, and the cluster of before does not.
 */
import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { query } from '../../../hack/platform/postgres.ts'
import type { Stack } from '../../../hack/platform/stack.ts'
import { makeStrangers } from '../../support/cluster/strangers.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { makeProvisioner } from '../../support/stage/devinstances.ts'
import {
  call,
  eventually,
  type Json,
  mailsIn,
  order,
  type Platform,
  startPlatform,
} from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'
import { kubectlFor, type Owned, ownControlPlane, ownKubeconfig, scratchFolder } from '../../support/stage/stage.ts'

/** More than the absence that goes for a few that were deleted. */
const DRAFTS = 25
const SENT = 3
const SETUP = join(import.meta.dirname, '..', '..', '..', 'controllers', 'setup.ts')
/** What was lost with a wrong cluster once, and whatever else is kept of resources. */
const KEPT = [
  'mirror',
  'desires',
  'deletions',
  'host_credentials',
  'devboxes',
  'site_places',
  'tokens',
  'register',
  'sends',
]

let platform: Platform
let maker: string
let plane: Owned<ControlPlane>
let strangers: Stack
const sql = (text: string) => query(platform.database.url, text)
const counts = async () =>
  Promise.all(KEPT.map(async (table) => `${table} ${(await sql(`select count(*)::int as n from ${table}`))[0]?.n}`))
const epochs = async () => Number((await sql('select epoch from epochs'))[0]?.epoch)
const boundTo = async () => (await sql('select cluster_uid from installation'))[0]?.cluster_uid
const mails = async (dir: string) => (await mailsIn(dir)).length
const textAt = async (url: string) => (await fetch(url)).text()
const leads = async ({ metricsUrls }: Pick<Stack, 'metricsUrls'>) =>
  /^bottega_epoch [1-9]/m.test(await textAt(metricsUrls.controllers))
const readyz = ({ metricsUrls }: Pick<Stack, 'metricsUrls'>, process: 'api' | 'controllers') =>
  textAt(metricsUrls[process].replace('/metrics', '/readyz'))
const isRefused = (stack: Pick<Stack, 'metricsUrls'>) =>
  eventually('it to be said', async () => {
    const said = await readyz(stack, 'controllers')
    return said.includes('failed cluster CLUSTER_UNKNOWN') && said
  })
const there = (args: string[]) => kubectlFor(plane.kubeconfig)([...args, '-n', platform.namespace.name])
const namesIn = async (kubectl: (args: string[]) => Promise<string>): Promise<string[]> => {
  const { items } = JSON.parse(await kubectl(['get', 'bottega', '-o', 'json']))
  return items.map(({ kind, metadata }: Json) => `${kind}/${metadata.name}`).sort()
}
const at = async (base: string, by: string, method: string, path: string, body?: unknown): Promise<Json> => {
  const reply = await call(base, by, method, path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.json
}
/** As the Job of the chart runs it, in the cluster of the strangers. @returns what it says */
const reconcile = async (word: '--plan' | '--apply'): Promise<string> => {
  const words = ['--disable-warning=ExperimentalWarning', SETUP, 'reconcile', word]
  const env = {
    ...process.env,
    KUBECONFIG: await ownKubeconfig('reconcile', plane.kubeconfig),
    BOTTEGA_DATABASE_URL: platform.database.url,
    BOTTEGA_NAMESPACE: platform.namespace.name,
    BOTTEGA_SECRET_KEY: platform.secretKey,
  }
  const run = promisify(execFile)
  return (await run(process.execPath, words, { encoding: 'utf8', env, cwd: scratchFolder('job') })).stdout
}

const hostKey = (): string => {
  const wire = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  return `ssh-ed25519 ${Buffer.concat([wire(Buffer.from('ssh-ed25519')), wire(Buffer.alloc(32, 7))]).toString('base64')}`
}

/** Of each kind that was lost once; the host with a key that is nowhere else. */
const fill = async (): Promise<void> => {
  const boss = await addAccount(platform, 'boss', { role: 'admin', capabilities: ['app.deploy'] })
  maker = await addAccount(platform, 'maker', { capabilities: ['devbox.manage'] })
  const base = platform.baseUrl
  for (let n = 0; n < DRAFTS; n++) await at(base, maker, 'POST', '/api/invoices', order({ send: false }))
  for (let n = 0; n < SENT; n++) await at(base, maker, 'POST', '/api/invoices', order({ external_ref: `sent-${n}` }))
  await at(base, maker, 'POST', '/api/website/generate', { content: siteContent() })
  await makeProvisioner(platform, maker).toRunning()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await at(base, boss, 'POST', '/api/apps/hosts', {
    name: 'kept',
    address: '127.0.0.1',
    port: 9,
    user: 'deploy',
    host_key: hostKey(),
    private_key: privateKey.export({ type: 'pkcs1', format: 'pem' }),
    base_domain: 'kept.test',
  })
  await eventually('the mails', async () => (await mails(platform.mailDir)) === SENT)
  const all = await namesIn(platform.kubectl)
  await eventually(
    'all to be kept',
    async () => Number((await sql('select count(*)::int as n from desires'))[0]?.n) === all.length,
  )
}

spec('a database of another cluster', (t) => {
  t.before(async () => {
    plane = await ownControlPlane()
    platform = await startPlatform()
    await fill()
    strangers = await makeStrangers(platform, plane)
  })
  t.after(async () => {
    await strangers?.stop()
    await platform?.end()
    await plane?.end()
  })

  t(
    'is led by nobody there and loses nothing; bound there by a person it is led again, and at home no more',
    async () => {
      const all = await namesIn(platform.kubectl)
      await Promise.all([platform.api.stop(), platform.controllers.stop()])
      const [before, home, epoch] = [await counts(), await boundTo(), await epochs()]

      // twice: whoever takes a look at its start alone would have it right once
      await strangers.start()
      assert.match(await isRefused(strangers), `the database belongs to cluster ${home}, and this is cluster`)
      await strangers.controllers.kill()
      await strangers.controllers.start()
      await isRefused(strangers)
      assert.equal([await counts(), await boundTo(), await epochs()], [before, home, epoch])
      assert.is(await leads(strangers), false)
      assert.is((await at(strangers.baseUrl, maker, 'GET', '/api/invoices')).total, DRAFTS + SENT, 'reads go on')
      await eventually('its api to know', async () => (await readyz(strangers, 'api')).includes('CLUSTER_UNKNOWN'))
      const refused = await call(strangers.baseUrl, maker, 'POST', '/api/invoices', order())
      assert.equal([refused.status, refused.json.code], [503, 'CLUSTER_UNKNOWN'], refused.text)

      const plan = await reconcile('--plan')
      assert.match(plan, /accept cluster \S+, namespace \S+, as that of this database/)
      assert.equal([await counts(), await boundTo(), await epochs()], [before, home, epoch], 'a plan writes nothing')
      await reconcile('--apply')
      await eventually('it to lead', () => leads(strangers))
      assert.is.not(await boundTo(), home)
      assert.ok((await epochs()) > epoch)
      assert.equal(await namesIn(there), all, 'all is made again')
      await eventually('nobody to wait for anything', async () =>
        /^ok cluster$/m.test(await readyz(strangers, 'controllers')),
      )
      assert.equal(await counts(), before, 'nothing was deleted, nothing numbered, nothing sent')
      assert.is(await mails(strangers.mailDir), 0, 'nobody was mailed again')
      const isTaken = async () =>
        (await call(strangers.baseUrl, maker, 'POST', '/api/invoices', order({ send: false }))).status
      await eventually('writes to be taken', async () => (await isTaken()) === 201)
      const next = await at(strangers.baseUrl, maker, 'POST', '/api/invoices', order())
      assert.match(next.number, new RegExp(`-${String(SENT + 1).padStart(4, '0')}$`))

      // the cluster that it was of is the stranger now
      const after = await epochs()
      await platform.controllers.start()
      await isRefused(platform)
      assert.equal([await leads(platform), await epochs(), await leads(strangers)], [false, after, true])
      assert.equal(await sql('select * from deletions'), [])
    },
    { timeoutMs: 400_000 },
  )
})
