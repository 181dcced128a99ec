/**
 * The rules of metadata that no schema says: scalars that can be echoed verbatim, and their caps
 * (rules/platform.md#metadata).
 */

import { pointerSegment } from '../values/pointer.ts'
import { METADATA_BYTES_MAX, METADATA_KEYS_MAX } from './fields.ts'
import type { Fault } from './problem.ts'
import { textPattern } from './schema.ts'

const BLOCK = new RegExp(textPattern('block'), 'u')

const bad = (pointer: string, detail: string): Fault => ({ code: 'BAD_METADATA', pointer, detail })

/** Every fault of a caller's metadata; pointers start at `/metadata`. */
export const metadataFaults = (metadata: Record<string, unknown> | undefined): Fault[] => {
  if (metadata === undefined) return []
  const entries = Object.entries(metadata)
  const bytes = new TextEncoder().encode(JSON.stringify(metadata)).length
  return [
    ...(entries.length > METADATA_KEYS_MAX
      ? [bad('/metadata', `${entries.length} keys, at most ${METADATA_KEYS_MAX}`)]
      : []),
    ...(bytes > METADATA_BYTES_MAX ? [bad('/metadata', `${bytes} bytes of JSON, at most ${METADATA_BYTES_MAX}`)] : []),
    ...entries.flatMap(([key, value]) => {
      const detail = scalarFault(value) ?? (BLOCK.test(key) ? null : 'the key holds control characters')
      return detail === null ? [] : [bad(`/metadata/${pointerSegment(key)}`, detail)]
    }),
  ]
}

/** Why a value of metadata could not be echoed verbatim; null when it can. */
const scalarFault = (value: unknown): string | null => {
  switch (typeof value) {
    case 'boolean':
      return null
    case 'number':
      return Number.isInteger(value) && !Number.isSafeInteger(value)
        ? 'an integer beyond 2^53 is not kept exactly: send it as text'
        : null
    case 'string':
      return BLOCK.test(value) ? null : 'holds control characters or marks that turn the direction of writing'
    default:
      return 'only strings, numbers and booleans are kept'
  }
}
