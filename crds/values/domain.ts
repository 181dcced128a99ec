/**
 * Domains by the Public Suffix List: which somebody may have registered, and below which anybody may.
 * Source: publicsuffix.org, RFC 2606, RFC 6761, RFC 6762; ICANN's reservation of internal.
 */
import { parse } from 'tldts'

/** Never in the public DNS. */
const TEST_SUFFIXES = ['test', 'localhost', 'invalid', 'example', 'local', 'internal']

/** Whether strangers have names below it: co.uk, and github.io as well. */
export const isPublicSuffix = (domain: string): boolean =>
  parse(domain, { allowPrivateDomains: true }).publicSuffix === domain

/** The part of a name that somebody registered, as `shop.co.uk` of `www.shop.co.uk`; null for what is none, or an address. */
export const registeredDomain = (name: string): string | null => parse(name, { allowPrivateDomains: true }).domain

/**
 * Why nobody can own the name in the public DNS, as the end of a sentence; null where somebody may.
 * @param rule.testDomains names of no DNS are taken too, for development
 */
export const unownable = (domain: string, { testDomains }: { testDomains: boolean }): string | null => {
  const suffix = domain.slice(domain.lastIndexOf('.') + 1)
  if (TEST_SUFFIXES.includes(suffix)) return testDomains ? null : `.${suffix} is not in the public DNS`
  const { isIcann, isIp, domain: registered } = parse(domain)
  if (isIp || !isIcann) return `.${suffix} is no suffix under which domains are registered`
  return registered === null ? `${domain} is a public suffix, which nobody owns` : null
}

/** Whether a word is written as a domain is, under a suffix that there is: `shop.example.com`, and not `e.g`. */
export const isDomainName = (word: string): boolean => {
  if (!/^[\p{L}\p{N}.-]+$/u.test(word) || !word.includes('.')) return false
  const { isIcann, isIp, domain } = parse(word)
  return (
    !isIp && ((isIcann === true && domain !== null) || TEST_SUFFIXES.includes(word.slice(word.lastIndexOf('.') + 1)))
  )
}
