/** Objects of every kind, as REST and as a real API server judge them: nobody is let in by one door whom the other refuses. */
import { KubeConfig } from '@kubernetes/client-node'
import fc from 'fast-check'
import { type Dispatcher, Pool } from 'undici'
import { compileCheck } from '../../api/http/validate.ts'
import { accountFaults } from '../../crds/account/faults.ts'
import { faultsOf as appFaults } from '../../crds/app/faults.ts'
import { devInstanceFaults } from '../../crds/devinstance/faults.ts'
import { hostFaults } from '../../crds/host/faults.ts'
import type { HostSpec } from '../../crds/host/schema.ts'
import { faultsOf as invoiceFaults } from '../../crds/invoice/faults.ts'
import type { Kind } from '../../crds/kernel/kind.ts'
import { GROUP, VERSION } from '../../crds/kernel/object.ts'
import { restSchema } from '../../crds/kernel/rest.ts'
import { isObject, type ObjectSchema, type Schema, withDefaults } from '../../crds/kernel/schema.ts'
import { KINDS } from '../../crds/kinds.ts'
import { siteFaults } from '../../crds/site/faults.ts'
import { edgesOf } from '../support/builders/arbitrary.ts'
import { assert, spec } from '../support/runner/spec.ts'
import { ensurePlatform, makeNamespace, type Namespace } from '../support/stage/stage.ts'

const isFull = process.env.BOTTEGA_TEST_FULL === '1'
/** Of each kind. */
const OBJECTS = isFull ? 10_080 : 240
const AT_ONCE = 80
const CONNECTIONS = 8
const UNLIKE_SHOWN = 6
const SHOWN_MAX = 500
const SEED = Number(process.env.BOTTEGA_TEST_SEED ?? (process.env.CI ? 1 : Math.floor(Date.now() / 86_400_000)))
/** Of a hundred parts, such as are odd: few enough that whole objects pass. */
const ODD = [0, 2, 12]

/** As the client says that the other side hung up. */
const HUNG_UP: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const ASKED_MOST = 5

/** What REST writes otherwise than the resource: decimals are numbers there, and hidden fields are not there at all. */
const shown = (schema: Schema): Schema => {
  if (schema.type === 'array') return { ...schema, items: shown(schema.items) }
  if (schema.type === 'map') return { ...schema, values: shown(schema.values) }
  if (!isObject(schema)) return schema
  const kept = Object.entries(schema.properties).filter(([, child]) => child['x-rest'] === undefined)
  return {
    ...schema,
    properties: Object.fromEntries(kept.map(([name, child]) => [name, shown(child)])),
    required: (schema.required ?? []).filter((name) => kept.some(([known]) => known === name)),
  }
}

/** With what REST does not let its caller write, where the resource must have it. */
const whole = (schema: Schema, value: unknown): unknown => {
  if (schema.type === 'array' && Array.isArray(value)) return value.map((one) => whole(schema.items, one))
  if (!isObject(schema) || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const given = Object.entries(value).map(([name, one]) => {
    const child = schema.properties[name]
    return [name, child ? whole(child, one) : one]
  })
  const lacking = (schema.required ?? []).flatMap((name) => {
    const rest = schema.properties[name]?.['x-rest']
    return rest === undefined ? [] : [[name, rest === 'decimal' ? '1' : 'demo']]
  })
  return Object.fromEntries([...given, ...lacking])
}

/** What REST asks beyond the shape, of each kind. */
const BEYOND: Record<string, (spec: never) => readonly unknown[]> = {
  Account: accountFaults,
  Invoice: invoiceFaults,
  Host: (spec: HostSpec) => hostFaults(spec, 'any'),
  Site: siteFaults,
  App: appFaults,
  DevInstance: devInstanceFaults,
}

/** As the administrator; a command for each object would take longer than the objects. */
const connect = (kubeconfig: string): Pool => {
  const config = new KubeConfig()
  config.loadFromFile(kubeconfig)
  const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()]
  const bytes = (text = '') => Buffer.from(text, 'base64')
  const tls = { ca: bytes(cluster?.caData), cert: bytes(user?.certData), key: bytes(user?.keyData) }
  return new Pool(cluster?.server ?? '', { connect: tls, connections: CONNECTIONS, allowH2: false })
}

type Drawn = { name: string; spec: unknown }

spec('objects of every kind', (t) => {
  let namespace: Namespace
  let server: Pool
  t.before(async () => {
    await ensurePlatform()
    namespace = await makeNamespace()
    server = connect(namespace.kubeconfig)
  })
  t.after(async () => {
    await server?.close()
    await namespace?.remove()
  })

  /** What the API server says of an object; null when it takes it. */
  const refusal = async ({ kind, plural, spec: schema }: Kind, { name, spec }: Drawn): Promise<string | null> => {
    const metadata = { name, namespace: namespace.name }
    const body = JSON.stringify({ apiVersion: `${GROUP}/${VERSION}`, kind, metadata, spec: whole(schema, spec) })
    const path = `/apis/${GROUP}/${VERSION}/namespaces/${namespace.name}/${plural}?dryRun=All&fieldValidation=Strict`
    const headers = { 'content-type': 'application/json' }
    // whoever refuses what is too large hangs up on who still writes, and on who shares the connection: nothing is stored, so
    // it is asked again
    const ask = async (tries: number): Promise<Dispatcher.ResponseData> =>
      server.request({ method: 'POST', path, headers, body }).catch((error) => {
        if (tries === 1 || !HUNG_UP.has(error.code)) throw error
        return ask(tries - 1)
      })
    const answer = await ask(ASKED_MOST)
    const said = (await answer.body.json()) as { message?: string }
    if (answer.statusCode < 300) return null
    assert.ok([400, 403, 413, 422].includes(answer.statusCode), `${answer.statusCode} ${said.message}`)
    return said.message ?? ''
  }

  const isBeyond = ({ kind, spec: schema }: Kind, spec: unknown): boolean =>
    (BEYOND[kind]?.(withDefaults(schema, whole(schema, spec)) as never) ?? []).length > 0

  /** What the two say unlike of some objects. */
  const unlikeOf = async (kind: Kind, drawn: readonly Drawn[], check: ReturnType<typeof compileCheck>) => {
    const said = await Promise.all(drawn.map((one) => refusal(kind, one)))
    return drawn.flatMap(({ spec }, n) => {
      const [here] = check(spec)
      const there = said[n] ?? null
      if ((here === undefined) === (there === null)) return []
      // What no schema says, REST and the plan say with one code; the API server may say it too.
      if (here === undefined && isBeyond(kind, spec)) return []
      const rest = here ? `${here.code} ${here.pointer} ${here.detail}` : 'takes it'
      return [`REST: ${rest}; API server: ${there ?? 'takes it'}; ${JSON.stringify(spec).slice(0, SHOWN_MAX)}`]
    })
  }

  for (const kind of KINDS)
    t(
      `${kind.kind}: what the one takes, the other takes`,
      async () => {
        const schema = shown(kind.spec) as ObjectSchema
        const check = compileCheck(restSchema(schema, { names: 'camel' }))
        // Drawn as they are judged: ten thousand at once would not fit.
        const draw = (part: number): Drawn[] =>
          fc
            .sample(edgesOf(schema, ODD[part % ODD.length] ?? 0), { numRuns: AT_ONCE, seed: SEED + part })
            .map((spec, n) => ({ name: `drawn-${part}-${n}`, spec }))
        const unlike: string[] = []
        let refused = 0
        for (let part = 0; part * AT_ONCE < OBJECTS; part++) {
          const drawn = draw(part)
          unlike.push(...(await unlikeOf(kind, drawn, check)))
          refused += drawn.filter(({ spec }) => check(spec).length > 0).length
        }
        console.log(`  counted: ${kind.kind}: ${refused} of ${OBJECTS} refused, ${unlike.length} unlike (seed ${SEED})`)
        assert.equal(unlike.slice(0, UNLIKE_SHOWN), [])
        const least = OBJECTS / 10
        assert.ok(refused > least && OBJECTS - refused > least, `${refused} of ${OBJECTS} refused`)
      },
      { timeoutMs: isFull ? 3_600_000 : 240_000 },
    )
})
