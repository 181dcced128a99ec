/**
 * What makes checks of schemas: ajv when the schema is first met, or code that ajv wrote beforehand (write.ts), where there is some. Both
 * are the same code; to write it takes most of the start of a process.
 */
import {
  _,
  Ajv2020,
  type CodeKeywordDefinition,
  type CodeOptions,
  type KeywordCxt,
  str,
  type ValidateFunction,
} from 'ajv/dist/2020.js'
import type { SchemaEnv } from 'ajv/dist/compile/index.js'
import { useFunc } from 'ajv/dist/compile/util.js'
import ucs2length from 'ajv/dist/runtime/ucs2length.js'
import { usePattern } from 'ajv/dist/vocabularies/code.js'
import { withSample } from '../base64.ts'
import { formats } from './formats.ts'
import { makeParts } from './parts.ts'
import { type CheckEngine, digestOf, type WrittenChecks } from './written.ts'

/** As a pattern of `data:` URIs has it. */
const BASE64 = ';base64,['
const useSample = ({ gen }: KeywordCxt) => gen.scopeValue('func', { ref: withSample, code: _`withSample` })

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

/** An engine that has met no schema yet, with its parts. @param code how its code is made */
export const openAjv = (engine: CheckEngine, code: CodeOptions) => {
  const made = new Ajv2020({ ...OPTIONS, allErrors: engine === 'thorough', code })
  for (const [name, format] of Object.entries(formats)) made.addFormat(name, format)
  for (const keyword of ['pattern', 'maxLength', 'minLength']) made.removeKeyword(keyword)
  made.addKeyword(PATTERN).addKeyword(LENGTHS)
  return { ajv: made, ...makeParts(made) }
}

export type Compiler = {
  compile: (schema: object) => ValidateFunction
  /** Its code is there, and compiling it is no work. */
  isWritten: (schema: object) => boolean
  /** What lets each part judge once. */
  usesOfParts: () => (() => void)[]
  /** Each function of ajv keeps what it found last, and with it the value that it found it in: a body of megabytes for each part. */
  forget: () => void
}

/** @param written checks of which the code is there */
export const makeCompiler = (engine: CheckEngine, written: WrittenChecks | undefined): Compiler => {
  const met: SchemaEnv[] = []
  const noted = (code: string, part?: SchemaEnv): string => {
    if (part) met.push(part)
    return code
  }
  let opened: ReturnType<typeof openAjv> | undefined
  const open = () => {
    opened ??= openAjv(engine, { process: noted })
    return opened
  }
  const writtenOf = (schema: object): ValidateFunction | undefined => written?.checks[digestOf(schema)]
  return {
    compile: (schema) => {
      const check = writtenOf(schema)
      if (check) return check
      const { ajv, byParts } = open()
      return ajv.compile(byParts(schema))
    },
    isWritten: (schema) => writtenOf(schema) !== undefined,
    usesOfParts: () => [
      ...(written?.functions ?? []).map((judge) => () => void judge({})),
      ...(opened?.names() ?? []).map((name) => () => void opened?.ajv.getSchema(name)?.({})),
    ],
    forget: () => {
      for (const { validate } of met) if (validate) validate.errors = null
      for (const judge of written?.functions ?? []) judge.errors = null
    },
  }
}
