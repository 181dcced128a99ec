/** One line of what a host's proxy writes of visits (crds/host/visits.ts). Whatever else stands there is no visit. */

/** Longer than any line that the proxy makes, whatever was sent to it. */
export const LINE_MAX = 8_192

const SITE = /^[a-z0-9]([a-z0-9-]{0,98}[a-z0-9])?$/
const VISITOR = /^[0-9a-f]{8}$/
const HOSTNAME = /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/
const PATH_MAX = 200
/** As 2.5 of the page, but not as a part of it. */
const FILE_NAME = /\.[A-Za-z0-9]{1,8}$/
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu
const SERVED = [200, 304]

/** `visitor` is null for whoever asked not to be told from others, `referrer` for who came by himself. */
export type PageView = {
  site: string
  path: string
  visitor: string | null
  referrer: string | null
  agent: string
  /** When, by the host's clock: seconds since 1970. */
  ts: number
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The page as its address is written, without what cannot be seen; null for what is no page. */
export const pageOf = (written: string): string | null => {
  const path = written.replace(HIDDEN, '').replace(/\/index\.html$/, '/')
  if (!path.startsWith('/')) return null
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (FILE_NAME.test(name) && !name.endsWith('.html')) return null
  return path.slice(0, PATH_MAX)
}

const referrerIn = (value: unknown): string | null => {
  const name = textIn(value).toLowerCase()
  return name.length <= 253 && HOSTNAME.test(name) ? name : null
}

const parsed = (line: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** @returns null for what is no line of ours, and for what was not a page that was served */
export const pageViewIn = (line: string): PageView | null => {
  if (line.length > LINE_MAX) return null
  const said = parsed(line)
  if (said === null) return null
  const { ts, status, site, path, visitor, referrer, agent } = said
  if (typeof ts !== 'number' || !Number.isFinite(ts) || !SERVED.includes(Number(status))) return null
  const page = pageOf(textIn(path))
  const name = textIn(site)
  if (page === null || !SITE.test(name)) return null
  return {
    site: name,
    path: page,
    visitor: VISITOR.test(textIn(visitor)) ? textIn(visitor) : null,
    referrer: referrerIn(referrer),
    agent: textIn(agent),
    ts,
  }
}
