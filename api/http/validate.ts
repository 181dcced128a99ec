/**
 * The door's check of shape: one compiled ajv validator per route, over the closed REST schema that is derived from the
 * kind's one literal. Findings come back as faults with JSON pointers and, for a misspelt field, the nearest known name.
 */
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import type { Fault } from '../../crds/kernel/problem.ts'
import { nearest } from '../../crds/values/nearest.ts'
import { pointerSegment } from '../../crds/values/pointer.ts'
import { type Compiler, makeCompiler } from './reading/checks/compiler.ts'
import { written } from './reading/checks/written.ts'

/** At most this many findings are reported; the rest would only repeat. */
const FINDINGS_MAX = 20

/** Which reports all that it finds, and which ends with the first. */
const thorough = makeCompiler('thorough', written?.thorough)
const stopping = makeCompiler('stopping', written?.stopping)

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

const asked = new Set<object>()
/** Of the checks of this process, for whoever writes their code beforehand (reading/checks/write.ts). */
export const askedSchemas = (): object[] => [...asked]

/** Of the checks that have not judged yet. */
const firstUses = new Set<() => void>()

/**
 * Lets each check and each part judge an empty value once, one after the other: ajv writes its code when a schema is compiled, and the
 * engine compiles that when it runs. Otherwise whoever sends the first body of a route holds up everybody for up to 30 ms.
 * @param turn waited for before each of some 1,600 uses, which take a third of a millisecond on average
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
 * Returns the findings of one value, empty when it fits; of a large one only the first. Where its code was not written beforehand it is
 * compiled when the first value comes or {@link useChecks} is at it, unless that would take long: all bodies at each start were a third of a second. Throws then when the schema is none; a test gives every
 * route a value.
 */
export const compileCheck = (schema: object): ((value: unknown) => Fault[]) => {
  const first = lazily(stopping, schema)
  const all = lazily(thorough, schema)
  const uses = [first, all].map((check) => () => void check()({}))
  asked.add(schema)
  const isDear = JSON.stringify(schema).length > LAZY_SCHEMA_CHARS && !stopping.isWritten(schema)
  for (const use of uses) {
    if (isDear) use()
    else firstUses.add(use)
  }
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
