/** One platform, two accounts in namespaces of their own: over REST, with kubectl, and when a namespace is not on the list any more. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { createStack, type Stack } from '../../../hack/platform/stack.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { call, eventually, order, type Platform, startPlatform } from '../../support/stage/invoicing.ts'
import { siteContent } from '../../support/stage/publishing.ts'
import {
  kubectlFor,
  makeTenantNamespace,
  type Namespace,
  scratchFolder,
  serviceKubeconfig,
} from '../../support/stage/stage.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const items = [{ description: 'October', qty: '1', unitCents: 100 }]

let platform: Platform
let [a, b]: Namespace[] = []
/** The one that runs now: another after a change of the list. */
let running: Stack
let other = ''
const ids: Record<string, string> = {}
const nameOf = (namespace: Namespace | undefined) => namespace?.name ?? ''

const api = (token: string, method: string, path: string, body?: unknown) =>
  call(running.baseUrl, token, method, path, body)
const invoice = (name: string, account: string, namespace: string) => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Invoice',
  metadata: { name, namespace },
  spec: { account, clientName: 'ACME', clientEmail: 'billing@acme.test', items },
})
const kubectl = kubectlFor()
const inNamespace = (namespace: Pick<Namespace, 'name'> | undefined, args: string[]) =>
  kubectl([...args, '-n', namespace?.name ?? ''])
const apply = (object: object) => kubectl(['create', '-f', '-'], object)
const names = async (namespace: Namespace | undefined) =>
  (await inNamespace(namespace, ['get', 'inv', '-o', 'jsonpath={.items[*].metadata.name}'])).split(' ').sort()
const condition = (kind: string, name: string, namespace: string, type: string) =>
  kubectl(['get', kind, name, '-n', namespace, '-o', `jsonpath={.status.conditions[?(@.type=="${type}")].message}`])
const pageOf = async (path: string) =>
  await (await fetch(running.metricsUrls.controllers.replace('/metrics', path))).text()
const leads = () => eventually('somebody to lead', async () => /^bottega_epoch [1-9]/m.test(await pageOf('/metrics')))
const tenants = (...bound: [Namespace | undefined, string][]) =>
  bound.map(([namespace, account]) => `${nameOf(namespace)}=${account}`).join(';')

/** The same installation with another list. */
const startWith = async (list: string): Promise<void> => {
  await running.stop()
  running = await createStack({
    folder: scratchFolder('tenants'),
    owner: process.env.BOTTEGA_OWNER ?? `test-${process.pid}`,
    namespace: platform.namespace.name,
    databaseUrl: platform.database.url,
    kubeconfigs: platform.kubeconfigs,
    env: { BOTTEGA_SECRET_KEY: platform.secretKey, BOTTEGA_TENANTS: list },
  })
  await running.start()
  await leads()
}

const reconcile = (list: string, ...args: string[]): string => {
  const script = [join(root, 'controllers', 'setup.ts'), 'reconcile', ...args]
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...script], {
    encoding: 'utf8',
    env: {
      ...process.env,
      KUBECONFIG: serviceKubeconfig('reconcile'),
      BOTTEGA_DATABASE_URL: platform.database.url,
      BOTTEGA_NAMESPACE: platform.namespace.name,
      BOTTEGA_SECRET_KEY: platform.secretKey,
      BOTTEGA_TENANTS: list,
    },
  })
  assert.is(status, 0, stderr)
  return stdout
}

spec('accounts in namespaces of their own', (t) => {
  t.before(async () => {
    ;[a, b] = await Promise.all([makeTenantNamespace(), makeTenantNamespace()])
    platform = await startPlatform({ env: { BOTTEGA_TENANTS: tenants([a, 'demo'], [b, 'other']) } })
    running = platform
    other = await platform.token('other')
  })
  t.after(async () => {
    await running?.stop()
    await platform?.end()
    await Promise.all([a?.remove(), b?.remove()])
  })

  t('have over REST what they had, each in its own', async () => {
    for (const [who, token, namespace] of [
      ['demo', platform.owner, a],
      ['other', other, b],
    ] as const) {
      const made = await api(token, 'POST', '/api/invoices', order({ external_ref: 'same-ref' }))
      assert.equal([made.status, made.json.invoice?.status], [201, 'sent'], made.text)
      ids[who] = made.json.invoice.id
      const again = await api(token, 'POST', '/api/invoices', order({ external_ref: 'same-ref' }))
      assert.is(again.json.invoice?.id, ids[who], again.text)
      assert.equal(await names(namespace), [ids[who]])
      const site = await api(token, 'POST', '/api/website/generate', { content: siteContent() })
      assert.is(site.status, 201, site.text)
      assert.match(await inNamespace(namespace, ['get', 'wsite', '-o', 'name']), site.json.site.id)
    }
    assert.is((await api(other, 'GET', `/api/invoices/${ids.demo}`)).status, 404)
    assert.equal(await names(platform.namespace), [''])
  })

  t('show over REST what was made with kubectl, there and nowhere else', async () => {
    await apply(invoice('by-hand', 'demo', nameOf(a)))
    await eventually('it', async () => (await api(platform.owner, 'GET', '/api/invoices/by-hand')).status === 200)
    assert.match(await condition('inv', 'by-hand', nameOf(a), 'Ready'), /./)

    for (const [name, account, namespace] of [
      ['forged', 'other', nameOf(a)],
      ['at-home', 'demo', platform.namespace.name],
    ] as const) {
      await apply(invoice(name, account, namespace))
      const said = () => condition('inv', name, namespace, 'Stalled')
      await eventually('it to be told', async () => (await said()).startsWith('ACCOUNT_ELSEWHERE: '))
      for (const token of [platform.owner, other])
        assert.is((await api(token, 'GET', `/api/invoices/${name}`)).status, 404)
    }
    assert.match(await pageOf('/metrics'), 'bottega_resources_stray{code="ACCOUNT_ELSEWHERE"} 2')
  })

  t('never take one for another that has the same name', async () => {
    await apply(invoice('by-hand', 'other', nameOf(b)))
    const said = () => condition('inv', 'by-hand', nameOf(b), 'Stalled')
    await eventually('it to be told', async () => (await said()).startsWith('NAME_TAKEN: '))
    assert.is((await api(other, 'GET', '/api/invoices/by-hand')).status, 404)
    const sent = await api(platform.owner, 'POST', '/api/invoices/by-hand/send')
    assert.is(sent.status, 200, sent.text)
    assert.is(await inNamespace(b, ['get', 'inv', 'by-hand', '-o', 'jsonpath={.spec.send}']), 'false')
    assert.match(reconcile(tenants([a, 'demo'], [b, 'other']), '--plan'), 'Database, cluster and key agree.')
    // whose name it is survives whoever knows it
    await inNamespace(b, ['delete', 'inv', 'by-hand'])
    assert.is((await api(platform.owner, 'GET', '/api/invoices/by-hand')).json.invoice.status, 'sent')
  })

  t(
    'lose nothing when a namespace goes from the list, and it is said',
    async () => {
      const before = await names(b)
      await startWith(tenants([a, 'demo']))
      const home = platform.namespace.name
      const said = () => condition('acct', 'other', home, 'ResourcesUnserved')
      await eventually('the account to say so', async () => (await said()).includes(`in the namespace ${nameOf(b)}`))
      assert.match(await said(), 'NAMESPACE_NOT_SERVED: 2 resources are')
      assert.match(await pageOf('/metrics'), `bottega_resources_unserved{namespace="${nameOf(b)}"} 2`)
      assert.match(await pageOf('/readyz'), 'ok cluster')
      assert.equal(await names(b), before)

      const path = `/api/invoices/${ids.other}`
      assert.is((await api(other, 'GET', path)).json.invoice.status, 'sent')
      for (const [method, body] of [
        ['PATCH', { client_name: 'ACME Two' }],
        ['POST', order({ external_ref: 'same-ref', client_name: 'ACME' })],
      ] as const) {
        const reply = await api(other, method, method === 'POST' ? '/api/invoices' : path, body)
        if (method === 'PATCH') assert.equal([reply.status, reply.json.code], [409, 'NAMESPACE_NOT_SERVED'], reply.text)
        else assert.not.equal(reply.status, 201, reply.text)
      }
      const sites = await api(other, 'GET', '/api/website')
      const gone = await api(other, 'DELETE', `/api/website/${sites.json.sites[0].id}`)
      assert.equal([gone.status, gone.json.code], [409, 'NAMESPACE_NOT_SERVED'], gone.text)
      // what is new is at home, for the account is bound nowhere
      const made = await api(other, 'POST', '/api/invoices', order({ external_ref: 'new-ref' }))
      assert.is(made.status, 201, made.text)
      assert.ok((await names(platform.namespace)).includes(made.json.invoice.id))
      assert.match(reconcile(tenants([a, 'demo']), '--plan'), 'Database, cluster and key agree.')
      assert.equal(await names(b), before)
    },
    { timeoutMs: 120_000 },
  )

  t(
    'go on where they were when it is back on the list',
    async () => {
      await startWith(tenants([a, 'demo'], [b, 'other']))
      await eventually('nothing to be said', async () => {
        const said = await condition('acct', 'other', platform.namespace.name, 'ResourcesUnserved')
        return said === ''
      })
      const voided = await api(other, 'POST', `/api/invoices/${ids.other}/void`)
      assert.equal([voided.status, voided.json.invoice?.status], [200, 'voided'], voided.text)
      assert.is(await inNamespace(b, ['get', 'inv', ids.other ?? '', '-o', 'jsonpath={.spec.void}']), 'true')
    },
    { timeoutMs: 120_000 },
  )
})
