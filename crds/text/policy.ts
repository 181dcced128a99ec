/** The content policy of every page and file that is served: what it loads, where its forms lead, who frames it. Source: CSP Level 3. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'

/** The host that the page itself comes from. */
export const SELF = "'self'"
/** Pictures that stand in the page as data, as codes do. */
export const DATA = 'data:'

/** Allows exactly this text inside `<style>` or `<script>`. */
export const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Sources as CSP writes them. What is left out is allowed from nowhere; `frames` is who may frame the page, not what it frames. */
export type PolicySources = {
  scripts?: readonly string[]
  styles?: readonly string[]
  images?: readonly string[]
  fonts?: readonly string[]
  connect?: readonly string[]
  forms?: readonly string[]
  frames?: readonly string[]
  /** What the page frames. */
  shows?: readonly string[]
}

/** A source that ends its directive, or lets in what is written into the page, is a slip of ours. */
const UNFIT = /[\s;,*]|unsafe/

const directive = (name: string, sources: readonly string[] = []): string => {
  assert(!sources.some((source) => source === '' || UNFIT.test(source)), `a source of ${name} is no source`)
  return `${name} ${sources.length === 0 ? "'none'" : sources.join(' ')}`
}

/** The value of `content-security-policy`. Every directive is written out: some do not fall back to `default-src`. */
export const policyOf = (allowed: PolicySources): string =>
  [
    directive('default-src'),
    directive('script-src', allowed.scripts),
    directive('style-src', allowed.styles),
    directive('img-src', allowed.images),
    directive('font-src', allowed.fonts),
    directive('connect-src', allowed.connect),
    directive('base-uri'),
    directive('form-action', allowed.forms),
    directive('frame-ancestors', allowed.frames),
    ...(allowed.shows === undefined ? [] : [directive('frame-src', allowed.shows)]),
  ].join('; ')

/** The same for bytes that somebody else made: in an origin of their own, without scripts and forms. */
export const sandboxed = (policy: string): string => `${policy}; sandbox`
