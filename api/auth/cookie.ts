/** Cookies: read by name, written with every attribute that keeps them at home. */

/** The value of a cookie, or ''. Of two under one name the first counts, as browsers send the most specific first. */
export const cookieOf = (headers: { cookie?: string | undefined }, name: string): string => {
  for (const part of (headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return ''
}

const isHttps = (publicUrl: string): boolean => publicUrl.startsWith('https:')

/**
 * The name of a cookie that opens something. Over https browsers take `__Host-…` from this very host alone, so that no app or site
 * on a sibling name can plant one; over plain http (hack/up) they take no such name at all, and it stays as it is.
 * Source: RFC 6265bis 4.1.3.2. Its path has to be /.
 */
export const hostCookie = (name: string, publicUrl: string): string => (isHttps(publicUrl) ? `__Host-${name}` : name)

export type CookieOptions = {
  path: string
  /** 0 takes the cookie away. */
  maxAgeMs: number
  publicUrl: string
}

/** A Set-Cookie value: HttpOnly, SameSite=Lax, Secure where the service is reached by https. `value` needs no quoting. */
export const setCookie = (name: string, value: string, { path, maxAgeMs, publicUrl }: CookieOptions): string => {
  const secure = isHttps(publicUrl) ? '; Secure' : ''
  return `${name}=${value}; Path=${path}; Max-Age=${Math.floor(maxAgeMs / 1000)}; HttpOnly; SameSite=Lax${secure}`
}
