/** What leads to the page of an invoice: its link, and the password behind it. Both have a version (crds/values/links.ts). */
import { linkVersionsOf } from '../../kernel/fields.ts'
import { type LinkVersions, newestLinks } from '../../values/links.ts'

export const INVOICE_LINKS = ['link', 'password'] as const
export type InvoiceLink = (typeof INVOICE_LINKS)[number]
export type InvoiceLinks = LinkVersions<InvoiceLink>

/** Of the spec and of the status. */
export const INVOICE_LINK_FIELDS = linkVersionsOf({
  link: "Of the link to the client's page; 1 is the first.",
  password: 'Of the password of that page, which changes with each send beside; 1 is the first.',
})

/** None was ever ended. */
export const FIRST_LINKS: InvoiceLinks = newestLinks(INVOICE_LINKS)
