/** A content with something in every field of its schema, so that a field which is new is judged with the others. */
import { isObject, type Schema } from '../../../../crds/kernel/schema.ts'

/** Texts are told their own name, so that each can be found again. */
export const filled = (schema: Schema, text: (key: string) => string, key = ''): unknown => {
  switch (schema.type) {
    case 'string':
      return schema.enum?.[0] ?? text(key)
    case 'integer':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return [filled(schema.items, text, key)]
    case 'object':
      if (!isObject(schema)) return {}
      return Object.fromEntries(
        Object.entries(schema.properties).map(([name, child]) => [name, filled(child, text, `${key}.${name}`)]),
      )
    case 'map':
      throw new Error(`the content has a ${schema.type} at ${key}: say what stands there`)
    default: {
      const never: never = schema
      throw new Error(String(never))
    }
  }
}

/** Fields that are no words take what they are given bare: a mark in front would make it harmless. */
export const isAddress = (key: string): boolean => /\.(link|websiteUrl|chat|url|mapUrl|booking)$/.test(key)
export const isImage = (key: string): boolean => /\.(image|secondImage)$/.test(key)
