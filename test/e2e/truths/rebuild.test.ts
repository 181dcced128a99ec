import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeKube } from '../../../controllers/kube/kube.ts'
import { makePg } from '../../../controllers/store/pg/pg.ts'
import { applyRebuild, lookAtRebuild } from '../../../controllers/workers/lost/rebuild.ts'
import type { ControlPlane } from '../../../hack/platform/controlplane.ts'
import { applyNamespace, applyPlatform, writeServiceKubeconfig } from '../../../hack/platform/platform.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount, makeCallers, someoneLeads } from '../../support/stage/callers.ts'
import { makeProvisioner } from '../../support/stage/devinstances.ts'
import { eventually, type Json, mailsIn, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'
import { kubectlFor, type Owned, ownControlPlane, ownKubeconfig } from '../../support/stage/stage.ts'

/** A cluster that was lost, and is made again from what the database keeps of it. */

const isFull = process.env.BOTTEGA_TEST_FULL === '1'
const DRAFTS = isFull ? 3_400 : 25
const SENT = isFull ? 100 : 4

let plane: Owned<ControlPlane>
let platform: Platform
const tokens: Record<string, string> = {}

const { must } = makeCallers({ platform: () => platform, tokens })
const sql = (text: string) => query(platform.database.url, text)
const rows = (table: string) => sql(`select * from ${table} order by 1, 2`)
const leads = () => someoneLeads(platform)
const stop = () => Promise.all([platform.api.stop(), platform.controllers.stop()])
const start = async () => {
  await Promise.all([platform.api.start(), platform.controllers.start()])
  await leads()
}
const resources = async (): Promise<Json[]> =>
  JSON.parse(await platform.kubectl(['get', 'bottega', '-o', 'json'])).items
const names = async () => (await resources()).map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort()
const uids = async () => (await resources()).map(({ metadata }) => metadata.uid)

/** What is asked of it, of each kind; what of it differs between two resources under one name, does. */
const shown = async (): Promise<Json> => {
  const { invoices } = await must('owner', 'GET', '/api/invoices?limit=200')
  const { sites } = await must('owner', 'GET', '/api/website?limit=200')
  const { devboxes } = await must('owner', 'GET', '/api/devboxes?limit=200')
  const by = (list: Json[], ...fields: string[]) =>
    list
      .map((one) => Object.fromEntries(fields.map((field) => [field, one[field]])))
      .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
  return {
    invoices: by(invoices, 'id', 'number', 'status', 'total_cents', 'balance_cents', 'edited'),
    sites: by(sites, 'id', 'status', 'review_state', 'digest', 'created_at'),
    devboxes: by(devboxes, 'id', 'name', 'state', 'instanceId'),
  }
}

/** Everything in etcd is gone; what the platform stands on is put back, and nothing of ours. */
const emptyCluster = async () => {
  const { apiserver, etcd } = plane.processes
  await apiserver.stop()
  await etcd.stop()
  rmSync(join(dirname(plane.kubeconfig), 'etcd'), { recursive: true, force: true })
  await etcd.start()
  await apiserver.start()
  const kubectl = kubectlFor(plane.kubeconfig)
  const { name } = platform.namespace
  await applyPlatform(kubectl)
  await applyNamespace(kubectl, name)
  const folder = join(platform.mailDir, '..')
  await writeServiceKubeconfig(kubectl, 'api', join(folder, 'api.kubeconfig'))
  await writeServiceKubeconfig(kubectl, 'controllers', join(folder, 'controllers.kubeconfig'))
}

/** As who reconciles. @returns what came of it */
const rebuild = async () => {
  const pg = makePg({ url: platform.database.url, max: 2 })
  const kube = makeKube({
    kubeconfig: await ownKubeconfig('reconcile', plane.kubeconfig),
    fieldManager: 'bottega-setup',
  })
  const deps = { pg, kube, namespace: platform.namespace.name }
  const startedAt = performance.now()
  const plan = await lookAtRebuild(deps)
  const done = await applyRebuild(deps, plan)
  const seconds = (performance.now() - startedAt) / 1000
  await Promise.all([kube.close(), pg.close()])
  return { plan, done, seconds }
}

const host = {
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Host',
  metadata: { name: 'host-one' },
  spec: {
    account: 'demo',
    class: 'owned',
    address: '127.0.0.1',
    port: 1,
    user: 'bottega',
    hostKey: `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, 1)]).toString('base64')}`,
    credentialVersion: 2,
    approved: false,
  },
}
const app = {
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'App',
  metadata: { name: 'app-shop', labels: { team: 'shop' } },
  spec: {
    account: 'demo',
    slug: 'shop',
    hostId: 'host-one',
    access: 'public',
    applicationPolicy: 'none',
    route: { service: 'web', port: 8080 },
  },
}

const fill = async () => {
  await platform.kubectl(['apply', '-f', '-'], host)
  await platform.kubectl(['apply', '-f', '-'], app)
  const drafts = Array.from({ length: DRAFTS }, (_, n) => order({ send: false, external_ref: `draft-${n}` }))
  while (drafts.length > 0)
    await Promise.all(drafts.splice(0, 8).map((one) => must('owner', 'POST', '/api/invoices', one)))
  const sent: Json[] = []
  for (let n = 0; n < SENT; n++) {
    sent.push((await must('owner', 'POST', '/api/invoices', order({ external_ref: `sent-${n}` }))).invoice)
  }
  // one partly paid, and one that was edited since it was sent
  await must('owner', 'POST', `/api/invoices/${sent[0].id}/payments`, { amount_cents: 100, method: 'cash' })
  await must('owner', 'PATCH', `/api/invoices/${sent[1].id}`, {
    items: [{ description: 'November retainer', qty: 2, unit_cents: 80_000 }],
  })
  const { site } = await must('owner', 'POST', '/api/website/generate', { content: siteContent() })
  await must('owner', 'POST', `/api/website/${site.id}/submit-review`, {})
  await must('reviewer', 'POST', `/api/website/${site.id}/decision`, { decision: 'approve', note: 'fine' })
  await makeProvisioner(platform, tokens.owner ?? '').toRunning()
  await eventually('the mails', async () => (await mailsIn(platform.mailDir)).length >= SENT)
}

spec('a cluster that was lost', (t) => {
  t.before(async () => {
    plane = await ownControlPlane()
    platform = await startPlatform({ plane, env: { BOTTEGA_RATE_PER_SECOND: '1000' } })
    tokens.reviewer = await addAccount(platform, 'reviewer', { role: 'reviewer' })
    tokens.owner = await addAccount(platform, 'maker', { capabilities: ['devbox.manage'] })
  })
  t.after(async () => {
    await platform.end()
    await plane.end()
  })

  t(
    'is made again from the database: nothing is deleted, nothing is numbered, mailed or approved a second time',
    async () => {
      await fill()
      const kept = () => sql('select kind, name from desires order by 1, 2')
      const all = await names()
      await eventually('all to be kept', async () => (await kept()).length === all.length)
      const before = await shown()
      const register = await rows('register')
      const mails = (await mailsIn(platform.mailDir)).length
      const tables = ['host_credentials', 'devboxes', 'app_slugs', 'site_places', 'tokens']
      const others = await Promise.all(tables.map((table) => sql(`select count(*) as n from ${table}`)))
      await stop()
      await emptyCluster()
      assert.equal(await names(), [])
      // a person accepts the new cluster
      const uid = JSON.parse(await kubectlFor(plane.kubeconfig)(['get', 'ns', 'kube-system', '-o', 'json'])).metadata
        .uid
      await sql(`update installation set cluster_uid = '${uid}'`)

      const { plan, done, seconds } = await rebuild()
      console.log(
        `# ${done.made} resources made again in ${seconds.toFixed(1)} s: ${(done.made / seconds).toFixed(0)}/s`,
      )
      assert.equal([done.refused, plan.left], [[], []])
      assert.equal(await names(), all)
      assert.equal((await rebuild()).done, { made: 0, stood: 0, refused: [] }, 'it can be repeated')

      await start()
      const same = async () => JSON.stringify(await shown()) === JSON.stringify(before)
      await eventually('all to be as it was', same).catch(async () => assert.equal(await shown(), before))
      await eventually('all to be taken up again', async () => {
        const taken = new Set((await sql('select uid from desires')).map(({ uid }) => uid))
        return (await uids()).every((uid) => taken.has(uid))
      })
      assert.equal(await rows('register'), register, 'no number was given')
      assert.is((await mailsIn(platform.mailDir)).length, mails, 'nobody was mailed')
      assert.equal(await Promise.all(tables.map((table) => sql(`select count(*) as n from ${table}`))), others)
      const labels = await platform.kubectl(['get', 'bapp', 'app-shop', '-o', 'jsonpath={.metadata.labels.team}'])
      assert.is(labels, 'shop')
      // what comes next goes on where it was
      const next = await must('owner', 'POST', '/api/invoices', order({ external_ref: 'next' }))
      assert.match(next.number, new RegExp(`-${String(SENT + 1).padStart(4, '0')}$`))
    },
    { timeoutMs: isFull ? 900_000 : 300_000 },
  )
})
