/**
 * A tagged template that writes HTML: what stands in the template is markup, every value put into it is text and is
 * escaped for element content and for quoted attributes alike. There is no way to pass a raw string in.
 */
const MARKUP = Symbol('markup')

/** A finished piece of HTML, made by `html` only. */
export type Html = { readonly [MARKUP]: string }

/** What may be put into a template: text, another piece, a list of pieces, or nothing (null and false give ''). */
export type HtmlValue = string | number | Html | readonly Html[] | null | false

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/**
 * Controls, which HTML cannot hold even as entities, and marks that turn the direction of what follows. They become
 * visible, so that nothing hides in a document.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/g

/** Escapes text for element content and quoted attributes. */
export const escapeHtml = (text: string): string =>
  text
    .toWellFormed()
    .replace(UNPRINTABLE, '\ufffd')
    .replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)

const written = (value: HtmlValue): string => {
  if (value === null || value === false) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  if (MARKUP in value) return value[MARKUP]
  return value.map((piece) => piece[MARKUP]).join('')
}

/** Source: OWASP XSS prevention, rules 1 and 2. Attributes must be written with double quotes; no value in a script, a style or a comment. */
export const html = (markup: TemplateStringsArray, ...values: HtmlValue[]): Html => {
  let text = markup[0] ?? ''
  values.forEach((value, index) => {
    text += written(value) + (markup[index + 1] ?? '')
  })
  return { [MARKUP]: text }
}

/** The finished text. */
export const textOf = (piece: Html): string => piece[MARKUP]

/** An address for href, src or action: https, http, mailto, or a path on this host; anything else becomes '#'. */
export const safeUrl = (url: string): string => (/^(https?:\/\/|mailto:|\/(?![/\\]))[^\s\\]*$/i.test(url) ? url : '#')
