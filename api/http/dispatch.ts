/**
 * Finds the route of a request without Express, which costs more than all of our own stages together
 * (rules/platform.md#dispatch). It knows plain requests for described routes only. What is odd in any way
 * (another method, a trailing slash, bad percent-encoding, a fragment) it leaves to Express, which has the last word.
 */

import { trimmedEnd } from '../../crds/values/trimmed.ts'
import type { Route } from '../wiring/route.ts'

export type FoundRoute<Needs> = { route: Route<Needs>; params: Record<string, string> }

/** The route of a method and a URL as sent, or undefined: let Express look. */
export type Dispatch<Needs> = (method: string, url: string) => FoundRoute<Needs> | undefined

/** A segment of a declared path: literal text, or the name of a parameter. */
type Segment = { at: number; text: string } | { at: number; param: string }

/** One declared path. `rest`: its form is beyond us from here on, so that whatever begins like it is left to Express. */
type RoutePattern<Needs> = {
  path: string
  segments: Segment[]
  params: { at: number; param: string }[]
  rest: boolean
  routes: Map<string, Route<Needs>>
}

/** A target that Express would parse by other rules: not a path, or with characters that end a path early. */
const ODD_TARGET = /^[^/]|[\t\n\f\r #\u00a0\ufeff]/
const PARAM = /^:([A-Za-z_]\w*)$/
/** Characters that mean something to Express. */
const SPECIAL = /[{}()[\]+?!:*\\"]/

const patternOf = <Needs>(path: string): RoutePattern<Needs> => {
  const parts = (path === '/' ? path : trimmedEnd(path, '/')).split('/')
  const odd = parts.findIndex((part) => !PARAM.test(part) && SPECIAL.test(part))
  const plain = odd < 0 ? parts : parts.slice(0, odd)
  const segments = plain.map((text, at): Segment => {
    const param = PARAM.exec(text)?.[1]
    return param === undefined ? { at, text } : { at, param }
  })
  const params = segments.filter((segment) => 'param' in segment)
  return { path, segments, params, rest: odd >= 0, routes: new Map() }
}

/** One pattern per declared path, in the order in which Express tries them; hidden routes are patterns without a method. */
const patternsOf = <Needs>(routes: readonly Route<Needs>[]): RoutePattern<Needs>[] => {
  const patterns = new Map<string, RoutePattern<Needs>>()
  for (const route of routes) {
    const pattern = patterns.get(route.path) ?? patternOf<Needs>(route.path)
    patterns.set(route.path, pattern)
    if (!route.hidden) pattern.routes.set(route.method, route)
  }
  return [...patterns.values()]
}

const fits = (
  { segments, rest }: Pick<RoutePattern<never>, 'segments' | 'rest'>,
  parts: readonly string[],
): boolean => {
  if (rest ? parts.length < segments.length : parts.length !== segments.length) return false
  for (const segment of segments) {
    const part = parts[segment.at]
    if ('text' in segment ? segment.text !== part : part === '') return false
  }
  return true
}

/** Undefined when a value is not valid percent-encoding. */
const paramsOf = (
  { params }: Pick<RoutePattern<never>, 'params'>,
  parts: readonly string[],
): Record<string, string> | undefined => {
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
export const makeDispatch = <Needs>(routes: readonly Route<Needs>[]): Dispatch<Needs> => {
  const patterns = patternsOf(routes)
  const longest = Math.max(0, ...patterns.map(({ segments }) => segments.length))
  const byLength = Array.from({ length: longest + 1 }, (_, length) =>
    patterns.filter(({ segments, rest }) => segments.length === length || (rest && segments.length < length)),
  )
  const firstFor = (parts: string[]): RoutePattern<Needs> | undefined =>
    byLength[parts.length]?.find((pattern) => fits(pattern, parts))
  const literal = new Map<string, RoutePattern<Needs>>()
  for (const pattern of patterns) {
    const texts = pattern.segments.flatMap((segment) => ('text' in segment ? [segment.text] : []))
    const isLiteral = texts.length === pattern.segments.length && !pattern.rest
    if (isLiteral && firstFor(texts) === pattern) literal.set(pattern.path, pattern)
  }

  const find = (path: string): { matched: RoutePattern<Needs>; parts: readonly string[] } | undefined => {
    const fixed = literal.get(path)
    if (fixed) return { matched: fixed, parts: [] }
    const parts = path.split('/')
    const matched = firstFor(parts)
    return matched && { matched, parts }
  }

  return (method, url) => {
    if (ODD_TARGET.test(url)) return undefined
    const query = url.indexOf('?')
    const found = find(query < 0 ? url : url.slice(0, query))
    const route = found?.matched.routes.get(method === 'HEAD' ? 'GET' : method)
    if (!found || !route || found.matched.rest) return undefined
    const params = paramsOf(found.matched, found.parts)
    return params && { route, params }
  }
}
