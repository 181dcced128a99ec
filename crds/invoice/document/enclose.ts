/**
 * Whether the electronic invoice goes into the PDF of a document, decided once, when it is frozen
 * (hack/decisions/019-what-carries-the-xml.md). Drafts carry none; tests do, as what they try out.
 */

import type { Enclosure, Frozen } from '../order/frozen.ts'
import { enclosureOf } from './einvoice/write.ts'

/** A machine that reads the XML of a voided invoice would pay it. */
const VOIDED: Enclosure = { profile: null, reason: 'A voided invoice asks for nothing.', findings: [] }

/** The document as it is frozen, with what is decided about its electronic invoice. */
export const enclosed = (frozen: Frozen): Frozen => ({
  ...frozen,
  einvoice: frozen.voidedOn === undefined ? enclosureOf(frozen) : VOIDED,
})
