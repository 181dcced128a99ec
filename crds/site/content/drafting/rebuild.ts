/**
 * A value without some of its parts. What an object cannot do without takes the object with it; a list closes up, and what was left with
 * nothing goes too. Pointers are told on, so that whoever spoke of a part finds it again.
 */
import type { JsonSchema } from '../../../kernel/rest.ts'
import { pointerSegment } from '../../../values/pointer.ts'

/** By pointer before: pointer after. Parts that are gone are not in it. */
export type Moved = ReadonlyMap<string, string>
/** A part and where it stood; the children of a list or an object with it. */
type Kept = { value: unknown; from: string; children: [string, Kept][] }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const asSchema = (value: unknown): JsonSchema => (isRecord(value) ? value : {})

const keptOf = (
  schema: JsonSchema,
  value: unknown,
  from: string,
  keep: (pointer: string, value: unknown) => boolean,
): Kept | null => {
  if (!keep(from, value)) return null
  if (Array.isArray(value)) {
    const items = value.flatMap((item, index) => keptOf(asSchema(schema.items), item, `${from}/${index}`, keep) ?? [])
    if (items.length === 0) return null
    return { value: items.map((item) => item.value), from, children: items.map((item, index) => [String(index), item]) }
  }
  if (!isRecord(value)) return { value, from, children: [] }
  const properties = asSchema(schema.properties)
  const children = Object.entries(value).flatMap(([name, child]): [string, Kept][] => {
    const kept = keptOf(asSchema(properties[name]), child, `${from}/${pointerSegment(name)}`, keep)
    return kept === null ? [] : [[name, kept]]
  })
  const names = new Set(children.map(([name]) => name))
  const required = Array.isArray(schema.required) ? schema.required : []
  if (children.length === 0 || required.some((name) => Object.hasOwn(value, name) && !names.has(name))) return null
  return { value: Object.fromEntries(children.map(([name, kept]) => [name, kept.value])), from, children }
}

const moves = ({ from, children }: Kept, to: string): [string, string][] => [
  [from, to],
  ...children.flatMap(([name, child]) => moves(child, `${to}/${pointerSegment(name)}`)),
]

/** @param keep whether a part stays, by its pointer. `value` is undefined when nothing is left */
export const rebuilt = (
  schema: JsonSchema,
  value: unknown,
  keep: (pointer: string, value: unknown) => boolean,
): { value: unknown; moved: Moved } => {
  const kept = keptOf(schema, value, '', keep)
  return { value: kept?.value, moved: new Map(kept ? moves(kept, '') : []) }
}

/** Where a part stands now, or where it would stand in what is left; of an item that is gone, its list. */
export const placeIn = (moved: Moved, pointer: string): string => {
  const names = pointer.split('/').slice(1)
  for (let kept = names.length; kept >= 0; kept--) {
    const place = moved.get(
      names
        .slice(0, kept)
        .map((name) => `/${name}`)
        .join(''),
    )
    if (place === undefined) continue
    const rest = names.slice(kept)
    const item = rest.findIndex((name) => /^[0-9]+$/.test(name))
    return place + (item < 0 ? rest : rest.slice(0, item)).map((name) => `/${name}`).join('')
  }
  return ''
}
