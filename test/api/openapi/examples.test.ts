/** Every example of the description of invoicing, sent as it stands; `call` holds each answer against the description. */
import { descriptions } from '../../../api/wiring/routes.ts'
import { type StandInLlm, says, startLlm } from '../../support/doubles/llm.ts'
import { dereferenced } from '../../support/judges/dereferenced.ts'
import { assert, spec } from '../../support/runner/spec.ts'
import { addAccount } from '../../support/stage/callers.ts'
import { call, order, type Platform, type Reply, startPlatform } from '../../support/stage/invoicing.ts'

type Body = { content: Record<string, { schema?: { examples?: object[] } }> }
type Operation = { summary: string; requestBody?: Body }
type Described = { paths: Record<string, Record<string, Operation>> }

const { paths } = dereferenced(descriptions().get('/api/openapi-invoices.json') ?? {}) as Described
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody }]) => {
    const schema = requestBody?.content['application/json']?.schema
    return schema ? [{ name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, schema }] : []
  }),
)

spec('an example of the invoicing API', (t) => {
  let platform: Platform
  let llm: StandInLlm
  let admin: string

  t.before(async () => {
    llm = await startLlm()
    llm.will(says({ reply: 'Yes.', draft: {}, items: [] }))
    platform = await startPlatform({ env: { BOTTEGA_LLM_URL: llm.url, BOTTEGA_LLM_MODEL: 'small' } })
    admin = await addAccount(platform, 'admin', { role: 'admin' })
  })
  t.after(async () => {
    await platform?.end()
    await llm?.end()
  })

  const send = (method: string, path: string, body?: unknown): Promise<Reply> =>
    call(platform.baseUrl, path.startsWith('/api/admin/') ? admin : platform.owner, method, path, body)
  const made = async (path: string, body: object, of: (json: Reply['json']) => string): Promise<string> => {
    const reply = await send('POST', path, body)
    assert.is(reply.status, 201, reply.text)
    return of(reply.json)
  }

  /** Something for `{id}` to name, made anew for each example. */
  const idFor = async (name: string): Promise<string> => {
    if (name.includes('/api/admin/')) return 'other'
    if (name.includes('/tokens/'))
      return made('/api/auth/tokens', { name: 'x', preset: 'read-only' }, (json) => json.token.id)
    if (name.includes('/webhooks/')) {
      const reply = await send('POST', '/api/webhooks', { url: 'https://example.com/target' })
      return reply.json.endpoint.id
    }
    if (name.includes('/issuers/')) return made('/api/invoices/issuers', {}, (json) => json.issuer.id)
    const body = name.startsWith('PATCH') ? order({ send: false }) : order()
    return made('/api/invoices', body, (json) => json.invoice.id)
  }

  t('stands beside every body', () => {
    assert.equal(
      operations.filter(({ schema }) => !schema.examples?.length).map(({ name }) => name),
      [],
    )
    assert.ok(operations.length > 10)
  })

  for (const { name, method, path, schema } of operations) {
    t(`works as it stands: ${name}`, async () => {
      for (const example of schema.examples ?? []) {
        const target = path.includes('{id}') ? path.replace('{id}', await idFor(name)) : path
        const reply = await send(method, target, example)
        assert.ok(reply.status >= 200 && reply.status < 300, `${JSON.stringify(example)} ${reply.text}`)
      }
    })
  }
})
