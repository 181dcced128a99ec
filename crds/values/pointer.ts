/** JSON pointers (RFC 6901). */

/** One name as a segment of a pointer. */
export const pointerSegment = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
