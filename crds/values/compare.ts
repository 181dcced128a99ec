/** Deep equality of JSON values: the order of keys does not matter, an absent key is not a null. */
export const isDeepStrictEqual = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isDeepStrictEqual(Reflect.get(a, key), Reflect.get(b, key)))
  )
}
