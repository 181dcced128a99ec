/**
 * Finds the route of a request without Express, which costs more than all of our own stages together
 * (research/performance-reliability.md 1.4). It knows plain requests for described routes only. What is odd in any way
 * (another method, a trailing slash, bad percent-encoding, a fragment) it leaves to Express, which has the last word.
 */
import type { Route } from './route.ts'

export type Found = { route: Route; params: Record<string, string> }

/** The route of a method and a URL as sent, or undefined: let Express look. */
export type Dispatch = (method: string, url: string) => Found | undefined

/** A segment of a declared path: literal text, or the name of a parameter. */
type Segment = { at: number; text: string } | { at: number; param: string }

/** One declared path. `rest`: its form is beyond us from here on, so that whatever begins like it is left to Express. */
type Place = {
  path: string
  segments: Segment[]
  params: { at: number; param: string }[]
  rest: boolean
  routes: Map<string, Route>
}

/** A target that Express would parse by other rules: not a path, or with characters that end a path early. */
const ODD_TARGET = /^[^/]|[\t\n\f\r #\u00a0\ufeff]/
const PARAM = /^:([A-Za-z_]\w*)$/
/** Characters that mean something to Express. */
const SPECIAL = /[{}()[\]+?!:*\\"]/

const placeOf = (path: string): Place => {
  const parts = (path === '/' ? path : path.replace(/\/+$/, '')).split('/')
  const odd = parts.findIndex((part) => !PARAM.test(part) && SPECIAL.test(part))
  const plain = odd < 0 ? parts : parts.slice(0, odd)
  const segments = plain.map((text, at): Segment => {
    const param = PARAM.exec(text)?.[1]
    return param === undefined ? { at, text } : { at, param }
  })
  const params = segments.filter((segment) => 'param' in segment)
  return { path, segments, params, rest: odd >= 0, routes: new Map() }
}

/** One place per declared path, in the order in which Express tries them; hidden routes are places without a method. */
const placesOf = (routes: readonly Route[]): Place[] => {
  const places = new Map<string, Place>()
  for (const route of routes) {
    const place = places.get(route.path) ?? placeOf(route.path)
    places.set(route.path, place)
    if (!route.hidden) place.routes.set(route.method, route)
  }
  return [...places.values()]
}

const fits = ({ segments, rest }: Place, parts: readonly string[]): boolean => {
  if (rest ? parts.length < segments.length : parts.length !== segments.length) return false
  for (const segment of segments) {
    const part = parts[segment.at]
    if ('text' in segment ? segment.text !== part : part === '') return false
  }
  return true
}

/** Undefined when a value is not valid percent-encoding. */
const paramsOf = ({ params }: Place, parts: readonly string[]): Record<string, string> | undefined => {
  const values: Record<string, string> = {}
  for (const { at, param } of params) {
    const raw = parts[at] ?? ''
    try {
      values[param] = raw.includes('%') ? decodeURIComponent(raw) : raw
    } catch {
      return undefined
    }
  }
  return values
}

/**
 * Compiles declared routes. The first declared path that fits wins, as in Express: literal paths are found in one look,
 * the others among those of equal length.
 */
export const makeDispatch = (routes: readonly Route[]): Dispatch => {
  const places = placesOf(routes)
  const longest = Math.max(0, ...places.map(({ segments }) => segments.length))
  const byLength = Array.from({ length: longest + 1 }, (_, length) =>
    places.filter(({ segments, rest }) => segments.length === length || (rest && segments.length < length)),
  )
  const firstFor = (parts: string[]): Place | undefined => byLength[parts.length]?.find((place) => fits(place, parts))
  const literal = new Map<string, Place>()
  for (const place of places) {
    const texts = place.segments.flatMap((segment) => ('text' in segment ? [segment.text] : []))
    const isLiteral = texts.length === place.segments.length && !place.rest
    if (isLiteral && firstFor(texts) === place) literal.set(place.path, place)
  }

  const find = (path: string): { place: Place; parts: readonly string[] } | undefined => {
    const fixed = literal.get(path)
    if (fixed) return { place: fixed, parts: [] }
    const parts = path.split('/')
    const place = firstFor(parts)
    return place && { place, parts }
  }

  return (method, url) => {
    if (ODD_TARGET.test(url)) return undefined
    const query = url.indexOf('?')
    const found = find(query < 0 ? url : url.slice(0, query))
    const route = found?.place.routes.get(method === 'HEAD' ? 'GET' : method)
    if (!found || !route || found.place.rest) return undefined
    const params = paramsOf(found.place, found.parts)
    return params && { route, params }
  }
}
