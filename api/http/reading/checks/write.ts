/** Writes the code of checks beforehand (written.ts), with ajv's own way to write it down. */
import { _ } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { openAjv } from './compiler.ts'
import { type CheckEngine, digestOf } from './written.ts'

/** As ajv names each function that it writes. */
const FUNCTION = /\bfunction (validate\d{1,9})\(/g

/** A function of `require`, `formats` and `withSample`, which gives the checks of one engine. */
const codeOf = (engine: CheckEngine, schemas: readonly object[]): string => {
  const { ajv, byParts } = openAjv(engine, { source: true, formats: _`formats` })
  const names = Object.fromEntries(schemas.map((schema) => [digestOf(schema), `urn:bottega:check:${digestOf(schema)}`]))
  for (const schema of schemas) ajv.addSchema({ ...byParts(schema), $id: names[digestOf(schema)] as string })
  const code = standalone.default(ajv, names)
  const functions = [...code.matchAll(FUNCTION)].map(([, name]) => name)
  return `(() => {\nconst exports = {}\n${code}\nreturn { checks: exports, functions: [${functions.join(', ')}] }\n})()`
}

/** @returns an expression for `written`, where `require`, `formats` (formats.ts) and `withSample` (base64.ts) are at hand */
export const writeChecks = (schemas: readonly object[]): string => {
  const distinct = [...new Map(schemas.map((schema) => [digestOf(schema), schema])).values()]
  return `{ stopping: ${codeOf('stopping', distinct)}, thorough: ${codeOf('thorough', distinct)} }`
}
