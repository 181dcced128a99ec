/**
 * Names of JSON schemas, given where they are declared. A name is no word of the schema: validators do not see it, and a
 * copy by spread has none, because a copy that is changed is another schema.
 */
const NAME = Symbol('name')

/** The same declaration under a name in PascalCase, by which OpenAPI documents refer to it. */
export const named = <Declared extends object>(name: string, declared: Declared): Declared =>
  Object.defineProperty({ ...declared }, NAME, { value: name })

/** The name given by `named`. */
export const nameOf = (declared: object): string | undefined => Reflect.get(declared, NAME)
