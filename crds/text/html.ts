import assert from 'node:assert/strict'

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

/** Everything that may have to be written otherwise, half letters too. Most texts hold nothing of it and stay as they are. */
const SUSPECT =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
  /[&<>"'\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]/

/** Escapes text for element content and quoted attributes. */
export const escapeHtml = (text: string): string =>
  SUSPECT.test(text)
    ? text
        .toWellFormed()
        .replace(UNPRINTABLE, '\ufffd')
        .replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
    : text

const written = (value: HtmlValue): string => {
  if (value === null || value === false) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  if (MARKUP in value) return value[MARKUP]
  let text = ''
  for (const piece of value) text += piece[MARKUP]
  return text
}

/** Source: OWASP XSS prevention, rules 1 and 2. Attributes must be written with double quotes; no value in a script, a style or a comment. */
export const html = (markup: TemplateStringsArray, ...values: HtmlValue[]): Html => {
  let text = markup[0] ?? ''
  for (let index = 0; index < values.length; index++) text += written(values[index] ?? null) + (markup[index + 1] ?? '')
  return { [MARKUP]: text }
}

/** The finished text. */
export const textOf = (piece: Html): string => piece[MARKUP]

/** An address for href, src or action: https, http, mailto, tel, or a path on this host; anything else becomes '#'. */
export const safeUrl = (url: string): string =>
  /^(?:(?:https?:\/\/|mailto:|tel:)[^\s\\]*|\/(?:[^\s\\/][^\s\\]*)?)$/i.test(url) ? url : '#'

/** Everything that could end the script element, start a comment in it, or end a line of JavaScript. */
const SCRIPT_BREAKERS = /[<>&\u2028\u2029]/g

/** Data for `<script type="application/ld+json">`: JSON in which no character can leave the script element. */
export const jsonScript = (value: unknown): Html => ({
  [MARKUP]: JSON.stringify(value).replace(
    SCRIPT_BREAKERS,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ),
})

/** What stands in `<style>` or `<script>`, made by us and holding no text of a caller: nothing in it may look like a tag. */
export const rawText = (text: string): Html => {
  assert(!text.includes('<'), 'a style sheet or script holds no tag')
  return { [MARKUP]: text }
}

/**
 * Text with every character as an entity, for element content and quoted attributes: people and browsers read it as it is,
 * harvesters that look for an address in the bytes do not find one.
 */
export const veiled = (text: string): Html => ({
  [MARKUP]: [...text.toWellFormed().replace(UNPRINTABLE, '\ufffd')]
    .map((char, index) => {
      const code = char.codePointAt(0) ?? 0
      return index % 2 === 0 ? `&#${code};` : `&#x${code.toString(16)};`
    })
    .join(''),
})
