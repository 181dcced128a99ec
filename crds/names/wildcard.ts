/** How a base domain stands among the names of sites: as `*.<domain>`, which is all that lies below it and the domain itself. */

const PREFIX = '*.'

/** As it stands among names. */
export const baseName = (domain: string): string => `${PREFIX}${domain}`

/** The domain of a base; null for any other name. */
export const domainOfBase = (name: string): string | null =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length) : null

const covers = (base: string | null, name: string): boolean => {
  const bare = domainOfBase(name) ?? name
  return base !== null && (bare === base || bare.endsWith(`.${base}`))
}

/** Whether two names cannot be two accounts': they are one, or one lies below the other, which is a base. SQL: names_overlap. */
export const namesOverlap = (one: string, other: string): boolean =>
  one === other || covers(domainOfBase(one), other) || covers(domainOfBase(other), one)
