import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CommandRefusal } from '../../../hack/lib/refusal.ts'
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { createStack, type Stack } from '../../../hack/platform/stack.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, mailsIn, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import {
  ensurePlatform,
  makeDatabase,
  makeNamespace,
  type Owned,
  ownControlPlane,
  ownKubeconfig,
  scratchFolder,
} from '../../support/stage/stage.ts'

/** Two truths that disagree, as the two processes see them: they come up, serve, do nothing that cannot be taken back, and say so. */

const DRAFTS = 25

let plane: Owned<ControlPlane>
let platform: Platform
const ends: (() => Promise<unknown>)[] = []

const post = (body: unknown) => call(platform.baseUrl, platform.owner, 'POST', '/api/invoices', body)
const get = (path: string, base = platform.baseUrl) => call(base, platform.owner, 'GET', path)
const sql = (text: string) => query(platform.database.url, text)
const epochs = async () => Number((await sql('select epoch from epochs'))[0]?.epoch)
const known = async () => Number((await sql('select count(*) as n from mirror'))[0]?.n)
const readyz = async (stack: Pick<Stack, 'metricsUrls'>, process: 'api' | 'controllers') => {
  const response = await fetch(stack.metricsUrls[process].replace('/metrics', '/readyz'))
  return { status: response.status, text: await response.text() }
}
const gauge = async (stack: Pick<Stack, 'metricsUrls'>, name: string) => {
  const page = await (await fetch(stack.metricsUrls.controllers)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1])
}
const leads = (stack: Pick<Stack, 'metricsUrls'>) =>
  eventually('somebody to lead', async () => (await gauge(stack, 'bottega_epoch')) > 0)
const stop = () => Promise.all([platform.api.stop(), platform.controllers.stop()])
const start = () => Promise.all([platform.api.start(), platform.controllers.start()])
/** A name of a database on the platform's server, beside the one that is in use. */
const server = (text: string) => query(new URL('/postgres', platform.postgres.url).href, text)
/** As the Job of the chart runs it. @returns what it says */
const planned = async (): Promise<string> => {
  const script = join(import.meta.dirname, '..', '..', '..', 'controllers', 'setup.ts')
  const words = ['--disable-warning=ExperimentalWarning', script, 'reconcile', '--plan']
  const env = {
    ...process.env,
    KUBECONFIG: await ownKubeconfig('reconcile', plane.kubeconfig),
    BOTTEGA_DATABASE_URL: platform.database.url,
    BOTTEGA_NAMESPACE: platform.namespace.name,
    BOTTEGA_SECRET_KEY: platform.secretKey,
  }
  return (await promisify(execFile)(process.execPath, words, { encoding: 'utf8', env })).stdout
}
const linesOf = (code: string) =>
  readFileSync(join(platform.mailDir, '..', 'controllers.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"code":"${code}"`))

spec('two truths that disagree', (t) => {
  t.before(async () => {
    plane = await ownControlPlane()
    platform = await startPlatform({ plane })
  })
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await platform.end()
    await plane.end()
  })

  t(
    'a database that was put back gives no number and no epoch twice, and says so on every gauge',
    async () => {
      const name = new URL(platform.database.url).pathname.slice(1)
      assert.is((await post(order({ external_ref: 'kept' }))).status, 201)
      await stop()
      await server(`create database put_back template ${name}`)
      for (let n = 0; n < 2; n++) {
        await start()
        await leads(platform)
        if (n === 0) await eventually('the mail', async () => (await mailsIn(platform.mailDir)).length === 1)
        assert.is((await post(order({ external_ref: `lost-${n}` }))).status, 201)
        await eventually('the mails', async () => (await mailsIn(platform.mailDir)).length === n + 2)
        await stop()
      }
      const taken = await epochs()
      const numbers = async () =>
        platform.kubectl(['get', 'inv', '-o', 'custom-columns=A:.metadata.name,B:.status.number'])
      const before = await numbers()
      await server(`alter database ${name} rename to newest`)
      await server(`alter database put_back rename to ${name}`)

      const known = await epochs()
      await start()
      const controllers = await eventually('it to be said', async () => {
        const now = await readyz(platform, 'controllers')
        return now.text.includes('LEDGER_BEHIND') && now
      })
      assert.is(controllers.status, 503)
      assert.match(controllers.text, `failed cluster LEDGER_BEHIND: the cluster knows a leader of epoch ${taken}`)
      assert.match(controllers.text, '2 resources know of more than the database')
      assert.match(controllers.text, 'hack/reconcile --plan')
      assert.is(await epochs(), known, 'nobody leads')
      assert.is(await gauge(platform, 'bottega_epoch'), 0)
      assert.is(await gauge(platform, 'bottega_ledger_behind'), 2)
      assert.is(linesOf('LEDGER_BEHIND').length, 1, 'one line')
      const lease = await platform.kubectl(['get', 'lease', 'bottega-controllers', '-o', 'yaml'])
      assert.match(lease, `bottega.dev/epoch: "${taken}"`)
      assert.match(lease, 'bottega.dev/disagreement: ')
      await eventually('an event', async () => (await platform.kubectl(['get', 'events'])).includes('LedgerBehind'))
      const saying = async () => (await platform.kubectl(['get', 'inv', '-o', 'wide'])).split('LedgerBehind').length - 1
      await eventually('the two resources to say so themselves', async () => (await saying()) === 2)

      assert.is((await get('/api/invoices')).status, 200)
      // until it has looked, a second at most, it takes desires that nobody works on
      const api = await eventually('the api to know', async () => {
        const now = await readyz(platform, 'api')
        return now.text.includes('LEDGER_BEHIND') && now
      })
      const refused = await post(order({ external_ref: 'new' }))
      assert.equal([refused.status, refused.json.code], [503, 'LEDGER_BEHIND'])
      assert.is(api.status, 200, 'it reads on')
      assert.match(api.text, 'noted writes LEDGER_BEHIND')
      assert.is((await sql('select 1 from register')).length, 1)
      assert.is(await numbers(), before)
      assert.is((await mailsIn(platform.mailDir)).length, 3, 'nobody was mailed again')

      await stop()
      await server(`drop database ${name}`)
      await server(`alter database newest rename to ${name}`)
      await start()
      await leads(platform)
      assert.is(await epochs(), taken + 1, 'the epoch is above every one before')
      const mended = await platform.kubectl(['get', 'lease', 'bottega-controllers', '-o', 'yaml'])
      assert.match(mended, `bottega.dev/epoch: "${taken + 1}"`)
      assert.not.match(mended, 'bottega.dev/disagreement')
      assert.is((await readyz(platform, 'controllers')).status, 200)
      await eventually('no resource to say so', async () => (await saying()) === 0)
    },
    { timeoutMs: 240_000 },
  )

  t(
    'an empty database in place of ours: nobody is told that a good token is a bad one, and a plan writes nothing',
    async () => {
      const name = new URL(platform.database.url).pathname.slice(1)
      const empty = await makeDatabase(platform.postgres.url)
      const lease = () => platform.kubectl(['get', 'lease', 'bottega-controllers', '-o', 'yaml'])
      await eventually('its roots to be kept', async () => (await lease()).includes('bottega.dev/roots: '))
      await stop()
      await server(`alter database ${name} rename to newest`)
      await server(`alter database ${new URL(empty.url).pathname.slice(1)} rename to ${name}`)

      const made = () => sql('select (select count(*) from roots) as roots, (select count(*) from ring_keys) as keys')
      const nothing = await made()
      const said = await planned()
      assert.match(said, 'epoch')
      assert.equal(await made(), nothing)

      await start()
      await eventually('the api to know', async () => (await readyz(platform, 'api')).text.includes('LEDGER_BEHIND'))
      for (const asked of [() => get('/api/invoices'), () => post(order()), () => get('/i/whatever')]) {
        const { status, json } = await asked()
        assert.equal([status, json.code], [503, 'LEDGER_BEHIND'])
        assert.match(json.detail, 'the database is empty, and this is installation')
      }
      assert.equal(await sql('select 1 from installation'), [], 'it belongs to nobody still')

      await stop()
      await server(`drop database ${name}`)
      await server(`alter database newest rename to ${name}`)
      await start()
      await leads(platform)
      assert.is((await get('/api/invoices')).status, 200)
    },
    { timeoutMs: 240_000 },
  )

  t('another cluster is refused: nobody takes the epoch, reads go on, writes name the next step', async () => {
    await stop()
    const [before] = await sql("update installation set cluster_uid = 'another' returning cluster_uid")
    assert.is(before?.cluster_uid, 'another')
    const [taken, rows] = [await epochs(), await known()]
    await start()
    const controllers = await eventually('it to be said', async () => {
      const now = await readyz(platform, 'controllers')
      return now.text.includes('CLUSTER_UNKNOWN') && now
    })
    assert.is(controllers.status, 503)
    assert.match(controllers.text, 'failed cluster CLUSTER_UNKNOWN: the database belongs to cluster another')
    const token = /BOTTEGA_ACCEPT_CLUSTER=(\S+)/.exec(controllers.text)?.[1]
    assert.is(await gauge(platform, 'bottega_cluster_unknown'), 1)
    assert.is(
      await gauge(platform, 'leader_election_master_status{name="bottega-controllers"}'.replace(/[{}]/g, '\\$&')),
      0,
    )
    assert.is(linesOf('CLUSTER_UNKNOWN').length, 1, 'one line')
    await eventually('an event', async () => (await platform.kubectl(['get', 'events'])).includes('ClusterUnknown'))
    assert.is((await get('/api/invoices')).status, 200)
    await eventually('the api to know', async () => (await readyz(platform, 'api')).text.includes('CLUSTER_UNKNOWN'))
    const refused = await post(order())
    assert.equal([refused.status, refused.json.code], [503, 'CLUSTER_UNKNOWN'])
    assert.ok(refused.json.next.length > 0)
    assert.equal([await epochs(), await known()], [taken, rows])
    await stop()
    await sql(`update installation set cluster_uid = '${token}'`)
    await start()
    await leads(platform)
  })

  t(
    'another namespace is refused, with the database of this one; who accepts it loses no view',
    async () => {
      for (let n = 0; n < DRAFTS; n++) assert.is((await post(order({ send: false }))).status, 201)
      await stop()
      const [taken, rows] = [await epochs(), await known()]
      const empty = await makeNamespace(plane.kubeconfig)
      const emptied = async (env: Record<string, string> = {}): Promise<Stack> => {
        const folder = scratchFolder('emptied')
        const { kubeconfigs } = platform
        const owner = process.env.BOTTEGA_OWNER ?? `test-${process.pid}`
        const databaseUrl = platform.database.url
        const own = { BOTTEGA_SECRET_KEY: platform.secretKey, ...env }
        const stack = await createStack({ folder, owner, namespace: empty.name, databaseUrl, kubeconfigs, env: own })
        ends.push(stack.stop)
        await stack.start()
        return stack
      }
      const wrong = await emptied()
      const said = await eventually('it to be said', async () => {
        const { text } = await readyz(wrong, 'controllers')
        return /this is namespace \S+\. .*BOTTEGA_ACCEPT_CLUSTER=(\S+)/.exec(text)
      })
      assert.equal([await epochs(), await known()], [taken, rows], 'nobody led, nothing was forgotten')
      const noted = async () => (await readyz(wrong, 'api')).text.includes('noted writes CLUSTER_UNKNOWN')
      await eventually('its api to know', noted)
      await wrong.stop()
      const accepting = await emptied({ BOTTEGA_ACCEPT_CLUSTER: said[1] ?? '' })
      await leads(accepting)
      assert.is(await known(), rows, 'its views stay')
      assert.is(await gauge(accepting, 'bottega_cluster_unknown'), 0)
      await accepting.stop()
      const home = platform.namespace.name
      // as if it had never left: else this Lease is the older side
      await sql(`update installation set namespace = '${home}', kept_epoch = 0`)
      await start()
      await leads(platform)
    },
    { timeoutMs: 180_000 },
  )

  t('another key is refused: nobody starts by it, nothing is written', async () => {
    await stop()
    const marks = () => sql('select i.*, e.*, k.id as key from installation i, epochs e, ring_keys k')
    const before = await marks()
    const folder = scratchFolder('key')
    const owner = process.env.BOTTEGA_OWNER ?? `test-${process.pid}`
    const { kubeconfigs } = platform
    const namespace = platform.namespace.name
    const other = await createStack({ folder, owner, namespace, databaseUrl: platform.database.url, kubeconfigs })
    ends.push(other.stop)
    for (const part of [other.controllers, other.api]) {
      const isSaid = (error: unknown) => error instanceof CommandRefusal && error.detail.includes('KEY_UNKNOWN')
      await assert.rejects(part.start(), isSaid)
    }
    assert.equal(await marks(), before)
    await start()
    await leads(platform)
  })

  t('a definition that is removed, and put back, takes nothing along', async () => {
    const rows = await known()
    await platform.kubectl(['delete', 'crd', 'invoices.bottega.dev', '--wait=true'])
    assert.is(await known(), rows)
    await ensurePlatform(plane.kubeconfig)
    const said = async () => (await readyz(platform, 'controllers')).text.includes('CLUSTER_UNKNOWN')
    await eventually('it to be said', said)
    assert.is(await gauge(platform, 'bottega_cluster_unknown'), 1)
    assert.is(await known(), rows)
    assert.ok((await get('/api/invoices')).json.total >= DRAFTS)
  })
})
