/** An OpenAPI document without references: what each component holds stands wherever it is referred to. */

type Node = { [word: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

/** What a document holds under `#/components/schemas/Invoice`. */
const targetOf = (document: object, ref: string): unknown => {
  const keys = ref.replace(/^#\//, '').split('/')
  const target = keys.reduce<unknown>((node, key) => (isNode(node) ? node[key] : undefined), document)
  if (target === undefined) throw new Error(`${ref} refers to nothing`)
  return target
}

/** Words beside a reference win over those of what it refers to. */
export const dereferenced = (document: object): object => {
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole)
    if (!isNode(value)) return value
    const { $ref, ...beside } = value
    if (typeof $ref === 'string') return { ...(whole(targetOf(document, $ref)) as Node), ...(whole(beside) as Node) }
    return Object.fromEntries(Object.entries(value).map(([word, child]) => [word, whole(child)]))
  }
  return whole(document) as object
}
