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

/**
 * What a pure function gave for the keys that were asked for lately; what it throws is not kept. All is forgotten once
 * there are `most` of them: whoever asks for many different ones gains nothing, and pays little.
 */
export const makeLately = <R>(most: number): ((key: string, compute: () => R) => R) => {
  const kept = new Map<string, R>()
  return (key, compute) => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const result = compute()
    if (kept.size >= most) kept.clear()
    kept.set(key, result)
    return result
  }
}
