/** What a content policy leaves open that none of our pages needs. Source: CSP Level 3. */

const directivesOf = (policy: string): Map<string, string[]> =>
  new Map(
    policy.split(';').map((part) => {
      const [name = '', ...sources] = part.trim().split(/\s+/)
      return [name, sources]
    }),
  )

/** Directives that do not fall back to `default-src`, and the one that they fall back to. */
const WRITTEN = ['default-src', 'script-src', 'base-uri', 'form-action', 'frame-ancestors']
/** Lets in what is written into the page, or comes from anywhere. */
const WIDE = /^'unsafe-|^\*|^(?:https?|data|blob):$/

/** @param policy the header; null when it is not there @returns what is wrong with it, nothing when it is strict */
export const openings = (policy: string | null): string[] => {
  if (policy === null) return ['there is no policy']
  const directives = directivesOf(policy)
  const missing = WRITTEN.filter((name) => !directives.has(name)).map((name) => `${name} is missing`)
  const wide = ['default-src', 'script-src', 'style-src'].flatMap((name) =>
    (directives.get(name) ?? []).filter((source) => WIDE.test(source)).map((source) => `${name} has ${source}`),
  )
  const framed = (directives.get('frame-ancestors') ?? []).filter(
    (source) => source !== "'none'" && source !== "'self'",
  )
  const based = (directives.get('base-uri') ?? []).filter((source) => source !== "'none'")
  return [
    ...missing,
    ...wide,
    ...framed.map((by) => `${by} may frame it`),
    ...based.map((by) => `${by} may be its base`),
  ]
}
