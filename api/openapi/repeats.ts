/** What stands in an OpenAPI document more than once and should have a name (see `crds/kernel/named.ts`). */

/** Lines of indented JSON that may be repeated: a shorter schema reads better where it is used. */
export const REPEATED_LINES_MAX = 20

const isNode = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

const isSchema = (node: object): boolean => {
  const type: unknown = Reflect.get(node, 'type')
  return typeof type === 'string' || Array.isArray(type)
}

/** Text that is the same for schemas that differ in the order of words and in the description of their use only. */
const textOf = (node: object): string => {
  const { description: _, ...rest } = node as { description?: unknown }
  return JSON.stringify(sorted(rest), null, 2)
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isNode(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([word, child]): [string, unknown] => [word, sorted(child)])
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** The places of each schema that is written out more than once, the largest schemas first. */
export const repeatsOf = (document: object): string[][] => {
  const places = new Map<string, string[]>()
  const look = (value: unknown, pointer: string): void => {
    if (Array.isArray(value)) for (const [index, child] of value.entries()) look(child, `${pointer}/${index}`)
    if (!isNode(value)) return
    const text = isSchema(value) ? textOf(value) : ''
    if (text.split('\n').length > REPEATED_LINES_MAX) places.set(text, [...(places.get(text) ?? []), pointer])
    for (const [word, child] of Object.entries(value)) look(child, `${pointer}/${word.replaceAll('/', '~1')}`)
  }
  look(document, '')
  return [...places]
    .filter(([, found]) => found.length > 1)
    .sort(([a], [b]) => b.length - a.length)
    .map(([, found]) => found)
}
