import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { allRoutes } from '../../../api/wiring/routes.ts'
import { assert, spec } from '../../support/runner/spec.ts'

type Validate = typeof import('../../../api/http/validate.ts')

/** What is let go a moment later is waited for, ten seconds at most. */
const LOOKS_MAX = 500
const LOOK_MS = 20

let copies = 0
/** With engines of its own, which have met no schema yet. */
const freshly = (): Promise<Validate> => {
  copies += 1
  return import(`${new URL('../../../api/http/validate.ts', import.meta.url).href}?copy=${copies}`)
}

const { compile, addSchema } = Ajv2020.prototype
/** Characters of the schemas that were compiled; what schemas share is compiled with the first that has it. */
let chars = 0
const counting = <Method extends typeof compile | typeof addSchema>(method: Method): Method =>
  function (this: Ajv2020, schema: object, ...rest: never[]) {
    chars += JSON.stringify(schema).length
    return (method as (...given: unknown[]) => unknown).call(this, schema, ...rest)
  } as Method

const charsOf = (work: () => unknown): number => {
  chars = 0
  work()
  return chars
}

spec('checks of bodies', (t) => {
  t.before(() => {
    Object.assign(Ajv2020.prototype, { compile: counting(compile), addSchema: counting(addSchema) })
  })
  t.after(() => {
    Object.assign(Ajv2020.prototype, { compile, addSchema })
  })

  const checksOf = ({ compileCheck }: Validate) => allRoutes.flatMap(({ body }) => (body ? [compileCheck(body)] : []))

  t('compile nothing dear while a request waits', async () => {
    const validate = await freshly()
    const checks: ReturnType<Validate['compileCheck']>[] = []
    const before = allRoutes.map(({ body }) => charsOf(() => body && checks.push(validate.compileCheck(body))))
    assert.ok(Math.max(...before) > validate.LAZY_SCHEMA_CHARS, 'the content of a site is compiled beforehand')
    const later = checks.map((one) => charsOf(() => one([])))
    assert.ok(Math.max(...later) > 0)
    // in two engines, of which one reports all that it finds, and with the names of what is shared
    assert.ok(Math.max(...later) <= 2.2 * validate.LAZY_SCHEMA_CHARS, `one of ${Math.max(...later)} characters was`)
  })

  t('are all used once, each in a turn of its own, and compile nothing afterwards', async () => {
    const validate = await freshly()
    const checks = checksOf(validate)
    const compiled: number[] = []
    chars = 0
    await validate.useChecks(async () => {
      compiled.push(chars)
      chars = 0
    })
    assert.ok(compiled.filter((one) => one > 0).length > checks.length / 2, `${compiled.length} turns`)
    assert.ok(Math.max(...compiled) <= 2.2 * validate.LAZY_SCHEMA_CHARS, `${Math.max(...compiled)} in one turn`)
    assert.is(Math.max(...checks.map((one) => charsOf(() => one([])))), 0)
  })

  t('are not used further when the process leaves', async () => {
    const validate = await freshly()
    checksOf(validate)
    let turns = 0
    const leaving = validate.useChecks(async () => {
      turns += 1
      if (turns > 3) throw new Error('it leaves')
    })
    await assert.rejects(leaving, /it leaves/)
    assert.is(turns, 4)
  })

  /** Each field of the body, and each of what is in it, is a thing of its own that nobody asks for. */
  const wrongBody = (schema: { properties?: Record<string, unknown> }, held: WeakRef<object>[]): object => {
    const strange = (): object => {
      const one = { strange: 'x'.repeat(1_000) }
      held.push(new WeakRef(one))
      return one
    }
    const fields = Object.keys(schema.properties ?? {}).map((name) => [name, [strange(), { items: [strange()] }]])
    return Object.assign(strange(), Object.fromEntries(fields))
  }

  t('keep nothing of a body once they have judged it', async () => {
    const { compileCheck } = await freshly()
    const held: WeakRef<object>[] = []
    for (const { body } of allRoutes) if (body) compileCheck(body)(wrongBody(body, held))
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    await nextTurn() // what was seen in this turn is held until its end
    collect()
    assert.ok(held.length > 500, `${held.length} things`)
    assert.is(held.filter((one) => one.deref() !== undefined).length, 0, 'are held still')
  })

  t('keep nothing of a body that fits, though not in the first way that was tried', async () => {
    const { compileCheck } = await freshly()
    // long enough to be a part of its own
    const words = Array.from({ length: 40 }, (_, n) => `word ${n}`)
    const way = (name: string) => ({
      type: 'object',
      required: [name],
      properties: { [name]: { enum: words } },
      additionalProperties: false,
    })
    const check = compileCheck({ type: 'object', properties: { one: { anyOf: [way('left'), way('right')] } } })
    const judged = (): WeakRef<object> => {
      const one = { right: 'word 1' }
      assert.equal(check({ one }), [])
      return new WeakRef(one)
    }
    const held = judged()
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    for (let n = 0; n < LOOKS_MAX && held.deref() !== undefined; n += 1) {
      await sleep(LOOK_MS)
      collect()
    }
    assert.is(held.deref(), undefined, 'is held still')
  })
})
