/**
 * What is wrong with the document of an invoice, though it can be sent: characters that its PDF cannot show, and what an
 * electronic invoice by EN 16931 asks for beyond it. Each warning is a sentence behind a code and a pointer.
 */

import { restPointer } from '../../../kernel/rest.ts'
import { isHidden, undrawn } from '../../../text/drawn.ts'
import type { Frozen, FrozenDraft } from '../../order/frozen.ts'
import { enclosureOf } from '../einvoice/write.ts'

/** Texts that are named, and characters of each: the rest would only repeat. */
const TEXTS_MAX = 20
const CHARACTERS_MAX = 12

/** Every text that people wrote on the document, by where it was written. */
const textsOf = ({
  seller,
  client,
  items,
  terms,
  zeroRate,
  paid,
  credits,
}: Frozen | FrozenDraft): [string, string][] => {
  const under = (pointer: string, texts: Record<string, string | undefined>): [string, string][] =>
    Object.entries(texts).map(([field, text = '']) => [`${pointer}${field}`, text])
  const { legalName, taxId, address, city, postcode, footer } = seller
  return [
    ...items.map(({ description }, index): [string, string] => [`/items/${index}/description`, description]),
    ...under('/client', {
      Name: client.name,
      Address: client.address,
      City: client.city,
      Postcode: client.postcode,
      TaxId: client.taxId,
    }),
    ['/terms', terms],
    ['/zeroRate/reason', zeroRate?.reason ?? ''],
    ...under('/paid/', { method: paid?.method, reference: paid?.reference }),
    ['/reason', credits?.reason ?? ''],
    ...under('/issuer/', { legalName, taxId, address, city, postcode, footer }),
  ]
}

const nameOf = (char: string): string => {
  const code = `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  return isHidden(char) ? code : `${char} (${code})`
}

const glyphWarnings = (document: Frozen | FrozenDraft): string[] => {
  const found = textsOf(document)
    .map(([pointer, text]) => ({ pointer, missing: undrawn(text) }))
    .filter(({ missing }) => missing.length > 0)
  const told = found.slice(0, TEXTS_MAX).map(({ pointer, missing }) => {
    const more = missing.length > CHARACTERS_MAX ? ` and ${missing.length - CHARACTERS_MAX} more` : ''
    const names = missing.slice(0, CHARACTERS_MAX).map(nameOf).join(', ')
    return `GLYPH_MISSING: ${restPointer(pointer)} has ${names}${more}, which the PDF cannot show: it shows \ufffd. Write it in other characters.`
  })
  const left = found.length - TEXTS_MAX
  return left > 0 ? [...told, `GLYPH_MISSING: ${left} more texts have characters that the PDF cannot show.`] : told
}

/** A draft is judged as if it had its number. */
const enclosureFor = (document: Frozen | FrozenDraft) =>
  document.number === null ? enclosureOf({ ...document, number: 'DRAFT' }) : document.einvoice

/** Warnings on the document that was frozen last, or on a draft as it would be issued today. */
export const documentWarnings = (document: Frozen | FrozenDraft): string[] => {
  const enclosure = enclosureFor(document)
  const findings = enclosure?.profile === null ? enclosure.findings : []
  const then = document.number === null ? '' : ' Give it and send again.'
  return [
    ...glyphWarnings(document),
    ...findings.map(
      ({ rule, pointer, words }) =>
        `XML_INCOMPLETE: ${restPointer(pointer)} ${words} Without it the PDF carries no electronic invoice (${rule}).${then}`,
    ),
  ]
}
