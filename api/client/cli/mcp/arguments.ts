/** Checks arguments of a tool against its schema, as far as our schemas go: types, bounds, required and unknown names. */

type Schema = Readonly<Record<string, unknown>>

const typeOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  return Number.isInteger(value) ? 'integer' : typeof value
}

const boundsFault = (schema: Schema, value: unknown, at: string): string[] => {
  const { minimum, maximum, minLength, maxLength } = schema as Record<string, number | undefined>
  const size = typeof value === 'string' ? value.length : typeof value === 'number' ? value : null
  const [least, most] = typeof value === 'string' ? [minLength, maxLength] : [minimum, maximum]
  if (size === null) return []
  const unit = typeof value === 'string' ? ' characters' : ''
  if (least !== undefined && size < least) return [`${at} is below ${least}${unit}.`]
  return most !== undefined && size > most ? [`${at} is above ${most}${unit}.`] : []
}

const valueFaults = (schema: Schema, value: unknown, at: string): string[] => {
  const type = typeOf(value)
  if (type !== schema.type) return [`${at} is ${type}, and has to be ${String(schema.type)}.`]
  if (!Array.isArray(value)) return boundsFault(schema, value, at)
  return value.flatMap((item, index) => valueFaults(schema.items as Schema, item, `${at}/${index}`))
}

/** What is wrong with the arguments, a sentence each. @param given as they came */
export const argumentFaults = (schema: Schema, given: unknown): string[] => {
  if (typeOf(given) !== 'object') return ['The arguments are no object.']
  const properties = schema.properties as Readonly<Record<string, Schema>>
  const values = given as Record<string, unknown>
  const missing = (schema.required as string[])
    .filter((name) => values[name] === undefined)
    .map((name) => `/${name} is missing.`)
  const wrong = Object.entries(values).flatMap(([name, value]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known === undefined)
      return [`/${name.slice(0, 60)} is not known; known are ${Object.keys(properties).join(', ')}.`]
    return value === undefined ? [] : valueFaults(known, value, `/${name}`)
  })
  return [...missing, ...wrong]
}
