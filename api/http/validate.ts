/**
 * The door's check of shape: one compiled ajv validator per route, over the closed REST schema that is derived from the
 * kind's one literal. Findings come back as faults with JSON pointers and, for a misspelt field, the nearest known name.
 */
import {
  _,
  Ajv2020,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
  str,
  type ValidateFunction,
} from 'ajv/dist/2020.js'
import type { SchemaEnv } from 'ajv/dist/compile/index.js'
import { useFunc } from 'ajv/dist/compile/util.js'
import ucs2length from 'ajv/dist/runtime/ucs2length.js'
import { usePattern } from 'ajv/dist/vocabularies/code.js'
import type { Fault } from '../../crds/kernel/problem.ts'
import { isDay, isInstant } from '../../crds/values/calendar.ts'
import { nearest } from '../../crds/values/nearest.ts'
import { pointerSegment } from '../../crds/values/pointer.ts'
import { isBase64, withSample } from './reading/base64.ts'
import { makeParts } from './reading/parts.ts'

/** At most this many findings are reported; the rest would only repeat. */
const FINDINGS_MAX = 20

/** As a pattern of `data:` URIs has it. */
const BASE64 = ';base64,['
const useSample = ({ gen }: KeywordCxt) => gen.scopeValue('func', { ref: withSample })

/**
 * Lengths before patterns. To report all findings, ajv would hold a text against its pattern also when it is too long, so
 * that `maxLength` would keep nothing away from the pattern. `maxLength` counts code points, of which each has at most two
 * units: what is looked over here is reported there.
 */
const PATTERN: CodeKeywordDefinition = {
  keyword: 'pattern',
  type: 'string',
  schemaType: 'string',
  error: {
    message: ({ schemaCode }) => str`must match pattern "${schemaCode}"`,
    params: ({ schemaCode }) => _`{pattern: ${schemaCode}}`,
  },
  code(context: KeywordCxt) {
    const { data, schema, parentSchema } = context
    const text = String(schema).includes(BASE64) ? _`${useSample(context)}(${data})` : data
    const misses = _`!${usePattern(context, schema)}.test(${text})`
    const most: unknown = parentSchema.maxLength
    context.fail(typeof most === 'number' ? _`${data}.length <= ${2 * most} && ${misses}` : misses)
  },
}

/**
 * Lengths in code points (JSON Schema 2020-12, validation 6.3), counted only where the units do not tell: ajv counts each text for each of
 * its bounds in each branch, and ten megabytes took 30 ms each time. A code point has one unit or two.
 */
const LENGTHS: CodeKeywordDefinition = {
  keyword: ['maxLength', 'minLength'],
  type: 'string',
  schemaType: 'number',
  error: {
    message: ({ keyword, schemaCode }) =>
      str`must NOT have ${keyword === 'maxLength' ? 'more' : 'fewer'} than ${schemaCode} characters`,
    params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
  },
  code(context: KeywordCxt) {
    const { data, keyword } = context
    const limit = context.schema as number
    const count = _`${useFunc(context.gen, ucs2length.default)}(${data})`
    if (keyword === 'maxLength')
      context.fail(_`${data}.length > ${limit} && (${data}.length > ${2 * limit} || ${count} > ${limit})`)
    else context.fail(_`${data}.length < ${limit} || (${data}.length < ${2 * limit} && ${count} < ${limit})`)
  },
}

// verbose keeps the parent schema by reference, which names the fields that are known; nothing is copied. A part stays a function
// of its own, for it was made one so that its code is not written at each place.
const OPTIONS = { verbose: true, strict: false, allowUnionTypes: true, ownProperties: true, inlineRefs: false } as const

type Compiler = {
  compile: (schema: object) => ValidateFunction
  /** What lets each part judge once. */
  usesOfParts: () => (() => void)[]
  /** Each function of ajv keeps what it found last, and with it the value that it found it in: a body of megabytes for each part. */
  forget: () => void
}

const makeCompiler = (allErrors: boolean): Compiler => {
  const parts: SchemaEnv[] = []
  const noted = (code: string, part?: SchemaEnv): string => {
    if (part) parts.push(part)
    return code
  }
  const made = new Ajv2020({ ...OPTIONS, allErrors, code: { process: noted } })
  made.addFormat('date', isDay).addFormat('date-time', isInstant).addFormat('base64', isBase64)
  for (const keyword of ['pattern', 'maxLength', 'minLength']) made.removeKeyword(keyword)
  made.addKeyword(PATTERN).addKeyword(LENGTHS)
  const { byParts, names } = makeParts(made)
  return {
    compile: (schema) => made.compile(byParts(schema)),
    usesOfParts: () => names().map((name) => () => void made.getSchema(name)?.({})),
    forget: () => {
      for (const { validate } of parts) if (validate) validate.errors = null
    },
  }
}

/** Which reports all that it finds, and which ends with the first. */
const [thorough, stopping] = [makeCompiler(true), makeCompiler(false)]

const forgetAll = (): void => {
  for (const { forget } of [stopping, thorough]) forget()
}

const FORGET_MS = 50
let isToForget = false
/** Once for all that is judged in a moment: there are thousands of parts, and to ask each took longer than to judge a small body. */
const forgetSoon = (): void => {
  if (isToForget) return
  isToForget = true
  setTimeout(() => {
    isToForget = false
    forgetAll()
  }, FORGET_MS).unref()
}

/** A longer word is no misspelling. */
const TYPO_MAX = 64

/** What is known at the place where an unknown field was met; read from ajv's parent schema. */
const unknownField = (error: ErrorObject): Fault => {
  const name = String(error.params.additionalProperty)
  const properties = (error.parentSchema as { properties?: Record<string, unknown> } | undefined)?.properties ?? {}
  const meant = nearest(name, Object.keys(properties))
  return {
    code: 'UNKNOWN_FIELD',
    pointer: `${error.instancePath}/${pointerSegment(name.slice(0, 128))}`,
    detail: meant
      ? `There is no field ${JSON.stringify(name.slice(0, 128))}; did you mean ${meant}?`
      : `There is no field ${JSON.stringify(name.slice(0, 128))}.`,
  }
}

/** What there is to choose from, and what was probably meant. The value itself is not repeated: it may be long. */
const choiceOf = ({ params, data }: ErrorObject): string => {
  const allowed = (params.allowedValues as unknown[]).filter((value) => value !== null).map(String)
  const meant = typeof data === 'string' && data.length <= TYPO_MAX ? nearest(data, allowed) : undefined
  return `must be one of ${allowed.join(', ')}${meant ? `; did you mean ${meant}?` : ''}`
}

/** Points at the later of the two, which is the one to be taken out. */
const repeatedItem = ({ instancePath, params }: ErrorObject): Fault => {
  const [first, again] = [params.i, params.j].map(Number).sort((a, b) => a - b)
  const list = instancePath.slice(1).replaceAll('/', '.')
  return {
    code: 'INVALID_FIELD',
    pointer: `${instancePath}/${again}`,
    detail: `${list}.${again} is the same as ${list}.${first}; name each once.`,
  }
}

const FORMS: Readonly<Record<string, string>> = {
  date: 'must be a day of the calendar, as 2026-12-20',
  'date-time': 'must be an instant with its zone, as 2026-12-20T10:00:00Z',
  base64: 'must be base64',
}

const saidOf = ({ keyword, params, message = 'is not valid' }: ErrorObject): string =>
  (keyword === 'format' && FORMS[String(params.format)]) || message

const faultOf = (error: ErrorObject): Fault => {
  if (error.keyword === 'additionalProperties') return unknownField(error)
  if (error.keyword === 'required') {
    const name = String(error.params.missingProperty)
    return {
      code: 'INVALID_FIELD',
      pointer: `${error.instancePath}/${pointerSegment(name)}`,
      detail: `${name} is required.`,
    }
  }
  if (error.keyword === 'uniqueItems') return repeatedItem(error)
  const said = error.parentSchema as { 'x-code'?: Fault['code']; 'x-codes'?: Record<string, Fault['code']> } | undefined
  // a word of the schema may have a code of its own
  const code = said?.['x-codes']?.[error.keyword] ?? said?.['x-code'] ?? 'INVALID_FIELD'
  const where = error.instancePath === '' ? 'The body' : error.instancePath.slice(1).replaceAll('/', '.')
  if (error.keyword === 'enum') return { code, pointer: error.instancePath, detail: `${where} ${choiceOf(error)}.` }
  return { code, pointer: error.instancePath, detail: `${where} ${saidOf(error)}.` }
}

/** Of more than this all findings would be work without end: a list of fifty thousand wrong items has some hundred thousand. */
const LARGE_VALUES = 2_000

const isLarge = (value: unknown): boolean => {
  let left = LARGE_VALUES
  const walk = (one: unknown): boolean => {
    left -= 1
    if (typeof one === 'object' && one !== null)
      for (const key in one) if (left < 0 || walk(Reflect.get(one, key))) return true // no list of all its values is made
    return left < 0
  }
  return walk(value)
}

/** Compiled when the first value comes. */
const lazily = ({ compile }: Compiler, schema: object): (() => ValidateFunction) => {
  let compiled: ValidateFunction | undefined
  return () => {
    compiled ??= compile(schema)
    return compiled
  }
}

/**
 * JSON of a schema. The content of a site has some 76,000 characters, and whoever sent the first one held up everybody for a third of
 * a second; what is shorter than this takes a few milliseconds.
 */
export const LAZY_SCHEMA_CHARS = 4_000

/** Of the checks that have not judged yet. */
const firstUses = new Set<() => void>()

/**
 * Lets each check and each part judge an empty value once, one after the other: ajv writes its code when a schema is compiled, and the
 * engine compiles that when it runs. Otherwise whoever sends the first body of a route holds up everybody for up to 30 ms.
 * @param turn waited for before each of some 1,300 uses, which take a third of a millisecond on average
 * @throws what `turn` throws, which ends it
 */
export const useChecks = async (turn: () => Promise<unknown>): Promise<void> => {
  for (const use of firstUses) {
    await turn()
    use()
    firstUses.delete(use)
  }
  for (const use of [stopping, thorough].flatMap(({ usesOfParts }) => usesOfParts())) {
    await turn()
    use()
  }
}

/**
 * Returns the findings of one value, empty when it fits; of a large one only the first. Compiled when the first value comes or
 * {@link useChecks} is at it, unless that would take long: all bodies at each start were a third of a second. Throws then when the schema is none; a test gives every
 * route a value.
 */
export const compileCheck = (schema: object): ((value: unknown) => Fault[]) => {
  const first = lazily(stopping, schema)
  const all = lazily(thorough, schema)
  const uses = [first, all].map((check) => () => void check()({}))
  if (JSON.stringify(schema).length > LAZY_SCHEMA_CHARS) for (const use of uses) use()
  else for (const use of uses) firstUses.add(use)
  const findingsIn = (value: unknown): Fault[] => {
    const fits = first()
    if (fits(value)) return []
    if (isLarge(value)) return (fits.errors ?? []).map(faultOf)
    const finds = all()
    finds(value)
    return (finds.errors ?? []).slice(0, FINDINGS_MAX).map(faultOf)
  }
  return (value) => {
    const faults = findingsIn(value)
    // a branch that did not fit found something too, where another did
    if (faults.length === 0) forgetSoon()
    else forgetAll()
    return faults
  }
}
