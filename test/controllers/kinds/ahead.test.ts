import type { Renderer } from '../../../controllers/io/pdf/renderer.ts'
import { makeAhead } from '../../../controllers/kinds/invoice/ahead.ts'
import { INVOICE } from '../../../crds/invoice/kind.ts'
import type { Frozen } from '../../../crds/invoice/order/frozen.ts'
import type { InvoiceSpec } from '../../../crds/invoice/schema.ts'
import { query } from '../../../hack/platform/postgres.ts'
import { invoiceSpec } from '../../support/builders/invoice.ts'
import { makeLife } from '../../support/crash/crash.ts'
import { type OneProcess, startOneProcess } from '../../support/crash/process.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { eventually } from '../../support/stage/invoicing.ts'
import { type Database, kubectlFor, makeDatabase, makeNamespace, type Namespace } from '../../support/stage/stage.ts'

spec('a drawing ahead', (t) => {
  const frozen = (number: string) => ({ number }) as Frozen
  const bytes = Buffer.from('%PDF')

  t('is taken once, for exactly what is frozen', async () => {
    const ahead = makeAhead()
    ahead.begin('inv-a', frozen('1'), async () => bytes)
    assert.is(ahead.take('inv-b', frozen('1')), null)
    assert.is(ahead.take('inv-a', frozen('2')), null)
    assert.is(await ahead.take('inv-a', frozen('1')), bytes)
    assert.is(ahead.take('inv-a', frozen('1')), null)
  })

  t('is one at a time, and gives way to the next once it is over', async () => {
    const ahead = makeAhead()
    const { promise, resolve } = Promise.withResolvers<Buffer>()
    ahead.begin('inv-a', frozen('1'), () => promise)
    ahead.begin('inv-b', frozen('1'), () => {
      throw new Error('two at once')
    })
    resolve(bytes)
    await promise
    ahead.begin('inv-b', frozen('2'), async () => bytes)
    assert.is(await ahead.take('inv-b', frozen('2')), bytes)
  })

  t('fails whoever takes it, and nobody else', async () => {
    const ahead = makeAhead()
    ahead.begin('inv-a', frozen('1'), () => Promise.reject(new Error('too dear')))
    const taken = await ahead.take('inv-a', frozen('1'))?.catch((error: Error) => error.message)
    assert.is(taken, 'too dear')
    ahead.begin('inv-b', frozen('2'), () => Promise.reject(new Error('nobody asks')))
  })
})

let namespace: Namespace
let database: Database
let life: OneProcess | undefined
/** The number of each document that was begun. */
let begun: string[] = []

const kubectl = (args: string[], input?: unknown) =>
  kubectlFor(namespace.kubeconfig)([...args, '-n', namespace.name], input)
const manifest = (name: string, change: Partial<InvoiceSpec> = {}) => ({
  apiVersion: 'bottega.dev/v1alpha1',
  kind: 'Invoice',
  metadata: { name, namespace: namespace.name },
  spec: invoiceSpec({ test: true, ...change }),
})
const numbered = (name: string): Promise<string> =>
  eventually(`${name} to be sent`, async () => {
    const view = (await life?.mirror.get(INVOICE, name))?.view
    return view?.send_count === 1 && view.number
  })
/** A document is no more than its number here. */
const documentOf = async (name: string): Promise<string> => {
  const text = `select convert_from(c.content, 'UTF8') as number from sends s join blob_chunks c on c.sha256 = s.sha256
    where s.resource = $1`
  return String((await query(database.url, text, [name]))[0]?.number)
}

const start = async (): Promise<void> => {
  const render: Renderer['render'] = async ({ number }) => {
    begun.push(String(number))
    return Buffer.from(String(number))
  }
  const tools = () => ({ deps: { pdf: { render } }, close: async () => {} })
  life = await startOneProcess({ databaseUrl: database.url, namespace: namespace.name, mailPort: 1, tools }, makeLife())
  await life.operator()
}

spec('the document of a send', (t) => {
  t.before(async () => {
    namespace = await makeNamespace()
    await kubectl(['apply', '-f', '-'], {
      apiVersion: 'bottega.dev/v1alpha1',
      kind: 'Account',
      metadata: { name: 'demo', namespace: namespace.name },
      spec: { email: 'owner@demo.test', name: 'Demo', plan: 'team' },
    })
  })
  t.before.each(async () => {
    database = await makeDatabase()
    begun = []
    await start()
  })
  t.after.each(async () => {
    await life?.end()
    await kubectl(['delete', 'inv', '--all'])
    await database.drop()
  })
  t.after(() => namespace.remove())

  t('is drawn once where one is sent after the other', async () => {
    const numbers: string[] = []
    for (const name of ['one', 'two', 'three']) {
      await kubectl(['apply', '-f', '-'], manifest(name))
      numbers.push(await numbered(name))
    }
    assert.equal(begun, numbers)
    assert.equal(await Promise.all(['one', 'two', 'three'].map(documentOf)), numbers)
  })

  t('bears the number that was claimed, though another was likelier', async () => {
    await kubectl(['apply', '-f', '-'], manifest('one'))
    const first = await numbered('one')
    // nothing in the cluster tells of its number any more, and a leader that begins now knows of none
    await kubectl(['delete', 'inv', 'one'])
    await life?.end()
    begun = []
    await start()
    await kubectl(['apply', '-f', '-'], manifest('two'))
    const second = await numbered('two')
    assert.is.not(second, first)
    assert.equal(begun, [first, second])
    assert.is(await documentOf('two'), second)
  })

  t('is each its own where many are sent at once', async () => {
    const names = Array.from({ length: 12 }, (_, at) => `many-${at}`)
    await kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: names.map((name) => manifest(name)) })
    const numbers = await Promise.all(names.map(numbered))
    assert.is(new Set(numbers).size, names.length)
    assert.equal(await Promise.all(names.map(documentOf)), numbers)
  })
})
