/** Which paths of a private app a link opens (rules/app.md#access-links). */

export const SCOPE_ALL = '/'
export const SCOPE_PATTERN = "^/[A-Za-z0-9._~!$&'()*+,;=:@/-]*$"
export const SCOPE_MAX = 256
export const LINKS_MAX = 100

/** What servers behind a proxy may make of a path: escapes are undone twice, as some do. Null where it cannot be read. */
const plainOf = (path: string): string | null => {
  try {
    return decodeURIComponent(decodeURIComponent(path))
  } catch {
    return null
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what no path holds is looked for
const UNREAD = /\\|\/\/|[\0-\x1f]/

/** Whatever is read differently by different servers is outside: dots, backslashes, doubled slashes, control characters. */
const isPlain = (path: string): boolean => !UNREAD.test(path) && !path.split('/').some(isDots)

/** Also with what some servers take for parameters of a segment: `..;x`. */
const isDots = (part: string): boolean => ['.', '..'].includes(part.split(';', 1)[0] ?? '')

const trimmed = (scope: string): string => (scope.length > 1 && scope.endsWith('/') ? scope.slice(0, -1) : scope)

/** @param uri path and query, as the visitor sent them */
export const isInScope = (uri: string, scope: string): boolean => {
  if (scope === SCOPE_ALL) return true
  const path = plainOf(uri.split(/[?#]/, 1)[0] ?? '')
  const root = trimmed(scope)
  return path !== null && isPlain(path) && (path === root || path.startsWith(`${root}/`))
}

/** A scope is itself a path that every server reads alike. */
export const isScope = (scope: string): boolean => isPlain(scope)
