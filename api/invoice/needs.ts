/** What the handlers of invoices take, by topic. */
import type { LinkNeeds } from '../page/links.ts'
import type { Commanding, Deps, Reporting, Settling } from '../wiring/deps.ts'
import type { Stores } from '../wiring/stores.ts'

/** To make, change, send and pay them. */
export type InvoiceNeeds = Commanding & Pick<Deps, 'cards'> & Pick<Stores, 'issuers' | 'sendQuota' | 'show'>

/** To answer with how a command on one ended, and give back the send of one that was refused. */
export type AnsweringInvoice = Pick<Deps, 'cards' | 'keys' | 'now'> & Pick<Stores, 'issuers' | 'ledger' | 'sendQuota'>

/** To look at them as a whole, and say what would become of one. */
export type BooksNeeds = Pick<Deps, 'mirror' | 'cards' | 'now'> &
  Pick<Stores, 'accounts' | 'books' | 'issuers' | 'ledger' | 'sendQuota'>

export type DocumentNeeds = Reporting & Pick<Deps, 'pdfOff'> & Pick<Stores, 'blobs' | 'documents' | 'issuers'>

export type IssuerNeeds = Settling & Pick<Deps, 'wake'> & Pick<Stores, 'blobs' | 'issuers'>

/** Of the page that a client opens, and what is done there. */
export type PageNeeds = LinkNeeds &
  Reporting &
  Settling &
  Pick<Deps, 'authenticate' | 'cards' | 'keys' | 'publicUrl'> &
  Pick<Stores, 'attempts' | 'blobs' | 'issuers'>

export type DraftingNeeds = Pick<Deps, 'llm' | 'pdfText' | 'now'> & Pick<Stores, 'allowance'>
