/** The query string of a request. */
import { nearest } from '../../../crds/values/nearest.ts'
import { Problem } from '../problem.ts'

/** What no text of the database can hold. */
export const NUL = '\0'

/** The query as a plain record; a parameter given twice or not known is refused with the nearest known name. */
export const queryOf = (url: string, known: string[]): Record<string, string> => {
  const start = url.indexOf('?')
  const query: Record<string, string> = {}
  if (start < 0) return query
  for (const [name, value] of new URLSearchParams(url.slice(start + 1))) {
    const pointer = `/${name.slice(0, 64)}`
    if (!known.includes(name)) {
      const meant = nearest(name, known)
      const detail = `There is no parameter ${JSON.stringify(name.slice(0, 64))}${meant ? `; did you mean ${meant}?` : '.'}`
      throw new Problem('UNKNOWN_PARAMETER', detail, { faults: [{ code: 'UNKNOWN_PARAMETER', pointer, detail }] })
    }
    if (name in query) throw new Problem('INVALID_FIELD', `The parameter ${name} is given twice.`)
    if (value.includes(NUL)) throw new Problem('INVALID_FIELD', `The parameter ${name} holds a NUL, which no text may.`)
    query[name] = value
  }
  return query
}
