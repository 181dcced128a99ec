/**
 * What a pure function gave for an object is kept with it, when the object can never change: resources out of the watch
 * are frozen, and each is judged several times in a pass.
 */
export const oncePerFrozen = <T extends object, R>(input: T, kept: WeakMap<T, R>, compute: (input: T) => R): R => {
  if (!Object.isFrozen(input)) return compute(input)
  const known = kept.get(input)
  if (known !== undefined) return known
  const result = compute(input)
  kept.set(input, result)
  return result
}
